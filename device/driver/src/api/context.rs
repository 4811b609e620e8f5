//! Contexts, and which one is current.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::arg::{In, Out};
use crate::cpu::context::Context;
use crate::cpu::current::{self, with_stack};
use crate::cpu::handles::Lookup;
use crate::cpu::{check_device, cpu};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUcontext, CUdevice};

driver_functions! {
    /// Makes a context and pushes it.
    call cuCtxCreate_v2(context: *mut CUcontext, flags: u32, device: CUdevice) => create, also cuCtxCreate;
    /// Makes a context for a part of the multiprocessors, and pushes it.
    call cuCtxCreate_v3(
        context: *mut CUcontext,
        affinities: *const c_void,
        count: i32,
        flags: u32,
        device: CUdevice,
    ) => create_with_affinity;
    /// Makes a context with parameters, and pushes it.
    call cuCtxCreate_v4(context: *mut CUcontext, params: *const c_void, flags: u32, device: CUdevice)
        => create_with_params;
    /// A number that no other context has.
    call cuCtxGetId(context: CUcontext, id: *mut u64) => get_id;
    /// Changes the flags of the current context.
    call cuCtxSetFlags(flags: u32) => set_flags;
    /// Device of a context.
    call cuCtxGetDevice_v2(device: *mut CUdevice, context: CUcontext) => get_device_of;
    /// Waits for all work of a context.
    call cuCtxSynchronize_v2(context: CUcontext) => synchronize_one;
    /// Makes lines that a cache is told to keep ordinary ones again.
    call cuCtxResetPersistingL2Cache() => reset_cache;
    /// The part of the multiprocessors that the current context is kept to.
    call cuCtxGetExecAffinity(affinity: *mut c_void, kind: CEnum) => get_affinity;
    /// Ends a context and frees all that it owns.
    call cuCtxDestroy_v2(context: CUcontext) => destroy, also cuCtxDestroy;
    /// Makes a context current, above the one that is.
    call cuCtxPushCurrent_v2(context: CUcontext) => push, also cuCtxPushCurrent;
    /// Takes the current context off the thread's stack.
    call cuCtxPopCurrent_v2(context: *mut CUcontext) => pop, also cuCtxPopCurrent;
    /// Makes a context current, in place of the one that is.
    call cuCtxSetCurrent(context: CUcontext) => set_current;
    /// The current context.
    call cuCtxGetCurrent(context: *mut CUcontext) => get_current;
    /// Device of the current context.
    call cuCtxGetDevice(device: *mut CUdevice) => get_device;
    /// Flags of the current context.
    call cuCtxGetFlags(flags: *mut u32) => get_flags;
    /// Waits for all work of the current context.
    call cuCtxSynchronize() => synchronize;
    /// Version of the API that a context was made with.
    call cuCtxGetApiVersion(context: CUcontext, version: *mut u32) => get_api_version;
    /// A limit of the current context.
    call cuCtxGetLimit(value: *mut usize, limit: CEnum) => get_limit;
    /// Changes a limit of the current context.
    call cuCtxSetLimit(limit: CEnum, value: usize) => set_limit;
    /// Preference between cache and shared memory.
    call cuCtxGetCacheConfig(config: *mut CEnum) => get_cache_config;
    /// Preference between cache and shared memory.
    call cuCtxSetCacheConfig(config: CEnum) => set_cache_config;
    /// Width of the banks of shared memory.
    call cuCtxGetSharedMemConfig(config: *mut CEnum) => get_shared_config;
    /// Width of the banks of shared memory.
    call cuCtxSetSharedMemConfig(config: CEnum) => set_shared_config;
    /// Range of stream priorities.
    call cuCtxGetStreamPriorityRange(least: *mut i32, greatest: *mut i32) => get_priority_range;
}

/// How the host waits (one of four ways), and what else can be asked for.
const SCHEDULING: u32 = 0x7;
const MAP_HOST: u32 = 0x8;
const FLAGS: u32 = 0xff;

/// `INVALID_VALUE` for flags that do not exist.
pub(crate) fn check_flags(flags: u32) -> Result {
    let scheduling = flags & SCHEDULING;
    let one_way = scheduling == 0 || scheduling.is_power_of_two();
    if flags & !FLAGS == 0 && one_way { Ok(()) } else { fail(CUresult::INVALID_VALUE) }
}

fn create(context: Out<CUcontext>, flags: u32, device: CUdevice) -> Result {
    context.wanted()?;
    let cpu = check_device(device)?;
    check_flags(flags)?;
    let new = cpu.contexts.insert_with(|handle| Context::new(handle, device, false, flags));
    with_stack(|stack| stack.push(new.handle));
    context.set(new.handle)
}

fn create_with_affinity(
    context: Out<CUcontext>,
    _affinities: In<c_void>,
    count: i32,
    flags: u32,
    device: CUdevice,
) -> Result {
    if count != 0 {
        return Err(CUresult::UNSUPPORTED_EXEC_AFFINITY.because("contexts of the CPU device use all of it"));
    }
    create(context, flags, device)
}

fn create_with_params(context: Out<CUcontext>, params: In<c_void>, flags: u32, device: CUdevice) -> Result {
    if !params.is_null() {
        return Err(CUresult::NOT_SUPPORTED.because("the CPU device does not support parameters of cuCtxCreate"));
    }
    create(context, flags, device)
}

