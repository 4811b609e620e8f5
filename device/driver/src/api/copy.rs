//! Copies of contiguous memory.
//!
//! Synchronous copies run on the calling thread when the default stream gets there. Asynchronous ones run in their
//! stream, unless a side is pageable host memory, which the caller may free or change as soon as the call returns: reading
//! from it happens before the call returns (into a staging buffer where the stream is busy), writing to it too. A GPU
//! does the same.

use std::ffi::c_void;
use std::sync::Arc;

use gridstride_simt::Memory;

use crate::arg::{In, Out};
use crate::cpu::context::Context;
use crate::cpu::cpu;
use crate::cpu::current;
use crate::cpu::stream::{Size, Stream};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CUdeviceptr, CUstream};

driver_functions! {
    /// Copies to the device.
    call cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, size: usize) => to_device, per thread cuMemcpyHtoD_v2_ptds;
    /// Copies to the host.
    call cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, size: usize) => to_host, per thread cuMemcpyDtoH_v2_ptds;
    /// Copies inside the device.
    call cuMemcpyDtoD_v2(to: CUdeviceptr, from: CUdeviceptr, size: usize) => inside_device, per thread cuMemcpyDtoD_v2_ptds;
    /// Copies between any two places.
    call cuMemcpy(to: CUdeviceptr, from: CUdeviceptr, size: usize) => anywhere, per thread cuMemcpy_ptds;
    /// Copies to the device, in a stream.
    call cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, size: usize, stream: CUstream) => to_device_async, per thread cuMemcpyHtoDAsync_v2_ptsz;
    /// Copies to the host, in a stream.
    call cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, size: usize, stream: CUstream) => to_host_async, per thread cuMemcpyDtoHAsync_v2_ptsz;
    /// Copies inside the device, in a stream.
    call cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, size: usize, stream: CUstream) => inside_device_async, per thread cuMemcpyDtoDAsync_v2_ptsz;
    /// Copies between any two places, in a stream.
    call cuMemcpyAsync(to: CUdeviceptr, from: CUdeviceptr, size: usize, stream: CUstream) => anywhere_async, per thread cuMemcpyAsync_ptsz;
}

/// Below this, doing a copy at once costs less than waking the stream's thread.
pub(crate) const SMALL: usize = 64 << 10;

/// One side of a copy.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// Memory of the device, managed and pinned memory included: safe to keep for later, since it is checked when used.
    Device(u64),
    /// Pageable host memory: the caller's, for the length of the call.
    Host(*mut u8),
}

impl Place {
    /// Memory that a host pointer points to.
    pub(crate) fn of_host(memory: &Memory, pointer: *mut u8) -> Result<Self> {
        if pointer.is_null() {
            return fail(CUresult::INVALID_VALUE);
        }
        Ok(match memory.find(pointer as u64) {
            Some(_) => Self::Device(pointer as u64),
            None => Self::Host(pointer),
        })
    }

    /// Memory at a unified address.
    pub(crate) fn anywhere(memory: &Memory, address: u64) -> Result<Self> {
        Self::of_host(memory, std::ptr::with_exposed_provenance_mut(address as usize))
    }

    /// `INVALID_VALUE` unless all bytes are there. Nothing can be said of the host's.
    pub(crate) fn check(self, memory: &Memory, size: usize) -> Result {
        let Self::Device(address) = self else {
            return Ok(());
        };
        let inside = memory.find(address).is_some_and(|found| size as u64 <= found.size - (address - found.base));
        if inside {
            return Ok(());
        }
        let detail = format!("{size} bytes at {address:#x} are not inside an allocation of the device");
        Err(CUresult::INVALID_VALUE.because(detail))
    }

    /// The place `bytes` further on.
    pub(crate) fn offset(self, bytes: usize) -> Self {
        match self {
            Self::Device(address) => Self::Device(address.wrapping_add(bytes as u64)),
            Self::Host(pointer) => Self::Host(pointer.wrapping_add(bytes)),
        }
    }
}

/// Copies now.
///
/// # Safety
/// Host places are valid for `size` bytes.
pub(crate) unsafe fn transfer(memory: &Memory, to: Place, from: Place, size: usize) -> Result {
    match (to, from) {
        (Place::Device(to), Place::Device(from)) => memory.copy(to, from, size as u64)?,
        (Place::Device(to), Place::Host(from)) => {
            // SAFETY: valid by this function's contract.
            memory.write(to, unsafe { std::slice::from_raw_parts(from, size) })?;
        }
        (Place::Host(to), Place::Device(from)) => {
            // SAFETY: valid by this function's contract; the bytes are only written.
            memory.read(from, unsafe { std::slice::from_raw_parts_mut(to, size) })?;
        }
        // SAFETY: valid by this function's contract.
        (Place::Host(to), Place::Host(from)) => unsafe { std::ptr::copy(from, to, size) },
    }
    Ok(())
}

