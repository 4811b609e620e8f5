//! `gridstride run`: a kernel of somebody else's, from a PTX file, with arguments given on the command line.

pub mod spec;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use gridstride_cpu::array::{Array, Difference};
use gridstride_cpu::foreign::{Argument, Launch, Signature, launch, signatures};
use gridstride_cpu::{Choice, Device, Dimensions, LaunchShape, Module, Runs};

use self::spec::Spec;
use crate::args::{DeviceArg, OutputArgs};
use crate::error::{Error, Result};
use crate::findings::run::{Checked, Ran};
use crate::output::Output;
use crate::progress::Bar;
use crate::{npy, report};

const EXAMPLES: &str = "\
Arguments, one --arg for each parameter of the kernel, in its order:
  f32[1000]=random   a buffer of 1000 f32; also zeros, ones, iota, a number, random:LOW:HIGH,
                     @file.npy; with nothing behind the brackets it is an output: filled so that
                     elements which the kernel does not write are found
  @in.npy            a buffer with the elements of a NumPy file
  len                the number of elements of the buffer before it
  i32=5              a value; 5 alone takes the type that the parameter has in the PTX

Examples:
  gridstride ptx -o kernels.ptx
  gridstride run kernels.ptx add_f32 --grid 4 --block 256 --arg 'f32[1000]=iota' --arg len \\
      --arg 'f32[1000]=ones' --arg len --arg 'f32[1000]' --save 4=sum.npy
  gridstride run saxpy.ptx --block 128 --arg 1000 --arg 2.0 --arg @x.npy --arg @y.npy --expect 3=@sums.npy";

/// Launch a kernel from a PTX file of your own, look at its outputs, save or verify them
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File of PTX text, from nvcc -ptx, rustc, Numba or Triton; `-` for standard input
    #[arg(value_name = "FILE.ptx")]
    pub file: PathBuf,
    /// Kernel to launch [default: the only one]
    pub kernel: Option<String>,
    /// An argument of the kernel, see below
    #[arg(long = "arg", value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub arguments: Vec<Spec>,
    /// Blocks: 64, 16x16 or 8x8x4
    #[arg(long, default_value = "1", value_name = "BLOCKS")]
    pub grid: Dimensions,
    /// Threads a block
    #[arg(long, default_value = "256", value_name = "THREADS")]
    pub block: Dimensions,
    /// Bytes of dynamic shared memory a block
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    pub shared: u32,
    /// Elements to print of each buffer that the kernel changed
    #[arg(long, default_value_t = 8, value_name = "COUNT")]
    pub print: usize,
    /// Save a buffer after the launch as a NumPy file: the argument's place, from 0, and the file
    #[arg(long, value_name = "PLACE=FILE.npy")]
    pub save: Vec<Placed<PathBuf>>,
    /// What a buffer must hold after the launch: 3=@sums.npy, 3=iota or 3=1.5. Exit code 1 where it does not
    #[arg(long, value_name = "PLACE=WHAT")]
    pub expect: Vec<Placed<String>>,
    /// How far a float may be from what is expected, as a share of it; below 1 as it is
    #[arg(long, default_value_t = 0.0, value_name = "SHARE", allow_negative_numbers = true)]
    pub tolerance: f64,
    /// Timed launches behind the first
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=10_000), value_name = "COUNT")]
    pub runs: u32,
    /// Seed of random buffers
    #[arg(long, default_value_t = 42, value_name = "NUMBER")]
    pub seed: u64,
    #[command(flatten)]
    pub device: DeviceArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `3=something`: for the argument in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    pub place: usize,
    pub what: T,
}

impl<T: FromStr> FromStr for Placed<T> {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || format!("`{text}`: write the argument's place, from 0, then `=`, such as 3=out.npy");
        let (place, what) = text.split_once('=').ok_or_else(wrong)?;
        let what = Some(what).filter(|what| !what.is_empty()).and_then(|what| what.parse().ok()).ok_or_else(wrong)?;
        Ok(Self { place: place.parse().map_err(|_| wrong())?, what })
    }
}

