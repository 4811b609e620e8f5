//! The primary context of a device.

use std::sync::atomic::Ordering;

use crate::api::context::check_flags;
use crate::arg::Out;
use crate::cpu::check_device;
use crate::entry::driver_functions;
use crate::result::Result;
use crate::types::{CUcontext, CUdevice};

driver_functions! {
    /// Makes the primary context active and counts one more user.
    call cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice) => retain;
    /// Counts one user less; the last one ends the context.
    call cuDevicePrimaryCtxRelease_v2(device: CUdevice) => release, also cuDevicePrimaryCtxRelease;
    /// Ends the primary context, whoever uses it.
    call cuDevicePrimaryCtxReset_v2(device: CUdevice) => reset, also cuDevicePrimaryCtxReset;
    /// Flags of the primary context.
    call cuDevicePrimaryCtxSetFlags_v2(device: CUdevice, flags: u32) => set_flags, also cuDevicePrimaryCtxSetFlags;
    /// Flags of the primary context, and whether it is active.
    call cuDevicePrimaryCtxGetState(device: CUdevice, flags: *mut u32, active: *mut i32) => state;
}

fn retain(context: Out<CUcontext>, device: CUdevice) -> Result {
    context.wanted()?;
    let primary = check_device(device)?.retain_primary(device);
    // After a fault, too: the handle is good for a reset, and every call that needs more reports the fault.
    context.set(primary.handle)
}

fn release(device: CUdevice) -> Result {
    check_device(device)?.release_primary(device)
}

fn reset(device: CUdevice) -> Result {
    check_device(device)?.reset_primary(device);
    Ok(())
}

fn set_flags(device: CUdevice, flags: u32) -> Result {
    let cpu = check_device(device)?;
    check_flags(flags)?;
    let mut primary = cpu.primary(device);
    primary.flags = flags;
    if let Some(context) = cpu.active_primary(&primary) {
        context.flags.store(flags, Ordering::Relaxed);
    }
    Ok(())
}

fn state(device: CUdevice, flags: Out<u32>, active: Out<i32>) -> Result {
    let cpu = check_device(device)?;
    active.wanted()?;
    let primary = cpu.primary(device);
    flags.set(primary.flags)?;
    active.set(i32::from(cpu.active_primary(&primary).is_some()))
}
