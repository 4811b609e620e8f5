//! The bytes of one access: the only place where a kernel's loads and stores touch memory that other threads see.
//!
//! Kernels may race: lanes of blocks that run on other cores read and write the same bytes at the same time, by mistake or
//! on purpose (flags, look-back scans). What a GPU promises then, and what is kept here, is that each element of up to 8
//! bytes, aligned to its size as every access is, is read or written whole, and that accesses happen where the program has
//! them. So no access is an ordinary Rust read or write, which the compiler may split, repeat, or assume to be unraced:
//!
//! - Single elements are relaxed atomics.
//! - A row of elements is moved by vector instructions in inline assembly. To the compiler that is a black box that may
//!   read and write any memory; the rules that hold are those of the processor. On x86-64 a vector move of any width
//!   is carried out in aligned pieces of at least 8 bytes, so an aligned element is never torn; loads are not reordered
//!   with loads, nor stores with stores.
//! - Where there is no such assembly (other processors, Miri) a row is a loop over single elements.
//!
//! 16-byte elements are two of 8 bytes, as PTX's memory model has it for vectors.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::lane::Lane;

/// A type that memory holds.
pub(crate) trait Element: Lane {
    /// # Safety
    /// Memory of the type's size must be at `at`, alive and aligned to that size (8 at most), and touched at the same time
    /// only by accesses of this module.
    unsafe fn load(at: u64) -> Self;

    /// # Safety
    /// As for [`Element::load`]; the memory may be written.
    unsafe fn store(at: u64, value: Self);
}

macro_rules! element {
    ($($t:ty, $atomic:ty, $unsigned:ty;)*) => { $(
        impl Element for $t {
            #[inline(always)]
            unsafe fn load(at: u64) -> Self {
                // SAFETY: by the caller; atomics of this size accept races with one another.
                unsafe { <$atomic>::from_ptr(at as *mut $unsigned) }.load(Relaxed) as Self
            }

            #[inline(always)]
            unsafe fn store(at: u64, value: Self) {
                // SAFETY: as above.
                unsafe { <$atomic>::from_ptr(at as *mut $unsigned) }.store(value as $unsigned, Relaxed);
            }
        }
    )* };
}

element! {
    u8, AtomicU8, u8;
    i8, AtomicU8, u8;
    u16, AtomicU16, u16;
    i16, AtomicU16, u16;
    u32, AtomicU32, u32;
    i32, AtomicU32, u32;
    u64, AtomicU64, u64;
    i64, AtomicU64, u64;
}

impl Element for u128 {
    #[inline(always)]
    unsafe fn load(at: u64) -> Self {
        // SAFETY: by the caller.
        unsafe { Self::from(u64::load(at)) | Self::from(u64::load(at + 8)) << 64 }
    }

    #[inline(always)]
    unsafe fn store(at: u64, value: Self) {
        // SAFETY: by the caller.
        unsafe {
            u64::store(at, value as u64);
            u64::store(at + 8, (value >> 64) as u64);
        }
    }
}

/// A width of vector moves.
pub(crate) trait Vectors {
    /// Copies a row of `COUNT` elements; `COUNT` of them are a multiple of 32 bytes.
    ///
    /// # Safety
    /// As for [`Element::load`] and [`Element::store`] of each element; the rows must not overlap, and the processor must
    /// have the instructions.
    unsafe fn copy<E: Element, const COUNT: usize>(from: u64, to: u64);
}

/// Baseline x86-64, and every other processor.
pub(crate) struct Narrow;
/// AVX2.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) struct Wide;
/// AVX-512.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) struct Widest;

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(crate) use {Narrow as Wide, Narrow as Widest};

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
impl Vectors for Narrow {
    #[inline(always)]
    unsafe fn copy<E: Element, const COUNT: usize>(from: u64, to: u64) {
        for at in (0..COUNT).map(|at| (at * size_of::<E>()) as u64) {
            // SAFETY: by the caller.
            unsafe { E::store(to + at, E::load(from + at)) }
        }
    }
}

/// Moves one piece of the row through a vector register.
#[cfg(all(target_arch = "x86_64", not(miri)))]
macro_rules! piece {
    ($from:expr, $to:expr, $move:literal, $register:tt) => {
        std::arch::asm!(
            concat!($move, " ", $register, ", [{from}]"),
            concat!($move, " [{to}], ", $register),
            from = in(reg) $from,
            to = in(reg) $to,
            out($register) _,
            options(nostack, preserves_flags),
        )
    };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Vectors for Narrow {
    #[inline(always)]
    unsafe fn copy<E: Element, const COUNT: usize>(from: u64, to: u64) {
        for at in (0..COUNT * size_of::<E>()).step_by(16) {
            // SAFETY: by the caller.
            unsafe { piece!(from + at as u64, to + at as u64, "movups", "xmm0") }
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Vectors for Wide {
    #[inline(always)]
    unsafe fn copy<E: Element, const COUNT: usize>(from: u64, to: u64) {
        for at in (0..COUNT * size_of::<E>()).step_by(32) {
            // SAFETY: by the caller.
            unsafe { piece!(from + at as u64, to + at as u64, "vmovups", "ymm0") }
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Vectors for Widest {
    #[inline(always)]
    unsafe fn copy<E: Element, const COUNT: usize>(from: u64, to: u64) {
        let bytes = COUNT * size_of::<E>();
        if bytes == 32 {
            // SAFETY: by the caller.
            return unsafe { Wide::copy::<E, COUNT>(from, to) };
        }
        for at in (0..bytes).step_by(64) {
            // SAFETY: by the caller.
            unsafe { piece!(from + at as u64, to + at as u64, "vmovups", "zmm0") }
        }
    }
}
