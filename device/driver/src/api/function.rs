//! What is known of a kernel, and what can be set.

use std::ffi::c_char;

use crate::api::module::name_of;
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
    /// The kernel's name.
    call cuFuncGetName(name: *mut *const c_char, function: CUfunction) => get_name;
    /// Place and size of a parameter.
    call cuFuncGetParamInfo(function: CUfunction, index: usize, offset: *mut usize, size: *mut usize) => get_param_info;
    /// Whether a kernel has been loaded. All have.
    call cuFuncIsLoaded(state: *mut CEnum, function: CUfunction) => is_loaded;
    /// Loads a kernel now.
    call cuFuncLoad(function: CUfunction) => load;
}

fn get_attribute(value: Out<i32>, attribute: CEnum, function: CUfunction) -> Result {
    value.wanted()?;
    value.set(current::function(function)?.attribute(attribute)?)
}

fn set_attribute(function: CUfunction, attribute: CEnum, value: i32) -> Result {
    current::function(function)?.set_attribute(cpu()?, attribute, value)
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

fn get_name(name: Out<*const c_char>, function: CUfunction) -> Result {
    name.wanted()?;
    name.set(name_of(&current::function(function)?.info().name))
}

fn get_param_info(function: CUfunction, index: usize, offset: Out<usize>, size: Out<usize>) -> Result {
    current::function(function)?.param_info(index, offset, size)
}

fn is_loaded(state: Out<CEnum>, function: CUfunction) -> Result {
    current::function(function)?;
    // CU_FUNCTION_LOADING_STATE_LOADED
    state.set(1)
}

fn load(function: CUfunction) -> Result {
    current::function(function).map(drop)
}
