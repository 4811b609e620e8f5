//! Printing from kernels, and assertions that say what they saw.
//!
//! Text is formatted in the thread's own memory, without a heap, and handed to the driver by the device runtime's `vprintf`,
//! whose format is always `%s`: a `%` in the text is a `%`. The driver keeps it in a buffer of 1 MiB (unless it was told
//! otherwise) and prints it when the host synchronises with the kernel; what is above 511 bytes goes in several pieces, between
//! which other threads may print.
//!
//! Formatting keeps a kernel's registers and code busy: for looking into one, not for one that is measured.

use core::ffi::c_void;
use core::fmt;

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    /// CUDA device system call; the strings end with NUL, the arguments lie behind `valist`.
    #[doc(hidden)]
    pub fn vprintf(format: *const u8, valist: *const c_void) -> i32;

    /// CUDA device system call: prints all of it with block and thread, and ends the launch with `CUDA_ERROR_ASSERT` (710). All
    /// strings end with NUL, `char_size` is 1.
    #[doc(hidden)]
    pub fn __assertfail(message: *const u8, file: *const u8, line: u32, function: *const u8, char_size: usize);
}

/// Prints, for [`print!`](crate::print).
#[doc(hidden)]
#[inline(never)]
pub fn print(arguments: fmt::Arguments<'_>) {
    #[cfg(target_arch = "nvptx64")]
    {
        let flush = |bytes: &[u8; 512]| {
            let argument = bytes.as_ptr();
            // SAFETY: the format takes one pointer to text, which is behind the second argument.
            unsafe { vprintf(c"%s".as_ptr().cast(), (&raw const argument).cast()) };
            true
        };
        let mut text = crate::text::Text::new(flush);
        let _ = fmt::write(&mut text, arguments);
        if !text.is_empty() {
            flush(text.bytes());
        }
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _: Option<*const c_void> = None;
        std::print!("{arguments}");
    }
}

/// Ends the launch, for the assertions.
#[doc(hidden)]
#[cold]
#[inline(never)]
#[track_caller]
pub fn assert_failed(arguments: fmt::Arguments<'_>) -> ! {
    #[cfg(target_arch = "nvptx64")]
    {
        let mut text = crate::text::Text::new(|_| false);
        let _ = fmt::write(&mut text, arguments);
        fail(text.bytes().as_ptr(), core::panic::Location::caller())
    }
    #[cfg(not(target_arch = "nvptx64"))]
    std::panic!("{arguments}")
}

/// Ends the launch with a message that ends with NUL.
#[cfg(target_arch = "nvptx64")]
pub(crate) fn fail(message: *const u8, at: &core::panic::Location<'_>) -> ! {
    // SAFETY: all strings end with NUL and live until the call, which does not return.
    unsafe {
        __assertfail(message, at.file_as_c_str().as_ptr().cast(), at.line(), c"kernel".as_ptr().cast(), 1);
        core::arch::nvptx::trap()
    }
}

/// Prints formatted text, as `std::print!` does. See [`io`](crate::io).
#[macro_export]
macro_rules! print {
    ($($argument:tt)*) => {
        $crate::io::print(::core::format_args!($($argument)*))
    };
}

/// Prints formatted text and ends the line, as `std::println!` does. See [`io`](crate::io).
#[macro_export]
macro_rules! println {
    () => {
        $crate::io::print(::core::format_args!("\n"))
    };
    ($($argument:tt)*) => {
        $crate::io::print(::core::format_args!("{}\n", ::core::format_args!($($argument)*)))
    };
}

/// Ends the launch unless both are equal, with both values in the message, which `core::assert_eq!` leaves out in a kernel that
/// was not built for messages (the feature `panic-message`). See [`io`](crate::io).
#[macro_export]
macro_rules! assert_eq {
    ($left:expr, $right:expr $(, $($message:tt)*)?) => {
        $crate::__assert!(==, $left, $right $(, $($message)*)?)
    };
}

/// As [`assert_eq!`](crate::assert_eq), unless both differ.
#[macro_export]
macro_rules! assert_ne {
    ($left:expr, $right:expr $(, $($message:tt)*)?) => {
        $crate::__assert!(!=, $left, $right $(, $($message)*)?)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __assert {
    ($relation:tt, $left:expr, $right:expr $(,)?) => {
        $crate::__assert!($relation, $left, $right, "")
    };
    ($relation:tt, $left:expr, $right:expr, $($message:tt)+) => {
        match (&$left, &$right) {
            (left, right) => if !(*left $relation *right) {
                $crate::io::assert_failed(::core::format_args!(
                    "assertion `left {} right` failed: left is {:?}, right is {:?} {}",
                    ::core::stringify!($relation), left, right, ::core::format_args!($($message)+)
                ))
            }
        }
    };
}
