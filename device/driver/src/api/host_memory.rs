//! Host memory that the device sees: pinned, and registered.

use std::ffi::c_void;

use gridstride_simt::AllocKind;

use crate::api::memory::{allocate, begin_free};
use crate::arg::Out;
use crate::cpu::{cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::CUdeviceptr;

driver_functions! {
    /// Allocates pinned host memory, which the device sees too.
    call cuMemAllocHost_v2(pointer: *mut *mut c_void, size: usize) => alloc_host, also cuMemAllocHost;
    /// Allocates pinned host memory, which the device sees too.
    call cuMemHostAlloc(pointer: *mut *mut c_void, size: usize, flags: u32) => host_alloc;
    /// Frees pinned host memory.
    call cuMemFreeHost(pointer: *mut c_void) => free_host;
    /// Lets the device see host memory of the caller's.
    call cuMemHostRegister_v2(pointer: *mut c_void, size: usize, flags: u32) => register, also cuMemHostRegister;
    /// Ends that.
    call cuMemHostUnregister(pointer: *mut c_void) => unregister;
    /// Address by which the device sees host memory.
    call cuMemHostGetDevicePointer_v2(address: *mut CUdeviceptr, pointer: *mut c_void, flags: u32) => get_device_pointer;
    /// Flags that pinned memory was allocated with.
    call cuMemHostGetFlags(flags: *mut u32, pointer: *mut c_void) => get_flags;
}

/// Portable and mapped: all host memory that the device sees is both.
const ALWAYS: u32 = 0x1 | 0x2;
/// Write-combined: about caches.
const WRITE_COMBINED: u32 = 0x4;

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
    if flags & !(ALWAYS | WRITE_COMBINED) != 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    alloc_host(pointer, size)
}

fn free_host(pointer: Out<c_void>) -> Result {
    let cpu = cpu()?;
    if pointer.is_null() {
        return Ok(());
    }
    let address = pointer.address() as u64;
    if cpu.allocations.is_registered(address) {
        return Err(CUresult::INVALID_VALUE.because("registered memory is unregistered, not freed"));
    }
    end(address)
}

fn register(pointer: Out<c_void>, size: usize, flags: u32) -> Result {
    // Portable, mapped, memory of an I/O device, read-only.
    const LAST_FLAGS: u32 = 0xf;
    const IO_MEMORY: u32 = 0x4;
    let context = current::context()?;
    if pointer.is_null() || size == 0 || flags & !LAST_FLAGS != 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    if flags & IO_MEMORY != 0 {
        return Err(CUresult::NOT_SUPPORTED.because("the CPU device does not register memory of I/O devices"));
    }
    let cpu = cpu()?;
    cpu.allocations.register(&cpu.memory, context.id, pointer.address(), size)
}

fn unregister(pointer: Out<c_void>) -> Result {
    let cpu = cpu()?;
    let address = pointer.address() as u64;
    if pointer.is_null() {
        return fail(CUresult::INVALID_VALUE);
    }
    if !cpu.allocations.is_registered(address) {
        return fail(CUresult::HOST_MEMORY_NOT_REGISTERED);
    }
    end(address)
}

/// Ends the device's view of host memory once all work that may use it is done.
fn end(address: u64) -> Result {
    let cpu = cpu()?;
    let owner = cpu.allocations.context_of(address).and_then(|id| cpu.context_by_id(id));
    if let Some(context) = &owner {
        context.faults.check()?;
    }
    begin_free(cpu, address, |kind| kind == AllocKind::Pinned)?;
    let result = owner.map_or(Ok(()), |context| context.synchronize());
    cpu.allocations.free(&cpu.memory, address)?;
    result
}

fn get_device_pointer(address: Out<CUdeviceptr>, pointer: Out<c_void>, flags: u32) -> Result {
    address.wanted()?;
    current::context()?;
    let host = pointer.address() as u64;
    match cpu()?.memory.find(host) {
        Some(found) if found.kind == AllocKind::Pinned && flags == 0 => address.set(host),
        _ => fail(CUresult::INVALID_VALUE),
    }
}

fn get_flags(flags: Out<u32>, pointer: Out<c_void>) -> Result {
    flags.wanted()?;
    let found = cpu()?.memory.find(pointer.address() as u64);
    match found {
        Some(found) if found.kind == AllocKind::Pinned => flags.set(ALWAYS),
        _ => fail(CUresult::INVALID_VALUE),
    }
}
