//! Which context is current on a thread, and the objects that handles stand for.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::cpu::context::Context;
use crate::cpu::event::Event;
use crate::cpu::handles::Lookup;
use crate::cpu::module::{Function, Module};
use crate::cpu::stream::Stream;
use crate::cpu::{Cpu, cpu};
use crate::result::{CUresult, Result, fail};
use crate::types::{CUcontext, CUevent, CUfunction, CUmodule, CUstream, STREAM_LEGACY, STREAM_PER_THREAD};

thread_local! {
    static STACK: RefCell<Vec<CUcontext>> = const { RefCell::new(Vec::new()) };
    static DEFAULT_IS_PER_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Runs a Driver API function for which no stream is the legacy default stream.
pub(crate) fn shared<T>(run: impl FnOnce() -> T) -> T {
    run()
}

/// Runs a Driver API function for which no stream is the default stream of the calling thread.
pub(crate) fn per_thread<T>(run: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            DEFAULT_IS_PER_THREAD.set(self.0);
        }
    }
    let _restore = Restore(DEFAULT_IS_PER_THREAD.replace(true));
    run()
}

/// Changes or reads the thread's stack of contexts; the last is current.
pub(crate) fn with_stack<T>(change: impl FnOnce(&mut Vec<CUcontext>) -> T) -> T {
    STACK.with(|stack| change(&mut stack.borrow_mut()))
}

/// The current handle, whether or not its context still exists.
pub(crate) fn handle() -> Option<CUcontext> {
    with_stack(|stack| stack.last().copied())
}

/// The current context, faulted or not.
pub(crate) fn even_if_faulted() -> Result<Arc<Context>> {
    let cpu = cpu()?;
    let handle = handle().ok_or_else(|| CUresult::INVALID_CONTEXT.because("no context is current on this thread"))?;
    cpu.contexts.get(handle.0).live().ok_or(CUresult::CONTEXT_IS_DESTROYED.into())
}

/// The current context, or its fault.
pub(crate) fn context() -> Result<Arc<Context>> {
    let context = even_if_faulted()?;
    context.faults.check()?;
    Ok(context)
}

/// A stream and its context. Null is the default stream of the current context that the called function means.
pub(crate) fn stream(handle: CUstream) -> Result<(Arc<Context>, Arc<Stream>)> {
    let cpu = cpu()?;
    let handle = match handle {
        CUstream::NULL if DEFAULT_IS_PER_THREAD.get() => STREAM_PER_THREAD,
        CUstream::NULL => STREAM_LEGACY,
        handle => handle,
    };
    if handle == STREAM_LEGACY {
        let context = context()?;
        let stream = context.legacy().clone();
        return Ok((context, stream));
    }
    if handle == STREAM_PER_THREAD {
        let context = context()?;
        let stream = context.of_this_thread();
        return Ok((context, stream));
    }
    let stream = object(cpu.streams.get(handle.0), "stream")?;
    Ok((stream.usable_context()?, stream))
}

pub(crate) fn event(handle: CUevent) -> Result<Arc<Event>> {
    let event = object(cpu()?.events.get(handle.0), "event")?;
    event.faults.check()?;
    Ok(event)
}

pub(crate) fn module(handle: CUmodule) -> Result<Arc<Module>> {
    let module = object(cpu()?.modules.get(handle.0), "module")?;
    module.faults.check()?;
    Ok(module)
}

pub(crate) fn function(handle: CUfunction) -> Result<Arc<Function>> {
    let cpu = cpu()?;
    // A kernel of a library does in the place of a function; it is then the function of the current context.
    let handle = match cpu.kernels.get(handle.0) {
        Lookup::Live(kernel) => kernel.function(cpu, &*context()?)?,
        Lookup::Stale | Lookup::Foreign => handle,
    };
    let function = object(cpu.functions.get(handle.0), "function")?;
    function.module.faults.check()?;
    Ok(function)
}

pub(crate) fn object<T>(lookup: Lookup<T>, what: &str) -> Result<Arc<T>> {
    match lookup {
        Lookup::Live(object) => Ok(object),
        Lookup::Stale => Err(CUresult::INVALID_HANDLE.because(format!("the {what} has been destroyed"))),
        Lookup::Foreign => Err(CUresult::INVALID_HANDLE.because(format!("not a handle of a {what}"))),
    }
}

/// A context by handle, for functions that take one.
pub(crate) fn context_by_handle(cpu: &Cpu, handle: CUcontext) -> Result<Arc<Context>> {
    match cpu.contexts.get(handle.0) {
        Lookup::Live(context) => Ok(context),
        Lookup::Stale => fail(CUresult::CONTEXT_IS_DESTROYED),
        Lookup::Foreign => fail(CUresult::INVALID_CONTEXT),
    }
}
