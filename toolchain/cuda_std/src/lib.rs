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
#![cfg_attr(target_arch = "nvptx64", feature(abi_unadjusted))]
// For the start of launch-sized shared memory, as one symbol (`shared/window.rs`).
#![cfg_attr(
    target_arch = "nvptx64",
    feature(core_intrinsics, gpu_intrinsics, gpu_launch_sized_workgroup_mem, rustc_attrs)
)]

pub mod atomic;
mod empty;
pub mod grid;
pub mod mem;
pub mod misc;
#[cfg(target_arch = "nvptx64")]
mod panic;
mod parameters;
pub mod shared;
pub mod thread;
pub mod vector;
pub mod warp;

pub use cuda_std_macros::{address_space, externally_visible, gpu_only, kernel, shared_array};
pub use glam;

/// What most kernels use.
pub mod prelude {
    pub use crate::grid::GridMut;
    pub use crate::vector::Packed;
    pub use crate::{kernel, thread};
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
