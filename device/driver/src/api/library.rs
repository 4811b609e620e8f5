//! Libraries and their kernels, which any context can use.

use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::time::Instant;

use crate::api::module::{name_of, path_of, read_file};
use crate::arg::{In, Out};
use crate::cpu::jit::JitOptions;
use crate::cpu::library::{Kernel, Library};
use crate::cpu::module::{machine_code, read};
use crate::cpu::{check_device, cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUdevice, CUdeviceptr, CUfunction, CUkernel, CUlibrary, CUmodule};

driver_functions! {
    /// Loads a library from memory.
    call cuLibraryLoadData(
        library: *mut CUlibrary,
        image: *const c_void,
        jit_options: *mut CEnum,
        jit_values: *mut *mut c_void,
        jit_count: u32,
        options: *mut CEnum,
        values: *mut *mut c_void,
        count: u32,
    ) => load_data;
    /// Loads a library from a file.
    call cuLibraryLoadFromFile(
        library: *mut CUlibrary,
        path: *const c_char,
        jit_options: *mut CEnum,
        jit_values: *mut *mut c_void,
        jit_count: u32,
        options: *mut CEnum,
        values: *mut *mut c_void,
        count: u32,
    ) => load_file;
    /// Unloads a library from all contexts.
    call cuLibraryUnload(library: CUlibrary) => unload;
    /// A kernel by its name.
    call cuLibraryGetKernel(kernel: *mut CUkernel, library: CUlibrary, name: *const c_char) => get_kernel;
    /// How many kernels there are.
    call cuLibraryGetKernelCount(count: *mut u32, library: CUlibrary) => kernel_count;
    /// The first kernels.
    call cuLibraryEnumerateKernels(kernels: *mut CUkernel, count: u32, library: CUlibrary) => enumerate;
    /// The library's module in the current context.
    call cuLibraryGetModule(module: *mut CUmodule, library: CUlibrary) => get_module;
    /// A variable in the current context, by its name.
    call cuLibraryGetGlobal(address: *mut CUdeviceptr, size: *mut usize, library: CUlibrary, name: *const c_char) => get_global;
    /// A managed variable by its name. PTX for the CPU device has none.
    call cuLibraryGetManaged(address: *mut CUdeviceptr, size: *mut usize, library: CUlibrary, name: *const c_char);
    /// A function pointer that host and device share.
    call cuLibraryGetUnifiedFunction(function: *mut *mut c_void, library: CUlibrary, name: *const c_char);
    /// The kernel as a function of the current context.
    call cuKernelGetFunction(function: *mut CUfunction, kernel: CUkernel) => get_function;
    /// The library of a kernel.
    call cuKernelGetLibrary(library: *mut CUlibrary, kernel: CUkernel) => get_library;
    /// One of a kernel's properties.
    call cuKernelGetAttribute(value: *mut i32, attribute: CEnum, kernel: CUkernel, device: CUdevice) => get_attribute;
    /// Sets one of the properties that can be set.
    call cuKernelSetAttribute(attribute: CEnum, value: i32, kernel: CUkernel, device: CUdevice) => set_attribute;
    /// Preference between cache and shared memory.
    call cuKernelSetCacheConfig(kernel: CUkernel, config: CEnum, device: CUdevice) => set_cache_config;
    /// The kernel's name.
    call cuKernelGetName(name: *mut *const c_char, kernel: CUkernel) => get_name;
    /// Place and size of a parameter.
    call cuKernelGetParamInfo(kernel: CUkernel, index: usize, offset: *mut usize, size: *mut usize) => get_param_info;
}

/// `CU_LIBRARY_BINARY_IS_PRESERVED`, the last of the two options; neither changes anything for PTX that is copied.
const LAST_OPTION: CEnum = 1;

fn check_options(options: Out<CEnum>, count: u32) -> Result {
    for index in 0..count as usize {
        // SAFETY: the caller says that there are `count` options.
        let option = unsafe { options.element(index) }?;
        if !(0..=LAST_OPTION).contains(&option) {
            return fail(CUresult::INVALID_VALUE);
        }
    }
    Ok(())
}

fn load(library: Out<CUlibrary>, image: &[u8], options: &JitOptions) -> Result {
    let began = Instant::now();
    let ptx = machine_code(image).map_or_else(|| read(image), Err);
    let loaded = ptx.and_then(|ptx| {
        let library = Library::new(ptx);
        // What the device cannot run is best said now, where there is a context to try it in.
        if let Ok(context) = current::context() {
            let module = library.module(cpu()?, &context)?;
            cpu()?.modules.remove(module.handle.0);
            library.leave(context.id);
        }
        Ok(library)
    });
    let log = loaded.as_ref().err().and_then(|error| error.detail.clone());
    options.report(began.elapsed(), "", log.as_deref().unwrap_or(""));
    let new = loaded?;
    library.set(cpu()?.libraries.insert_with(|handle| Arc::new(new.named(handle))).handle)
}

