//! Arrays. The CPU device has none yet.

use std::ffi::c_void;

use crate::entry::driver_functions;
use crate::types::CUarray;

driver_functions! {
    /// Makes an array.
    call cuArray3DCreate_v2(array: *mut CUarray, descriptor: *const c_void);
    /// What an array is like.
    call cuArray3DGetDescriptor_v2(descriptor: *mut c_void, array: CUarray);
    /// Destroys an array.
    call cuArrayDestroy(array: CUarray);
    /// Copies from an array to the host.
    call cuMemcpyAtoH_v2(to: *mut c_void, from: CUarray, offset: usize, size: usize), per thread cuMemcpyAtoH_v2_ptds;
    /// Copies from the host to an array.
    call cuMemcpyHtoA_v2(to: CUarray, offset: usize, from: *const c_void, size: usize), per thread cuMemcpyHtoA_v2_ptds;
}
