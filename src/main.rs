//! The `gridstride` command.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    ExitCode::from(gridstride::run(gridstride::args::Cli::parse()))
}
