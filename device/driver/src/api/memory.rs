//! Allocating and freeing memory.

use gridstride_simt::AllocKind;

use crate::arg::Out;
use crate::cpu::current;
use crate::cpu::{Cpu, checking, cpu};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::CUdeviceptr;

driver_functions! {
    /// Allocates device memory.
    call cuMemAlloc_v2(address: *mut CUdeviceptr, size: usize) => alloc;
    /// Allocates device memory for rows that start aligned.
    call cuMemAllocPitch_v2(
        address: *mut CUdeviceptr,
        pitch: *mut usize,
        width: usize,
        height: usize,
        element: u32,
    ) => alloc_pitch;
    /// Allocates memory that host and device share.
    call cuMemAllocManaged(address: *mut CUdeviceptr, size: usize, flags: u32) => alloc_managed;
    /// Frees device or managed memory, after all work that may use it.
    call cuMemFree_v2(address: CUdeviceptr) => free;
    /// Bytes free and in all.
    call cuMemGetInfo_v2(free: *mut usize, total: *mut usize) => get_info;
    /// The allocation that an address is in.
    call cuMemGetAddressRange_v2(base: *mut CUdeviceptr, size: *mut usize, address: CUdeviceptr) => get_address_range;
}

pub(crate) fn allocate(size: usize, kind: AllocKind) -> Result<u64> {
    let context = current::context()?;
    let cpu = cpu()?;
    cpu.allocations.alloc(&cpu.memory, context.id, size, kind)
}

fn alloc(address: Out<CUdeviceptr>, size: usize) -> Result {
    address.wanted()?;
    current::context()?;
    if size == 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    address.set(allocate(size, AllocKind::Device)?)
}

/// Rows start at multiples of this.
const PITCH: usize = 512;

fn alloc_pitch(address: Out<CUdeviceptr>, pitch: Out<usize>, width: usize, height: usize, element: u32) -> Result {
    address.wanted()?;
    pitch.wanted()?;
    current::context()?;
    let row = width.checked_next_multiple_of(PITCH).ok_or(CUresult::INVALID_VALUE)?;
    let size = row.checked_mul(height).ok_or(CUresult::INVALID_VALUE)?;
    if size == 0 || !matches!(element, 4 | 8 | 16) {
        return fail(CUresult::INVALID_VALUE);
    }
    address.set(allocate(size, AllocKind::Device)?)?;
    pitch.set(row)
}

fn alloc_managed(address: Out<CUdeviceptr>, size: usize, flags: u32) -> Result {
    address.wanted()?;
    current::context()?;
    // Attached to all streams, to the host, or to one stream.
    if size == 0 || !matches!(flags, 1 | 2 | 4) {
        return fail(CUresult::INVALID_VALUE);
    }
    address.set(allocate(size, AllocKind::Managed)?)
}

pub(crate) fn is_device_memory(kind: AllocKind) -> bool {
    matches!(kind, AllocKind::Device | AllocKind::Managed)
}

/// Notes that an allocation is going to be freed; what is none is told to the checks, too, for many who free memory do not
/// look at the result.
pub(crate) fn begin_free(cpu: &Cpu, address: u64, accept: impl Fn(AllocKind) -> bool) -> Result {
    let begun = cpu.allocations.begin_free(address, accept);
    if begun.is_err() {
        checking::bad_free(cpu, address);
    }
    begun
}

fn free(address: CUdeviceptr) -> Result {
    let context = current::context()?;
    if address == 0 {
        return Ok(());
    }
    let cpu = cpu()?;
    begin_free(cpu, address, is_device_memory)?;
    // Work under way may use it. It is freed even if that work turns out to have failed: it cannot be freed again.
    let result = context.synchronize();
    cpu.allocations.free(&cpu.memory, address)?;
    result
}

fn get_info(free: Out<usize>, total: Out<usize>) -> Result {
    current::context()?;
    let memory = &cpu()?.memory;
    free.set_if_wanted(memory.free_bytes() as usize);
    total.set_if_wanted(memory.capacity() as usize);
    Ok(())
}

fn get_address_range(base: Out<CUdeviceptr>, size: Out<usize>, address: CUdeviceptr) -> Result {
    current::context()?;
    let found = cpu()?.memory.find(address).ok_or(CUresult::NOT_FOUND)?;
    base.set_if_wanted(found.base);
    size.set_if_wanted(found.size as usize);
    Ok(())
}
