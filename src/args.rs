//! The command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use gridstride_cpu::{Choice, Dimensions, Dtype, Runs, kernels};

const EXAMPLES: &str = "\
Examples:
  gridstride                                the demonstration: add, f32, 10,000,000 elements
  gridstride -n 2^28 --device gpu           the same on a GPU, with 268,435,456 elements
  gridstride compare --dtype f64 --grid 64 --block 128
  gridstride compare --format json -o result.json
  gridstride devices
  gridstride ptx add_f32

Exit codes: 0 done, 1 something failed, 2 wrong usage, 130 interrupted.";

/// Launch grid-stride GPU kernels written in Rust, on any machine, and see what a launch shape costs and why.
#[derive(Debug, Parser)]
#[command(version, about, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Option<Verb>,
    #[command(flatten)]
    pub compare: CompareArgs,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Launch a kernel as one thread and as a full grid, measure both properly, and say why they differ (the default)
    Compare(CompareArgs),
    /// List the devices that kernels can run on
    Devices(DevicesArgs),
    /// Print the kernels' PTX, all of it or one kernel's
    Ptx(PtxArgs),
}

/// What to compare, and how often to measure it.
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// Elements: 10000000, 10_000_000, 1e7, 10M and 2^24 are all understood
    #[arg(short = 'n', long, default_value = "10_000_000", value_name = "N", allow_negative_numbers = true)]
    pub elements: Elements,
    /// Kernel to launch
    #[arg(long, default_value = "add", value_parser = kernel_name, value_name = "NAME")]
    pub kernel: String,
    /// Element type: f32, f64 or i32
    #[arg(long, default_value = "f32", value_name = "TYPE")]
    pub dtype: Dtype,
    /// Blocks of the second launch: 64, 16x16 or 8x8x4 [default: what suits the device]
    #[arg(long, value_name = "BLOCKS")]
    pub grid: Option<Dimensions>,
    /// Threads a block of the second launch [default: 256]
    #[arg(long, value_name = "THREADS")]
    pub block: Option<Dimensions>,
    /// Leave out the launch as one thread
    #[arg(long)]
    pub no_single: bool,
    /// Timed runs of each launch [default: 10, and fewer of a launch with which they would take more than 2 s]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000), value_name = "COUNT")]
    pub runs: Option<u32>,
    /// Runs before anything is timed [default: 2, and fewer likewise]
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=10_000), value_name = "COUNT")]
    pub warmup: Option<u32>,
    /// Seed of the random inputs
    #[arg(long, default_value_t = 42, value_name = "NUMBER")]
    pub seed: u64,
    #[command(flatten)]
    pub device: DeviceArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl CompareArgs {
    /// How often to run: as asked for, whatever it takes, or as a reader has patience for.
    #[must_use]
    pub fn runs(&self) -> Runs {
        let default = Runs::default();
        Runs {
            warmup: self.warmup.unwrap_or(default.warmup),
            timed: self.runs.unwrap_or(default.timed),
            patience: if self.warmup.is_none() && self.runs.is_none() { default.patience } else { None },
        }
    }
}

#[derive(Debug, Clone, Args)]
pub struct DevicesArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Clone, Args)]
pub struct PtxArgs {
    /// Kernel to print, add for example, or one entry point of it, add_f32 [default: the whole module]
    pub kernel: Option<String>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
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
}

fn kernel_name(text: &str) -> Result<String, String> {
    let known: Vec<&str> = kernels::ALL.iter().map(|kernel| kernel.name()).collect();
    match kernels::find(text) {
        Ok(kernel) => Ok(kernel.name().to_owned()),
        Err(error) => Err(format!("{error} (known: {})", known.join(", "))),
    }
}

/// A number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elements(pub u64);

impl FromStr for Elements {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a number of elements: try 10000000, 10_000_000, 1e7, 10M or 2^24");
        let beyond = || format!("`{text}` is more than 64 bits can count");
        let plain = text.trim().replace(['_', ' '], "");
        if let Some((base, power)) = plain.split_once('^') {
            let (base, power): (u64, u32) = (base.parse().map_err(|_| wrong())?, power.parse().map_err(|_| wrong())?);
            return base.checked_pow(power).map(Self).ok_or_else(beyond);
        }
        let (number, factor) = split_suffix(&plain);
        if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) {
            let whole = number.parse::<u64>().ok().and_then(|whole| whole.checked_mul(factor));
            return whole.map(Self).ok_or_else(beyond);
        }
        let value = number.parse::<f64>().map_err(|_| wrong())? * factor as f64;
        // Exact in an f64, so that what is run is what was asked for.
        let exact = value >= 0.0 && value.fract() == 0.0 && value <= 9_007_199_254_740_992.0;
        if exact { Ok(Self(value as u64)) } else { Err(wrong()) }
    }
}

/// `10M` is 10 and a million. The suffixes are powers of ten; `2^20` is there for the others.
fn split_suffix(text: &str) -> (&str, u64) {
    let suffixes = [(['k', 'K'], 1_000), (['m', 'M'], 1_000_000), (['g', 'G'], 1_000_000_000)];
    let found = suffixes.into_iter().find_map(|(letters, factor)| Some((text.strip_suffix(letters)?, factor)));
    found.unwrap_or((text, 1))
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
    fn elements_as_people_write_them() {
        let parsed = |text: &str| text.parse::<Elements>().map(|n| n.0);
        for (text, expected) in [
            ("0", 0),
            ("10_000_000", 10_000_000),
            ("1e7", 10_000_000),
            ("2^28", 1 << 28),
            ("10M", 10_000_000),
            ("1.5k", 1500),
            ("1G", 1_000_000_000),
            ("2 k", 2000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parsed(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "-1",
            "ten",
            "1.5",
            "1e30",
            "2^64",
            "2^",
            "99999999999999999999",
            "inf",
            "nan",
            "1e-3",
            "5\u{212a}",
            "M",
            "1e",
            "+",
            "9e9G",
            "18446744073709551615k",
            "2^-1",
            "²",
        ] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_unknown_kernel_or_type_names_the_nearest() {
        let message = |args: &[&str]| Cli::try_parse_from(args).unwrap_err().to_string();
        assert!(message(&["gridstride", "--kernel", "ad"]).contains("did you mean `add`"));
        assert!(message(&["gridstride", "--dtype", "f23"]).contains("did you mean `f32`"));
        assert!(message(&["gridstride", "compare", "--dtype", "complex"]).contains("known: f32, f64, i32"));
    }

    #[test]
    fn asking_for_runs_gets_them() {
        let runs = |args: &[&str]| Cli::try_parse_from(args).unwrap().compare.runs();
        assert_eq!(runs(&["gridstride"]), Runs::default());
        assert_eq!(runs(&["gridstride", "--runs", "30"]), Runs { warmup: 2, timed: 30, patience: None });
        assert_eq!(runs(&["gridstride", "--warmup", "0"]), Runs { warmup: 0, timed: 10, patience: None });
    }
}
