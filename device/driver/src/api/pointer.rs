//! What is known of a pointer.

use std::ffi::c_void;

use gridstride_simt::AllocKind;

use crate::arg::Out;
use crate::cpu::cpu;
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUcontext, CUdeviceptr, CUmemoryPool};

driver_functions! {
    /// What is known of a pointer.
    call cuPointerGetAttribute(data: *mut c_void, attribute: CEnum, address: CUdeviceptr) => get;
    /// Several things that are known of a pointer. One that is unknown to the driver is no error, but all zeros.
    call cuPointerGetAttributes(
        count: u32,
        attributes: *mut CEnum,
        data: *mut *mut c_void,
        address: CUdeviceptr,
    ) => get_several;
    /// Sets an attribute of a pointer.
    call cuPointerSetAttribute(value: *const c_void, attribute: CEnum, address: CUdeviceptr) => set;
}

/// Attributes by their numbers in `CUpointer_attribute`.
const SYNC_MEMOPS: CEnum = 6;
const DEVICE_ORDINAL: CEnum = 9;

fn get(data: Out<c_void>, attribute: CEnum, address: CUdeviceptr) -> Result {
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
            // Copies from and to it wait, always: nothing else is to be seen of them.
            SYNC_MEMOPS => data.typed().set(1_u32),
            // A number that no other allocation has: at one time, its address.
            7 => data.typed().set(found.base),
            // Managed or not.
            8 => data.typed().set(u32::from(found.kind == AllocKind::Managed)),
            DEVICE_ORDINAL => data.typed().set(owner.map_or(0, |context| context.device)),
            // Can be shared between processes; the kinds of handles for that; GPUDirect.
            10 | 15 => data.typed().set(0_u32),
            14 => data.typed().set(0_u64),
            // The allocation that the address is in.
            11 => data.typed().set(found.base),
            12 => data.typed().set(found.size as usize),
            // Mapped.
            13 => data.typed().set(1_u32),
            // Read and write.
            16 => data.typed().set(3_u32),
            17 => {
                let pool = cpu.allocations.pool_of(found.base);
                data.typed().set(pool.map_or(CUmemoryPool::NULL, |pool| pool.handle))
            }
            5..=20 => Err(CUresult::NOT_SUPPORTED
                .because(format!("the CPU device does not support attribute {attribute} of cuPointerGetAttribute"))),
            _ => fail(CUresult::INVALID_VALUE),
        }
    }
}

fn get_several(count: u32, attributes: Out<CEnum>, data: Out<*mut c_void>, address: CUdeviceptr) -> Result {
    if count == 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    for index in 0..count as usize {
        // SAFETY: the caller says that there are `count` attributes, and as many places for values.
        let (attribute, place) = unsafe { (attributes.element(index)?, data.element(index)?) };
        let place = Out::at(place);
        match get(place, attribute, address) {
            Ok(()) => {}
            Err(error)
                if error.code == CUresult::INVALID_VALUE && !place.is_null() && (1..=20).contains(&attribute) =>
            {
                // SAFETY: as in `get`: a value of the attribute's size fits.
                unsafe { clear(place, attribute) }?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What a pointer has for an attribute that does not apply to it.
///
/// # Safety
/// There is room for a value of the attribute.
unsafe fn clear(place: Out<c_void>, attribute: CEnum) -> Result {
    // SAFETY: by this function's contract.
    unsafe {
        match attribute {
            1 | 3 | 4 | 7 | 11 | 12 | 14 | 17 => place.typed().set(0_u64),
            // CU_DEVICE_INVALID
            DEVICE_ORDINAL => place.typed().set(-2_i32),
            _ => place.typed().set(0_u32),
        }
    }
}

fn set(_value: crate::arg::In<c_void>, attribute: CEnum, address: CUdeviceptr) -> Result {
    let found = cpu()?.memory.find(address);
    // Copies are always as that attribute demands.
    if attribute == SYNC_MEMOPS && found.is_some() { Ok(()) } else { fail(CUresult::INVALID_VALUE) }
}
