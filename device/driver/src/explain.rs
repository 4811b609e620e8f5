//! Says more about a module that NVIDIA's driver refuses: what its PTX compiler logs, and which versions are at odds.
//!
//! Callers seldom ask for the log. So a load that failed is tried once more, with a log buffer.

use std::ffi::{c_char, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::arg::{In, Out};
use crate::cpu::module::version;
use crate::entry::set_detail;
use crate::native::{Native, Slot};
use crate::result::CUresult;
use crate::session::{self, Backend};
use crate::types::{CEnum, CUmodule};

static LOAD_DATA_EX: Slot = Slot::new("cuModuleLoadDataEx\0");
static UNLOAD: Slot = Slot::new("cuModuleUnload\0");

type LoadDataEx = unsafe extern "C" fn(*mut CUmodule, *const c_void, u32, *mut CEnum, *mut *mut c_void) -> CUresult;
type Unload = unsafe extern "C" fn(CUmodule) -> CUresult;

pub(crate) fn load_data(code: CUresult, _module: Out<CUmodule>, image: In<c_void>) {
    // Machine code has no text to look at; its load has no log either.
    let Ok(text) = image.text() else {
        return;
    };
    explain(code, text);
}

pub(crate) fn load_data_ex(
    code: CUresult,
    module: Out<CUmodule>,
    image: In<c_void>,
    _count: u32,
    _options: Out<CEnum>,
    _values: Out<*mut c_void>,
) {
    load_data(code, module, image);
}

pub(crate) fn load_file(code: CUresult, _module: Out<CUmodule>, path: In<c_char>) {
    let Ok(path) = path.c_str() else {
        return;
    };
    let path = path.to_string_lossy();
    match std::fs::read(&*path) {
        Ok(image) => explain(code, image.split(|&byte| byte == 0).next().unwrap_or_default()),
        Err(error) => set_detail(Some(Arc::from(format!("{path}: {error}")))),
    }
}

fn explain(code: CUresult, text: &[u8]) {
    let is_about_the_module = (200..300).contains(&code.0) && code != CUresult::INVALID_CONTEXT;
    let Some((opened, native)) = session::opened().and_then(|opened| Some((opened, opened.native.as_ref()?))) else {
        return;
    };
    let Some(version) = std::str::from_utf8(text).ok().and_then(version) else {
        return;
    };
    if !is_about_the_module {
        return;
    }
    let mut parts = Vec::new();
    if code == CUresult::UNSUPPORTED_PTX_VERSION {
        parts.push(versions(version, &opened.backend));
    }
    parts.extend(log(native, text));
    if !parts.is_empty() {
        set_detail(Some(Arc::from(parts.join("\n"))));
    }
}

fn versions((major, minor): (u32, u32), backend: &Backend) -> String {
    let ((driver_major, driver_minor), (newest_major, newest_minor)) = (backend.driver_version, backend.newest_ptx);
    format!(
        "the module is PTX {major}.{minor}, and the driver (CUDA {driver_major}.{driver_minor}) loads PTX up to \
         {newest_major}.{newest_minor}: build for an older PTX version, or install a newer driver"
    )
}

/// What the driver's PTX compiler says of the text.
fn log(native: &Native, text: &[u8]) -> Option<String> {
    let (load, unload) = (native.resolve(&LOAD_DATA_EX)?, native.resolve(&UNLOAD)?);
    // SAFETY: the driver's function of this name has this signature.
    let load = unsafe { std::mem::transmute::<NonNull<c_void>, LoadDataEx>(load) };
    // SAFETY: as above.
    let unload = unsafe { std::mem::transmute::<NonNull<c_void>, Unload>(unload) };
    let text = [text, b"\0"].concat();
    let mut log = vec![0_u8; 8 << 10];
    // CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
    let mut options: [CEnum; 2] = [5, 6];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
    let mut module = CUmodule::NULL;
    // SAFETY: the text ends with a NUL, two options go with two values, the buffer has the size that is said.
    let code = unsafe { load(&raw mut module, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr()) };
    if code == CUresult::SUCCESS {
        // SAFETY: a module that was loaded just now and that nobody else knows.
        unsafe { unload(module) };
    }
    let log = log.split(|&byte| byte == 0).next()?;
    let log = String::from_utf8_lossy(log).trim().to_owned();
    (!log.is_empty()).then_some(log)
}
