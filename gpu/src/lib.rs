//! Grid-stride GPU kernels in Rust, one file a family.
//!
//! Compiled to PTX by `cuda_builder` from the workspace's `build.rs`. On the host the crate only compiles, so that editors
//! and `cargo check` understand it. The host's side of each family is the file of the same name in `cpu/src/kernels/`.

#![cfg_attr(target_arch = "nvptx64", no_std)]
// `mul_add` without the standard library.
#![cfg_attr(target_arch = "nvptx64", feature(core_float_math))]

pub mod add;
pub mod mandelbrot;
pub mod maps;
pub mod math;
pub mod montecarlo;
pub mod team;
