//! Events.

use std::sync::Arc;

use crate::arg::Out;
use crate::cpu::cpu;
use crate::cpu::current;
use crate::cpu::event::Event;
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CUevent, CUstream};

driver_functions! {
    /// Makes an event.
    call cuEventCreate(event: *mut CUevent, flags: u32) => create;
    /// Destroys an event.
    call cuEventDestroy_v2(event: CUevent) => destroy, also cuEventDestroy;
    /// Marks the place behind all work that a stream has been given.
    call cuEventRecord(event: CUevent, stream: CUstream) => record, per thread cuEventRecord_ptsz;
    /// Marks the place behind all work that a stream has been given.
    call cuEventRecordWithFlags(event: CUevent, stream: CUstream, flags: u32) => record_with_flags, per thread cuEventRecordWithFlags_ptsz;
    /// Says whether the marked place has been reached.
    call cuEventQuery(event: CUevent) => query;
    /// Waits until the marked place has been reached.
    call cuEventSynchronize(event: CUevent) => synchronize;
    /// Milliseconds between two events.
    call cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) => elapsed;
    /// Milliseconds between two events.
    call cuEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent) => elapsed;
}

const BLOCKING_SYNC: u32 = 1;
const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;

fn create(event: Out<CUevent>, flags: u32) -> Result {
    event.wanted()?;
    let context = current::context()?;
    if flags & INTERPROCESS != 0 && flags & DISABLE_TIMING != 0 {
        return Err(CUresult::NOT_SUPPORTED.because("the CPU device does not support events shared between processes"));
    }
    if flags & !(BLOCKING_SYNC | DISABLE_TIMING) != 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    let new = Arc::new(Event::new(&context, flags & DISABLE_TIMING == 0));
    let mut handle = CUevent::NULL;
    cpu()?.events.insert_with(|number| {
        handle = CUevent(number);
        new
    });
    event.set(handle)
}

fn destroy(event: CUevent) -> Result {
    current::event(event)?;
    cpu()?.events.remove(event.0).map(drop).ok_or(CUresult::INVALID_HANDLE.into())
}

fn record(event: CUevent, stream: CUstream) -> Result {
    let event = current::event(event)?;
    let (context, stream) = current::stream(stream)?;
    if event.context != context.id {
        return Err(CUresult::INVALID_HANDLE.because("the event and the stream are of different contexts"));
    }
    event.record(&context, &stream)
}

fn record_with_flags(event: CUevent, stream: CUstream, flags: u32) -> Result {
    // CU_EVENT_RECORD_EXTERNAL is for captures.
    if flags & !1 != 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    record(event, stream)
}

fn query(event: CUevent) -> Result {
    let event = current::event(event)?;
    let done = event.ticket().is_none_or(|ticket| ticket.is_done());
    // A fault may have come up just now.
    event.faults.check()?;
    if done { Ok(()) } else { fail(CUresult::NOT_READY) }
}

fn synchronize(event: CUevent) -> Result {
    let event = current::event(event)?;
    if let Some(ticket) = event.ticket() {
        ticket.wait();
    }
    event.faults.check()
}

fn elapsed(milliseconds: Out<f32>, start: CUevent, end: CUevent) -> Result {
    milliseconds.wanted()?;
    milliseconds.set(current::event(start)?.elapsed(&*current::event(end)?)?)
}