/// Runs the verb.
///
/// # Errors
/// See [`crate::Error`]; a buffer that does not hold what is expected is [`Error::Failed`] after the report.
pub fn run(args: &Args) -> Result<()> {
    let output = Output::open(args.output.output.as_deref())?;
    let ptx = read_ptx(&args.file)?;
    let kernels = signatures(&ptx).map_err(|error| Error::Failed(format!("`{}`: {error}", args.file.display())))?;
    let kernel = pick(&kernels, args.kernel.as_deref(), &args.file)?;
    check_count(&args.arguments, kernel)?;
    check_places(args)?;
    let device = Device::open(args.device.device.map(Choice::from))?;
    let shape = LaunchShape { grid: args.grid.0, block: args.block.0 };
    shape.check(device.facts()).map_err(gridstride_cpu::Error::from)?;
    device.check_room(args.arguments.iter().map(Spec::bytes).fold(0, u64::saturating_add))?;
    let arguments = arguments(&args.arguments, kernel, args.seed)?;
    let expected = expected(args, &arguments)?;
    let saves = saves(args)?;
    let module = Module::load(&device, &ptx)?;
    let runs = Runs { timed: args.runs, ..Runs::default() };
    let plan = Launch { kernel, shape, shared: args.shared, arguments: &arguments, runs };
    let bar = Bar::new("preparing");
    let launched = launch(&device, &module, &plan, &bar)?;
    drop(bar);
    let checks =
        expected.iter().map(|(place, array)| check(&launched.outputs, *place, array, args.tolerance)).collect();
    for (place, file) in saves {
        file.write_bytes(&npy::write(buffer(&launched.outputs, place)))?;
    }
    let facts = device.facts().clone();
    let print = args.print;
    let ran =
        Ran { facts, ptx: &ptx, plan: &plan, launched: &launched, checks, print, module_load: module.loaded_in() };
    output.write(&report::write(args.output.format, &ran))?;
    ran.verdict().map_err(Error::Failed)
}

/// The text of a file, or of standard input.
///
/// # Errors
/// [`Error::Failed`] with what is wrong with it.
pub fn read_ptx(path: &Path) -> Result<String> {
    let failed = |what: String| Error::Failed(format!("`{}`: {what}", path.display()));
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes).map_err(|e| failed(e.to_string()))?;
    } else {
        bytes = fs::read(path).map_err(|e| failed(e.to_string()))?;
    }
    if bytes.starts_with(b"\x7fELF") {
        return Err(failed("this is machine code (a cubin), and PTX text is needed: nvcc -ptx makes it".into()));
    }
    String::from_utf8(bytes)
        .map_err(|e| failed(format!("not text: byte {} is not UTF-8", e.utf8_error().valid_up_to())))
}

/// The kernel of a name, or the only one.
///
/// # Errors
/// [`Error::NoEntry`], [`Error::Usage`].
pub fn pick<'a>(kernels: &'a [Signature], name: Option<&str>, file: &Path) -> Result<&'a Signature> {
    let known = || kernels.iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>().join(", ");
    match (name, kernels) {
        (_, []) => Err(Error::Failed(format!("`{}` has no kernel: nothing in it is `.entry`", file.display()))),
        (None, [only]) => Ok(only),
        (None, _) => Err(Error::Usage(format!("which kernel? `{}` has {}", file.display(), known()))),
        (Some(name), _) => kernels.iter().find(|kernel| kernel.name == name).ok_or_else(|| {
            let near =
                kernels.iter().map(|kernel| (strsim::damerau_levenshtein(&kernel.name, name), &kernel.name)).min();
            let near =
                near.filter(|(distance, near)| *distance <= near.len().div_ceil(2)).map(|(_, near)| near.clone());
            Error::NoEntry { name: name.to_owned(), nearest: near, known: known() }
        }),
    }
}

