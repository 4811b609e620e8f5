//! `out[i] = a[i] + b[i]`: the smallest kernel that is worth measuring.
//!
//! Floor: 3 elements moved for one addition, so memory bandwidth and nothing else; 12 bytes an `f32`.
//! Shape of the code: a grid-stride loop, so that one thread or a full grid gives the same result, over packs of 16 bytes,
//! because a thread with 16 bytes a load in flight fills the memory system that one with 4 does not. What is left behind
//! the packs (or everything, where a buffer is not aligned to 16 bytes) goes one by one.

use cuda_std::prelude::*;
use cuda_std::vector::packs;

/// The loop of all three kernels. `N` elements of `T` are 16 bytes.
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

/// `out[i] = a[i] + b[i]` for every `i` below `a.len()`; panics if `b` is shorter.
///
/// # Safety
/// `out` must be valid for `a.len()` writes that no one else reads or makes meanwhile, and not overlap `a` or `b`.
#[kernel]
pub unsafe fn add_f32(a: &[f32], b: &[f32], out: *mut f32) {
    // SAFETY: by the caller.
    unsafe { add::<f32, 4>(a, b, out, |x, y| x + y) }
}

/// As [`add_f32`], for `f64`.
///
/// # Safety
/// As for [`add_f32`].
#[kernel]
pub unsafe fn add_f64(a: &[f64], b: &[f64], out: *mut f64) {
    // SAFETY: by the caller.
    unsafe { add::<f64, 2>(a, b, out, |x, y| x + y) }
}

/// As [`add_f32`], for `i32`; sums wrap.
///
/// # Safety
/// As for [`add_f32`].
#[kernel]
pub unsafe fn add_i32(a: &[i32], b: &[i32], out: *mut i32) {
    // SAFETY: by the caller.
    unsafe { add::<i32, 4>(a, b, out, i32::wrapping_add) }
}
