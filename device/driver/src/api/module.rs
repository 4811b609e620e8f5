//! Loading modules, and finding what is in them.

use std::collections::BTreeSet;
use std::ffi::{CString, c_char, c_void};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::arg::{In, Out};
use crate::cpu::jit::JitOptions;
use crate::cpu::module::{load, machine_code};
use crate::cpu::{cpu, current};
use crate::entry::driver_functions;
use crate::explain;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUdeviceptr, CUfunction, CUmodule};

driver_functions! {
    /// Loads a module from a file.
    call cuModuleLoad(module: *mut CUmodule, path: *const c_char) => load_file, explained by explain::load_file;
    /// Loads a module from memory.
    call cuModuleLoadData(module: *mut CUmodule, image: *const c_void) => load_data, explained by explain::load_data;
    /// Loads a module from memory, with options for the PTX compiler.
    call cuModuleLoadDataEx(
        module: *mut CUmodule,
        image: *const c_void,
        count: u32,
        options: *mut CEnum,
        values: *mut *mut c_void,
    ) => load_data_ex, explained by explain::load_data_ex;
    /// Loads a fat binary.
    call cuModuleLoadFatBinary(module: *mut CUmodule, image: *const c_void) => load_data;
    /// Unloads a module. Its kernels that are under way are finished.
    call cuModuleUnload(module: CUmodule) => unload;
    /// A kernel by its name.
    call cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char) => get_function;
    /// A variable by its name.
    call cuModuleGetGlobal_v2(
        address: *mut CUdeviceptr,
        size: *mut usize,
        module: CUmodule,
        name: *const c_char,
    ) => get_global;
    /// How many kernels there are.
    call cuModuleGetFunctionCount(count: *mut u32, module: CUmodule) => function_count;
    /// The first kernels.
    call cuModuleEnumerateFunctions(functions: *mut CUfunction, count: u32, module: CUmodule) => enumerate;
    /// Whether kernels are loaded with their module or when they are used.
    call cuModuleGetLoadingMode(mode: *mut CEnum) => loading_mode;
}

fn load_bytes(module: Out<CUmodule>, image: &[u8], options: Option<&JitOptions>) -> Result {
    let context = current::context()?;
    let began = Instant::now();
    let loaded = match machine_code(image) {
        Some(error) => Err(error),
        None => load(cpu()?, &context, image),
    };
    if let Some(options) = options {
        let log = loaded.as_ref().err().and_then(|error| error.detail.clone());
        options.report(began.elapsed(), "", log.as_deref().unwrap_or(""));
    }
    module.set(loaded?.handle)
}

fn load_file(module: Out<CUmodule>, path: In<c_char>) -> Result {
    module.wanted()?;
    current::context()?;
    load_bytes(module, &read_file(path_of(path)?)?, None)
}

pub(crate) fn path_of<'a>(path: In<c_char>) -> Result<&'a Path> {
    let path = path.c_str()?;
    #[cfg(unix)]
    let path = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path.to_bytes());
    #[cfg(not(unix))]
    let path = path.to_str().map_err(|_| CUresult::FILE_NOT_FOUND)?;
    Ok(Path::new(path))
}

/// A module file. A text file may end with the NUL that PTX in memory needs.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>> {
    let mut image = std::fs::read(path)
        .map_err(|error| CUresult::FILE_NOT_FOUND.because(format!("{}: {error}", path.display())))?;
    image.pop_if(|last| *last == 0);
    Ok(image)
}

/// A name as C text. It is kept for ever, once: the caller is told no time after which it may go.
pub(crate) fn name_of(name: &str) -> *const c_char {
    static NAMES: Mutex<BTreeSet<CString>> = Mutex::new(BTreeSet::new());
    // Names in PTX have no NUL.
    let name = CString::new(name).unwrap_or_default();
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if !names.contains(&name) {
        names.insert(name.clone());
    }
    // The text does not move when the set does: it is on the heap.
    names.get(&name).map_or(std::ptr::null(), |name| name.as_ptr())
}

fn load_image(module: Out<CUmodule>, image: In<c_void>, options: Option<&JitOptions>) -> Result {
    module.wanted()?;
    current::context()?;
    // Neither kind of machine code starts with a NUL, so as a text it is at least as long as its mark.
    load_bytes(module, image.text()?, options)
}

fn load_data(module: Out<CUmodule>, image: In<c_void>) -> Result {
    load_image(module, image, None)
}

fn load_data_ex(
    module: Out<CUmodule>,
    image: In<c_void>,
    count: u32,
    options: Out<CEnum>,
    values: Out<*mut c_void>,
) -> Result {
    let options = JitOptions::read(count, options, values)?;
    load_image(module, image, Some(&options))
}

fn unload(handle: CUmodule) -> Result {
    current::module(handle)?;
    let cpu = cpu()?;
    let module = cpu.modules.remove(handle.0).ok_or(CUresult::INVALID_HANDLE)?;
    // Launches under way hold the program; it goes when the last of them is over.
    cpu.functions.remove_all(|function| Arc::ptr_eq(&function.module, &module));
    Ok(())
}

fn get_function(function: Out<CUfunction>, module: CUmodule, name: In<c_char>) -> Result {
    function.wanted()?;
    let name = name.name()?;
    function.set(current::module(module)?.function(cpu()?, name)?)
}

fn get_global(address: Out<CUdeviceptr>, size: Out<usize>, module: CUmodule, name: In<c_char>) -> Result {
    if address.is_null() && size.is_null() {
        return fail(CUresult::INVALID_VALUE);
    }
    current::module(module)?.global(address, size, name.name()?)
}

fn function_count(count: Out<u32>, module: CUmodule) -> Result {
    count.wanted()?;
    count.set(current::module(module)?.program.kernels().len() as u32)
}

fn enumerate(functions: Out<CUfunction>, count: u32, module: CUmodule) -> Result {
    functions.wanted()?;
    let module = current::module(module)?;
    for (index, kernel) in module.program.kernels().iter().take(count as usize).enumerate() {
        let function = module.function(cpu()?, &kernel.name)?;
        // SAFETY: the caller offers room for `count` functions.
        unsafe { functions.set_element(index, function) };
    }
    Ok(())
}

fn loading_mode(mode: Out<CEnum>) -> Result {
    // CU_MODULE_EAGER_LOADING
    mode.set(1)
}
