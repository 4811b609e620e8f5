//! Panics on the GPU: the device runtime's `__assertfail` prints file, line, block and thread, and ends the launch with
//! `CUDA_ERROR_ASSERT` (710), so that the host learns of it.
//!
//! | | the panic's message | costs |
//! | --- | --- | --- |
//! | default | not passed on: file and line say which check it was | nothing on the path that does not panic |
//! | feature `panic-message`, and builds with debug assertions | passed on, as "index out of bounds: the len is 3 but the index is 7" | registers: 50 and a stack in place of 28 and none (`add_f32`, ptxas for sm_90) |
//! | feature `unchecked-panics` | none: what would panic is **undefined behaviour** | nothing, and the checks are gone |
//!
//! The message costs that much because the arguments of `core::fmt` are built where the check is, in registers of the kernel.

use core::panic::PanicInfo;

#[cfg(all(feature = "panic-message", feature = "unchecked-panics"))]
compile_error!(
    "`panic-message` and `unchecked-panics` of cuda_std exclude each other: a panic that cannot be has no message"
);

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    if cfg!(feature = "unchecked-panics") {
        // SAFETY: whoever asks for the feature promises that no kernel panics.
        unsafe { core::hint::unreachable_unchecked() }
    }
    if cfg!(any(feature = "panic-message", debug_assertions)) {
        with_message(info)
    }
    match info.location() {
        Some(at) => crate::io::fail(c"the kernel panicked".as_ptr().cast(), at),
        None => core::intrinsics::abort(),
    }
}

#[cold]
#[inline(never)]
fn with_message(info: &PanicInfo<'_>) -> ! {
    use core::fmt::Write as _;
    let mut text = crate::text::Text::new(|_| false);
    let _ = write!(text, "the kernel panicked: {}", info.message());
    match info.location() {
        Some(at) => crate::io::fail(text.bytes().as_ptr(), at),
        None => core::intrinsics::abort(),
    }
}
