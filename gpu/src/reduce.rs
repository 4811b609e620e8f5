//! Reductions: one number from an array (`sum`, `min`, `max`) or from two (`dot`).
//!
//! Floor: every element once, 4 bytes an `f32` (8 for `dot`), and nothing written to speak of.
//! Shape of the code, in one pass:
//!
//! ```text
//! packs of 16 bytes, 4 in flight --> 4 x N registers a thread --> shuffles: a value a warp --> shared memory: a value a block
//!   --> memory: a value for each block --> the block that finishes last adds those up --> out
//! ```
//!
//! No thread waits for another block, so any number of blocks will do. Blocks beyond the [`PARTS`] that there is room for do
//! nothing. The order of the additions depends on the launch shape alone: the same launch gives the same bits each time.

use core::sync::atomic::Ordering;

use cuda_std::atomic::AtomicF32;
use cuda_std::prelude::*;
use cuda_std::shared_array;
use cuda_std::vector::packs;
use cuda_std::warp::WarpShuffleValue;

use crate::math::Float;
use crate::team;

/// Blocks that work at most.
pub const PARTS: usize = 4096;

/// Packs that a thread loads before it uses the first.
const FLIGHT: usize = 4;

/// Where a reduction keeps what the blocks tell each other.
struct Meeting<T> {
    /// 32 values of shared memory.
    slots: *mut T,
    /// A word of shared memory.
    flag: *mut u32,
    /// A value for each of [`PARTS`] blocks.
    parts: *mut T,
    /// Blocks that are done; 0 between launches.
    done: *mut u32,
}

/// `combine` over `pack(i)` for each `i` below `packs` and `element(i)` for each `i` of `packs * N..len`.
///
/// # Safety
/// Every thread of the launch must come here, with the memory that [`Meeting`] describes and a valid `out`.
#[inline(always)]
unsafe fn reduce<T: WarpShuffleValue + Copy, const N: usize>(
    [packs, len]: [usize; 2],
    identity: T,
    pack: impl Fn(usize, Packed<T, N>) -> Packed<T, N>,
    element: impl Fn(usize, T) -> T,
    combine: impl Fn(T, T) -> T + Copy,
    meeting: Meeting<T>,
    out: *mut T,
) {
    let (block, blocks) = (team::block(), team::blocks().min(PARTS));
    if block >= blocks {
        return;
    }
    let threads = team::threads() as usize;
    let (first, stride) = (block * threads + team::thread() as usize, blocks * threads);

    let mut sums = [Packed([identity; N]); FLIGHT];
    let mut i = first;
    while i + (FLIGHT - 1) * stride < packs {
        let mut k = 0;
        while k < FLIGHT {
            sums[k] = pack(i + k * stride, sums[k]);
            k += 1;
        }
        i += FLIGHT * stride;
    }
    while i < packs {
        sums[0] = pack(i, sums[0]);
        i += stride;
    }
    let sums = sums[0].zip_with(sums[1], combine).zip_with(sums[2].zip_with(sums[3], combine), combine);
    let mut sum = identity;
    let mut k = 0;
    while k < N {
        sum = combine(sum, sums.0[k]);
        k += 1;
    }
    let mut i = packs * N + first;
    while i < len {
        sum = element(i, sum);
        i += stride;
    }

    // SAFETY: every thread of the blocks that work comes here; each of these has its part, and the last sees all of them.
    unsafe {
        sum = team::reduce(sum, meeting.slots, combine);
        if team::thread() == 0 {
            *meeting.parts.add(block) = sum;
        }
        if !team::is_last(blocks as u32, meeting.done, meeting.flag) {
            return;
        }
        let mut sum = identity;
        let mut i = team::thread() as usize;
        while i < blocks {
            sum = combine(sum, *meeting.parts.add(i));
            i += threads;
        }
        sum = team::reduce(sum, meeting.slots, combine);
        if team::thread() == 0 {
            *out = sum;
        }
    }
}

