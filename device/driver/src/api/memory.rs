//! Allocating and freeing memory, and what is known of a pointer.

use std::ffi::c_void;

use gridstride_simt::AllocKind;

use crate::arg::Out;
use crate::cpu::current;
use crate::cpu::stream::Size;
use crate::cpu::{Cpu, checking, cpu};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUcontext, CUdeviceptr, CUstream};

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
    /// Allocates device memory, in the order of a stream.
    call cuMemAllocAsync(address: *mut CUdeviceptr, size: usize, stream: CUstream) => alloc_async;
    /// Allocates pinned host memory, which the device sees too.
    call cuMemAllocHost_v2(pointer: *mut *mut c_void, size: usize) => alloc_host;
    /// Allocates pinned host memory, which the device sees too.
    call cuMemHostAlloc(pointer: *mut *mut c_void, size: usize, flags: u32) => host_alloc;
    /// Allocates memory that host and device share.
    call cuMemAllocManaged(address: *mut CUdeviceptr, size: usize, flags: u32) => alloc_managed;
    /// Frees device or managed memory, after all work that may use it.
    call cuMemFree_v2(address: CUdeviceptr) => free;
    /// Frees device memory, in the order of a stream.
    call cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) => free_async;
    /// Frees pinned host memory.
    call cuMemFreeHost(pointer: *mut c_void) => free_host;
    /// Bytes free and in all.
    call cuMemGetInfo_v2(free: *mut usize, total: *mut usize) => get_info;
    /// The allocation that an address is in.
    call cuMemGetAddressRange_v2(base: *mut CUdeviceptr, size: *mut usize, address: CUdeviceptr) => get_address_range;
    /// Address by which the device sees pinned host memory.
    call cuMemHostGetDevicePointer_v2(address: *mut CUdeviceptr, pointer: *mut c_void, flags: u32) => host_get_device_pointer;
    /// What is known of a pointer.
    call cuPointerGetAttribute(data: *mut c_void, attribute: CEnum, address: CUdeviceptr) => pointer_attribute;
}

fn allocate(size: usize, kind: AllocKind) -> Result<u64> {
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

fn alloc_async(address: Out<CUdeviceptr>, size: usize, stream: CUstream) -> Result {
    address.wanted()?;
    let (context, stream) = current::stream(stream)?;
    if size == 0 {
        return address.set(0);
    }
    // The address can be had now, whatever the stream is doing, and is not touched before the stream gets there.
    let cpu = cpu()?;
    let alloc = || cpu.allocations.alloc(&cpu.memory, context.id, size, AllocKind::Device);
    let new = alloc().or_else(|error| {
        // What earlier work of this stream frees counts as free by then.
        let pending = stream.pending().ok_or(error)?;
        pending.wait();
        context.faults.check()?;
        alloc()
    })?;
    address.set(new)
}

fn alloc_host(pointer: Out<*mut c_void>, size: usize) -> Result {
    pointer.wanted()?;
    current::context()?;
    if size == 0 {
        return pointer.set(std::ptr::null_mut());
    }
    let address = allocate(size, AllocKind::Pinned)?;
    // The bytes were allocated by `Memory`, which exposed their address.
    pointer.set(std::ptr::with_exposed_provenance_mut(address as usize))
}

fn host_alloc(pointer: Out<*mut c_void>, size: usize, flags: u32) -> Result {
    // Portable, mapped, write-combined: all pinned memory is the first two, and the third is about caches.
    if flags & !0x7 != 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    alloc_host(pointer, size)
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

fn is_device_memory(kind: AllocKind) -> bool {
    matches!(kind, AllocKind::Device | AllocKind::Managed)
}

/// Notes that an allocation is going to be freed; what is none is told to the checks, too, for many who free memory do not
/// look at the result.
fn begin_free(cpu: &Cpu, address: u64, accept: impl Fn(AllocKind) -> bool) -> Result {
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

fn free_async(address: CUdeviceptr, stream: CUstream) -> Result {
    let (context, stream) = current::stream(stream)?;
    if address == 0 {
        return Ok(());
    }
    let cpu = cpu()?;
    begin_free(cpu, address, is_device_memory)?;
    context.run(&stream, Size::Small, move || cpu.allocations.free(&cpu.memory, address))
}

fn free_host(pointer: Out<c_void>) -> Result {
    let cpu = cpu()?;
    if pointer.is_null() {
        return Ok(());
    }
    let address = pointer.address() as u64;
    let owner = cpu.allocations.context_of(address).and_then(|id| cpu.context_by_id(id));
    if let Some(context) = &owner {
        context.faults.check()?;
    }
    begin_free(cpu, address, |kind| kind == AllocKind::Pinned)?;
    let result = owner.map_or(Ok(()), |context| context.synchronize());
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

fn host_get_device_pointer(address: Out<CUdeviceptr>, pointer: Out<c_void>, flags: u32) -> Result {
    address.wanted()?;
    current::context()?;
    let host = pointer.address() as u64;
    match cpu()?.memory.find(host) {
        Some(found) if found.kind == AllocKind::Pinned && flags == 0 => address.set(host),
        _ => fail(CUresult::INVALID_VALUE),
    }
}

fn pointer_attribute(data: Out<c_void>, attribute: CEnum, address: CUdeviceptr) -> Result {
    data.wanted()?;
    let cpu = cpu()?;
    let found = cpu
        .memory
        .find(address)
        .ok_or_else(|| CUresult::INVALID_VALUE.because(format!("{address:#x} is not an address of the CPU device")))?;
    let on_host = found.kind == AllocKind::Pinned;
    let host_visible = on_host || found.kind == AllocKind::Managed;
    let owner = cpu.allocations.context_of(found.base).and_then(|id| cpu.context_by_id(id));
    // SAFETY: the caller says by the attribute what type of value there is room for; these are the Driver API's.
    unsafe {
        match attribute {
            // The context.
            1 => data.typed().set(owner.map_or(CUcontext::NULL, |context| context.handle)),
            // Host or device.
            2 => data.typed().set(if on_host { 1_u32 } else { 2 }),
            // The address as the device sees it, and as the host does.
            3 => data.typed().set(address),
            4 if host_visible => data.typed().set(address),
            4 => fail(CUresult::INVALID_VALUE),
            // Managed or not.
            8 => data.typed().set(u32::from(found.kind == AllocKind::Managed)),
            // The device.
            9 => data.typed().set(owner.map_or(0, |context| context.device)),
            // The allocation that the address is in.
            11 => data.typed().set(found.base),
            12 => data.typed().set(found.size as usize),
            // Mapped.
            13 => data.typed().set(1_u32),
            5..=20 => Err(CUresult::NOT_SUPPORTED
                .because(format!("the CPU device does not support attribute {attribute} of cuPointerGetAttribute"))),
            _ => fail(CUresult::INVALID_VALUE),
        }
    }
}
