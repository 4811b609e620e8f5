//! Panics on the GPU: the device runtime's `__assertfail` prints file, line, block and thread, and ends the launch with
//! `CUDA_ERROR_ASSERT` (710), so that the host learns of it.
//!
//! The panic's own message is not passed on. Looking at it at all keeps `core::fmt` in every kernel that checks a bound:
//! ptxas then gives such a kernel 50 registers and a stack instead of 28 and none (`add_f32`, sm_90), which costs it
//! occupancy. File and line say which check it was.

use core::panic::PanicInfo;

unsafe extern "C" {
    /// CUDA device system call; all strings end with NUL, `char_size` is 1.
    fn __assertfail(message: *const u8, file: *const u8, line: u32, function: *const u8, char_size: usize);
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let (file, line) = match info.location() {
        Some(at) => (at.file_as_c_str().as_ptr().cast(), at.line()),
        None => (c"unknown file".as_ptr().cast(), 0),
    };
    let (message, function) = (c"the kernel panicked".as_ptr().cast(), c"kernel".as_ptr().cast());
    // SAFETY: all three strings end with NUL and live until the call, which does not return.
    unsafe {
        __assertfail(message, file, line, function, 1);
        core::arch::nvptx::trap()
    }
}
