//! What the device reaches in a plain copy: the ceiling for everything that only moves data.

use std::time::Duration;

use cust::event::{Event, EventFlags};
use cust::memory::{AsyncCopyDestination, DeviceBuffer};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::stats::Samples;

/// A measured copy from device memory to device memory.
#[derive(Debug, Clone)]
pub struct CopyRate {
    /// Bytes copied; each is read once and written once.
    pub bytes: u64,
    /// Times of the copy.
    pub time: Samples,
}

impl CopyRate {
    /// Bytes read and written a nanosecond, which is GB/s.
    #[must_use]
    pub fn gb_per_s(&self) -> f64 {
        gb_per_s(2 * self.bytes, self.time.median())
    }
}

/// Bytes over a time, in units of 10^9 bytes a second. 0 where no time passed.
pub(crate) fn gb_per_s(bytes: u64, time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    if seconds == 0.0 { 0.0 } else { bytes as f64 / seconds / 1e9 }
}

/// Copies `bytes` from device memory to device memory, `runs` times.
///
/// # Errors
/// When the driver refuses.
pub fn copy_rate(device: &Device, bytes: u64, runs: u32) -> Result<CopyRate> {
    let failed = |e| Error::driver("measuring a copy", e);
    let len = usize::try_from(bytes.max(1)).unwrap_or(usize::MAX);
    let from = DeviceBuffer::<u8>::zeroed(len).map_err(failed)?;
    let mut to = DeviceBuffer::<u8>::zeroed(len).map_err(failed)?;
    let (start, end) = (event()?, event()?);
    let mut time = Samples::default();
    for run in 0..=runs {
        start.record(&device.stream).map_err(failed)?;
        // SAFETY: both buffers live until the event behind the copy has been waited for.
        unsafe { to.async_copy_from(&from, &device.stream) }.map_err(failed)?;
        end.record(&device.stream).map_err(failed)?;
        end.synchronize().map_err(failed)?;
        // The first run touches the pages for the first time.
        if run > 0 {
            time.push(elapsed(&start, &end)?);
        }
    }
    Ok(CopyRate { bytes, time })
}

pub(crate) fn event() -> Result<Event> {
    Event::new(EventFlags::DEFAULT).map_err(|e| Error::driver("making an event", e))
}

/// Time from one event to another. The driver gives milliseconds in single precision, good to about half a microsecond.
pub(crate) fn elapsed(start: &Event, end: &Event) -> Result<Duration> {
    let ms = end.elapsed_time_f32(start).map_err(|e| Error::driver("reading an event", e))?;
    Ok(Duration::from_secs_f64(f64::from(ms.max(0.0)) / 1e3))
}
