//! Events: marks in a stream that take the time when the stream reaches them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::cpu::context::{Context, ContextId};
use crate::cpu::stream::{Faults, Size, Stream, Ticket, Work};
use crate::result::{CUresult, Result, fail};

/// An event of the CPU device.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) context: ContextId,
    pub(crate) faults: Arc<Faults>,
    timing: bool,
    record: Mutex<Option<Record>>,
}

/// Where the event was recorded last.
#[derive(Debug, Clone)]
struct Record {
    ticket: Ticket,
    time: Arc<OnceLock<Instant>>,
}

impl Event {
    pub(crate) fn new(context: &Context, timing: bool) -> Self {
        Self { context: context.id, faults: context.faults.clone(), timing, record: Mutex::new(None) }
    }

    /// Marks the place behind all that was submitted to the stream so far.
    pub(crate) fn record(&self, context: &Context, stream: &Arc<Stream>) -> Result {
        let time = Arc::<OnceLock<Instant>>::default();
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let ticket = context.submit(stream, None, Work::Record(time.clone()), Size::Small)?;
        *record = Some(Record { ticket, time });
        Ok(())
    }

    /// The work that the last record marks. `None`: never recorded, which counts as done.
    pub(crate) fn ticket(&self) -> Option<Ticket> {
        self.last().map(|record| record.ticket)
    }

    /// Time from this event to `end`.
    pub(crate) fn elapsed(&self, end: &Self) -> Result<f32> {
        if !(self.timing && end.timing) {
            return Err(CUresult::INVALID_HANDLE.because("an event that was created without timing has no time"));
        }
        let (Some(start), Some(end)) = (self.last(), end.last()) else {
            return Err(CUresult::INVALID_HANDLE.because("an event was never recorded"));
        };
        if !(start.ticket.is_done() && end.ticket.is_done()) {
            return fail(CUresult::NOT_READY);
        }
        let (Some(&start), Some(&end)) = (start.time.get(), end.time.get()) else {
            return fail(CUresult::NOT_READY);
        };
        let milliseconds = |duration: Duration| (duration.as_secs_f64() * 1e3) as f32;
        Ok(match end.checked_duration_since(start) {
            Some(duration) => milliseconds(duration),
            None => -milliseconds(start - end),
        })
    }

    fn last(&self) -> Option<Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
