//! Streams.

use crate::arg::Out;
use crate::cpu::cpu;
use crate::cpu::current;
use crate::cpu::stream::{Order, Size, Work};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CUcontext, CUevent, CUstream, STREAM_LEGACY, STREAM_PER_THREAD};

driver_functions! {
    /// Makes a stream.
    call cuStreamCreate(stream: *mut CUstream, flags: u32) => create;
    /// Makes a stream with a priority.
    call cuStreamCreateWithPriority(stream: *mut CUstream, flags: u32, priority: i32) => create_with_priority;
    /// Destroys a stream; its work is finished first, without the caller waiting.
    call cuStreamDestroy_v2(stream: CUstream) => destroy, also cuStreamDestroy;
    /// Flags of a stream.
    call cuStreamGetFlags(stream: CUstream, flags: *mut u32) => get_flags, per thread cuStreamGetFlags_ptsz;
    /// Priority of a stream.
    call cuStreamGetPriority(stream: CUstream, priority: *mut i32) => get_priority, per thread cuStreamGetPriority_ptsz;
    /// Context of a stream.
    call cuStreamGetCtx(stream: CUstream, context: *mut CUcontext) => get_context, per thread cuStreamGetCtx_ptsz;
    /// Waits for a stream's work.
    call cuStreamSynchronize(stream: CUstream) => synchronize, per thread cuStreamSynchronize_ptsz;
    /// Says whether a stream's work is done.
    call cuStreamQuery(stream: CUstream) => query, per thread cuStreamQuery_ptsz;
    /// Lets a stream wait for an event.
    call cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: u32) => wait_event, per thread cuStreamWaitEvent_ptsz;
}

const NON_BLOCKING: u32 = 1;

fn create(stream: Out<CUstream>, flags: u32) -> Result {
    stream.wanted()?;
    let context = current::context()?;
    let order = match flags {
        0 => Order::Blocking,
        NON_BLOCKING => Order::Free,
        _ => return fail(CUresult::INVALID_VALUE),
    };
    let new = context.add_stream(order);
    let mut handle = CUstream::NULL;
    cpu()?.streams.insert_with(|number| {
        handle = CUstream(number);
        new
    });
    stream.set(handle)
}

fn create_with_priority(stream: Out<CUstream>, flags: u32, _priority: i32) -> Result {
    // A priority outside the range becomes the nearest in it, and the range is 0 to 0.
    create(stream, flags)
}

fn destroy(handle: CUstream) -> Result {
    if handle.is_null() || handle == STREAM_LEGACY || handle == STREAM_PER_THREAD {
        return Err(CUresult::INVALID_HANDLE.because("a default stream cannot be destroyed"));
    }
    let (_, stream) = current::stream(handle)?;
    cpu()?.streams.remove(handle.0).ok_or(CUresult::INVALID_HANDLE)?;
    stream.close();
    Ok(())
}

fn get_flags(stream: CUstream, flags: Out<u32>) -> Result {
    flags.wanted()?;
    let (_, stream) = current::stream(stream)?;
    flags.set(if stream.order == Order::Free { NON_BLOCKING } else { 0 })
}

fn get_priority(stream: CUstream, priority: Out<i32>) -> Result {
    priority.wanted()?;
    current::stream(stream)?;
    priority.set(0)
}

fn get_context(stream: CUstream, context: Out<CUcontext>) -> Result {
    context.wanted()?;
    context.set(current::stream(stream)?.0.handle)
}

fn synchronize(stream: CUstream) -> Result {
    let (context, stream) = current::stream(stream)?;
    if let Some(ticket) = stream.pending() {
        ticket.wait();
    }
    context.faults.check()
}

fn query(stream: CUstream) -> Result {
    let (context, stream) = current::stream(stream)?;
    let pending = stream.pending().is_some();
    // A fault may have come up just now.
    context.faults.check()?;
    if pending { fail(CUresult::NOT_READY) } else { Ok(()) }
}

fn wait_event(stream: CUstream, event: CUevent, flags: u32) -> Result {
    let (context, stream) = current::stream(stream)?;
    let event = current::event(event)?;
    // CU_EVENT_WAIT_EXTERNAL is for captures.
    if flags & !1 != 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    match event.ticket() {
        Some(ticket) => context.submit(&stream, Some(ticket), Work::Nothing, Size::Small).map(drop),
        None => Ok(()),
    }
}
