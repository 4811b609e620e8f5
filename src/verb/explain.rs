//! `gridstride explain`: what is wrong with a launch, before it runs.

use std::path::PathBuf;

use clap::ValueEnum;
use gridstride_cpu::foreign::{Signature, signatures};
use gridstride_cpu::{Choice, Device, Dimensions, Dtype, LaunchShape, Module, kernels};

use crate::advice::launch::Loop;
use crate::args::{DeviceArg, Elements, OutputArgs, kernel_name};
use crate::error::{Error, Result};
use crate::findings::explain::Explained;
use crate::output::Output;
use crate::verb::compare::suited;
use crate::verb::run::{pick, read_ptx};
use crate::{PTX, report};

const EXAMPLES: &str = "\
Examples:
  gridstride explain --grid 1 --block 1 -n 10_000_000      why is this slow?
  gridstride explain --grid 0 --block 256 -n 100           why is my output unchanged?
  gridstride explain --grid 256 --block 9766               why does this not start?
  gridstride explain --grid 100 --block 256 -n 1e6 --loop none
  gridstride explain kernels.ptx add_f32 --grid 500 --block 33 -n 1e6

Nothing is launched. A launch with which nothing is wrong gets no complaint.";

/// Say what is wrong with a launch on this device, before it runs
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// PTX file with a kernel of your own; its launch bounds, registers and shared memory are looked at
    #[arg(value_name = "FILE.ptx")]
    pub file: Option<PathBuf>,
    /// Kernel of the file [default: the only one]
    #[arg(value_name = "ENTRY")]
    pub entry: Option<String>,
    /// Elements of the work
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub elements: Option<Elements>,
    /// Blocks: 64, 16x16 or 8x8x4 [default: what suits the device]
    #[arg(long, value_name = "BLOCKS")]
    pub grid: Option<Dimensions>,
    /// Threads a block [default: 256]
    #[arg(long, value_name = "THREADS")]
    pub block: Option<Dimensions>,
    /// Bytes of dynamic shared memory a block
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    pub shared: u32,
    /// How the kernel goes over its elements [default: grid-stride for the kernels of gridstride, else unknown]
    #[arg(long = "loop", value_enum, value_name = "KIND")]
    pub over: Option<LoopChoice>,
    /// Kernel of gridstride, where no file is given
    #[arg(long, default_value = "add", value_parser = kernel_name, value_name = "NAME")]
    pub kernel: String,
    /// Its element type
    #[arg(long, default_value = "f32", value_name = "TYPE")]
    pub dtype: Dtype,
    #[command(flatten)]
    pub device: DeviceArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How a kernel goes over its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoopChoice {
    /// A grid-stride loop: any number of threads covers everything
    GridStride,
    /// One element a thread
    None,
    /// Not known
    Unknown,
}

impl From<LoopChoice> for Loop {
    fn from(choice: LoopChoice) -> Self {
        match choice {
            LoopChoice::GridStride => Self::GridStride,
            LoopChoice::None => Self::None,
            LoopChoice::Unknown => Self::Unknown,
        }
    }
}

/// Runs the verb.
///
/// # Errors
/// See [`crate::Error`].
pub fn run(args: &Args) -> Result<()> {
    let output = Output::open(args.output.output.as_deref())?;
    let device = Device::open(args.device.device.map(Choice::from))?;
    let facts = device.facts().clone();
    let elements = args.elements.map(|elements| elements.0);
    let ours = kernels::find(&args.kernel)?;
    let entry = ours.entry(args.dtype);
    let (ptx, name) = match &args.file {
        Some(file) => (read_ptx(file)?, args.entry.as_deref()),
        None => (PTX.to_owned(), Some(entry.as_str())),
    };
    let file = args.file.clone().unwrap_or_default();
    let known = signatures(&ptx).map_err(|error| Error::Failed(format!("`{}`: {error}", file.display())))?;
    let signature: &Signature = pick(&known, name, &file)?;
    // Of a kernel of ours it is known how many iterations its loop has, which are fewer where it takes several at once.
    let iterations = match args.file {
        None => elements.map(|n| ours.iterations(args.dtype, n)),
        Some(_) => elements,
    };
    let full = match args.file {
        None => kernels::full_shape(ours, args.dtype, elements.unwrap_or(10_000_000), &facts),
        Some(_) => LaunchShape::full(&facts, elements.unwrap_or(10_000_000), 3 * 16),
    };
    let shape = suited(args.grid, args.block, full);
    let kernel = match shape.check(&facts) {
        // What the device says of a kernel costs its compilation, and says nothing of a launch that is refused anyway.
        Ok(()) => Some(Module::load(&device, &ptx)?.kernel_facts(&signature.name, shape, args.shared)?),
        Err(_) => None,
    };
    let usual = if args.file.is_none() { Loop::GridStride } else { Loop::Unknown };
    let over = args.over.map_or(usual, Loop::from);
    // Whoever says that the kernel has no loop means elements.
    let n = if over == Loop::None { elements } else { iterations };
    let explained = Explained { facts, signature, shape, elements, n, over, kernel, full };
    output.write(&report::write(args.output.format, &explained))
}
