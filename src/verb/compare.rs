//! `gridstride compare`: one thread against a full grid.

use gridstride_cpu::{Choice, Device, Dimensions, LaunchShape, Module, Plan, compare, kernels};

use crate::args::CompareArgs;
use crate::error::Result;
use crate::output::Output;
use crate::progress::Bar;
use crate::{PTX, report};

/// Runs the verb.
///
/// # Errors
/// See [`crate::Error`]; nothing is written then.
pub fn run(args: &CompareArgs) -> Result<()> {
    let output = Output::open(args.output.output.as_deref())?;
    let kernel = kernels::find(&args.kernel)?;
    let device = Device::open(args.device.device.map(Choice::from))?;
    let full = kernels::full_shape(kernel, args.dtype, args.elements.0, device.facts());
    let shape = second_shape(args, full);
    shape.check(device.facts()).map_err(gridstride_cpu::Error::from)?;
    let module = Module::load(&device, PTX)?;
    let single = LaunchShape::single_thread();
    let shapes = if shape == single || args.no_single { vec![shape] } else { vec![single, shape] };
    let plan = Plan { kernel, dtype: args.dtype, n: args.elements.0, seed: args.seed, runs: args.runs(), shapes };
    let bar = Bar::new("preparing");
    let comparison = compare(&device, &module, &plan, &bar)?;
    drop(bar);
    output.write(&report::of(args.output.format).comparison(&comparison))
}

/// The shape that is compared with one thread: as asked for, the rest as suits the device.
fn second_shape(args: &CompareArgs, full: LaunchShape) -> LaunchShape {
    match (args.grid, args.block) {
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
