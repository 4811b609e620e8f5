//! Memory that the threads of a block share (`.shared`): static arrays, and memory that the launch sizes.
//!
//! | form | what it gives | size |
//! | --- | --- | --- |
//! | [`shared_array!`](crate::shared_array) | `*mut T` | in the source |
//! | [`#[address_space(shared)]`](crate::address_space) | a `static mut` | in the source |
//! | [`dynamic_shared_mem`] | `*mut T` | given at the launch |
//! | [`shared_tile!`](crate::shared_tile), [`ThisBlock::into_dynamic`] | a [`Tile`], which needs no `unsafe` | either |
//!
//! All keep the address space: reads are `ld.shared`, writes `st.shared`, as long as the code that uses the pointer is
//! inlined into the code that made it. Through a pointer that was passed to a function that is not inlined they are the
//! generic `ld` and `st`, which work as well but take longer.
//!
//! The memory is uninitialised at the start of a block and gone at its end. Threads that read what others wrote must
//! [`sync_threads`](crate::thread::sync_threads) in between.

pub mod tile;
mod variable;
mod window;

use crate::gpu_only;

pub use tile::{Common, Own, Plain, ThisBlock, Tile};
pub use variable::SharedStatic;
#[doc(hidden)]
pub use variable::{SharedPlace, Uninitialised};
#[doc(hidden)]
pub use window::*;

/// Start of the shared memory that the launch sized, aligned to 16 bytes. Every call gives the same pointer, whatever `T`.
///
/// How many elements there are is the launch's business; [`dynamic_smem_size`](crate::mem::dynamic_smem_size) tells. In PTX
/// it is an `.extern .shared` array.
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn dynamic_shared_mem<T>() -> *mut T {
    const { assert!(align_of::<T>() <= 16, "shared memory is aligned to 16 bytes: this type asks for more") };
    start().cast()
}