#[expect(clippy::too_many_arguments, reason = "the Driver API's")]
fn load_data(
    library: Out<CUlibrary>,
    image: In<c_void>,
    jit_options: Out<CEnum>,
    jit_values: Out<*mut c_void>,
    jit_count: u32,
    options: Out<CEnum>,
    _values: Out<*mut c_void>,
    count: u32,
) -> Result {
    cpu()?;
    library.wanted()?;
    check_options(options, count)?;
    load(library, image.text()?, &JitOptions::read(jit_count, jit_options, jit_values)?)
}

#[expect(clippy::too_many_arguments, reason = "the Driver API's")]
fn load_file(
    library: Out<CUlibrary>,
    path: In<c_char>,
    jit_options: Out<CEnum>,
    jit_values: Out<*mut c_void>,
    jit_count: u32,
    options: Out<CEnum>,
    _values: Out<*mut c_void>,
    count: u32,
) -> Result {
    cpu()?;
    library.wanted()?;
    check_options(options, count)?;
    let image = read_file(path_of(path)?)?;
    load(library, &image, &JitOptions::read(jit_count, jit_options, jit_values)?)
}

fn find(library: CUlibrary) -> Result<Arc<Library>> {
    current::object(cpu()?.libraries.get(library.0), "library")
}

fn find_kernel(kernel: CUkernel) -> Result<Arc<Kernel>> {
    current::object(cpu()?.kernels.get(kernel.0), "kernel")
}

fn unload(handle: CUlibrary) -> Result {
    let library = find(handle)?;
    let cpu = cpu()?;
    cpu.libraries.remove(handle.0).ok_or(CUresult::INVALID_HANDLE)?;
    cpu.kernels.remove_all(|kernel| Arc::ptr_eq(&kernel.library, &library));
    for module in library.take_modules() {
        cpu.modules.remove(module.handle.0);
        cpu.functions.remove_all(|function| Arc::ptr_eq(&function.module, &module));
    }
    Ok(())
}

fn get_kernel(kernel: Out<CUkernel>, library: CUlibrary, name: In<c_char>) -> Result {
    kernel.wanted()?;
    let library = find(library)?;
    kernel.set(library.kernel(cpu()?, name.name()?)?)
}

fn kernel_count(count: Out<u32>, library: CUlibrary) -> Result {
    count.wanted()?;
    count.set(find(library)?.names().count() as u32)
}

fn enumerate(kernels: Out<CUkernel>, count: u32, library: CUlibrary) -> Result {
    kernels.wanted()?;
    let library = find(library)?;
    for (index, name) in library.names().take(count as usize).enumerate() {
        let kernel = library.kernel(cpu()?, name)?;
        // SAFETY: the caller offers room for `count` kernels.
        unsafe { kernels.set_element(index, kernel) };
    }
    Ok(())
}

fn get_module(module: Out<CUmodule>, library: CUlibrary) -> Result {
    module.wanted()?;
    module.set(find(library)?.module(cpu()?, &*current::context()?)?.handle)
}

fn get_global(address: Out<CUdeviceptr>, size: Out<usize>, library: CUlibrary, name: In<c_char>) -> Result {
    find(library)?.module(cpu()?, &*current::context()?)?.global(address, size, name.name()?)
}

fn get_function(function: Out<CUfunction>, kernel: CUkernel) -> Result {
    function.wanted()?;
    function.set(find_kernel(kernel)?.function(cpu()?, &*current::context()?)?)
}

fn get_library(library: Out<CUlibrary>, kernel: CUkernel) -> Result {
    library.wanted()?;
    library.set(find_kernel(kernel)?.library.handle)
}

/// All devices are alike, so the kernel in the current context stands for the one on any device.
fn on_device(kernel: CUkernel, device: CUdevice) -> Result<CUfunction> {
    check_device(device)?;
    find_kernel(kernel)?.function(cpu()?, &*current::context()?)
}

fn get_attribute(value: Out<i32>, attribute: CEnum, kernel: CUkernel, device: CUdevice) -> Result {
    value.wanted()?;
    value.set(current::function(on_device(kernel, device)?)?.attribute(attribute)?)
}

fn set_attribute(attribute: CEnum, value: i32, kernel: CUkernel, device: CUdevice) -> Result {
    let function = current::function(on_device(kernel, device)?)?;
    find_kernel(kernel)?.set_attribute(cpu()?, &function, attribute, value)
}

fn set_cache_config(kernel: CUkernel, config: CEnum, device: CUdevice) -> Result {
    check_device(device)?;
    find_kernel(kernel)?;
    if (0..=3).contains(&config) { Ok(()) } else { fail(CUresult::INVALID_VALUE) }
}

fn get_name(name: Out<*const c_char>, kernel: CUkernel) -> Result {
    name.wanted()?;
    name.set(name_of(&find_kernel(kernel)?.name))
}

fn get_param_info(kernel: CUkernel, index: usize, offset: Out<usize>, size: Out<usize>) -> Result {
    let function = find_kernel(kernel)?.function(cpu()?, &*current::context()?)?;
    current::function(function)?.param_info(index, offset, size)
}
