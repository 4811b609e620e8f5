//! The host side of gridstride: open a device, launch a kernel with `cust`, time it, verify it, compare launch shapes.
//!
//! Prints nothing: results are values, errors are sentences.
//!
//! ```text
//! Device::open -- Module::load(PTX) -- Kernel::prepare(dtype, n, seed) --> Prepared (inputs on the device)
//!       Prepared + LaunchShape -- Bench::measure --> Measured (timings, verdict)     two of them --> Comparison
//! ```

pub mod array;
mod check;
mod compare;
mod copy;
mod device;
mod dtype;
mod error;
pub mod foreign;
pub mod kernels;
pub mod lattice;
mod measure;
mod memory;
mod module;
mod peak;
mod shape;
mod stats;

pub use check::{Checked, Trial, check, watch};
pub use compare::{Comparison, Plan, compare};
pub use copy::{CopyRate, copy_rate};
pub use device::{Device, Facts};
pub use dtype::Dtype;
pub use error::{Error, Result};
pub use gridstride_driver::{Checks, Choice, Counters, Finding, FindingKind, Kind, Party};
pub use measure::{Bench, Measured, Naive, Progress, Runs, Timing};
pub use module::{KernelFacts, Module};
pub use peak::{FlopRate, flop_rate};
pub use shape::{Dimensions, LaunchShape, ParseShapeError, ShapeError};
pub use stats::Samples;
