//! The `gridstride` command as a library: arguments, verbs, reports, advice.
//!
//! ```text
//! args -- verb::{compare, devices, ptx} -- gridstride_cpu --> results -- advice, report::{table, json, csv} --> output
//! ```
//!
//! This crate never calls the driver; `gridstride_cpu` does, and prints nothing.

#![allow(
    missing_docs,
    reason = "the library serves the command and its tests; the command's documentation is its help"
)]

pub mod advice;
pub mod args;
pub mod error;
pub mod interrupt;
pub mod output;
pub mod progress;
pub mod report;
pub mod units;
pub mod verb;

pub use error::{Error, Result};

/// The project's kernels, as PTX.
pub const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/gridstride.ptx"));

/// Runs the command and returns its exit code: 0, 1 for a failure, 2 for wrong usage.
#[must_use]
pub fn run(cli: args::Cli) -> u8 {
    interrupt::install();
    let result = match cli.verb {
        None => verb::compare::run(&cli.compare),
        Some(args::Verb::Compare(args)) => verb::compare::run(&args),
        Some(args::Verb::Devices(args)) => verb::devices::run(&args),
        Some(args::Verb::Ptx(args)) => verb::ptx::run(&args),
    };
    match result {
        Ok(()) => 0,
        Err(error) => error.report(),
    }
}
