//! What the tests share: a context of the CPU device, kernels as PTX text, and checks that show the detail.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::ffi::{CString, c_uint, c_void};
use std::ptr;

use cust::sys::*;
use gridstride_driver::{Choice, choose, last_error_detail};

pub use cust::sys::CUresult::{self, *};

/// Fails with the detail unless the call succeeded.
#[track_caller]
pub fn ok(result: CUresult) {
    assert_eq!(result, CUDA_SUCCESS, "{:?}", last_error_detail());
}

/// Opens the CPU device.
pub fn init() {
    choose(Choice::Cpu).unwrap();
    // SAFETY: takes a number.
    ok(unsafe { cuInit(0) });
}

/// A context of its own, current on this thread.
pub struct TestContext(pub CUcontext);

impl TestContext {
    pub fn new() -> Self {
        init();
        let mut context = ptr::null_mut();
        // SAFETY: the pointer is to a live variable.
        ok(unsafe { cuCtxCreate_v2(&mut context, 0, 0) });
        Self(context)
    }
}

impl Drop for TestContext {
    fn drop(&mut self) {
        // SAFETY: takes a handle; one that is stale is answered with an error, which a test may have provoked.
        unsafe { cuCtxDestroy_v2(self.0) };
    }
}

/// Kernels for the tests. `spin` waits until a flag in pinned memory is set, and then stores the value behind it.
pub const KERNELS: &str = r"
.version 7.0
.target sm_70
.address_size 64

.visible .global .align 4 .u32 answer = 42;

.visible .entry store(.param .u64 to, .param .u32 value)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [value];
    st.global.u32 [%rd1], %r1;
    ret;
}

.visible .entry store_index(.param .u64 to, .param .u32 count)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r5;
done:
    ret;
}

.visible .entry spin(.param .u64 flag)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [flag];
again:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra again;
    st.global.u32 [%rd1+4], %r1;
    ret;
}

.visible .entry misaligned(.param .u64 to)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1+1], %r1;
    ret;
}

.visible .entry traps()
{
    trap;
    ret;
}

.visible .entry at_most_64() .maxntid 64, 1, 1
{
    ret;
}

.visible .entry exactly_64() .reqntid 64, 1, 1
{
    ret;
}
";

/// Loads PTX into the current context.
pub fn load(text: &str) -> CUmodule {
    let text = CString::new(text).unwrap();
    let mut module = ptr::null_mut();
    // SAFETY: the text ends with a NUL.
    ok(unsafe { cuModuleLoadData(&mut module, text.as_ptr().cast()) });
    module
}

pub fn kernel(module: CUmodule, name: &str) -> CUfunction {
    let name = CString::new(name).unwrap();
    let mut function = ptr::null_mut();
    // SAFETY: the name ends with a NUL.
    ok(unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr()) });
    function
}

/// Launches a kernel in x.
pub fn launch(
    function: CUfunction,
    grid: c_uint,
    block: c_uint,
    stream: CUstream,
    params: &mut [*mut c_void],
) -> CUresult {
    // SAFETY: each test passes the parameters of its kernel.
    unsafe { cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, params.as_mut_ptr(), ptr::null_mut()) }
}

/// The pointer that a launch takes for a parameter.
pub fn param<T>(value: &mut T) -> *mut c_void {
    ptr::from_mut(value).cast()
}

pub fn alloc(size: usize) -> CUdeviceptr {
    let mut address = 0;
    // SAFETY: the pointer is to a live variable.
    ok(unsafe { cuMemAlloc_v2(&mut address, size) });
    address
}

/// Pinned memory as 32-bit numbers that host and device see, all 0.
pub struct Flags(pub *mut u32);

// SAFETY: a pointer to memory that is only accessed atomically and outlives the threads of the test.
unsafe impl Send for Flags {}
// SAFETY: as above.
unsafe impl Sync for Flags {}

impl Flags {
    pub fn new(count: usize) -> Self {
        let mut pointer = ptr::null_mut();
        // SAFETY: the pointer is to a live variable.
        ok(unsafe { cuMemAllocHost_v2(&mut pointer, 4 * count) });
        let flags = Self(pointer.cast());
        (0..count).for_each(|index| flags.at(index).store(0, std::sync::atomic::Ordering::SeqCst));
        flags
    }

    pub fn at(&self, index: usize) -> &std::sync::atomic::AtomicU32 {
        // SAFETY: inside the allocation, aligned, and only accessed atomically on the host.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(self.0.add(index)) }
    }

    pub fn address(&self) -> CUdeviceptr {
        self.0 as CUdeviceptr
    }
}

pub fn stream(flags: c_uint) -> CUstream {
    let mut stream = ptr::null_mut();
    // SAFETY: the pointer is to a live variable.
    ok(unsafe { cuStreamCreate(&mut stream, flags) });
    stream
}

pub fn event(flags: c_uint) -> CUevent {
    let mut event = ptr::null_mut();
    // SAFETY: the pointer is to a live variable.
    ok(unsafe { cuEventCreate(&mut event, flags) });
    event
}

/// Queues a host function.
pub fn on_host(stream: CUstream, run: impl FnOnce() + Send + 'static) {
    unsafe extern "C" fn call(data: *mut c_void) {
        // SAFETY: made below, and handed over once.
        let run = unsafe { Box::from_raw(data.cast::<Box<dyn FnOnce() + Send>>()) };
        run();
    }
    let boxed: Box<Box<dyn FnOnce() + Send>> = Box::new(Box::new(run));
    // SAFETY: `call` takes what `into_raw` gives.
    ok(unsafe { cuLaunchHostFunc(stream, Some(call), Box::into_raw(boxed).cast()) });
}
