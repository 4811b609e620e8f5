//! `gridstride sweep`: every combination of grid, block and number of elements, and how flat the best one is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gridstride_cpu::{Choice, Device, Dtype, Facts, LaunchShape, Module, Plan, Runs, compare, kernels};

use crate::args::{DeviceArg, OutputArgs, Sizes, kernel_name};
use crate::error::{Error, Result};
use crate::findings::sweep::{Sweep, Swept};
use crate::output::Output;
use crate::progress::Bar;
use crate::report::picture::Picture;
use crate::{PTX, report};

const EXAMPLES: &str = "\
Sizes are lists of numbers and ranges: 32..1024 doubles, 100..500:100 goes in steps, 1.. goes as far as it makes sense.

Examples:
  gridstride sweep                                         grids and blocks by doubling
  gridstride sweep --block 64..512 --grid 132..1320:132 -n 2^28 --device gpu
  gridstride sweep -n 1e5,1e6,1e7 --format csv -o sweep.csv
  gridstride sweep --svg heat.svg --format html -o sweep.html";

/// Measure a kernel over grids, blocks and sizes; a heat map, the best shape, and how flat the optimum is
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Kernel to launch
    #[arg(long, default_value = "add", value_parser = kernel_name, value_name = "NAME")]
    pub kernel: String,
    /// Element type
    #[arg(long, default_value = "f32", value_name = "TYPE")]
    pub dtype: Dtype,
    /// Elements [default: 10,000,000 on a GPU, 1,000,000 on the CPU device]
    #[arg(short = 'n', long, value_name = "SIZES")]
    pub elements: Option<Sizes>,
    /// Blocks, along x
    #[arg(long, default_value = "1..", value_name = "SIZES")]
    pub grid: Sizes,
    /// Threads a block, along x
    #[arg(long, default_value = "32..1024", value_name = "SIZES")]
    pub block: Sizes,
    /// Timed runs of each shape [default: 7, and fewer of one with which they would take more than 0.2 s]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000), value_name = "COUNT")]
    pub runs: Option<u32>,
    /// Seed of the random inputs
    #[arg(long, default_value_t = 42, value_name = "NUMBER")]
    pub seed: u64,
    /// Write the heat map to this file; with several sizes, to one file for each, heat-1000.svg
    #[arg(long, value_name = "FILE.svg")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub device: DeviceArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// More shapes than this are nobody's evening.
const MOST_SHAPES: usize = 10_000;

/// Runs the verb.
///
/// # Errors
/// See [`crate::Error`]; nothing is written then.
pub fn run(args: &Args) -> Result<()> {
    let output = Output::open(args.output.output.as_deref())?;
    let kernel = kernels::find(&args.kernel)?;
    let device = Device::open(args.device.device.map(Choice::from))?;
    let facts = device.facts();
    let usual = if facts.is_gpu() { 10_000_000 } else { 1_000_000 };
    let sizes = args.elements.as_ref().map_or(Ok(vec![usual]), |sizes| sizes.up_to(usual)).map_err(Error::Usage)?;
    let blocks = args.block.up_to(facts.max_threads_per_block.into()).map_err(Error::Usage)?;
    let plans: Vec<(u64, Vec<u64>)> = sizes
        .iter()
        .map(|n| Ok((*n, grids(args, facts, kernel.iterations(args.dtype, *n), &blocks)?)))
        .collect::<Result<_>>()?;
    let total: usize = plans.iter().map(|(_, grids)| grids.len() * blocks.len()).sum();
    if total > MOST_SHAPES {
        return Err(Error::Usage(format!("{total} launches to measure; at most {MOST_SHAPES} are")));
    }
    let pictures =
        sizes.iter().map(|n| picture_file(args.svg.as_deref(), *n, sizes.len())).collect::<Result<Vec<_>>>()?;
    let module = Module::load(&device, PTX)?;
    let runs = Runs {
        warmup: 1,
        timed: args.runs.unwrap_or(7),
        patience: if args.runs.is_none() { Some(Duration::from_millis(200)) } else { None },
    };
    let bar = Bar::over(u64::try_from(total).unwrap_or(u64::MAX));
    let mut swept = Vec::new();
    for (n, grids) in plans {
        let shapes = shapes(&grids, &blocks)?;
        let plan = Plan { kernel, dtype: args.dtype, n, seed: args.seed, runs, shapes };
        swept.push(Swept { grids, blocks: blocks.clone(), comparison: compare(&device, &module, &plan, &bar)? });
    }
    drop(bar);
    for (file, swept) in pictures.into_iter().zip(&swept) {
        if let Some(file) = file {
            file.write_bytes(swept.heat().svg().as_bytes())?;
        }
    }
    output.write(&report::write(args.output.format, &Sweep(swept)))
}

/// The grids for some iterations. One without an end goes as far as the smallest block has work for.
fn grids(args: &Args, facts: &Facts, iterations: u64, blocks: &[u64]) -> Result<Vec<u64>> {
    let smallest = blocks.iter().min().copied().unwrap_or(1);
    let end = iterations.div_ceil(smallest).clamp(1, facts.max_grid[0].into());
    args.grid.up_to(end).map_err(Error::Usage)
}

/// Blocks inside, grids outside.
fn shapes(grids: &[u64], blocks: &[u64]) -> Result<Vec<LaunchShape>> {
    let small =
        |size: u64| u32::try_from(size).map_err(|_| Error::Usage(format!("{size} is beyond what a launch can have")));
    let mut shapes = Vec::new();
    for grid in grids {
        for block in blocks {
            shapes.push(LaunchShape::linear(small(*grid)?, small(*block)?));
        }
    }
    Ok(shapes)
}

/// The file of a picture, opened before the work.
fn picture_file(path: Option<&Path>, n: u64, sizes: usize) -> Result<Option<Output>> {
    let Some(path) = path else { return Ok(None) };
    if sizes == 1 {
        return Output::open(Some(path)).map(Some);
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map_or(String::new(), |extension| format!(".{}", extension.to_string_lossy()));
    Output::open(Some(&path.with_file_name(format!("{name}-{n}{extension}")))).map(Some)
}
