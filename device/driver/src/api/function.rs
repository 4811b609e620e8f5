//! What is known of a kernel, and what can be set.

use std::sync::atomic::Ordering;

use crate::arg::Out;
use crate::cpu::{cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUfunction, CUmodule};

driver_functions! {
    /// One of a kernel's properties.
    call cuFuncGetAttribute(value: *mut i32, attribute: CEnum, function: CUfunction) => get_attribute;
    /// Sets one of the properties that can be set.
    call cuFuncSetAttribute(function: CUfunction, attribute: CEnum, value: i32) => set_attribute;
    /// Preference between cache and shared memory.
    call cuFuncSetCacheConfig(function: CUfunction, config: CEnum) => set_cache_config;
    /// Width of the banks of shared memory.
    call cuFuncSetSharedMemConfig(function: CUfunction, config: CEnum) => set_shared_config;
    /// The module of a kernel.
    call cuFuncGetModule(module: *mut CUmodule, function: CUfunction) => get_module;
}

const MAX_DYNAMIC_SHARED: CEnum = 8;
const CARVEOUT: CEnum = 9;

fn get_attribute(value: Out<i32>, attribute: CEnum, function: CUfunction) -> Result {
    value.wanted()?;
    let function = current::function(function)?;
    let info = function.info();
    let program = &function.module.program;
    let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    value.set(match attribute {
        0 => number(info.max_threads),
        1 => number(info.static_shared),
        2 => number(info.const_bytes),
        3 => number(info.local_bytes),
        4 => number(info.registers),
        // Architecture that the PTX was written for, and that it runs as.
        5 => number(program.target().sm),
        6 => number(cpu()?.device.facts().sm),
        MAX_DYNAMIC_SHARED => number(function.max_dynamic_shared.load(Ordering::Relaxed)),
        // No preference.
        CARVEOUT => -1,
        // Cache mode, and all about clusters: none.
        7 | 10..=15 => 0,
        _ => return fail(CUresult::INVALID_VALUE),
    })
}

fn set_attribute(function: CUfunction, attribute: CEnum, value: i32) -> Result {
    let function = current::function(function)?;
    match attribute {
        MAX_DYNAMIC_SHARED => {
            let room = cpu()?.device.facts().shared_per_block_optin.saturating_sub(function.info().static_shared);
            match u32::try_from(value) {
                Ok(bytes) if bytes <= room => function.max_dynamic_shared.store(bytes, Ordering::Relaxed),
                _ => {
                    return Err(
                        CUresult::INVALID_VALUE.because(format!("{value} bytes of {room} that a block may have"))
                    );
                }
            }
            Ok(())
        }
        // A hint about a cache that the CPU device does not share with shared memory.
        CARVEOUT if (-1..=100).contains(&value) => Ok(()),
        10..=15 => {
            Err(CUresult::NOT_SUPPORTED.because("the CPU device does not support clusters (cuFuncSetAttribute)"))
        }
        _ => fail(CUresult::INVALID_VALUE),
    }
}

/// A hint that the CPU device has no use for.
fn preference(function: CUfunction, config: CEnum, last: CEnum) -> Result {
    current::function(function)?;
    if (0..=last).contains(&config) { Ok(()) } else { fail(CUresult::INVALID_VALUE) }
}

fn set_cache_config(function: CUfunction, config: CEnum) -> Result {
    preference(function, config, 3)
}

fn set_shared_config(function: CUfunction, config: CEnum) -> Result {
    preference(function, config, 2)
}

fn get_module(module: Out<CUmodule>, function: CUfunction) -> Result {
    module.wanted()?;
    module.set(current::function(function)?.module.handle)
}
