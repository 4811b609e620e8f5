//! Typed launches: what a kernel's signature asks for, checked on the host.
//!
//! `#[kernel]` writes a type beside each kernel, `AddKernel` beside `add`. Loading it looks the kernel up in a module; its
//! `launch` takes the kernel's parameters, each as what the host has for it, so a wrong number, order, type or mutability does
//! not compile. What the kernel says of itself in `#[launch_bounds]`, `#[block_size]`, `#[dynamic_shared]` and `#[requires]` is
//! checked before the driver is asked, with the numbers in the message.
//!
//! | parameter of the kernel | what `launch` takes, with the feature `cust` |
//! | --- | --- |
//! | `&[T]` | `&DeviceBuffer<T>`, `&DeviceSlice<T>` |
//! | `GridMut<T>` | `&mut DeviceBuffer<T>`, `&mut DeviceSlice<T>` |
//! | `*mut T` | the same, `&mut DeviceBox<T>`, and `DevicePointer<T>` where no rule asks for its length |
//! | `*const T` | `&DeviceBuffer<T>`, `&DeviceSlice<T>`, `&DeviceBox<T>`, `DevicePointer<T>` |
//! | `&T`, `Option<&T>` | `&DeviceBox<T>`, `Option<&DeviceBox<T>>` |
//! | anything else | the value |
//!
//! The traits here stand between the two sides: a crate of kernels needs no `cust`, and another way to launch is an
//! implementation of [`Module`] and [`Function`]. [`Images`] holds one program for several architectures and picks the best.

#![deny(missing_docs)]

mod argument;
mod contract;
#[cfg(feature = "cust")]
mod cust;
mod error;
mod images;
mod module;
mod shape;

pub use argument::{Length, MaybeReference, Pointer, PointerMut, Pointers, Reference, Slice, SliceMut};
pub use contract::Contract;
pub use error::LaunchError;
pub use images::{Image, Images};
pub use module::{Function, Instance, Module};
pub use shape::{Dim3, Shape};

/// What generated code needs of `std`, of which its crate may have none. Not for use by name.
#[doc(hidden)]
pub mod __private {
    pub use std::format;
}
