//! Maps: an element of the output from the elements of the inputs at the same place.
//!
//! Floor: every array once, so memory bandwidth and nothing else: 4 bytes an `f32` for `fill`, 8 for `copy` and `gelu`, 12
//! for `saxpy` and `triad`. Even `gelu`, with a dozen operations an element, waits for memory.
//! Shape of the code: one grid-stride loop over packs of 16 bytes for all of them, given what to do with an element; what is
//! left behind the packs, or everything where a buffer is not aligned, goes one by one (`add.rs` says why).

use cuda_std::prelude::*;
use cuda_std::vector::packs;

use crate::math::{Float, divide, exp2};

/// Packs beside each other that the threads of a warp take.
const LANES: usize = 32;

/// `out[i] = f(i)` where `f` is of what the inputs hold at `i`, as packs of `N`, of which a thread has `FLIGHT` under way at a
/// time, and as single elements.
///
/// # Safety
/// `out` must be valid for `len` writes that no one else reads or makes meanwhile.
#[inline(always)]
unsafe fn map<T: Copy, const N: usize, const FLIGHT: usize>(
    len: usize,
    packs: usize,
    out: *mut T,
    pack: impl Fn(usize) -> Packed<T, N>,
    element: impl Fn(usize) -> T,
) {
    let out_packs = out.cast::<Packed<T, N>>();
    let count = if out_packs.is_aligned() { packs } else { 0 };
    // A round is FLIGHT packs in a row of as many warps' widths: neighbours in a warp still touch neighbours in memory.
    let rounds = count / (FLIGHT * LANES) * LANES;
    for i in thread::grid_stride(rounds) {
        let first = i / LANES * LANES * FLIGHT + i % LANES;
        let flight: [Packed<T, N>; FLIGHT] = core::array::from_fn(|k| pack(first + k * LANES));
        let mut k = 0;
        while k < FLIGHT {
            // SAFETY: below `rounds * FLIGHT`, so N elements from there are inside `out`, and this thread alone has them.
            unsafe { *out_packs.add(first + k * LANES) = flight[k] };
            k += 1;
        }
    }
    for i in thread::grid_stride_range(rounds * FLIGHT..count) {
        // SAFETY: `i < len / N`, so N elements from `i * N` are inside `out`, and this thread alone has `i`.
        unsafe { *out_packs.add(i) = pack(i) };
    }
    for i in thread::grid_stride_range(count * N..len) {
        // SAFETY: `i < len`, and this thread alone has `i`.
        unsafe { *out.add(i) = element(i) };
    }
}

/// Of one input.
///
/// # Safety
/// As for [`map`], with the length of `x`; and `out` must not overlap `x`.
#[inline(always)]
unsafe fn map_one<T: Copy, const N: usize>(x: &[T], out: *mut T, f: impl Fn(T) -> T + Copy) {
    let x_packs = packs::<T, N>(x);
    // SAFETY: by the caller; every `i` of a pack is below the number of packs that is given with it.
    unsafe {
        let pack = |i: usize| {
            let x: Packed<T, N> = *x_packs.get_unchecked(i);
            x.zip_with(x, |x, _| f(x))
        };
        // One load a pack: with one pack at a time, too little would be under way.
        map::<T, N, 4>(x.len(), x_packs.len(), out, pack, |i| f(x[i]));
    }
}

/// Of two inputs. Panics if `y` is shorter than `x`.
///
/// # Safety
/// As for [`map_one`], for both.
#[inline(always)]
unsafe fn map_two<T: Copy, const N: usize>(x: &[T], y: &[T], out: *mut T, f: impl Fn(T, T) -> T + Copy) {
    let y = &y[..x.len()];
    let (x_packs, y_packs) = (packs::<T, N>(x), packs::<T, N>(y));
    let count = x_packs.len().min(y_packs.len());
    // SAFETY: by the caller; every `i` of a pack is below the number of packs that is given with it.
    unsafe {
        let pack = |i: usize| x_packs.get_unchecked(i).zip_with(*y_packs.get_unchecked(i), f);
        map::<T, N, 1>(x.len(), count, out, pack, |i| f(x[i], y[i]));
    }
}

/// The kernels of a type; `$n` elements are 16 bytes.
macro_rules! kernels {
    ($($t:ty, $n:literal: $fill:ident, $copy:ident, $saxpy:ident, $triad:ident;)*) => {$(
        /// `out[i] = value`.
        ///
        /// # Safety
        /// `out` must be valid for `n` writes that no one else reads or makes meanwhile.
        #[kernel]
        pub unsafe fn $fill(value: $t, out: *mut $t, n: usize) {
            // SAFETY: by the caller.
            unsafe { map::<$t, $n, 1>(n, n / $n, out, |_| Packed([value; $n]), |_| value) }
        }

        /// `out[i] = x[i]`.
        ///
        /// # Safety
        /// `out` must be valid for `x.len()` writes that no one else reads or makes meanwhile, and not overlap `x`.
        #[kernel]
        pub unsafe fn $copy(x: &[$t], out: *mut $t) {
            // SAFETY: by the caller.
            unsafe { map_one::<$t, $n>(x, out, |x| x) }
        }

        /// `out[i] = factor * x[i] + y[i]`, rounded once. Panics if `y` is shorter than `x`.
        ///
        /// # Safety
        /// As for `copy`, for `x` and `y`.
        #[kernel]
        pub unsafe fn $saxpy(factor: $t, x: &[$t], y: &[$t], out: *mut $t) {
            // SAFETY: by the caller.
            unsafe { map_two::<$t, $n>(x, y, out, |x, y| Float::mul_add(factor, x, y)) }
        }

        /// `out[i] = x[i] + factor * y[i]`, rounded once. Panics if `y` is shorter than `x`.
        ///
        /// # Safety
        /// As for `copy`, for `x` and `y`.
        #[kernel]
        pub unsafe fn $triad(factor: $t, x: &[$t], y: &[$t], out: *mut $t) {
            // SAFETY: by the caller.
            unsafe { map_two::<$t, $n>(x, y, out, |x, y| Float::mul_add(factor, y, x)) }
        }
    )*};
}

kernels! {
    f32, 4: fill_f32, copy_f32, saxpy_f32, triad_f32;
    f64, 2: fill_f64, copy_f64, saxpy_f64, triad_f64;
}

/// The activation of transformers, `x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`.
///
/// `(1 + tanh z) / 2` is `1 - 1 / (1 + e^2z)`, which needs one exponential and one division, and no case for the tails: where
/// the exponential overflows the quotient is 0 and x is left, where it vanishes the quotient is 1 and 0 is left.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    // √(2/π) · 2 · log2(e), and that times 0.044715.
    const LINEAR: f32 = 2.302_208_2;
    const CUBIC: f32 = 0.102_943_24;
    let exponent = x * Float::mul_add(CUBIC * x, x, LINEAR);
    x - divide(x, 1.0 + exp2(exponent))
}

/// `out[i] = gelu(x[i])`.
///
/// # Safety
/// `out` must be valid for `x.len()` writes that no one else reads or makes meanwhile, and not overlap `x`.
#[kernel]
pub unsafe fn gelu_f32(x: &[f32], out: *mut f32) {
    // SAFETY: by the caller.
    unsafe { map_one::<f32, 4>(x, out, gelu) }
}
