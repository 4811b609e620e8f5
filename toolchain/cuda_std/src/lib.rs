//! The standard library of GPU kernels: indices, barriers, grid-stride loops, vector accesses.
//!
//! Names, signatures and parameter rules are those of the Rust-CUDA crate of this name; the implementation stands on the
//! compiler's own NVPTX back end. A crate of kernels is built by `cuda_builder`, which gives it the compiler features that
//! it needs, and passes `cargo check` on the host as it is: what only a GPU can do panics there.
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// `out[i] = 2 * x[i]` for every `i`, whatever the launch shape. Panics if `x` is shorter than `out`.
//! #[kernel]
//! pub fn double(x: &[f32], out: GridMut<f32>) {
//!     let x = &x[..out.len()];
//!     for (i, out) in out.grid_stride_mut() {
//!         *out = 2.0 * x[i];
//!     }
//! }
//! ```
//!
//! Where raw pointers are wanted, a kernel takes `*mut T`, and dereferencing it is as unsafe as anywhere.

#![cfg_attr(target_arch = "nvptx64", no_std)]
// For LLVM intrinsics that return a value and a predicate; `cuda_builder` lets device crates use features.
#![cfg_attr(target_arch = "nvptx64", feature(abi_unadjusted, core_float_math))]
// For the start of launch-sized shared memory, as one symbol (`shared/window.rs`).
#![cfg_attr(
    target_arch = "nvptx64",
    feature(core_intrinsics, gpu_intrinsics, gpu_launch_sized_workgroup_mem, rustc_attrs)
)]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod atomic;
mod empty;
pub mod float;
pub mod grid;
pub mod io;
pub mod mem;
#[cfg(target_arch = "nvptx64")]
mod memory;
pub mod misc;
#[cfg(target_arch = "nvptx64")]
mod panic;
mod parameters;
pub mod ptr;
pub mod shared;
mod text;
pub mod thread;
pub mod vector;
pub mod warp;

pub use cuda_std_macros::{address_space, externally_visible, gpu_only, kernel, shared_array};
pub use float::{FloatExt, GpuFloat};
pub use glam;
pub use half::{self, bf16, f16};

/// What most kernels use.
///
/// The assertions are those of `core`; those of [`crate::io`], which say what they saw, are `cuda_std::assert_eq!` and
/// `cuda_std::assert_ne!`. On the host `print!` and `println!` are those of `std`: other macros of these names would be
/// ambiguous there.
pub mod prelude {
    pub use crate::grid::GridMut;
    pub use crate::half::f16;
    pub use crate::vector::Packed;
    pub use crate::{kernel, thread};
    #[cfg(feature = "alloc")]
    pub use alloc::{
        borrow::ToOwned,
        boxed::Box,
        format,
        rc::Rc,
        string::{String, ToString},
        vec::Vec,
    };
    pub use core::{assert_eq, assert_ne};

    #[cfg(target_arch = "nvptx64")]
    pub use crate::{print, println};
    #[cfg(not(target_arch = "nvptx64"))]
    pub use std::{print, println};
}

/// What the code that macros write refers to. Not for use by name.
#[doc(hidden)]
pub mod __private {
    #[cfg(not(target_arch = "nvptx64"))]
    pub use cuda_launch as launch;
    pub use cuda_std_macros::__atomic_table;

    pub use crate::parameters::{AsWritten, Probe, block, grid_mut, one_parameter, slice};
    #[cfg(not(target_arch = "nvptx64"))]
    pub use crate::shared::no_shared_memory;
    pub use crate::shared::{SharedMemory, SharedPlace, Uninitialised, shared_size};
    #[cfg(target_arch = "nvptx64")]
    pub use crate::shared::{shared_at, shared_start};
}