/// Kernels of one array; `$n` elements are 16 bytes.
macro_rules! of_one {
    ($($(#[doc = $doc:literal])* $name:ident: $t:ty, $n:literal, $identity:expr, $combine:expr;)*) => {$(
        $(#[doc = $doc])*
        ///
        /// # Safety
        /// `out` must be valid; `parts` for 4096 values and `done` for a word that is 0, neither used by anyone else meanwhile.
        #[kernel]
        pub unsafe fn $name(x: &[$t], parts: *mut $t, done: *mut u32, out: *mut $t) {
            let meeting = Meeting { slots: shared_array![$t; 32], flag: shared_array![u32; 1], parts, done };
            let (combine, whole) = ($combine, packs::<$t, $n>(x));
            // SAFETY: every `i` is below the length that was given with it; the rest by the caller.
            unsafe {
                reduce::<$t, $n>(
                    [whole.len(), x.len()], $identity,
                    |i, sum| sum.zip_with(*whole.get_unchecked(i), combine),
                    |i, sum| combine(sum, *x.get_unchecked(i)),
                    combine, meeting, out,
                );
            }
        }
    )*};
}

of_one! {
    /// `*out = x[0] + x[1] + …`, 0 of nothing.
    sum_f32: f32, 4, 0.0, |a: f32, b: f32| a + b;
    /// `*out = x[0] + x[1] + …`, 0 of nothing.
    sum_f64: f64, 2, 0.0, |a: f64, b: f64| a + b;
    /// `*out = x[0] + x[1] + …`, which wraps; 0 of nothing.
    sum_i32: i32, 4, 0, |a: i32, b: i32| a.wrapping_add(b);
    /// `*out` is the least of `x`, the type's greatest of nothing. A NaN counts as missing.
    min_f32: f32, 4, f32::INFINITY, |a: f32, b: f32| a.min(b);
    /// `*out` is the least of `x`, the type's greatest of nothing. A NaN counts as missing.
    min_f64: f64, 2, f64::INFINITY, |a: f64, b: f64| a.min(b);
    /// `*out` is the least of `x`, the type's greatest of nothing.
    min_i32: i32, 4, i32::MAX, |a: i32, b: i32| a.min(b);
    /// `*out` is the greatest of `x`, the type's least of nothing. A NaN counts as missing.
    max_f32: f32, 4, f32::NEG_INFINITY, |a: f32, b: f32| a.max(b);
    /// `*out` is the greatest of `x`, the type's least of nothing. A NaN counts as missing.
    max_f64: f64, 2, f64::NEG_INFINITY, |a: f64, b: f64| a.max(b);
    /// `*out` is the greatest of `x`, the type's least of nothing.
    max_i32: i32, 4, i32::MIN, |a: i32, b: i32| a.max(b);
}

/// `dot` of a type; `$n` elements are 16 bytes.
macro_rules! dot {
    ($($name:ident: $t:ty, $n:literal;)*) => {$(
        /// `*out = x[0] * y[0] + x[1] * y[1] + …`, 0 of nothing. Panics if `y` is shorter than `x`.
        ///
        /// # Safety
        /// As for the sums.
        #[kernel]
        pub unsafe fn $name(x: &[$t], y: &[$t], parts: *mut $t, done: *mut u32, out: *mut $t) {
            let y = &y[..x.len()];
            let meeting = Meeting { slots: shared_array![$t; 32], flag: shared_array![u32; 1], parts, done };
            let (left, right) = (packs::<$t, $n>(x), packs::<$t, $n>(y));
            // SAFETY: every `i` is below the length that was given with it; the rest by the caller.
            unsafe {
                reduce::<$t, $n>(
                    [left.len().min(right.len()), x.len()], 0.0,
                    |i, mut sum| {
                        let (left, right) = (left.get_unchecked(i), right.get_unchecked(i));
                        let mut k = 0;
                        while k < $n {
                            sum.0[k] = Float::mul_add(left.0[k], right.0[k], sum.0[k]);
                            k += 1;
                        }
                        sum
                    },
                    |i, sum| Float::mul_add(*x.get_unchecked(i), *y.get_unchecked(i), sum),
                    |a, b| a + b, meeting, out,
                );
            }
        }
    )*};
}

dot! {
    dot_f32: f32, 4;
    dot_f64: f64, 2;
}

/// As `sum_f32`, with one sum for the whole grid: what one writes first. `out` must be 0 at the start.
///
/// # Safety
/// `out` must be valid, and no one else use it meanwhile other than by atomic operations.
#[kernel]
pub unsafe fn sum_naive_f32(x: &[f32], out: *mut f32) {
    // SAFETY: by the caller.
    let out = unsafe { &*out.cast::<AtomicF32>() };
    for i in thread::grid_stride(x.len()) {
        out.fetch_add(x[i], Ordering::Relaxed);
    }
}
