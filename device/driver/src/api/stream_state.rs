//! What else there is to a stream: its number, attributes, callbacks; and that none is being captured.

use std::ffi::c_void;

use crate::api::launch::UserData;
use crate::arg::Out;
use crate::cpu::current;
use crate::cpu::stream::{Size, Work, as_host_function};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUcontext, CUdevice, CUdeviceptr, CUstream, CUstreamCallback};

driver_functions! {
    /// A number that no other stream has.
    call cuStreamGetId(stream: CUstream, id: *mut u64) => id, per thread cuStreamGetId_ptsz;
    /// Device of a stream.
    call cuStreamGetDevice(stream: CUstream, device: *mut CUdevice) => device, per thread cuStreamGetDevice_ptsz;
    /// Context of a stream, or its part of a device.
    call cuStreamGetCtx_v2(stream: CUstream, context: *mut CUcontext, part: *mut *mut c_void) => context_or_part,
        per thread cuStreamGetCtx_v2_ptsz;
    /// Runs a function on the host, in the order of a stream, and tells it what became of the work before.
    call cuStreamAddCallback(stream: CUstream, callback: CUstreamCallback, data: *mut c_void, flags: u32)
        => add_callback, per thread cuStreamAddCallback_ptsz;
    /// Says which streams use a range of managed memory.
    call cuStreamAttachMemAsync(stream: CUstream, address: CUdeviceptr, length: usize, flags: u32) => attach,
        per thread cuStreamAttachMemAsync_ptsz;
    /// Copies attributes from one stream to another. They are hints.
    call cuStreamCopyAttributes(to: CUstream, from: CUstream) => copy_attributes,
        per thread cuStreamCopyAttributes_ptsz;
    /// Whether a stream is being captured.
    call cuStreamIsCapturing(stream: CUstream, status: *mut CEnum) => is_capturing,
        per thread cuStreamIsCapturing_ptsz;
    /// What is known of a capture.
    call cuStreamGetCaptureInfo(stream: CUstream, status: *mut CEnum, id: *mut u64) => capture_info,
        per thread cuStreamGetCaptureInfo_ptsz;
    /// What is known of a capture.
    call cuStreamGetCaptureInfo_v2(
        stream: CUstream,
        status: *mut CEnum,
        id: *mut u64,
        graph: *mut *mut c_void,
        dependencies: *mut *const c_void,
        count: *mut usize,
    ) => capture_info_v2, per thread cuStreamGetCaptureInfo_v2_ptsz;
    /// What is known of a capture.
    call cuStreamGetCaptureInfo_v3(
        stream: CUstream,
        status: *mut CEnum,
        id: *mut u64,
        graph: *mut *mut c_void,
        dependencies: *mut *const c_void,
        edges: *mut *const c_void,
        count: *mut usize,
    ) => capture_info_v3, per thread cuStreamGetCaptureInfo_v3_ptsz;
    /// What the thread may do while a stream is captured.
    call cuThreadExchangeStreamCaptureMode(mode: *mut CEnum) => exchange_mode;
}

fn id(stream: CUstream, id: Out<u64>) -> Result {
    id.wanted()?;
    id.set(current::stream(stream)?.1.id)
}

fn device(stream: CUstream, device: Out<CUdevice>) -> Result {
    device.wanted()?;
    device.set(current::stream(stream)?.0.device)
}

fn context_or_part(stream: CUstream, context: Out<CUcontext>, part: Out<*mut c_void>) -> Result {
    context.wanted()?;
    let of = current::stream(stream)?.0;
    // Streams of parts of a device there are none.
    part.set_if_wanted(std::ptr::null_mut());
    context.set(of.handle)
}

fn add_callback(handle: CUstream, callback: CUstreamCallback, data: Out<c_void>, flags: u32) -> Result {
    let callback = callback.ok_or(CUresult::INVALID_VALUE)?;
    if flags != 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    let (context, stream) = current::stream(handle)?;
    let data = UserData::new(data);
    context.run(&stream, Size::Large, move || {
        // SAFETY: the caller of cuStreamAddCallback says that the function can be called with this, once, from any thread.
        as_host_function(|| unsafe { callback(handle, CUresult::SUCCESS, data.pointer()) });
        Ok(())
    })
}

fn attach(stream: CUstream, address: CUdeviceptr, _length: usize, flags: u32) -> Result {
    let (context, stream) = current::stream(stream)?;
    let found = crate::cpu::cpu()?.memory.find(address);
    // To all streams, to the host, to this one. Host and device may use managed memory at the same time in any case.
    if !matches!(flags, 1 | 2 | 4) || found.is_none_or(|found| found.kind != gridstride_simt::AllocKind::Managed) {
        return fail(CUresult::INVALID_VALUE);
    }
    context.submit(&stream, None, Work::Nothing, Size::Small).map(drop)
}

fn copy_attributes(to: CUstream, from: CUstream) -> Result {
    current::stream(to)?;
    current::stream(from).map(drop)
}

/// `CU_STREAM_CAPTURE_STATUS_NONE`
const NOT_CAPTURED: CEnum = 0;

fn is_capturing(stream: CUstream, status: Out<CEnum>) -> Result {
    status.wanted()?;
    current::stream(stream)?;
    status.set(NOT_CAPTURED)
}

fn capture_info(stream: CUstream, status: Out<CEnum>, _id: Out<u64>) -> Result {
    is_capturing(stream, status)
}

fn capture_info_v2(
    stream: CUstream,
    status: Out<CEnum>,
    _id: Out<u64>,
    _graph: Out<*mut c_void>,
    _dependencies: Out<*const c_void>,
    _count: Out<usize>,
) -> Result {
    is_capturing(stream, status)
}

fn capture_info_v3(
    stream: CUstream,
    status: Out<CEnum>,
    _id: Out<u64>,
    _graph: Out<*mut c_void>,
    _dependencies: Out<*const c_void>,
    _edges: Out<*const c_void>,
    _count: Out<usize>,
) -> Result {
    is_capturing(stream, status)
}

std::thread_local! {
    static MODE: std::cell::Cell<CEnum> = const { std::cell::Cell::new(0) };
}

fn exchange_mode(mode: Out<CEnum>) -> Result {
    // SAFETY: the caller passes a mode, to be exchanged.
    let new = unsafe { mode.element(0) }?;
    // Global, of the thread, relaxed.
    if !(0..=2).contains(&new) {
        return fail(CUresult::INVALID_VALUE);
    }
    mode.set(MODE.replace(new))
}
