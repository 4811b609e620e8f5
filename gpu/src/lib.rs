//! Grid-stride GPU kernels in Rust, one file a family.
//!
//! Compiled to PTX by `cuda_builder` from the workspace's `build.rs`. On the host the crate only compiles, so that editors
//! and `cargo check` understand it.

#![cfg_attr(target_arch = "nvptx64", no_std)]

pub mod add;
