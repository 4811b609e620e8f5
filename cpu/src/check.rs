//! Launches a kernel under the checks of the CPU device, and says what they found.

use gridstride_driver::{Checks, Finding, Settings};

use crate::Choice;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::kernels::{self, Kernel};
use crate::module::Module;
use crate::shape::LaunchShape;

/// One launch to check.
pub struct Trial<'a> {
    /// The kernel.
    pub kernel: &'a dyn Kernel,
    /// Its element type.
    pub dtype: Dtype,
    /// Elements.
    pub n: u64,
    /// Blocks and threads.
    pub shape: LaunchShape,
    /// Seed of the inputs.
    pub seed: u64,
}

/// A launch under checks.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Element type.
    pub dtype: Dtype,
    /// Elements.
    pub n: u64,
    /// Blocks and threads.
    pub shape: LaunchShape,
    /// What the checks found.
    pub findings: Vec<Finding>,
    /// The fault that ended it, or how its result is wrong.
    pub failure: Option<String>,
}

impl Checked {
    /// Nothing was found, and the result is right.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.failure.is_none()
    }
}

/// From now on, launches of this process on the CPU device are watched.
pub fn watch(checks: Checks, schedule_seed: Option<u64>, schedules: u32) {
    gridstride_driver::watch(Settings { checks, schedule_seed, schedules });
}

/// Runs a trial on a device of its own, so that what it leaves behind is known to be its own, and a fault ends only it.
///
/// # Errors
/// When the trial cannot be made: no device, a type that the kernel is not there for, a shape that the device does not
/// take. What goes wrong in the kernel is a result.
pub fn check(trial: &Trial<'_>, ptx: &str) -> Result<Checked> {
    let Trial { kernel, dtype, n, shape, seed } = *trial;
    let device = Device::open(Choice::Cpu)?;
    shape.check(device.facts())?;
    kernels::check(kernel, &device, dtype, n)?;
    let module = Module::load(&device, ptx)?;
    let launched = launch(trial, &device, &module, seed);
    drop(module);
    // What the context still owns is what nobody freed.
    drop(device);
    let findings = gridstride_driver::take_findings();
    let failure = match launched {
        Ok(()) => None,
        Err(error @ (Error::Wrong { .. } | Error::Driver { .. })) => Some(error.to_string()),
        Err(other) => return Err(other),
    };
    Ok(Checked { kernel: kernel.name(), dtype, n, shape, findings, failure })
}

fn launch(trial: &Trial<'_>, device: &Device, module: &Module, seed: u64) -> Result<()> {
    let Trial { kernel, dtype, n, shape, .. } = *trial;
    let entry = kernel.entry(dtype);
    let mut prepared = kernel.prepare(device, dtype, usize::try_from(n).unwrap_or(usize::MAX), seed)?;
    let run = |prepared: &mut dyn kernels::Prepared| {
        prepared.launch(device, module, &entry, shape)?;
        device.synchronize()?;
        let wrong = |detail| Error::Wrong { kernel: entry.clone(), shape: shape.to_string(), detail };
        prepared.verify()?.map_err(wrong)
    };
    let done = run(&mut *prepared);
    // Buffers go only when nothing uses them any more.
    let idle = device.synchronize();
    done.and(idle)
}
