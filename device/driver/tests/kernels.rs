//! Kernels through the Driver API: loading, launching, and what a kernel that goes wrong does to its context.

mod support;

use std::ptr;
use std::sync::atomic::Ordering;

use cust::sys::*;
use gridstride_driver::last_error_detail;
use support::*;

#[test]
fn a_kernel_writes_what_it_should() {
    let _context = TestContext::new();
    let module = load(KERNELS);
    let (mut to, mut count) = (alloc(4 * 1000), 1000_u32);
    // More threads than elements, and more than one block.
    ok(launch(kernel(module, "store_index"), 5, 256, ptr::null_mut(), &mut [param(&mut to), param(&mut count)]));
    let mut back = vec![0_u32; 1000];
    // SAFETY: a buffer of the size that is said.
    ok(unsafe { cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), to, 4000) });
    assert_eq!(back, (0..1000).collect::<Vec<_>>());
    let counters = gridstride_driver::last_counters().unwrap();
    assert!(counters.blocks > 0 && counters.instructions > 0);
}

#[test]
fn a_launch_returns_before_the_kernel_is_done() {
    let _context = TestContext::new();
    let module = load(KERNELS);
    let flags = Flags::new(2);
    let mut address = flags.address();
    let (stream, end) = (stream(1), event(0));
    ok(launch(kernel(module, "spin"), 1, 1, stream, &mut [param(&mut address)]));
    // SAFETY: handles.
    unsafe {
        ok(cuEventRecord(end, stream));
        assert_eq!(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        assert_eq!(cuEventQuery(end), CUDA_ERROR_NOT_READY);
        assert_eq!(flags.at(1).load(Ordering::SeqCst), 0);
        flags.at(0).store(9, Ordering::SeqCst);
        ok(cuStreamSynchronize(stream));
        ok(cuEventQuery(end));
    }
    assert_eq!(flags.at(1).load(Ordering::SeqCst), 9);
}

#[test]
fn parameters_are_copied_when_the_kernel_is_launched() {
    let _context = TestContext::new();
    let module = load(KERNELS);
    let flags = Flags::new(2);
    let (mut address, mut to, mut value) = (flags.address(), alloc(4), 5_u32);
    let stream = stream(1);
    ok(launch(kernel(module, "spin"), 1, 1, stream, &mut [param(&mut address)]));
    ok(launch(kernel(module, "store"), 1, 1, stream, &mut [param(&mut to), param(&mut value)]));
    value += 1;
    flags.at(0).store(1, Ordering::SeqCst);
    let mut back = 0_u32;
    // SAFETY: handles, and a buffer of the size that is said.
    unsafe {
        ok(cuStreamSynchronize(stream));
        ok(cuMemcpyDtoH_v2(param(&mut back), to, 4));
    }
    assert_eq!((back, value), (5, 6));
}

#[test]
fn the_ways_to_pass_parameters() {
    let _context = TestContext::new();
    let function = kernel(load(KERNELS), "store");
    let mut to = alloc(4);
    let mut packed = [to, 0x8_0000_0011];
    let mut run = |size: &mut usize, params: *mut *mut std::ffi::c_void, end_at: usize| {
        let mut extra = [1_usize as _, packed.as_mut_ptr().cast(), 2_usize as _, param(size), ptr::null_mut()];
        extra[end_at] = ptr::null_mut();
        // SAFETY: a list with its end mark, and a buffer of at least the size that is said.
        unsafe { cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, ptr::null_mut(), params, extra.as_mut_ptr()) }
    };
    ok(run(&mut 12, ptr::null_mut(), 4));
    let mut back = 0_u32;
    // SAFETY: a buffer of the size that is said.
    ok(unsafe { cuMemcpyDtoH_v2(param(&mut back), to, 4) });
    assert_eq!(back, 0x11);
    // As on the H200, where one that is short reads what lies behind it; here it is refused.
    assert_eq!(run(&mut 16, ptr::null_mut(), 4), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_eq!(run(&mut 8, ptr::null_mut(), 4), CUDA_ERROR_INVALID_VALUE);
    assert_eq!(run(&mut 12, ptr::null_mut(), 0), CUDA_ERROR_INVALID_VALUE);
    let mut value = 1_u32;
    let mut params = [param(&mut to), param(&mut value)];
    assert_eq!(run(&mut 12, params.as_mut_ptr(), 4), CUDA_ERROR_INVALID_VALUE);
    // SAFETY: null parameters are refused.
    let none =
        unsafe { cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, ptr::null_mut(), ptr::null_mut(), ptr::null_mut()) };
    assert_eq!(none, CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn shapes_that_cannot_be() {
    let _context = TestContext::new();
    let module = load(KERNELS);
    let function = kernel(module, "traps");
    let run = |function, grid: [u32; 3], block: [u32; 3], shared| {
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        // SAFETY: the kernels take no parameters.
        unsafe {
            cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, ptr::null_mut(), ptr::null_mut(), ptr::null_mut())
        }
    };
    // All as on the H200.
    for (grid, block, shared) in [
        ([0, 1, 1], [1, 1, 1], 0),
        ([1, 1, 1], [0, 1, 1], 0),
        ([1, 1, 1], [1025, 1, 1], 0),
        ([1, 1, 1], [32, 33, 1], 0),
        ([1, 1, 1], [1, 1, 65], 0),
        ([1, 65536, 1], [1, 1, 1], 0),
        ([1 << 31, 1, 1], [1, 1, 1], 0),
        ([1, 1, 1], [1, 1, 1], 49153),
    ] {
        assert_eq!(run(function, grid, block, shared), CUDA_ERROR_INVALID_VALUE, "{grid:?} {block:?} {shared}");
        assert!(last_error_detail().unwrap().contains("`traps`"));
    }
    let (at_most, exactly) = (kernel(module, "at_most_64"), kernel(module, "exactly_64"));
    assert_eq!(run(at_most, [1, 1, 1], [65, 1, 1], 0), CUDA_ERROR_INVALID_VALUE);
    ok(run(at_most, [1, 1, 1], [8, 8, 1], 0));
    ok(run(exactly, [1, 1, 1], [64, 1, 1], 0));
    assert_eq!(run(exactly, [1, 1, 1], [32, 1, 1], 0), CUDA_ERROR_INVALID_VALUE);
    assert_eq!(run(exactly, [1, 1, 1], [8, 8, 1], 0), CUDA_ERROR_INVALID_VALUE);
    // More shared memory, once it is asked for.
    const MAX_DYNAMIC: CUfunction_attribute =
        CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: handles and numbers.
    unsafe {
        ok(cuFuncSetAttribute(at_most, MAX_DYNAMIC, 100 << 10));
        assert_eq!(cuFuncSetAttribute(at_most, MAX_DYNAMIC, 1 << 20), CUDA_ERROR_INVALID_VALUE);
        assert_eq!(cuFuncSetAttribute(at_most, MAX_DYNAMIC, -1), CUDA_ERROR_INVALID_VALUE);
    }
    ok(run(at_most, [1, 1, 1], [1, 1, 1], 100 << 10));
    // SAFETY: no arguments.
    ok(unsafe { cuCtxSynchronize() });
}

#[test]
fn names_in_a_module() {
    let _context = TestContext::new();
    let module = load(KERNELS);
    assert_eq!(kernel(module, "store"), kernel(module, "store"));
    let (mut function, mut address, mut size, mut value) = (ptr::null_mut(), 0, 0, 0);
    let mut answer = 0_u32;
    // SAFETY: names with a NUL, pointers to live variables.
    unsafe {
        assert_eq!(cuModuleGetFunction(&mut function, module, c"nope".as_ptr()), CUDA_ERROR_NOT_FOUND);
        assert!(last_error_detail().unwrap().contains("store_index"));
        assert_eq!(cuModuleGetGlobal_v2(&mut address, &mut size, module, c"nope".as_ptr()), CUDA_ERROR_NOT_FOUND);
        ok(cuModuleGetGlobal_v2(&mut address, &mut size, module, c"answer".as_ptr()));
        ok(cuMemcpyDtoH_v2(param(&mut answer), address, 4));
        assert_eq!((size, answer), (4, 42));
        let function = kernel(module, "at_most_64");
        ok(cuFuncGetAttribute(
            &mut value,
            CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
            function,
        ));
        assert_eq!(value, 64);
        ok(cuFuncGetAttribute(&mut value, CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_PTX_VERSION, function));
        assert_eq!(value, 70);
        let (mut grid, mut block) = (0, 0);
        ok(cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, None, 0, 0));
        assert!(grid >= 1 && block == 64);
        ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut value, function, 2048, 0));
        assert_eq!(value, 0);
        ok(cuModuleUnload(module));
        assert_eq!(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
        assert_eq!(
            cuFuncGetAttribute(&mut value, CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_NUM_REGS, function),
            CUDA_ERROR_INVALID_HANDLE
        );
    }
}

