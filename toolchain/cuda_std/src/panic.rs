//! Panics on the GPU: the device runtime's `__assertfail` prints file, line, block and thread, and ends the launch with
//! `CUDA_ERROR_ASSERT` (710), so that the host learns of it.

use core::panic::PanicInfo;

unsafe extern "C" {
    /// CUDA device system call; all strings end with NUL, `char_size` is 1.
    fn __assertfail(message: *const u8, file: *const u8, line: u32, function: *const u8, char_size: usize);
}

/// Longest message that is passed on, with its NUL.
const MESSAGE_BYTES: usize = 128;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    report(info)
}

#[cold]
#[inline(never)]
fn report(info: &PanicInfo<'_>) -> ! {
    let mut buffer = [0u8; MESSAGE_BYTES];
    // Formatting is left out: it would put `core::fmt` and its indirect calls into every kernel that checks a bound.
    let text =
        info.message().as_str().unwrap_or("panicked: an index out of bounds, or another message with values in it");
    for (to, from) in buffer[..MESSAGE_BYTES - 1].iter_mut().zip(text.as_bytes()) {
        *to = *from;
    }
    let (file, line) = match info.location() {
        Some(at) => (at.file_as_c_str().as_ptr().cast(), at.line()),
        None => (c"unknown file".as_ptr().cast(), 0),
    };
    // SAFETY: all three strings end with NUL and live until the call, which does not return.
    unsafe {
        __assertfail(buffer.as_ptr(), file, line, c"kernel".as_ptr().cast(), 1);
        core::arch::nvptx::trap()
    }
}
