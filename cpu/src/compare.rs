//! Several launch shapes of one kernel, measured in one run.

use std::time::Duration;

use crate::copy::{CopyRate, copy_rate};
use crate::device::{Device, Facts};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::kernels::{self, Kernel};
use crate::measure::{Bench, Measured, Progress, Runs};
use crate::module::Module;
use crate::shape::LaunchShape;

/// What to compare.
pub struct Plan<'a> {
    /// The kernel.
    pub kernel: &'a dyn Kernel,
    /// Its element type.
    pub dtype: Dtype,
    /// Elements.
    pub n: u64,
    /// Seed of the inputs.
    pub seed: u64,
    /// Repetitions.
    pub runs: Runs,
    /// The shapes, slowest first by custom.
    pub shapes: Vec<LaunchShape>,
}

/// Launch shapes side by side.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The device it was measured on.
    pub facts: Facts,
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Element type.
    pub dtype: Dtype,
    /// Elements.
    pub n: u64,
    /// Elements of the output.
    pub outputs: u64,
    /// How long the module took to load.
    pub module_load: Duration,
    /// The copy that bandwidth is compared with.
    pub copy: CopyRate,
    /// The shapes, in the order of the plan.
    pub launches: Vec<Measured>,
}

impl Comparison {
    /// How many times faster the last shape is than the first, by kernel time. `None` with fewer than two shapes, or where the
    /// last one took no time that the events could see.
    #[must_use]
    pub fn speedup(&self) -> Option<f64> {
        let [first, .., last] = &self.launches[..] else { return None };
        let seconds = |measured: &Measured| measured.timing.kernel.median().as_secs_f64();
        (seconds(last) > 0.0).then(|| seconds(first) / seconds(last))
    }
}

/// Bytes of the reference copy: large enough to leave the caches, small enough to be quick.
fn copy_bytes(facts: &Facts, free: u64) -> u64 {
    let wanted = if facts.is_gpu() { 1 << 30 } else { 64 << 20 };
    wanted.min(free / 4)
}

/// Measures every shape of the plan.
///
/// # Errors
/// Of the first thing that fails; a wrong result is an error, never a row.
pub fn compare(device: &Device, module: &Module, plan: &Plan<'_>, progress: &dyn Progress) -> Result<Comparison> {
    let Plan { kernel, dtype, n, seed, runs, .. } = *plan;
    for shape in &plan.shapes {
        shape.check(device.facts())?;
    }
    kernels::check(kernel, device, dtype, n)?;
    let mut prepared = kernel.prepare(device, dtype, usize::try_from(n).unwrap_or(usize::MAX), seed)?;
    let copy = copy_rate(device, copy_bytes(device.facts(), device.free_memory()?), runs.timed.max(3))?;
    let entry = kernel.entry(dtype);
    let bytes = kernel.bytes(dtype, n);
    let mut bench = Bench { device, module, entry: &entry, prepared: &mut *prepared, bytes, runs };
    let launches = plan.shapes.iter().map(|shape| bench.measure(*shape, progress)).collect::<Result<Vec<_>>>()?;
    let (facts, module_load) = (device.facts().clone(), module.loaded_in());
    Ok(Comparison { facts, kernel: kernel.name(), dtype, n, outputs: kernel.outputs(n), module_load, copy, launches })
}
