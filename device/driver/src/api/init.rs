//! Initialisation, versions and error texts.

use std::ffi::{CStr, c_char};

use crate::arg::Out;
use crate::cpu;
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};

driver_functions! {
    /// Picks the back end and initialises it.
    open cuInit(flags: u32) => init;
    /// Version of CUDA that the driver is of: 13000 for 13.0.
    open cuDriverGetVersion(version: *mut i32) => driver_version;
    /// A sentence about a result.
    any cuGetErrorString(error: CUresult, text: *mut *const c_char) => error_string;
    /// The name of a result.
    any cuGetErrorName(error: CUresult, name: *mut *const c_char) => error_name;
}

fn init(flags: u32) -> Result {
    if flags != 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    cpu::initialise()
}

fn driver_version(version: Out<i32>) -> Result {
    let (major, minor) = cpu::DRIVER_VERSION;
    version.set((major * 1000 + minor * 10) as i32)
}

fn error_string(error: CUresult, text: Out<*const c_char>) -> Result {
    answer(text, error.text())
}

fn error_name(error: CUresult, name: Out<*const c_char>) -> Result {
    answer(name, error.name())
}

fn answer(to: Out<*const c_char>, text: Option<&'static CStr>) -> Result {
    to.set(text.map_or(std::ptr::null(), CStr::as_ptr))?;
    if text.is_none() { fail(CUresult::INVALID_VALUE) } else { Ok(()) }
}