/// Arguments that are too few or too many, told before anything is made.
///
/// # Errors
/// [`Error::Usage`] with the parameters of the kernel.
pub fn check_count(specs: &[Spec], kernel: &Signature) -> Result<()> {
    let (given, taken) = (specs.len(), kernel.parameters.len());
    if given == taken {
        return Ok(());
    }
    let list = kernel.parameters.iter().enumerate().map(|(at, parameter)| {
        let kind = parameter.element.map_or(format!("{} bytes", parameter.bytes), |element| element.to_string());
        format!("{at}: {} ({kind})", parameter.name)
    });
    let list: Vec<String> = list.collect();
    let list = if list.is_empty() { String::new() } else { format!(": {}", list.join(", ")) };
    Err(Error::Usage(format!("`{}` takes {taken} arguments, and {given} are given with --arg{list}", kernel.name)))
}

/// Places that are none are told before anything is made, too.
fn check_places(args: &Args) -> Result<()> {
    let places = args.save.iter().map(|save| save.place).chain(args.expect.iter().map(|expect| expect.place));
    for place in places {
        if !matches!(args.arguments.get(place), Some(Spec::Filled { .. } | Spec::File { .. })) {
            return Err(Error::Usage(format!("argument {place} is no buffer: --save and --expect are about buffers")));
        }
    }
    if args.tolerance.is_nan() || args.tolerance < 0.0 {
        return Err(Error::Usage(format!("--tolerance {} is not 0 or more", args.tolerance)));
    }
    Ok(())
}

/// The arguments for a kernel.
///
/// # Errors
/// [`Error::Usage`] with the place of the first that cannot be.
pub fn arguments(specs: &[Spec], kernel: &Signature, seed: u64) -> Result<Vec<Argument>> {
    let mut arguments: Vec<Argument> = Vec::new();
    for (place, (spec, parameter)) in specs.iter().zip(&kernel.parameters).enumerate() {
        // Buffers that are filled with random numbers differ from each other.
        let argument = spec.argument(parameter, &arguments, seed.wrapping_add(place as u64));
        arguments.push(argument.map_err(|error| Error::Usage(format!("argument {place}: {error}")))?);
    }
    Ok(arguments)
}

/// What each `--expect` expects, as long as its buffer.
fn expected(args: &Args, arguments: &[Argument]) -> Result<Vec<(usize, Array)>> {
    args.expect.iter().map(|Placed { place, what }| expectation(arguments, *place, what)).collect()
}

fn expectation(arguments: &[Argument], place: usize, what: &str) -> Result<(usize, Array)> {
    let wrong = |error: String| Error::Usage(format!("--expect {place}={what}: {error}"));
    let Some(Argument::Buffer(buffer)) = arguments.get(place) else { return Err(wrong("no buffer".to_owned())) };
    let (element, n) = (buffer.element(), buffer.len());
    let spec: Spec = format!("{element}[{n}]={what}").parse().map_err(wrong)?;
    let parameter = gridstride_cpu::foreign::Parameter { name: String::new(), bytes: 8, element: None };
    match spec.argument(&parameter, &[], 0).map_err(wrong)? {
        Argument::Buffer(array) => Ok((place, array)),
        Argument::Value(_) => Err(wrong("a buffer is expected".to_owned())),
    }
}

/// The files of `--save`, opened before the launch.
fn saves(args: &Args) -> Result<Vec<(usize, Output)>> {
    args.save.iter().map(|save| Ok((save.place, Output::open(Some(&save.what))?))).collect()
}

fn buffer(outputs: &[Option<Array>], place: usize) -> &Array {
    outputs[place].as_ref().expect("checked before the launch: the argument is a buffer")
}

fn check(outputs: &[Option<Array>], place: usize, expected: &Array, tolerance: f64) -> Checked {
    let difference: Option<Difference> = buffer(outputs, place).difference(expected, tolerance);
    Checked { place, n: expected.len(), tolerance, difference }
}
