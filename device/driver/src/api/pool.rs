//! Allocations in the order of a stream, and the pools that they come from.

use std::ffi::c_void;

use gridstride_simt::AllocKind;

use crate::api::memory::{begin_free, is_device_memory};
use crate::arg::{In, Out};
use crate::cpu::stream::Size;
use crate::cpu::{check_device, cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{
    CEnum, CUdevice, CUdeviceptr, CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUstream,
};

driver_functions! {
    /// Allocates device memory, in the order of a stream.
    call cuMemAllocAsync(address: *mut CUdeviceptr, size: usize, stream: CUstream) => alloc_async,
        per thread cuMemAllocAsync_ptsz;
    /// Allocates device memory from a pool, in the order of a stream.
    call cuMemAllocFromPoolAsync(address: *mut CUdeviceptr, size: usize, pool: CUmemoryPool, stream: CUstream)
        => alloc_from_pool, per thread cuMemAllocFromPoolAsync_ptsz;
    /// Frees device memory, in the order of a stream.
    call cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) => free_async, per thread cuMemFreeAsync_ptsz;
    /// The pool that a device has from the start.
    call cuDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: CUdevice) => default_pool;
    /// The pool that a device uses.
    call cuDeviceGetMemPool(pool: *mut CUmemoryPool, device: CUdevice) => device_pool;
    /// Sets the pool that a device uses.
    call cuDeviceSetMemPool(device: CUdevice, pool: CUmemoryPool) => set_device_pool;
    /// Makes a pool.
    call cuMemPoolCreate(pool: *mut CUmemoryPool, properties: *const CUmemPoolProps) => create;
    /// Destroys a pool.
    call cuMemPoolDestroy(pool: CUmemoryPool) => destroy;
    /// Gives memory back that a pool holds in reserve.
    call cuMemPoolTrimTo(pool: CUmemoryPool, keep: usize) => trim;
    /// One of a pool's properties.
    call cuMemPoolGetAttribute(pool: CUmemoryPool, attribute: CEnum, value: *mut c_void) => get_attribute;
    /// Sets one of a pool's properties.
    call cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: CEnum, value: *mut c_void) => set_attribute;
    /// How a device may access the memory of a pool.
    call cuMemPoolGetAccess(flags: *mut CEnum, pool: CUmemoryPool, location: *mut CUmemLocation) => get_access;
    /// Says how devices may access the memory of a pool.
    call cuMemPoolSetAccess(pool: CUmemoryPool, access: *const CUmemAccessDesc, count: usize) => set_access;
}

fn alloc_async(address: Out<CUdeviceptr>, size: usize, stream: CUstream) -> Result {
    let device = current::stream(stream)?.0.device;
    alloc_from_pool(address, size, cpu()?.pools.current_of(device), stream)
}

fn alloc_from_pool(address: Out<CUdeviceptr>, size: usize, pool: CUmemoryPool, stream: CUstream) -> Result {
    address.wanted()?;
    let (context, stream) = current::stream(stream)?;
    let cpu = cpu()?;
    let pool = cpu.pools.find(pool)?;
    if size == 0 {
        return address.set(0);
    }
    // The address can be had now, whatever the stream is doing, and is not touched before the stream gets there.
    let alloc = || cpu.allocations.alloc_in(&cpu.memory, context.id, size, AllocKind::Device, Some(pool.clone()));
    let new = alloc().or_else(|error| {
        // What earlier work of this stream frees counts as free by then.
        let pending = stream.pending().ok_or(error)?;
        pending.wait();
        context.faults.check()?;
        alloc()
    })?;
    address.set(new)
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

fn default_pool(pool: Out<CUmemoryPool>, device: CUdevice) -> Result {
    pool.wanted()?;
    pool.set(check_device(device)?.pools.default_of(device))
}

fn device_pool(pool: Out<CUmemoryPool>, device: CUdevice) -> Result {
    pool.wanted()?;
    pool.set(check_device(device)?.pools.current_of(device))
}

fn set_device_pool(device: CUdevice, pool: CUmemoryPool) -> Result {
    check_device(device)?.pools.set_current(device, pool)
}

fn create(pool: Out<CUmemoryPool>, properties: In<CUmemPoolProps>) -> Result {
    const PINNED: CEnum = 1;
    const ON_DEVICE: CEnum = 1;
    pool.wanted()?;
    let CUmemPoolProps { alloc_type, handle_types, location } = properties.get()?;
    if alloc_type != PINNED {
        return fail(CUresult::INVALID_VALUE);
    }
    if handle_types != 0 || location.kind != ON_DEVICE {
        let detail = "pools of the CPU device are on a device, and not shared between processes";
        return Err(CUresult::NOT_SUPPORTED.because(detail));
    }
    pool.set(check_device(location.id)?.pools.create(location.id).handle)
}

fn destroy(pool: CUmemoryPool) -> Result {
    cpu()?.pools.destroy(pool)
}

fn trim(pool: CUmemoryPool, _keep: usize) -> Result {
    cpu()?.pools.find(pool).map(drop)
}

/// Attributes up to this one are 4 bytes, the others 8.
const LAST_INT: CEnum = 3;

fn get_attribute(pool: CUmemoryPool, attribute: CEnum, value: Out<c_void>) -> Result {
    value.wanted()?;
    let now = cpu()?.pools.find(pool)?.get(attribute)?;
    // SAFETY: the caller says by the attribute what type of value there is room for.
    unsafe { if attribute <= LAST_INT { value.typed().set(now as i32) } else { value.typed().set(now) } }
}

fn set_attribute(pool: CUmemoryPool, attribute: CEnum, value: Out<c_void>) -> Result {
    value.wanted()?;
    // SAFETY: the caller says by the attribute what type of value is there.
    let new = unsafe {
        if attribute <= LAST_INT {
            u64::from(value.typed::<i32>().element(0)? != 0)
        } else {
            value.typed::<u64>().element(0)?
        }
    };
    cpu()?.pools.find(pool)?.set(attribute, new)
}

const READ_WRITE: CEnum = 3;

fn get_access(flags: Out<CEnum>, pool: CUmemoryPool, location: Out<CUmemLocation>) -> Result {
    cpu()?.pools.find(pool)?;
    location.wanted()?;
    // All devices share one memory.
    flags.set(READ_WRITE)
}

fn set_access(pool: CUmemoryPool, access: In<CUmemAccessDesc>, count: usize) -> Result {
    let pool = cpu()?.pools.find(pool)?;
    for index in 0..count {
        // SAFETY: the caller says that there are `count` elements.
        let CUmemAccessDesc { location, flags } = unsafe { access.element(index) }?;
        check_device(location.id)?;
        if location.id == pool.device && flags != READ_WRITE {
            return Err(CUresult::INVALID_VALUE.because("a device can always access its own pools"));
        }
    }
    Ok(())
}
