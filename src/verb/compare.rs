//! `gridstride compare`: one thread against a full grid.

use std::path::PathBuf;

use gridstride_cpu::{Choice, Device, Dimensions, Dtype, Facts, LaunchShape, Module, Plan, Runs, compare, kernels};

use crate::args::{DeviceArg, Elements, Format, OutputArgs, kernel_name};
use crate::error::Result;
use crate::findings::compare::{Compared, timelines};
use crate::output::Output;
use crate::progress::Bar;
use crate::report::picture::Picture;
use crate::{PTX, report};

/// Launch a kernel as one thread and as a full grid, measure both properly, and say why they differ (the default)
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Elements: 10000000, 10_000_000, 1e7, 10M and 2^24 are all understood [default: what one thread can do in seconds;
    /// 10_000_000 for add]
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub elements: Option<Elements>,
    /// Kernel to launch
    #[arg(long, default_value = "add", value_parser = kernel_name, value_name = "NAME")]
    pub kernel: String,
    /// Element type: f32, f64, i32, u32 or u8 [default: the kernel's first, f32 for most]
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Blocks of the second launch: 64, 16x16 or 8x8x4 [default: what suits the device]
    #[arg(long, value_name = "BLOCKS")]
    pub grid: Option<Dimensions>,
    /// Threads a block of the second launch [default: 256]
    #[arg(long, value_name = "THREADS")]
    pub block: Option<Dimensions>,
    /// Leave out the launch as one thread
    #[arg(long)]
    pub no_single: bool,
    /// Measure the steps between as well: one warp, one block, one block for each multiprocessor
    #[arg(long, conflicts_with = "no_single")]
    pub ladder: bool,
    /// Draw when the call returned, how long the kernel ran, and what the read waited for
    #[arg(long)]
    pub timeline: bool,
    /// Write that picture to this file
    #[arg(long, value_name = "FILE.svg")]
    pub svg: Option<PathBuf>,
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

impl Args {
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

/// Runs the verb.
///
/// # Errors
/// See [`crate::Error`]; nothing is written then.
pub fn run(args: &Args) -> Result<()> {
    let output = Output::open(args.output.output.as_deref())?;
    let kernel = kernels::find(&args.kernel)?;
    let device = Device::open(args.device.device.map(Choice::from))?;
    let n = args.elements.map_or(kernel.sizes().compare, |elements| elements.0);
    let dtype = args.dtype.unwrap_or(kernel.dtypes()[0]);
    let full = kernels::full_shape(kernel, dtype, n, device.facts());
    let shape = suited(args.grid, args.block, full);
    shape.check(device.facts()).map_err(gridstride_cpu::Error::from)?;
    let module = Module::load(&device, PTX)?;
    let picture = args.svg.as_deref().map(|path| Output::open(Some(path))).transpose()?;
    let shapes = shapes(args, device.facts(), shape);
    let plan = Plan { kernel, dtype, n, seed: args.seed, runs: args.runs(), shapes };
    let bar = Bar::new("preparing");
    let comparison = compare(&device, &module, &plan, &bar)?;
    drop(bar);
    if let Some(picture) = picture {
        picture.write_bytes(timelines(&comparison).svg().as_bytes())?;
    }
    // A page has room for it.
    let timeline = args.timeline || args.output.format == Format::Html;
    output.write(&report::write(args.output.format, &Compared { comparison, timeline }))
}

/// The launches, smallest first, each once.
fn shapes(args: &Args, facts: &Facts, full: LaunchShape) -> Vec<LaunchShape> {
    let single = LaunchShape::single_thread();
    let mut shapes = if args.no_single { Vec::new() } else { vec![single] };
    if args.ladder {
        let (warp, block, processors) = (facts.warp_size, full.block, facts.multiprocessors);
        shapes.push(LaunchShape::linear(1, warp));
        shapes.push(LaunchShape { grid: [1; 3], block });
        shapes.push(LaunchShape { grid: [processors, 1, 1], block });
        // Steps beyond the full grid are none.
        shapes.retain(|step| step.threads() < full.threads());
    }
    shapes.retain(|step| *step != full);
    shapes.push(full);
    shapes.dedup();
    shapes
}

/// A shape as asked for, the rest as suits the device.
#[must_use]
pub fn suited(grid: Option<Dimensions>, block: Option<Dimensions>, full: LaunchShape) -> LaunchShape {
    match (grid, block) {
        (None, None) => full,
        (Some(Dimensions(grid)), Some(Dimensions(block))) => LaunchShape { grid, block },
        (Some(Dimensions(grid)), None) => LaunchShape { grid, block: full.block },
        (None, Some(Dimensions(block))) => {
            // As many threads as the full grid has.
            let threads = block.iter().map(|n| u64::from(*n)).product::<u64>().max(1);
            let blocks = full.threads().div_ceil(threads);
            LaunchShape { grid: [u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1], block }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::Parser;

    #[test]
    fn the_ladder_has_each_step_once() {
        let facts = crate::findings::sample::gpu().facts;
        let steps = |args: &[&str], full: LaunchShape| {
            let args = Cli::try_parse_from(args).unwrap().compare;
            shapes(&args, &facts, full).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let full = LaunchShape::linear(9766, 256);
        assert_eq!(steps(&["gridstride"], full), "<<<1, 1>>> <<<9766, 256>>>");
        assert_eq!(steps(&["gridstride", "--no-single"], full), "<<<9766, 256>>>");
        let ladder = ["gridstride", "--ladder"];
        assert_eq!(steps(&ladder, full), "<<<1, 1>>> <<<1, 32>>> <<<1, 256>>> <<<132, 256>>> <<<9766, 256>>>");
        assert_eq!(steps(&ladder, LaunchShape::linear(1, 32)), "<<<1, 1>>> <<<1, 32>>>");
        assert_eq!(steps(&ladder, LaunchShape::single_thread()), "<<<1, 1>>>");
    }

    #[test]
    fn asking_for_runs_gets_them() {
        let runs = |args: &[&str]| Cli::try_parse_from(args).unwrap().compare.runs();
        assert_eq!(runs(&["gridstride"]), Runs::default());
        assert_eq!(runs(&["gridstride", "--runs", "30"]), Runs { warmup: 2, timed: 30, patience: None });
        assert_eq!(runs(&["gridstride", "--warmup", "0"]), Runs { warmup: 0, timed: 10, patience: None });
    }
}