/// Runs a kernel that goes wrong, and checks that the context is lost, the process is not, and the story is told.
fn goes_wrong(name: &str, code: CUresult, told: &str, params: fn() -> Vec<u64>) {
    let context = TestContext::new();
    let module = load(KERNELS);
    let (stream, marked, memory) = (stream(1), event(0), alloc(64));
    let mut values = params();
    let mut params: Vec<_> = values.iter_mut().map(param).collect();
    ok(launch(kernel(module, name), 1, 1, stream, &mut params));
    let (mut address, mut free, mut total, mut device) = (0, 0, 0, 0);
    // As on the H200: each call that touches the context reports the fault, those about it do not.
    // SAFETY: handles, and pointers to live variables.
    unsafe {
        assert_eq!(cuStreamSynchronize(stream), code, "{:?}", last_error_detail());
        let detail = last_error_detail().unwrap();
        assert!(detail.contains(told) && detail.contains(name), "{detail}");
        assert_eq!(cuCtxSynchronize(), code);
        assert_eq!(cuMemAlloc_v2(&mut address, 4), code);
        assert_eq!(cuEventQuery(marked), code);
        assert_eq!(cuEventRecord(marked, stream), code);
        assert_eq!(cuMemGetInfo_v2(&mut free, &mut total), code);
        assert_eq!(cuMemFree_v2(memory), code);
        assert_eq!(cuStreamDestroy_v2(stream), code);
        assert_eq!(cuModuleUnload(module), code);
        assert_eq!(cuCtxGetDevice(&mut device), CUDA_SUCCESS);
        // Whichever thread hears of it gets the story.
        let handle = context.0 as usize;
        let elsewhere = std::thread::spawn(move || {
            ok(cuCtxSetCurrent(handle as CUcontext));
            (cuCtxSynchronize(), last_error_detail())
        });
        assert_eq!(elsewhere.join().unwrap(), (code, Some(detail)));
        ok(cuCtxDestroy_v2(context.0));
        assert_eq!(cuMemAlloc_v2(&mut address, 4), CUDA_ERROR_INVALID_CONTEXT);
    }
    let _new = TestContext::new();
    let (mut to, mut value) = (alloc(4), 3_u32);
    ok(launch(kernel(load(KERNELS), "store"), 1, 1, ptr::null_mut(), &mut [param(&mut to), param(&mut value)]));
    // SAFETY: no arguments.
    ok(unsafe { cuCtxSynchronize() });
}

