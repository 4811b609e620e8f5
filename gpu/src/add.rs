//! `out[i] = a[i] + b[i]`: the smallest kernel that is worth measuring.
//!
//! Floor: 3 elements moved for one addition, so memory bandwidth and nothing else; 12 bytes an `f32`.
//! Shape of the code: a grid-stride loop, so that one thread or a full grid gives the same result, over packs of 16 bytes,
//! because a thread with 16 bytes a load in flight fills the memory system that one with 4 does not. What is left behind
//! the packs (or everything, where a buffer is not aligned to 16 bytes) goes one by one. The scalar kernels beside them are
//! what one writes first, kept to show the difference.

use cuda_std::prelude::*;
use cuda_std::vector::packs;

/// The loop of the vector kernels. `N` elements of `T` are 16 bytes.
///
/// # Safety
/// `out` must be valid for `a.len()` writes that no one else reads or makes meanwhile, and not overlap `a` or `b`.
#[inline(always)]
unsafe fn add<T: Copy, const N: usize>(a: &[T], b: &[T], out: *mut T, sum: impl Fn(T, T) -> T + Copy) {
    // Checked once here instead of at every element; a shorter `b` is reported with this line.
    let b = &b[..a.len()];

    let (a_packs, b_packs, out_packs) = (packs::<T, N>(a), packs::<T, N>(b), out.cast::<Packed<T, N>>());
    let count = if out_packs.is_aligned() { a_packs.len().min(b_packs.len()) } else { 0 };
    let (a_packs, b_packs) = (&a_packs[..count], &b_packs[..count]);
    for i in thread::grid_stride(count) {
        // SAFETY: `i < count`, so N elements from `i * N` are inside `out`, and this thread alone has `i`.
        unsafe { *out_packs.add(i) = a_packs[i].zip_with(b_packs[i], sum) };
    }

    for i in thread::grid_stride_range(count * N..a.len()) {
        // SAFETY: `i < a.len()`, and this thread alone has `i`.
        unsafe { *out.add(i) = sum(a[i], b[i]) };
    }
}

/// The loop of the scalar kernels: what one writes first, 4 or 8 bytes a thread and iteration.
///
/// # Safety
/// As for [`add`].
#[inline(always)]
unsafe fn add_scalar<T: Copy>(a: &[T], b: &[T], out: *mut T, sum: impl Fn(T, T) -> T) {
    let b = &b[..a.len()];
    for i in thread::grid_stride(a.len()) {
        // SAFETY: `i < a.len()`, and this thread alone has `i`.
        unsafe { *out.add(i) = sum(a[i], b[i]) };
    }
}

/// A vector and a scalar kernel for a type; `$n` elements are 16 bytes.
macro_rules! kernels {
    ($($vector:ident, $scalar:ident: $t:ty, $n:literal, $sum:expr;)*) => {$(
        #[doc = concat!("`out[i] = a[i] + b[i]` in `", stringify!($t), "`, 16 bytes at a time. Panics if `b` is shorter than `a`.")]
        ///
        /// # Safety
        /// `out` must be valid for `a.len()` writes that no one else reads or makes meanwhile, and not overlap `a` or `b`.
        #[kernel]
        pub unsafe fn $vector(a: &[$t], b: &[$t], out: *mut $t) {
            // SAFETY: by the caller.
            unsafe { add::<$t, $n>(a, b, out, $sum) }
        }

        #[doc = concat!("`out[i] = a[i] + b[i]` in `", stringify!($t), "`, one element at a time. Panics if `b` is shorter than `a`.")]
        ///
        /// # Safety
        /// As for the vector kernel.
        #[kernel]
        pub unsafe fn $scalar(a: &[$t], b: &[$t], out: *mut $t) {
            // SAFETY: by the caller.
            unsafe { add_scalar::<$t>(a, b, out, $sum) }
        }
    )*};
}

kernels! {
    add_f32, add_scalar_f32: f32, 4, |x, y| x + y;
    add_f64, add_scalar_f64: f64, 2, |x, y| x + y;
    // Sums wrap, as the hardware's do.
    add_i32, add_scalar_i32: i32, 4, i32::wrapping_add;
}
