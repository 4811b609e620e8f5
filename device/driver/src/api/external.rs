//! Memory of other APIs. The CPU device cannot import any.

use std::ffi::c_void;

use crate::entry::driver_functions;
use crate::types::{CUdeviceptr, CUexternalMemory};

driver_functions! {
    /// Imports memory.
    call cuImportExternalMemory(memory: *mut CUexternalMemory, handle: *const c_void);
    /// Maps imported memory.
    call cuExternalMemoryGetMappedBuffer(address: *mut CUdeviceptr, memory: CUexternalMemory, buffer: *const c_void);
    /// Gives imported memory back.
    call cuDestroyExternalMemory(memory: CUexternalMemory);
}
