//! `gridstride check`: the kernels under the checks of the CPU device.

use gridstride_cpu::{Checks, Dimensions, Dtype, LaunchShape, Trial, check, kernels, watch};

use crate::PTX;
use crate::args::{Elements, OutputArgs, kernel_name};
use crate::error::{Error, Result};
use crate::findings::check::Report;
use crate::output::Output;
use crate::report;

const EXAMPLES: &str = "\
Checks:
  race   accesses to the same shared or global memory that nothing orders
  init   reads of memory that nothing wrote
  sync   barriers that not all threads reach, threads that wait for ever
  leak   memory that is never freed
Bounds, alignment and use after free are always checked. docs/checks.md says what each sees, and what it does not.
Programs of your own: GRIDSTRIDE_CHECK=all and GRIDSTRIDE_DEVICE=cpu in front of their command.

Examples:
  gridstride check                           every kernel, all checks
  gridstride check sum scan --checks race,sync -n 1000,100_000
  gridstride check histogram --schedules 20  and whether the order of blocks and warps shows in the result
  gridstride check --format json -o findings.json

Exit codes: 0 nothing found, 1 something found, 2 wrong usage.";

/// Run kernels under checks, races, unwritten memory, barriers and leaks, and say what is found; exit code 1 if anything is
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Kernels to check [default: all]
    #[arg(value_parser = kernel_name, value_name = "KERNEL")]
    pub kernels: Vec<String>,
    /// Element type [default: all that a kernel is there for]
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// What to look for: race, init, sync, leak, with commas between them, or all
    #[arg(long, default_value = "all", value_name = "CHECKS")]
    pub checks: Checks,
    /// Elements
    #[arg(short = 'n', long, default_value = "0,1,33,5000", value_delimiter = ',', value_name = "N,…")]
    pub elements: Vec<Elements>,
    /// Blocks: 64, 16x16 or 8x8x4 [default: one thread, and a few blocks of 96 threads]
    #[arg(long, value_name = "BLOCKS")]
    pub grid: Option<Dimensions>,
    /// Threads a block [default: 96, if --grid is there]
    #[arg(long, value_name = "THREADS")]
    pub block: Option<Dimensions>,
    /// Run every launch in so many orders of warps and blocks, and compare what they leave, bit for bit
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000), value_name = "COUNT")]
    pub schedules: u32,
    /// Run warps and blocks in the order that this number determines [default: their own order]
    #[arg(long, conflicts_with = "schedules", value_name = "NUMBER")]
    pub schedule_seed: Option<u64>,
    /// Seed of the random inputs
    #[arg(long, default_value_t = 42, value_name = "NUMBER")]
    pub seed: u64,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs the verb.
///
/// # Errors
/// [`Error::Failed`] behind the report when something was found; others when a launch could not be tried.
pub fn run(args: &Args) -> Result<()> {
    let output = Output::open(args.output.output.as_deref())?;
    let chosen: Vec<_> = match args.kernels.is_empty() {
        true => kernels::ALL.to_vec(),
        false => args.kernels.iter().map(|name| kernels::find(name)).collect::<std::result::Result<_, _>>()?,
    };
    watch(args.checks, args.schedule_seed, args.schedules);
    let mut checked = Vec::new();
    for kernel in chosen {
        let dtypes = args.dtype.map_or_else(|| kernel.dtypes().to_vec(), |dtype| vec![dtype]);
        for dtype in dtypes {
            for Elements(n) in args.elements.iter().copied() {
                for shape in shapes(args, n) {
                    checked.push(check(&Trial { kernel, dtype, n, shape, seed: args.seed }, PTX)?);
                }
            }
        }
    }
    let report = Report { checks: args.checks, schedules: args.schedules, checked };
    let bad = report.count();
    output.write(&report::write(args.output.format, &report))?;
    match bad {
        0 => Ok(()),
        1 => Err(Error::Failed("something was found".to_owned())),
        more => Err(Error::Failed(format!("{more} things were found"))),
    }
}

/// As asked for; else one thread (where that does not take long), and some blocks that no size is a multiple of.
fn shapes(args: &Args, n: u64) -> Vec<LaunchShape> {
    if args.grid.is_some() || args.block.is_some() {
        let grid = args.grid.map_or([7, 1, 1], |Dimensions(grid)| grid);
        let block = args.block.map_or([96, 1, 1], |Dimensions(block)| block);
        return vec![LaunchShape { grid, block }];
    }
    let mut shapes = vec![LaunchShape::linear(7, 96)];
    if n <= 100 {
        shapes.insert(0, LaunchShape::single_thread());
    }
    shapes
}
