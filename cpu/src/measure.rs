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
    /// How long the timed runs of one shape may take in all. A launch that is too long for it is run less often: the reader's
    /// time is worth more than its third digit. `None` takes the two numbers as they are.
    pub patience: Option<Duration>,
}

impl Default for Runs {
    fn default() -> Self {
        Self { warmup: 2, timed: 10, patience: Some(Duration::from_secs(2)) }
    }
}

impl Runs {
    /// Warm-ups and timed runs of a launch that takes `each`. Warm-ups get a quarter of the patience.
    pub(crate) fn affordable(&self, each: Duration) -> (u32, u32) {
        let Some(patience) = self.patience else { return (self.warmup, self.timed.max(1)) };
        let fit = |time: Duration| {
            let runs = time.as_nanos() / each.as_nanos().max(1);
            u32::try_from(runs).unwrap_or(u32::MAX)
        };
        (self.warmup.min(fit(patience / 4)), self.timed.min(fit(patience)).max(1))
    }
}

/// The misleading timing: what the clock shows around the call, and around the read that follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Naive {
    /// The launch call alone.
    pub call: Duration,
    /// Reading one element right after it.
    pub read: Duration,
    /// What the kernel took on the device in this very launch, from just before the call.
    pub kernel: Duration,
}

/// The times of one launch shape.
#[derive(Debug, Clone, Default)]
pub struct Timing {
    /// From the call until it returned, on the host's clock.
    pub returned: Samples,
    /// From the call until the kernel had finished, on the host's clock.
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
    /// The first launch of this shape, call to finish. Whatever a driver puts off until then is in it.
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

/// Told how far the measurement is, so that somebody can show progress.
pub trait Progress {
    /// The first launch of `shape` has begun; how many will follow depends on how long it takes.
    fn started(&self, shape: LaunchShape);
    /// `done` of `total` launches of `shape` have finished.
    fn launched(&self, shape: LaunchShape, done: u32, total: u32);
}

impl Progress for () {
    fn started(&self, _: LaunchShape) {}
    fn launched(&self, _: LaunchShape, _: u32, _: u32) {}
}

/// A kernel ready to be measured: what stays the same while launch shapes change.
pub struct Bench<'a> {
    /// Where it runs.
    pub device: &'a Device,
    /// The module that holds it.
    pub module: &'a Module,
    /// Its entry point.
    pub entry: &'a str,
    /// Its inputs, on the device.
    pub prepared: &'a mut dyn Prepared,
    /// Bytes that the algorithm must move.
    pub bytes: u64,
    /// Repetitions.
    pub runs: Runs,
}

impl Bench<'_> {
    /// Measures one launch shape, and checks the result before and after.
    ///
    /// The counters are those of the launch that finished last in the process: a process that launches from several threads
    /// at once should not read them.
    ///
    /// # Errors
    /// [`Error::Wrong`] when the result is wrong, before any time is given; [`Error::Driver`] when the launch fails.
    pub fn measure(&mut self, shape: LaunchShape, progress: &dyn Progress) -> Result<Measured> {
        shape.check(self.device.facts())?;
        self.prepared.poison()?;
        progress.started(shape);
        let began = Instant::now();
        self.launch_and_wait(shape)?;
        let first = began.elapsed();
        self.verify(shape)?;

        let (warmup, timed) = self.runs.affordable(first);
        let counted = !self.device.facts().is_gpu();
        let total = 2 + warmup + timed + u32::from(counted);
        let mut done = 0;
        let mut report = || {
            done += 1;
            progress.launched(shape, done, total);
        };
        report();
        for _ in 0..warmup {
            self.launch_and_wait(shape)?;
            report();
        }
        let naive = self.naive(shape)?;
        report();
        self.prepared.poison()?;
        let mut timing = Timing::default();
        for _ in 0..timed {
            self.once(shape, &mut timing)?;
            report();
        }
        // What was timed was right, too.
        self.verify(shape)?;
        let counters = if counted { self.count(shape)? } else { None };
        if counted {
            report();
        }
        Ok(Measured { shape, first, naive, timing, bytes: self.bytes, counters })
    }

    fn launch(&mut self, shape: LaunchShape) -> Result<()> {
        self.prepared.launch(self.device, self.module, self.entry, shape)
    }

    fn launch_and_wait(&mut self, shape: LaunchShape) -> Result<()> {
        self.launch(shape)?;
        self.device.synchronize()
    }

    fn verify(&self, shape: LaunchShape) -> Result<()> {
        let wrong = |detail| Error::Wrong { kernel: self.entry.to_owned(), shape: shape.to_string(), detail };
        self.prepared.verify()?.map_err(wrong)
    }

    /// The mistake that people make: no wait between the launch and the read.
    fn naive(&mut self, shape: LaunchShape) -> Result<Naive> {
        let failed = |e| Error::driver("timing the kernel", e);
        let (start, end) = (event()?, event()?);
        self.device.synchronize()?;
        start.record(&self.device.stream).map_err(failed)?;
        let before = Instant::now();
        self.launch(shape)?;
        let call = before.elapsed();
        end.record(&self.device.stream).map_err(failed)?;
        let before = Instant::now();
        self.prepared.read_one()?;
        let read = before.elapsed();
        // Nothing was read of no elements, so that nothing waited either.
        end.synchronize().map_err(failed)?;
        Ok(Naive { call, read, kernel: elapsed(&start, &end)? })
    }

    fn once(&mut self, shape: LaunchShape, timing: &mut Timing) -> Result<()> {
        let failed = |e| Error::driver("timing the kernel", e);
        let (start, end) = (event()?, event()?);
        self.device.synchronize()?;
        start.record(&self.device.stream).map_err(failed)?;
        let before = Instant::now();
        self.launch(shape)?;
        let returned = before.elapsed();
        end.record(&self.device.stream).map_err(failed)?;
        self.device.synchronize()?;
        let finished = before.elapsed();
        let before = Instant::now();
        self.prepared.read_one()?;
        timing.read.push(before.elapsed());
        timing.returned.push(returned);
        timing.finished.push(finished);
        timing.kernel.push(elapsed(&start, &end)?);
        Ok(())
    }

    /// A launch of its own for the counters, so that counting costs none of the timed runs anything.
    fn count(&mut self, shape: LaunchShape) -> Result<Option<Counters>> {
        gridstride_driver::count_memory(true);
        let launched = self.launch_and_wait(shape);
        gridstride_driver::count_memory(false);
        launched?;
        Ok(gridstride_driver::last_counters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_launches_are_repeated_less_unless_that_was_asked_for() {
        let runs = Runs::default();
        let ms = Duration::from_millis;
        assert_eq!(runs.affordable(Duration::ZERO), (2, 10));
        assert_eq!(runs.affordable(ms(100)), (2, 10));
        assert_eq!(runs.affordable(ms(600)), (0, 3));
        assert_eq!(runs.affordable(ms(20_000)), (0, 1));
        let exactly = Runs { warmup: 5, timed: 7, patience: None };
        assert_eq!(exactly.affordable(ms(20_000)), (5, 7));
    }
}
