//! The `gridstride` command: arguments, verbs, reports, advice. A library so that its kernels can be had as [`PTX`].
//!
//! ```text
//! args -- verb::{compare, devices, ptx} -- gridstride_cpu --> results -- advice, report::{table, json, csv} --> output
//! ```
//!
//! This crate never calls the driver; `gridstride_cpu` does, and prints nothing.

mod advice;
mod args;
mod error;
mod findings;
mod interrupt;
mod npy;
mod output;
mod progress;
mod report;
mod units;
mod verb;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;

/// The project's kernels, as PTX.
pub const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/gridstride.ptx"));

/// The command, from the arguments of the process to its exit code: 0, 1 for a failure, 2 for wrong usage.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    interrupt::install();
    if let Some(limit) = cli.timeout {
        interrupt::limit(limit.0);
    }
    let result = match &cli.verb {
        None => verb::compare::run(&cli.compare),
        Some(verb) => verb.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => ExitCode::from(error.report()),
    }
}