/// Copies in the order of the default stream, and waits.
fn copy(to: Place, from: Place, size: usize) -> Result {
    let (context, stream) = current::stream(CUstream::NULL)?;
    copy_here(&context, &stream, to, from, size)
}

fn copy_here(context: &Arc<Context>, stream: &Arc<Stream>, to: Place, from: Place, size: usize) -> Result {
    let memory = &cpu()?.memory;
    to.check(memory, size)?;
    from.check(memory, size)?;
    // SAFETY: host places come from the pointers of a Driver API call that says they are valid for `size` bytes, and this
    // runs before that call returns.
    context.run_here(stream, || unsafe { transfer(memory, to, from, size) })
}

fn copy_async(to: Place, from: Place, size: usize, stream: CUstream) -> Result {
    let (context, stream) = current::stream(stream)?;
    let memory = &cpu()?.memory;
    to.check(memory, size)?;
    from.check(memory, size)?;
    let extent = if size <= SMALL { Size::Small } else { Size::Large };
    match (to, from) {
        (Place::Device(to), Place::Device(from)) => {
            context.run(&stream, extent, move || Ok(memory.copy(to, from, size as u64)?))
        }
        (Place::Device(to), Place::Host(from)) if !context.is_idle(&stream) => {
            // SAFETY: the caller says that there are `size` bytes.
            let staged = unsafe { std::slice::from_raw_parts(from, size) }.to_vec();
            context.run(&stream, Size::Large, move || Ok(memory.write(to, &staged)?))
        }
        _ => copy_here(&context, &stream, to, from, size),
    }
}

/// Nothing to copy: only the context has to be in order.
fn nothing(stream: Option<CUstream>) -> Result {
    match stream {
        Some(stream) => current::stream(stream).map(drop),
        None => current::context().map(drop),
    }
}

fn to_device(to: CUdeviceptr, from: In<c_void>, size: usize) -> Result {
    if size == 0 {
        return nothing(None);
    }
    copy(Place::Device(to), Place::of_host(&cpu()?.memory, from.address())?, size)
}

fn to_host(to: Out<c_void>, from: CUdeviceptr, size: usize) -> Result {
    if size == 0 {
        return nothing(None);
    }
    copy(Place::of_host(&cpu()?.memory, to.address())?, Place::Device(from), size)
}

fn inside_device(to: CUdeviceptr, from: CUdeviceptr, size: usize) -> Result {
    if size == 0 {
        return nothing(None);
    }
    copy(Place::Device(to), Place::Device(from), size)
}

pub(crate) fn anywhere(to: CUdeviceptr, from: CUdeviceptr, size: usize) -> Result {
    if size == 0 {
        return nothing(None);
    }
    let memory = &cpu()?.memory;
    copy(Place::anywhere(memory, to)?, Place::anywhere(memory, from)?, size)
}

fn to_device_async(to: CUdeviceptr, from: In<c_void>, size: usize, stream: CUstream) -> Result {
    if size == 0 {
        return nothing(Some(stream));
    }
    copy_async(Place::Device(to), Place::of_host(&cpu()?.memory, from.address())?, size, stream)
}

fn to_host_async(to: Out<c_void>, from: CUdeviceptr, size: usize, stream: CUstream) -> Result {
    if size == 0 {
        return nothing(Some(stream));
    }
    copy_async(Place::of_host(&cpu()?.memory, to.address())?, Place::Device(from), size, stream)
}

fn inside_device_async(to: CUdeviceptr, from: CUdeviceptr, size: usize, stream: CUstream) -> Result {
    if size == 0 {
        return nothing(Some(stream));
    }
    copy_async(Place::Device(to), Place::Device(from), size, stream)
}

pub(crate) fn anywhere_async(to: CUdeviceptr, from: CUdeviceptr, size: usize, stream: CUstream) -> Result {
    if size == 0 {
        return nothing(Some(stream));
    }
    let memory = &cpu()?.memory;
    copy_async(Place::anywhere(memory, to)?, Place::anywhere(memory, from)?, size, stream)
}
