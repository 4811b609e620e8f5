//! `gridstride bench`: every kernel at full size against what the device reaches.

use gridstride_cpu::kernels::{self, Kernel};
use gridstride_cpu::{Bench, Choice, Device, Dtype, Measured, Module, Runs, copy_rate, flop_rate, lattice};

use crate::args::{DeviceArg, Elements, OutputArgs, kernel_name};
use crate::error::Result;
use crate::findings::bench::{Benchmark, Row};
use crate::output::Output;
use crate::progress::Bar;
use crate::{PTX, report};

const EXAMPLES: &str = "\
Each kernel is verified against the host before and after it is timed. Rates count the bytes that the algorithm must move,
or the operations that it must do, whichever takes the device longer; \"of peak\" is the share of a copy's bandwidth or of the
rate of multiply-adds, both measured in the same run.

Examples:
  gridstride bench                                     every kernel, its first element type
  gridstride bench --kernel sum --kernel dot --dtype f64
  gridstride bench --lattice                           no times: every kernel in many launch shapes and sizes";

/// Measure every kernel at full size against the device's copy bandwidth and arithmetic
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Kernel; may be given several times [default: all]
    #[arg(long, value_parser = kernel_name, value_name = "NAME")]
    pub kernel: Vec<String>,
    /// Element type; kernels that are not there for it are left out [default: each kernel's first]
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Elements [default: enough to leave the caches]
    #[arg(short = 'n', long, value_name = "N")]
    pub elements: Option<Elements>,
    /// Timed runs of each kernel
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000), value_name = "COUNT")]
    pub runs: u32,
    /// Runs before anything is timed
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=10_000), value_name = "COUNT")]
    pub warmup: u32,
    /// Instead of times: verify every kernel and element type over a lattice of launch shapes and sizes
    #[arg(long)]
    pub lattice: bool,
    /// Seed of the random inputs
    #[arg(long, default_value_t = 42, value_name = "NUMBER")]
    pub seed: u64,
    #[command(flatten)]
    pub device: DeviceArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Operations or elements that one launch of the lattice may ask for: on a GPU one thread does a hundred million a second.
const LATTICE_WORK: u64 = 4_000_000;

/// Runs the verb.
///
/// # Errors
/// See [`crate::Error`]; nothing is written then.
pub fn run(args: &Args) -> Result<()> {
    let output = Output::open(args.output.output.as_deref())?;
    let device = Device::open(args.device.device.map(Choice::from))?;
    let module = Module::load(&device, PTX)?;
    let chosen = chosen(args)?;
    let benchmark =
        if args.lattice { verified(args, &device, &module, &chosen) } else { timed(args, &device, &module, &chosen) };
    output.write(&report::write(args.output.format, &benchmark?))
}

/// A kernel and the element types that were asked for.
type Chosen = (&'static dyn Kernel, Vec<Dtype>);

fn chosen(args: &Args) -> Result<Vec<Chosen>> {
    let kernels: Vec<&'static dyn Kernel> = match &args.kernel[..] {
        [] => kernels::ALL.to_vec(),
        names => names.iter().map(|name| kernels::find(name)).collect::<std::result::Result<_, _>>()?,
    };
    let types = |kernel: &dyn Kernel| match args.dtype {
        Some(dtype) => kernel.dtypes().iter().copied().filter(|known| *known == dtype).collect(),
        None if args.lattice => kernel.dtypes().to_vec(),
        None => kernel.dtypes()[..1].to_vec(),
    };
    Ok(kernels.into_iter().map(|kernel| (kernel, types(kernel))).collect())
}

/// The copy is large enough to leave the caches.
fn copied(device: &Device) -> u64 {
    if device.facts().is_gpu() { 1 << 30 } else { 64 << 20 }
}

fn timed(args: &Args, device: &Device, module: &Module, chosen: &[Chosen]) -> Result<Benchmark> {
    let bar = Bar::new("copying");
    let copy = copy_rate(device, copied(device), args.runs)?;
    let flops = flop_rate(device, module, args.runs)?;
    let mut rows = Vec::new();
    for (kernel, types) in chosen {
        for dtype in types {
            let n = args.elements.map_or(kernel.sizes().on(device.facts()), |n| n.0);
            let measured = one(args, device, module, *kernel, *dtype, n, &bar)?;
            rows.push(Row::new(*kernel, *dtype, n, measured));
        }
    }
    drop(bar);
    Ok(Benchmark { facts: device.facts().clone(), copy: Some(copy), flops: Some(flops), rows, verified: Vec::new() })
}

fn one(
    args: &Args,
    device: &Device,
    module: &Module,
    kernel: &dyn Kernel,
    dtype: Dtype,
    n: u64,
    bar: &Bar,
) -> Result<Measured> {
    kernels::check(kernel, device, dtype, n)?;
    let mut prepared = kernel.prepare(device, dtype, usize::try_from(n).unwrap_or(usize::MAX), args.seed)?;
    let (entry, bytes) = (kernel.entry(dtype), kernel.bytes(dtype, n));
    let runs = Runs { warmup: args.warmup, timed: args.runs, patience: Runs::default().patience };
    let mut bench = Bench { device, module, entry: &entry, prepared: &mut *prepared, bytes, runs };
    Ok(bench.measure(kernels::full_shape(kernel, dtype, n, device.facts()), bar)?)
}

fn verified(args: &Args, device: &Device, module: &Module, chosen: &[Chosen]) -> Result<Benchmark> {
    let bar = Bar::new("verifying");
    let work = if device.facts().is_gpu() { LATTICE_WORK } else { LATTICE_WORK / 10 };
    let mut verified = Vec::new();
    for (kernel, types) in chosen {
        for dtype in types {
            let found = lattice::verify(device, module, *kernel, *dtype, work, args.seed)?;
            verified.push((kernel.entry(*dtype), found.launches));
        }
    }
    drop(bar);
    Ok(Benchmark { facts: device.facts().clone(), copy: None, flops: None, rows: Vec::new(), verified })
}
