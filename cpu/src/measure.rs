//! One launch shape, timed and verified.
//!
//! First the way people meet it: the call alone, then the read of one element, which waits for the kernel without saying so.
//! Then properly: warm-up, several runs, each bracketed by events and followed by a wait.

use std::time::{Duration, Instant};

use gridstride_driver::Counters;

use crate::copy::{elapsed, event, gb_per_s};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernels::Prepared;
use crate::module::Module;
use crate::shape::LaunchShape;
use crate::stats::Samples;

/// How often to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runs {
    /// Runs before anything is timed.
    pub warmup: u32,
    /// Runs that are timed; at least one.
    pub timed: u32,
}

/// The misleading timing: what the clock shows around the call, and around the read that follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Naive {
    /// The launch call alone.
    pub call: Duration,
    /// Reading one element right after it.
    pub read: Duration,
}

/// The times of one launch shape.
#[derive(Debug, Clone)]
pub struct Timing {
    /// From the call until it returned, on the host's clock; median.
    pub returned: Samples,
    /// From the call until the kernel had finished, on the host's clock; median.
    pub finished: Samples,
    /// The kernel itself, between two events.
    pub kernel: Samples,
    /// Reading one element once the kernel has finished.
    pub read: Samples,
}

/// A launch shape, measured and verified.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The shape.
    pub shape: LaunchShape,
    /// The first launch in this process, call to finish: loading and compiling are in it.
    pub first: Duration,
    /// The misleading timing.
    pub naive: Naive,
    /// The proper one.
    pub timing: Timing,
    /// Bytes that the algorithm had to move.
    pub bytes: u64,
    /// What the CPU device counted in a launch of its own; `None` on a GPU.
    pub counters: Option<Counters>,
}

impl Measured {
    /// Effective bandwidth: bytes over the median kernel time, in GB/s.
    #[must_use]
    pub fn gb_per_s(&self) -> f64 {
        gb_per_s(self.bytes, self.timing.kernel.median())
    }
}

/// Told of every launch that has finished, so that somebody can show progress.
pub trait Progress {
    /// `done` of `total` launches of `shape` have finished.
    fn launched(&self, shape: LaunchShape, done: u32, total: u32);
}

impl Progress for () {
    fn launched(&self, _: LaunchShape, _: u32, _: u32) {}
}

/// A launch that takes longer than this is not repeated as often: the reader's time is worth more than its third digit.
const LONG: Duration = Duration::from_millis(300);
/// Runs of a long launch.
const LONG_RUNS: u32 = 3;

/// Measures `entry` of `module` over `prepared`, and checks its result.
///
/// # Errors
/// [`Error::Wrong`] when the result is wrong, before any time is given; [`Error::Driver`] when the launch fails.
pub fn measure(
    device: &Device,
    module: &Module,
    entry: &str,
    prepared: &mut dyn Prepared,
    shape: LaunchShape,
    bytes: u64,
    runs: Runs,
    progress: &dyn Progress,
) -> Result<Measured> {
    shape.check(device.facts())?;
    prepared.poison()?;
    let began = Instant::now();
    prepared.launch(device, module, entry, shape)?;
    device.synchronize()?;
    let first = began.elapsed();
    verify(prepared, entry, shape)?;

    let long = first > LONG;
    let warmup = if long { 0 } else { runs.warmup };
    let timed = if long { runs.timed.min(LONG_RUNS) } else { runs.timed }.max(1);
    let counted = !device.facts().is_gpu();
    let total = 2 + warmup + timed + u32::from(counted);
    let mut done = 1;
    let mut report = || {
        progress.launched(shape, done, total);
        done += 1;
    };
    report();

    for _ in 0..warmup {
        prepared.launch(device, module, entry, shape)?;
        device.synchronize()?;
        report();
    }
    let naive = naive(device, module, entry, prepared, shape)?;
    report();
    prepared.poison()?;
    let mut timing = Timing {
        returned: Samples::default(),
        finished: Samples::default(),
        kernel: Samples::default(),
        read: Samples::default(),
    };
    for _ in 0..timed {
        once(device, module, entry, prepared, shape, &mut timing)?;
        report();
    }
    // What was timed was right, too.
    verify(prepared, entry, shape)?;
    let counters = if counted { count(device, module, entry, prepared, shape)? } else { None };
    if counted {
        report();
    }
    Ok(Measured { shape, first, naive, timing, bytes, counters })
}

fn verify(prepared: &dyn Prepared, entry: &str, shape: LaunchShape) -> Result<()> {
    let wrong = |detail| Error::Wrong { kernel: entry.to_owned(), shape: shape.to_string(), detail };
    prepared.verify()?.map_err(wrong)
}

fn naive(
    device: &Device,
    module: &Module,
    entry: &str,
    prepared: &mut dyn Prepared,
    shape: LaunchShape,
) -> Result<Naive> {
    device.synchronize()?;
    let before = Instant::now();
    prepared.launch(device, module, entry, shape)?;
    let call = before.elapsed();
    // No wait in between: that is the mistake.
    let before = Instant::now();
    prepared.read_one()?;
    Ok(Naive { call, read: before.elapsed() })
}

fn once(
    device: &Device,
    module: &Module,
    entry: &str,
    prepared: &mut dyn Prepared,
    shape: LaunchShape,
    timing: &mut Timing,
) -> Result<()> {
    let failed = |e| Error::driver("timing the kernel", e);
    let (start, end) = (event()?, event()?);
    device.synchronize()?;
    start.record(&device.stream).map_err(failed)?;
    let before = Instant::now();
    prepared.launch(device, module, entry, shape)?;
    let returned = before.elapsed();
    end.record(&device.stream).map_err(failed)?;
    device.synchronize()?;
    let finished = before.elapsed();
    let before = Instant::now();
    prepared.read_one()?;
    timing.read.push(before.elapsed());
    timing.returned.push(returned);
    timing.finished.push(finished);
    timing.kernel.push(elapsed(&start, &end)?);
    Ok(())
}

/// A launch of its own for the counters, so that counting costs none of the timed runs anything.
fn count(
    device: &Device,
    module: &Module,
    entry: &str,
    prepared: &mut dyn Prepared,
    shape: LaunchShape,
) -> Result<Option<Counters>> {
    gridstride_driver::count_memory(true);
    let launched = prepared.launch(device, module, entry, shape).and_then(|()| device.synchronize());
    gridstride_driver::count_memory(false);
    launched?;
    Ok(gridstride_driver::last_counters())
}
