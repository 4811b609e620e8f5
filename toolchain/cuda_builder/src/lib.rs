//! Compiles a crate of GPU kernels to PTX from a build script, on a stable compiler, with no CUDA toolkit.
//!
//! ```no_run
//! // build.rs
//! use cuda_builder::CudaBuilder;
//!
//! fn main() -> Result<(), cuda_builder::CudaBuilderError> {
//!     let out = std::env::var("OUT_DIR").expect("cargo sets it");
//!     CudaBuilder::new("kernels").copy_to(format!("{out}/kernels.ptx")).build()?;
//!     Ok(())
//! }
//! ```
//!
//! The names are those of the Rust-CUDA crate of this name. Underneath, cargo builds the crate for
//! `nvptx64-nvidia-cuda` with the LLVM that is part of rustc, `core` included, as one optimised unit; its assembly output
//! *is* the PTX. The few unstable features this needs are switched on for that one child process.

#![deny(missing_docs)]

mod arch;
mod build;
mod compiler;
mod environment;
mod error;
mod finish;
mod flags;
mod images;
mod library;
mod options;
mod place;
mod refused;
mod rerun;
mod resources;

pub use arch::{NvvmArch, UnknownArch};
pub use error::CudaBuilderError;
pub use options::{CudaBuilder, DebugInfo, EmitOption};
pub use refused::{ConstantMemory, FlushToZero, Optix, OverrideLibm};
pub use resources::{KernelResources, resources};