#[test]
fn a_wild_store() {
    goes_wrong("store", CUDA_ERROR_ILLEGAL_ADDRESS, "out of bounds", || vec![0x40, 1]);
}

#[test]
fn a_store_behind_the_end() {
    goes_wrong("store", CUDA_ERROR_ILLEGAL_ADDRESS, "behind the end", || vec![alloc(64) + 64, 1]);
}

#[test]
fn a_misaligned_store() {
    goes_wrong("misaligned", CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned", || vec![alloc(64)]);
}

#[test]
fn a_trap() {
    goes_wrong("traps", CUDA_ERROR_LAUNCH_FAILED, "trap", Vec::new);
}

#[test]
fn what_is_queued_behind_a_fault_does_not_run() {
    let _context = TestContext::new();
    let module = load(KERNELS);
    let flags = Flags::new(3);
    let mut address = flags.address();
    let stream = stream(1);
    ok(launch(kernel(module, "spin"), 1, 1, stream, &mut [param(&mut address)]));
    ok(launch(kernel(module, "traps"), 1, 1, stream, &mut []));
    let (mut to, mut value) = (flags.address() + 8, 1_u32);
    ok(launch(kernel(module, "store"), 1, 1, stream, &mut [param(&mut to), param(&mut value)]));
    flags.at(0).store(1, Ordering::SeqCst);
    // SAFETY: a handle.
    assert_eq!(unsafe { cuStreamSynchronize(stream) }, CUDA_ERROR_LAUNCH_FAILED);
    assert_eq!(flags.at(2).load(Ordering::SeqCst), 0);
}
