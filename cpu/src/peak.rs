//! What the arithmetic of the device reaches in fused multiply-adds: the ceiling for everything that computes.

use std::ffi::c_void;

use cust::memory::DeviceBuffer;

use crate::copy::{elapsed, event};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::module::Module;
use crate::shape::LaunchShape;
use crate::stats::Samples;

/// Measured multiply-adds in single precision.
#[derive(Debug, Clone)]
pub struct FlopRate {
    /// Operations; a multiply-add is two.
    pub operations: u64,
    /// Times of them.
    pub time: Samples,
}

impl FlopRate {
    /// Operations a nanosecond, in units of 10^9 a second.
    #[must_use]
    pub fn gflop_per_s(&self) -> f64 {
        let seconds = self.time.median().as_secs_f64();
        if seconds == 0.0 { 0.0 } else { self.operations as f64 / seconds / 1e9 }
    }
}

/// Runs `peak_fma_f32` of the module on every multiprocessor, `runs` times.
///
/// # Errors
/// When the driver refuses, or the module has no such kernel.
pub fn flop_rate(device: &Device, module: &Module, runs: u32) -> Result<FlopRate> {
    // The operations of a step, `CHAINS` multiply-adds in gpu/src/peak.rs.
    const OF_A_STEP: u64 = 2 * 8;
    let failed = |e| Error::driver("measuring multiply-adds", e);
    let facts = device.facts();
    let mut steps: u32 = if facts.is_gpu() { 16_384 } else { 256 };
    let (mut factor, mut summand) = (0.5_f32, 1.0_f32);
    let shape = LaunchShape::linear(8 * facts.multiprocessors, 256);
    let out = DeviceBuffer::<f32>::zeroed(1).map_err(failed)?;
    let mut pointer = out.as_device_ptr();
    let args: [*mut c_void; 4] =
        [(&raw mut steps).cast(), (&raw mut factor).cast(), (&raw mut summand).cast(), (&raw mut pointer).cast()];
    let (start, end) = (event()?, event()?);
    let mut time = Samples::default();
    for run in 0..=runs {
        start.record(&device.stream).map_err(failed)?;
        // SAFETY: the parameters of `peak_fma_f32`; `out` lives until the event behind the launch has been waited for.
        unsafe { module.launch(device, "peak_fma_f32", shape, &args) }?;
        end.record(&device.stream).map_err(failed)?;
        end.synchronize().map_err(failed)?;
        if run > 0 {
            time.push(elapsed(&start, &end)?);
        }
    }
    Ok(FlopRate { operations: OF_A_STEP * u64::from(steps) * shape.threads(), time })
}