/// The context of a handle, or the current one for none.
fn this_or_current(context: CUcontext) -> Result<Arc<Context>> {
    if context.is_null() { current::even_if_faulted() } else { current::context_by_handle(cpu()?, context) }
}

fn get_id(context: CUcontext, id: Out<u64>) -> Result {
    id.wanted()?;
    id.set(this_or_current(context)?.id.number())
}

fn set_flags(flags: u32) -> Result {
    let context = current::even_if_faulted()?;
    check_flags(flags)?;
    context.flags.store(flags, Ordering::Relaxed);
    Ok(())
}

fn get_device_of(device: Out<CUdevice>, context: CUcontext) -> Result {
    device.wanted()?;
    device.set(this_or_current(context)?.device)
}

fn synchronize_one(context: CUcontext) -> Result {
    this_or_current(context)?.synchronize()
}

fn reset_cache() -> Result {
    current::context().map(drop)
}

fn get_affinity(_affinity: Out<c_void>, _kind: CEnum) -> Result {
    current::context()?;
    fail(CUresult::UNSUPPORTED_EXEC_AFFINITY)
}

fn destroy(handle: CUcontext) -> Result {
    let cpu = cpu()?;
    let context = current::context_by_handle(cpu, handle)?;
    if context.primary {
        return Err(CUresult::INVALID_CONTEXT.because("a primary context is released or reset, not destroyed"));
    }
    let context = cpu.contexts.remove(handle.0).ok_or(CUresult::CONTEXT_IS_DESTROYED)?;
    with_stack(|stack| {
        if stack.last() == Some(&handle) {
            stack.pop();
        }
    });
    cpu.clear(&context);
    Ok(())
}

/// A handle that is or was a context. One that is destroyed can be made current; what follows then says so.
fn known(context: CUcontext) -> Result {
    match cpu()?.contexts.get(context.0) {
        Lookup::Live(_) | Lookup::Stale => Ok(()),
        Lookup::Foreign => fail(CUresult::INVALID_CONTEXT),
    }
}

fn push(context: CUcontext) -> Result {
    if context.is_null() {
        return fail(CUresult::INVALID_VALUE);
    }
    known(context)?;
    with_stack(|stack| stack.push(context));
    Ok(())
}

fn pop(context: Out<CUcontext>) -> Result {
    cpu()?;
    let popped = with_stack(Vec::pop).ok_or(CUresult::INVALID_CONTEXT)?;
    context.set_if_wanted(popped);
    Ok(())
}

fn set_current(context: CUcontext) -> Result {
    cpu()?;
    if !context.is_null() {
        known(context)?;
    }
    with_stack(|stack| {
        stack.pop();
        if !context.is_null() {
            stack.push(context);
        }
    });
    Ok(())
}

fn get_current(context: Out<CUcontext>) -> Result {
    cpu()?;
    context.set(current::handle().unwrap_or(CUcontext::NULL))
}

fn get_device(device: Out<CUdevice>) -> Result {
    device.wanted()?;
    device.set(current::even_if_faulted()?.device)
}

fn get_flags(flags: Out<u32>) -> Result {
    flags.wanted()?;
    // Host memory is always mapped.
    flags.set(current::even_if_faulted()?.flags.load(Ordering::Relaxed) | MAP_HOST)
}

fn synchronize() -> Result {
    current::context()?.synchronize()
}

fn get_api_version(context: CUcontext, version: Out<u32>) -> Result {
    version.wanted()?;
    if context.is_null() {
        current::even_if_faulted()?;
    } else {
        current::context_by_handle(cpu()?, context)?;
    }
    // The number that NVIDIA's driver gives for contexts of `cuCtxCreate_v2`.
    version.set(3020)
}

fn get_limit(value: Out<usize>, limit: CEnum) -> Result {
    value.wanted()?;
    value.set(current::context()?.limit(limit, None)?)
}

fn set_limit(limit: CEnum, value: usize) -> Result {
    current::context()?.limit(limit, Some(value)).map(drop)
}

/// A preference that the CPU device keeps and has no use for: its shared memory is memory like any other.
fn get_preference(config: Out<CEnum>, of: impl Fn(&Context) -> &AtomicI32) -> Result {
    config.wanted()?;
    let context = current::context()?;
    config.set(of(&context).load(Ordering::Relaxed))
}

fn set_preference(config: CEnum, last: CEnum, of: impl Fn(&Context) -> &AtomicI32) -> Result {
    let context = current::context()?;
    if !(0..=last).contains(&config) {
        return fail(CUresult::INVALID_VALUE);
    }
    of(&context).store(config, Ordering::Relaxed);
    Ok(())
}

fn get_cache_config(config: Out<CEnum>) -> Result {
    get_preference(config, |context| &context.cache_config)
}

fn set_cache_config(config: CEnum) -> Result {
    set_preference(config, 3, |context| &context.cache_config)
}

fn get_shared_config(config: Out<CEnum>) -> Result {
    get_preference(config, |context| &context.shared_config)
}

fn set_shared_config(config: CEnum) -> Result {
    set_preference(config, 2, |context| &context.shared_config)
}

fn get_priority_range(least: Out<i32>, greatest: Out<i32>) -> Result {
    current::context()?;
    // Both 0: there are no priorities.
    least.set_if_wanted(0);
    greatest.set_if_wanted(0);
    Ok(())
}
