//! The command line: what every verb shares. A verb's own options stand beside it, in its file in `verb/`.

mod elements;
mod limit;
mod list;
mod shape;

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};
use gridstride_cpu::{Choice, kernels};

pub use self::elements::Elements;
pub use self::limit::Limit;
pub use self::list::Sizes;
pub use self::shape::Shape;
use crate::verb::{Verb, compare};

const EXAMPLES: &str = "\
Examples:
  gridstride                                the demonstration: add, f32, 10,000,000 elements
  gridstride -n 2^28 --device gpu           the same on a GPU, with 268,435,456 elements
  gridstride compare --dtype f64 --grid 64 --block 128
  gridstride compare --format json -o result.json
  gridstride devices
  gridstride ptx add_f32

Exit codes: 0 done, 1 something failed, 2 wrong usage, 124 out of time, 130 interrupted.";

/// Launch grid-stride GPU kernels written in Rust, on any machine, and see what a launch shape costs and why.
#[derive(Debug, Parser)]
#[command(version, about, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Option<Verb>,
    #[command(flatten)]
    pub compare: compare::Args,
    /// Give up after this time, 10s or 2m, whatever is running then; exit code 124
    #[arg(long, global = true, value_name = "TIME")]
    pub timeout: Option<Limit>,
}

#[derive(Debug, Clone, Copy, Args)]
pub struct DeviceArg {
    /// Where to run: a GPU if there is one (auto), a GPU or nothing (gpu), the built-in CPU device (cpu). Without the option,
    /// the environment variable GRIDSTRIDE_DEVICE is asked
    #[arg(long, value_enum, value_name = "DEVICE")]
    pub device: Option<DeviceChoice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeviceChoice {
    Auto,
    Gpu,
    Cpu,
}

impl From<DeviceChoice> for Choice {
    fn from(choice: DeviceChoice) -> Self {
        match choice {
            DeviceChoice::Auto => Self::Auto,
            DeviceChoice::Gpu => Self::Gpu,
            DeviceChoice::Cpu => Self::Cpu,
        }
    }
}

#[derive(Debug, Clone, Args)]
pub struct OutputArgs {
    /// How results are written
    #[arg(long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Table,
    /// One object, docs/json-schema.md
    Json,
    /// One row a launch
    Csv,
    /// For issues and notes
    Markdown,
    /// One page that needs nothing from elsewhere
    Html,
}

/// The name of a kernel there is, as a value of an option; else a message with the nearest.
///
/// # Errors
/// The message.
pub fn kernel_name(text: &str) -> Result<String, String> {
    let known: Vec<&str> = kernels::ALL.iter().map(|kernel| kernel.name()).collect();
    match kernels::find(text) {
        Ok(kernel) => Ok(kernel.name().to_owned()),
        Err(error) => Err(format!("{error} (known: {})", known.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_unknown_kernel_or_type_names_the_nearest() {
        let message = |args: &[&str]| Cli::try_parse_from(args).unwrap_err().to_string();
        assert!(message(&["gridstride", "--kernel", "ad"]).contains("did you mean `add`"));
        assert!(message(&["gridstride", "--dtype", "f23"]).contains("did you mean `f32`"));
        assert!(message(&["gridstride", "compare", "--dtype", "complex"]).contains("known: f32, f64, i32, u32, u8"));
    }
}
