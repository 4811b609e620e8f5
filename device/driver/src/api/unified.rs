//! Hints about managed memory. Host and device share it without moving it, so a hint that is valid has been followed.

use gridstride_simt::AllocKind;

use crate::api::copy::Place;
use crate::cpu::stream::{Size, Work};
use crate::cpu::{check_device, cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUdevice, CUdeviceptr, CUmemLocation, CUstream};

driver_functions! {
    /// Says how a range of managed memory will be used.
    call cuMemAdvise(address: CUdeviceptr, size: usize, advice: CEnum, device: CUdevice) => advise;
    /// Says how a range of managed memory will be used.
    call cuMemAdvise_v2(address: CUdeviceptr, size: usize, advice: CEnum, location: CUmemLocation) => advise_at;
    /// Moves a range of managed memory to where it will be used.
    call cuMemPrefetchAsync_v2(
        address: CUdeviceptr,
        size: usize,
        location: CUmemLocation,
        flags: u32,
        stream: CUstream,
    ) => prefetch_to, per thread cuMemPrefetchAsync_v2_ptsz;
    /// Moves a range of managed memory to where it will be used.
    call cuMemPrefetchAsync(address: CUdeviceptr, size: usize, device: CUdevice, stream: CUstream) => prefetch, per thread cuMemPrefetchAsync_ptsz;
}

/// Stands for the host in the place of a device.
const HOST: CUdevice = -1;

fn check(address: CUdeviceptr, size: usize, device: CUdevice) -> Result {
    if device != HOST {
        check_device(device)?;
    }
    let memory = &cpu()?.memory;
    if size == 0 || memory.find(address).is_none_or(|found| found.kind != AllocKind::Managed) {
        return Err(CUresult::INVALID_VALUE.because(format!("{address:#x} is not in managed memory")));
    }
    Place::Device(address).check(memory, size)
}

fn advise(address: CUdeviceptr, size: usize, advice: CEnum, device: CUdevice) -> Result {
    current::context()?;
    if !(1..=6).contains(&advice) {
        return fail(CUresult::INVALID_VALUE);
    }
    check(address, size, device)
}

/// The device, or [`HOST`], that a location is.
fn device_of(location: CUmemLocation) -> Result<CUdevice> {
    match location.kind {
        1 => Ok(location.id),
        // The host, one of its memory nodes, the one of the calling thread.
        2..=4 => Ok(HOST),
        _ => fail(CUresult::INVALID_VALUE),
    }
}

fn advise_at(address: CUdeviceptr, size: usize, advice: CEnum, location: CUmemLocation) -> Result {
    advise(address, size, advice, device_of(location)?)
}

fn prefetch_to(address: CUdeviceptr, size: usize, location: CUmemLocation, flags: u32, stream: CUstream) -> Result {
    if flags != 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    prefetch(address, size, device_of(location)?, stream)
}

fn prefetch(address: CUdeviceptr, size: usize, device: CUdevice, stream: CUstream) -> Result {
    let (context, stream) = current::stream(stream)?;
    check(address, size, device)?;
    context.submit(&stream, None, Work::Nothing, Size::Small).map(drop)
}
