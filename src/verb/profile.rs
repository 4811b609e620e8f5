//! `gridstride profile`: the CPU device's counters of launches side by side, and what follows from them.

use std::path::PathBuf;

use gridstride_cpu::foreign::{Argument, Launch, launch, signatures};
use gridstride_cpu::{Choice, Device, Dtype, LaunchShape, Module, Plan, Runs, compare, kernels};

use crate::advice::profile::Counted;
use crate::args::{Elements, OutputArgs, Shape, kernel_name};
use crate::error::{Error, Result};
use crate::findings::profile::Profile;
use crate::output::Output;
use crate::progress::Bar;
use crate::verb::run::spec::Spec;
use crate::verb::run::{arguments, check_count, pick, read_ptx};
use crate::{PTX, report};

const EXAMPLES: &str = "\
Counts are exact and the same on every machine; they are no times. They are taken on the CPU device, which runs the PTX in
warps of 32 lanes as a GPU does; for a GPU's own counters there is NVIDIA Nsight Compute.

Examples:
  gridstride profile                                   one thread beside a full grid
  gridstride profile --kernel add_scalar --shape 1/33 --shape 64/256
  gridstride profile mine.ptx k --arg 'f32[4096]=iota' --arg 4096 --shape 16/256 --shape 256/1x16";

/// Count what launches do on the CPU device, side by side: lanes, memory sectors, bank conflicts, divergence
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// PTX file with a kernel of your own [default: the kernels of gridstride]
    #[arg(value_name = "FILE.ptx")]
    pub file: Option<PathBuf>,
    /// Kernel of the file [default: the only one]
    #[arg(value_name = "ENTRY")]
    pub entry: Option<String>,
    /// An argument of the kernel of the file, see `gridstride run --help`
    #[arg(long = "arg", value_name = "ARGUMENT", allow_hyphen_values = true, requires = "file")]
    pub arguments: Vec<Spec>,
    /// A launch, blocks/threads: 64/256 or 8x8/16x16; may be given several times [default: 1/1, and what suits the device]
    #[arg(long, value_name = "SHAPE")]
    pub shape: Vec<Shape>,
    /// Bytes of dynamic shared memory a block
    #[arg(long, default_value_t = 0, value_name = "BYTES", requires = "file")]
    pub shared: u32,
    /// Kernel of gridstride
    #[arg(long, default_value = "add", value_parser = kernel_name, value_name = "NAME")]
    pub kernel: String,
    /// Its element type
    #[arg(long, default_value = "f32", value_name = "TYPE")]
    pub dtype: Dtype,
    /// Its elements
    #[arg(short = 'n', long, default_value = "100_000", value_name = "N")]
    pub elements: Elements,
    /// Seed of random inputs
    #[arg(long, default_value_t = 42, value_name = "NUMBER")]
    pub seed: u64,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Launches side by side: more do not fit a screen.
const MOST: usize = 6;

/// Runs the verb.
///
/// # Errors
/// See [`crate::Error`]; nothing is written then.
pub fn run(args: &Args) -> Result<()> {
    let output = Output::open(args.output.output.as_deref())?;
    if args.shape.len() > MOST {
        return Err(Error::Usage(format!("{} launches: at most {MOST} fit side by side", args.shape.len())));
    }
    let device = Device::open(Choice::Cpu)?;
    let asked: Vec<LaunchShape> = args.shape.iter().map(|shape| shape.0).collect();
    for shape in &asked {
        shape.check(device.facts()).map_err(gridstride_cpu::Error::from)?;
    }
    let profile = match &args.file {
        Some(file) => foreign(args, file, &device, asked)?,
        None => ours(args, &device, asked)?,
    };
    output.write(&report::write(args.output.format, &profile))
}

fn ours(args: &Args, device: &Device, asked: Vec<LaunchShape>) -> Result<Profile> {
    let (kernel, n) = (kernels::find(&args.kernel)?, args.elements.0);
    let full = kernels::full_shape(kernel, args.dtype, n, device.facts());
    let shapes = if asked.is_empty() { vec![LaunchShape::single_thread(), full] } else { asked };
    let module = Module::load(device, PTX)?;
    let plan = Plan { kernel, dtype: args.dtype, n, seed: args.seed, runs: ONCE, shapes };
    let bar = Bar::new("counting");
    let comparison = compare(device, &module, &plan, &bar)?;
    let counted =
        |measured: &gridstride_cpu::Measured| Some(Counted { shape: measured.shape, counters: measured.counters? });
    Ok(Profile {
        facts: comparison.facts,
        ptx: PTX.to_owned(),
        kernel: kernel.entry(args.dtype),
        n: Some(n),
        launches: comparison.launches.iter().filter_map(counted).collect(),
    })
}

/// Counters do not get better with repetition.
const ONCE: Runs = Runs { warmup: 0, timed: 1, patience: None };

fn foreign(args: &Args, file: &std::path::Path, device: &Device, asked: Vec<LaunchShape>) -> Result<Profile> {
    let ptx = read_ptx(file)?;
    let known = signatures(&ptx).map_err(|error| Error::Failed(format!("`{}`: {error}", file.display())))?;
    let kernel = pick(&known, args.entry.as_deref(), file)?;
    check_count(&args.arguments, kernel)?;
    device.check_room(args.arguments.iter().map(Spec::bytes).fold(0, u64::saturating_add))?;
    let arguments = arguments(&args.arguments, kernel, args.seed)?;
    let n = arguments.iter().filter_map(|argument| match argument {
        Argument::Buffer(array) => Some(array.len() as u64),
        Argument::Value(_) => None,
    });
    let n = n.max();
    let full = LaunchShape::full(device.facts(), n.unwrap_or(1), 3 * 4);
    let shapes = if asked.is_empty() { vec![LaunchShape::single_thread(), full] } else { asked };
    let module = Module::load(device, &ptx)?;
    let bar = Bar::new("counting");
    let mut launches = Vec::new();
    for shape in shapes {
        let runs = Runs { timed: 0, ..ONCE };
        let plan = Launch { kernel, shape, shared: args.shared, arguments: &arguments, runs };
        launches.extend(launch(device, &module, &plan, &bar)?.counters.map(|counters| Counted { shape, counters }));
    }
    let (facts, kernel) = (device.facts().clone(), kernel.name.clone());
    Ok(Profile { facts, ptx, kernel, n, launches })
}
