//! Grid-stride GPU kernels in Rust, one file a family.
//!
//! Compiled to PTX by `cuda_builder` from the workspace's `build.rs`. On the host the crate only compiles, so that editors
//! and `cargo check` understand it. The host's side of each family is the file of the same name in `cpu/src/kernels/`.

#![cfg_attr(target_arch = "nvptx64", no_std)]
// `mul_add` without the standard library.
#![cfg_attr(target_arch = "nvptx64", feature(core_float_math))]

pub mod add;
pub mod compact;
pub mod histogram;
pub mod lookback;
pub mod mandelbrot;
pub mod maps;
pub mod math;
pub mod matmul;
pub mod montecarlo;
pub mod nbody;
pub mod peak;
pub mod reduce;
pub mod rows;
pub mod scan;
pub mod spmv;
pub mod stencil;
pub mod team;
pub mod transpose;
