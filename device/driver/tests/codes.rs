//! Which code a wrong call gets. Where it says so, the code is the one that driver 580.159.04 (CUDA 13.0) gave for the
//! same call on an H200, on 2026-12-01.

mod support;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

use cust::sys::*;
use gridstride_driver::last_error_detail;
use support::*;

/// Asserts what calls return, one line a call.
macro_rules! returns {
    ($($call:expr => $code:expr;)*) => {
        $(
            // SAFETY: pointers are to live variables or null; handles are live, stale or made up, and answered with an error.
            let code = unsafe { $call };
            assert_eq!(code, $code, "{}: {:?}", stringify!($call), last_error_detail());
        )*
    };
}

#[test]
fn without_a_context() {
    init();
    let (mut address, mut device, mut context) = (0, 0, ptr::null_mut());
    returns! {
        // As on the H200.
        cuInit(1) => CUDA_ERROR_INVALID_VALUE;
        cuCtxSynchronize() => CUDA_ERROR_INVALID_CONTEXT;
        cuMemAlloc_v2(&mut address, 4) => CUDA_ERROR_INVALID_CONTEXT;
        cuCtxGetDevice(&mut device) => CUDA_ERROR_INVALID_CONTEXT;
        cuCtxPopCurrent_v2(&mut context) => CUDA_ERROR_INVALID_CONTEXT;
        cuCtxPushCurrent_v2(ptr::null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuCtxSetCurrent(ptr::null_mut()) => CUDA_SUCCESS;
        cuCtxGetCurrent(&mut context) => CUDA_SUCCESS;
        cuCtxGetCurrent(ptr::null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuDeviceGet(&mut device, 5) => CUDA_ERROR_INVALID_DEVICE;
        cuDeviceGet(&mut device, -1) => CUDA_ERROR_INVALID_DEVICE;
        cuDeviceGet(ptr::null_mut(), 0) => CUDA_ERROR_INVALID_VALUE;
        // Not tried there.
        cuCtxSetCurrent(0x1234_5678 as CUcontext) => CUDA_ERROR_INVALID_CONTEXT;
    }
    assert!(context.is_null());
}

#[test]
fn memory() {
    let _context = TestContext::new();
    let (mut address, mut host) = (0, ptr::null_mut::<c_void>());
    let mut buffer = [0_u8; 8192];
    let bytes = buffer.as_mut_ptr().cast::<c_void>();
    let wild = 0x0123_4000;
    returns! {
        // As on the H200.
        cuMemAlloc_v2(&mut address, 0) => CUDA_ERROR_INVALID_VALUE;
        cuMemAlloc_v2(ptr::null_mut(), 4) => CUDA_ERROR_INVALID_VALUE;
        cuMemAlloc_v2(&mut address, 1 << 50) => CUDA_ERROR_OUT_OF_MEMORY;
        cuMemAllocManaged(&mut address, 0, 1) => CUDA_ERROR_INVALID_VALUE;
        cuMemAllocManaged(&mut address, 4, 0) => CUDA_ERROR_INVALID_VALUE;
        cuMemAllocManaged(&mut address, 4, 7) => CUDA_ERROR_INVALID_VALUE;
        cuMemFree_v2(0) => CUDA_SUCCESS;
        cuMemFreeHost(ptr::null_mut()) => CUDA_SUCCESS;
        cuMemAlloc_v2(&mut address, 1024) => CUDA_SUCCESS;
        cuMemFree_v2(address + 4) => CUDA_ERROR_INVALID_VALUE;
        cuMemcpyHtoD_v2(0, bytes, 0) => CUDA_SUCCESS;
        cuMemcpyHtoD_v2(address, ptr::null(), 4) => CUDA_ERROR_INVALID_VALUE;
        cuMemcpyHtoD_v2(wild, bytes, 4) => CUDA_ERROR_INVALID_VALUE;
        cuMemcpyHtoD_v2(address + 1020, bytes, 8) => CUDA_ERROR_INVALID_VALUE;
        cuMemcpyDtoD_v2(address, wild, 4) => CUDA_ERROR_INVALID_VALUE;
        cuMemsetD32_v2(address, 0, 0) => CUDA_SUCCESS;
        cuMemsetD32_v2(address + 1, 0, 1) => CUDA_ERROR_INVALID_VALUE;
        cuMemsetD32_v2(wild, 0, 1) => CUDA_ERROR_INVALID_VALUE;
        cuMemAllocHost_v2(&mut host, 64) => CUDA_SUCCESS;
        cuMemFree_v2(host as u64) => CUDA_ERROR_INVALID_VALUE;
        cuMemFreeHost(host) => CUDA_SUCCESS;
        cuMemFreeHost(host) => CUDA_ERROR_INVALID_VALUE;
        cuMemFreeHost(address as *mut c_void) => CUDA_ERROR_INVALID_VALUE;
        cuMemAdvise(wild, 4, CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, 0) => CUDA_ERROR_INVALID_VALUE;
        cuMemAdvise(address, 4, CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, 0) => CUDA_ERROR_INVALID_VALUE;
        cuMemPrefetchAsync(address, 4, 0, ptr::null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuMemFree_v2(address) => CUDA_SUCCESS;
        cuMemFree_v2(address) => CUDA_ERROR_INVALID_VALUE;
    }
    assert!(last_error_detail().unwrap().contains("freed before"));
    returns! {
        cuMemAllocAsync(&mut address, 0, ptr::null_mut()) => CUDA_SUCCESS;
        cuMemFreeAsync(0, ptr::null_mut()) => CUDA_SUCCESS;
    }
    assert_eq!(address, 0);
}

#[test]
fn what_is_known_of_a_pointer() {
    let _context = TestContext::new();
    let address = alloc(1024);
    let (mut kind, mut start, mut size) = (0_u32, 0_u64, 0_usize);
    let attribute = |data: *mut c_void, what, address| {
        // SAFETY: the variables have the types of the attributes.
        unsafe { cuPointerGetAttribute(data, what, address) }
    };
    use CUpointer_attribute_enum::*;
    ok(attribute(param(&mut kind), CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    ok(attribute(param(&mut start), CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 8));
    ok(attribute(param(&mut size), CU_POINTER_ATTRIBUTE_RANGE_SIZE, address));
    assert_eq!((kind, start, size), (2, address, 1024));
    let code = attribute(param(&mut start), CU_POINTER_ATTRIBUTE_HOST_POINTER, address);
    assert_eq!(code, CUDA_ERROR_INVALID_VALUE);
    assert_eq!(attribute(param(&mut kind), CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0x1234), CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn contexts_end() {
    let context = TestContext::new();
    let stream = stream(0);
    let marked = event(0);
    let memory = alloc(16);
    let mut other = ptr::null_mut();
    returns! {
        // As on the H200.
        cuCtxPushCurrent_v2(context.0) => CUDA_SUCCESS;
        cuCtxDestroy_v2(context.0) => CUDA_SUCCESS;
        cuCtxGetCurrent(&mut other) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_ERROR_CONTEXT_IS_DESTROYED;
        cuCtxPopCurrent_v2(&mut other) => CUDA_SUCCESS;
        cuCtxDestroy_v2(context.0) => CUDA_ERROR_CONTEXT_IS_DESTROYED;
        cuCtxSetCurrent(context.0) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_ERROR_CONTEXT_IS_DESTROYED;
        cuCtxSetCurrent(ptr::null_mut()) => CUDA_SUCCESS;
        // There it is a crash, or what happens to lie there.
        cuStreamSynchronize(stream) => CUDA_ERROR_INVALID_HANDLE;
        cuEventQuery(marked) => CUDA_ERROR_INVALID_HANDLE;
        cuStreamSynchronize(0x1234_5670 as CUstream) => CUDA_ERROR_INVALID_HANDLE;
    }
    assert_eq!(other, context.0);
    let _new = TestContext::new();
    // What the context owned went with it.
    returns! { cuMemFree_v2(memory) => CUDA_ERROR_INVALID_VALUE; }
}

#[test]
fn handles_of_one_kind_are_none_of_another() {
    let _context = TestContext::new();
    let stream = stream(0);
    let marked = event(0);
    returns! {
        cuEventQuery(stream as CUevent) => CUDA_ERROR_INVALID_HANDLE;
        cuStreamQuery(marked as CUstream) => CUDA_ERROR_INVALID_HANDLE;
        cuModuleUnload(marked as CUmodule) => CUDA_ERROR_INVALID_HANDLE;
        cuEventQuery(ptr::null_mut()) => CUDA_ERROR_INVALID_HANDLE;
        cuEventDestroy_v2(marked) => CUDA_SUCCESS;
        cuEventQuery(marked) => CUDA_ERROR_INVALID_HANDLE;
        cuEventDestroy_v2(marked) => CUDA_ERROR_INVALID_HANDLE;
        cuStreamDestroy_v2(ptr::null_mut()) => CUDA_ERROR_INVALID_HANDLE;
    }
    assert!(last_error_detail().unwrap().contains("default stream"));
}

#[test]
fn flags_and_limits() {
    let _context = TestContext::new();
    let (mut stream, mut marked, mut value) = (ptr::null_mut(), ptr::null_mut(), 0);
    let (mut least, mut greatest, mut version) = (9, 9, 0);
    returns! {
        // As on the H200.
        cuStreamCreate(&mut stream, 8) => CUDA_ERROR_INVALID_VALUE;
        cuStreamCreateWithPriority(&mut stream, 1, -100) => CUDA_SUCCESS;
        cuEventCreate(&mut marked, 64) => CUDA_ERROR_INVALID_VALUE;
        cuEventCreate(&mut marked, 4) => CUDA_ERROR_INVALID_VALUE;
        cuEventCreate(&mut marked, 0) => CUDA_SUCCESS;
        cuEventQuery(marked) => CUDA_SUCCESS;
        cuEventSynchronize(marked) => CUDA_SUCCESS;
        cuStreamWaitEvent(stream, marked, 0) => CUDA_SUCCESS;
        cuStreamWaitEvent(stream, marked, 7) => CUDA_ERROR_INVALID_VALUE;
        cuLaunchHostFunc(stream, None, ptr::null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuCtxGetLimit(&mut value, CUlimit_enum::CU_LIMIT_STACK_SIZE) => CUDA_SUCCESS;
        cuCtxSetLimit(CUlimit_enum::CU_LIMIT_STACK_SIZE, 4096) => CUDA_SUCCESS;
        cuCtxGetLimit(&mut value, CUlimit_enum::CU_LIMIT_STACK_SIZE) => CUDA_SUCCESS;
        cuCtxGetLimit(&mut value, CUlimit_enum::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH) => CUDA_ERROR_UNSUPPORTED_LIMIT;
        cuCtxGetApiVersion(ptr::null_mut(), &mut version) => CUDA_SUCCESS;
        cuCtxGetStreamPriorityRange(&mut least, &mut greatest) => CUDA_SUCCESS;
    }
    assert_eq!((value, version, least, greatest), (4096, 3020, 0, 0));
}

#[test]
fn the_primary_context_is_counted() {
    init();
    let (mut first, mut second, mut address, mut active) = (ptr::null_mut(), ptr::null_mut(), 0, 9);
    let mut flags = 0;
    returns! {
        // As on the H200.
        cuDevicePrimaryCtxRelease_v2(0) => CUDA_ERROR_INVALID_CONTEXT;
        cuDevicePrimaryCtxRetain(&mut first, 0) => CUDA_SUCCESS;
        cuCtxSetCurrent(first) => CUDA_SUCCESS;
        cuDevicePrimaryCtxSetFlags_v2(0, 4) => CUDA_SUCCESS;
        cuCtxGetFlags(&mut flags) => CUDA_SUCCESS;
        cuCtxDestroy_v2(first) => CUDA_ERROR_INVALID_CONTEXT;
        cuDevicePrimaryCtxRelease_v2(0) => CUDA_SUCCESS;
        cuMemAlloc_v2(&mut address, 4) => CUDA_ERROR_CONTEXT_IS_DESTROYED;
        cuDevicePrimaryCtxRetain(&mut second, 0) => CUDA_SUCCESS;
        cuMemAlloc_v2(&mut address, 4) => CUDA_SUCCESS;
        cuDevicePrimaryCtxReset_v2(0) => CUDA_SUCCESS;
        cuMemAlloc_v2(&mut address, 4) => CUDA_ERROR_CONTEXT_IS_DESTROYED;
        cuDevicePrimaryCtxGetState(0, ptr::null_mut(), &mut active) => CUDA_ERROR_INVALID_VALUE;
        cuDevicePrimaryCtxGetState(0, &mut flags, &mut active) => CUDA_SUCCESS;
        cuDevicePrimaryCtxRelease_v2(0) => CUDA_SUCCESS;
        cuDevicePrimaryCtxRelease_v2(0) => CUDA_ERROR_INVALID_CONTEXT;
    }
    assert_eq!((first, active, flags), (second, 0, 4));
}

#[test]
fn what_the_device_says_of_itself() {
    init();
    let attribute = |which: CUdevice_attribute| {
        let mut value = -1;
        returns! { cuDeviceGetAttribute(&mut value, which, 0) => CUDA_SUCCESS; }
        value
    };
    use CUdevice_attribute_enum::*;
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y), 65535);
    assert!(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) >= 1);
    assert!(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 7);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH), 0);
    let mut value = 0;
    returns! {
        cuDeviceGetAttribute(&mut value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 7) => CUDA_ERROR_INVALID_DEVICE;
        cuDeviceGetAttribute(ptr::null_mut(), CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0) => CUDA_ERROR_INVALID_VALUE;
    }
    let mut name = [1 as c_char; 64];
    returns! { cuDeviceGetName(name.as_mut_ptr(), 4, 0) => CUDA_SUCCESS; }
    assert_eq!(name[3..5], [0, 1]);
    returns! { cuDeviceGetName(name.as_mut_ptr(), 64, 0) => CUDA_SUCCESS; }
    // SAFETY: written by the call, with a NUL.
    assert!(unsafe { CStr::from_ptr(name.as_ptr()) }.to_str().unwrap().contains("CPU"));
}

#[test]
fn texts_of_results() {
    let mut text = ptr::null();
    returns! { cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &mut text) => CUDA_SUCCESS; }
    // SAFETY: a static text.
    assert!(!unsafe { CStr::from_ptr(text) }.is_empty());
    returns! {
        cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &mut text) => CUDA_SUCCESS;
        cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, ptr::null_mut()) => CUDA_ERROR_INVALID_VALUE;
    }
    // SAFETY: a static text.
    assert_eq!(unsafe { CStr::from_ptr(text) }, c"CUDA_ERROR_ILLEGAL_ADDRESS");
}

