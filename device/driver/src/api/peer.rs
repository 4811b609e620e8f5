//! Several devices: copies between them, and access to each other's memory.
//!
//! All CPU devices share one memory, so they could; but no device is another's peer, because a kernel's access to memory
//! that its program has not opened to it would then be no error.

use crate::api::copy::{anywhere, anywhere_async};
use crate::arg::Out;
use crate::cpu::{check_device, cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUcontext, CUdevice, CUdeviceptr, CUstream};

driver_functions! {
    /// Copies between contexts.
    call cuMemcpyPeer(to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, size: usize)
        => copy, per thread cuMemcpyPeer_ptds;
    /// Copies between contexts, in a stream.
    call cuMemcpyPeerAsync(
        to: CUdeviceptr,
        to_context: CUcontext,
        from: CUdeviceptr,
        from_context: CUcontext,
        size: usize,
        stream: CUstream,
    ) => copy_async, per thread cuMemcpyPeerAsync_ptsz;
    /// Whether one device can access another's memory.
    call cuDeviceCanAccessPeer(can: *mut i32, device: CUdevice, peer: CUdevice) => can_access;
    /// What two devices can do together.
    call cuDeviceGetP2PAttribute(value: *mut i32, attribute: CEnum, device: CUdevice, peer: CUdevice) => attribute;
    /// Lets the current context access another's memory.
    call cuCtxEnablePeerAccess(peer: CUcontext, flags: u32) => enable;
    /// Ends that.
    call cuCtxDisablePeerAccess(peer: CUcontext) => disable;
}

fn check_contexts(contexts: [CUcontext; 2]) -> Result {
    contexts.into_iter().try_for_each(|context| current::context_by_handle(cpu()?, context).map(drop))
}

fn copy(to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, size: usize) -> Result {
    check_contexts([to_context, from_context])?;
    anywhere(to, from, size)
}

fn copy_async(
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    size: usize,
    stream: CUstream,
) -> Result {
    check_contexts([to_context, from_context])?;
    anywhere_async(to, from, size, stream)
}

fn can_access(can: Out<i32>, device: CUdevice, peer: CUdevice) -> Result {
    can.wanted()?;
    check_device(device)?;
    check_device(peer)?;
    can.set(0)
}

fn attribute(value: Out<i32>, attribute: CEnum, device: CUdevice, peer: CUdevice) -> Result {
    value.wanted()?;
    check_device(device)?;
    check_device(peer)?;
    if device == peer {
        return fail(CUresult::INVALID_DEVICE);
    }
    if (1..=5).contains(&attribute) { value.set(0) } else { fail(CUresult::INVALID_VALUE) }
}

fn enable(peer: CUcontext, flags: u32) -> Result {
    let context = current::context()?;
    let peer = current::context_by_handle(cpu()?, peer)?;
    if flags != 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    if peer.device == context.device {
        return Err(CUresult::PEER_ACCESS_UNSUPPORTED.because("both contexts are of the same device"));
    }
    fail(CUresult::PEER_ACCESS_UNSUPPORTED)
}

fn disable(peer: CUcontext) -> Result {
    current::context()?;
    current::context_by_handle(cpu()?, peer)?;
    fail(CUresult::PEER_ACCESS_NOT_ENABLED)
}