#[test]
fn what_is_not_supported_says_which_function() {
    let _context = TestContext::new();
    let (mut graph, mut array) = (ptr::null_mut(), ptr::null_mut());
    returns! { cuGraphCreate(&mut graph, 0) => CUDA_ERROR_NOT_SUPPORTED; }
    assert_eq!(last_error_detail().unwrap(), "the CPU device does not support cuGraphCreate");
    returns! { cuArray3DCreate_v2(&mut array, ptr::null()) => CUDA_ERROR_NOT_SUPPORTED; }
    assert_eq!(last_error_detail().unwrap(), "the CPU device does not support cuArray3DCreate_v2");
}

/// Code and error log of a load.
fn load_with_log(text: &[u8]) -> (CUresult, String) {
    let text = [text, b"\0"].concat();
    let mut log = vec![b'x'; 1000];
    let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), 1000_usize as *mut c_void];
    let mut module = ptr::null_mut();
    // SAFETY: a text with a NUL, two options with two values, a buffer of the size that is said.
    let code =
        unsafe { cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr()) };
    let size = values[1] as usize;
    assert!(size == 0 || log[size - 1] == 0);
    (code, String::from_utf8(log[..size.saturating_sub(1)].to_vec()).unwrap())
}

#[test]
fn modules_that_cannot_be_loaded() {
    let _context = TestContext::new();
    // As on the H200, but for the words.
    assert_eq!(load_with_log(b"hello world").0, CUDA_ERROR_INVALID_IMAGE);
    assert_eq!(load_with_log(b"").0, CUDA_ERROR_INVALID_IMAGE);
    assert_eq!(load_with_log(b"\x50\xed\x55\xba\x01").0, CUDA_ERROR_NO_BINARY_FOR_GPU);
    let (code, log) = load_with_log(b".version 9.9\n.target sm_70\n.address_size 64\n");
    assert_eq!(code, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    assert!(log.contains("PTX 9.9"), "{log}");
    let (code, log) = load_with_log(b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k( { }");
    assert_eq!(code, CUDA_ERROR_INVALID_PTX);
    assert!(log.contains("line 4"), "{log}");
    assert_eq!(last_error_detail().unwrap(), log);
    // A cubin is no text: there 200, here the code that says why it will never load.
    assert_eq!(load_with_log(b"\x7fELF").0, CUDA_ERROR_NO_BINARY_FOR_GPU);
    let mut module = ptr::null_mut();
    let path = CString::new("/nowhere/kernels.ptx").unwrap();
    returns! {
        cuModuleLoad(&mut module, path.as_ptr()) => CUDA_ERROR_FILE_NOT_FOUND;
        cuModuleLoadData(&mut module, ptr::null()) => CUDA_ERROR_INVALID_VALUE;
        cuModuleLoadData(ptr::null_mut(), c"".as_ptr().cast()) => CUDA_ERROR_INVALID_VALUE;
    }
}

#[test]
fn rectangles() {
    let _context = TestContext::new();
    let to = alloc(64);
    let from: Vec<u8> = (0..64).collect();
    let mut copy = CUDA_MEMCPY2D {
        srcXInBytes: 2,
        srcY: 1,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: from.as_ptr().cast(),
        srcDevice: 0,
        srcArray: ptr::null_mut(),
        srcPitch: 8,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: ptr::null_mut(),
        dstDevice: to,
        dstArray: ptr::null_mut(),
        dstPitch: 4,
        WidthInBytes: 3,
        Height: 2,
    };
    let mut back = [0_u8; 8];
    returns! {
        cuMemsetD8_v2(to, 99, 64) => CUDA_SUCCESS;
        cuMemcpy2D_v2(&copy) => CUDA_SUCCESS;
        cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), to, 8) => CUDA_SUCCESS;
    }
    assert_eq!(back, [10, 11, 12, 99, 18, 19, 20, 99]);
    copy.dstPitch = 2;
    returns! { cuMemcpy2D_v2(&copy) => CUDA_ERROR_INVALID_VALUE; }
    (copy.dstPitch, copy.Height) = (64, 3);
    returns! { cuMemcpy2D_v2(&copy) => CUDA_ERROR_INVALID_VALUE; }
    copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
    returns! { cuMemcpy2D_v2(&copy) => CUDA_ERROR_NOT_SUPPORTED; }
}

#[test]
fn counts_are_those_of_the_memory() {
    let _context = TestContext::new();
    let (mut free, mut total, mut count): (usize, usize, c_int) = (0, 0, 0);
    returns! {
        cuMemGetInfo_v2(&mut free, ptr::null_mut()) => CUDA_SUCCESS;
        cuDeviceTotalMem_v2(&mut total, 0) => CUDA_SUCCESS;
        cuDeviceGetCount(&mut count) => CUDA_SUCCESS;
    }
    assert!(free <= total && free > 0);
    assert_eq!(count, 1);
}
