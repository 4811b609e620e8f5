//! Rows of a matrix, each made into numbers that add up to 1 (`softmax`) or of mean 0 and variance 1 (`layernorm`).
//!
//! Floor: every element once in and once out, 8 bytes an `f32`. Both need all of a row before they can write any of it, and a row
//! read again comes from memory again where rows are long and many.
//! Shape of the code: a block a row. Each thread loads up to 8 packs of 16 bytes and keeps them in registers, through one
//! reduction and another (maximum and sum, mean and variance), until it writes them: 512 threads hold a row of 16,384, and 128 one
//! of 4096. The number of threads is known when the kernel is compiled, so that the places of the packs take no registers. Other
//! blocks, and rows that are longer or not made of whole packs, take a plain path that reads them once for each reduction.
//!
//! The order of additions depends on the launch shape alone: the same launch gives the same bits each time.

use cuda_std::prelude::*;
use cuda_std::shared_array;
use cuda_std::vector::packs;

use crate::math::{divide, exp2, rsqrt};
use crate::team;

/// Packs that a thread keeps.
const KEPT: usize = 8;
const LOG2_E: f32 = core::f32::consts::LOG2_E;

/// A row as one thread of the block sees it.
trait Row {
    /// `combine` over `map` of this thread's elements, of which `identity` changes nothing.
    fn fold(&self, identity: f32, map: impl Fn(f32) -> f32, combine: impl Fn(f32, f32) -> f32) -> f32;
    /// Writes `f(element)` for each of this thread's elements to the row's place in the output.
    ///
    /// # Safety
    /// `out` must be that place, and no one else use it meanwhile.
    unsafe fn write(&self, out: *mut f32, f: impl Fn(f32) -> f32);
}

/// In registers of `WIDTH` threads: pack `k` is the row's pack `thread + k * WIDTH`.
struct Kept<const WIDTH: u32> {
    packs: [Packed<f32, 4>; KEPT],
    /// How many of them there are.
    count: u32,
}

impl<const WIDTH: u32> Kept<WIDTH> {
    /// # Safety
    /// `row` must have `count` packs.
    #[inline(always)]
    unsafe fn load(row: *const Packed<f32, 4>, count: u32) -> Self {
        let me = team::thread();
        let count = (count + WIDTH - 1).saturating_sub(me) / WIDTH;
        let row = row.wrapping_add(me as usize);
        let mut packs = [Packed([0.0; 4]); KEPT];
        let mut k = 0;
        while k < KEPT as u32 {
            if k < count {
                // SAFETY: `me + k * WIDTH` is below the number of packs.
                packs[k as usize] = unsafe { *row.add((k * WIDTH) as usize) };
            }
            k += 1;
        }
        Self { packs, count }
    }
}

impl<const WIDTH: u32> Row for Kept<WIDTH> {
    #[inline(always)]
    fn fold(&self, identity: f32, map: impl Fn(f32) -> f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
        // A result for each of four, so that four operations can be under way.
        let mut four = [identity; 4];
        let mut k = 0;
        while k < KEPT {
            if k < self.count as usize {
                let mut part = 0;
                while part < 4 {
                    four[part] = combine(four[part], map(self.packs[k].0[part]));
                    part += 1;
                }
            }
            k += 1;
        }
        combine(combine(four[0], four[1]), combine(four[2], four[3]))
    }

    #[inline(always)]
    unsafe fn write(&self, out: *mut f32, f: impl Fn(f32) -> f32) {
        let out = out.cast::<Packed<f32, 4>>().wrapping_add(team::thread() as usize);
        let mut k = 0;
        while k < KEPT as u32 {
            if k < self.count {
                let Packed([a, b, c, d]) = self.packs[k as usize];
                // SAFETY: a pack of the row, which this thread alone has.
                unsafe { *out.add((k * WIDTH) as usize) = Packed([f(a), f(b), f(c), f(d)]) };
            }
            k += 1;
        }
    }
}

/// In memory, read again each time.
struct Plain<'a>(&'a [f32]);

impl Row for Plain<'_> {
    #[inline(always)]
    fn fold(&self, identity: f32, map: impl Fn(f32) -> f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
        let mut all = identity;
        let mut i = team::thread() as usize;
        while i < self.0.len() {
            all = combine(all, map(self.0[i]));
            i += team::threads() as usize;
        }
        all
    }

    #[inline(always)]
    unsafe fn write(&self, out: *mut f32, f: impl Fn(f32) -> f32) {
        let mut i = team::thread() as usize;
        while i < self.0.len() {
            // SAFETY: an element of the row, which this thread alone has.
            unsafe { *out.add(i) = f(self.0[i]) };
            i += team::threads() as usize;
        }
    }
}

/// What both kernels do with a row.
trait Rule: Copy {
    /// # Safety
    /// Every thread of the block must come here, with shared memory for 32 values behind `slots` and the row's place in `out`.
    unsafe fn apply(self, row: impl Row, out: *mut f32, slots: *mut f32);
}

/// `e^(x - maximum) / sum`.
#[derive(Clone, Copy)]
struct Softmax;

impl Rule for Softmax {
    #[inline(always)]
    unsafe fn apply(self, row: impl Row, out: *mut f32, slots: *mut f32) {
        // SAFETY: by the caller.
        unsafe {
            let most = team::reduce_to_all(row.fold(f32::NEG_INFINITY, |x| x, f32::max), slots, f32::max);
            // The difference before the product: it is exact for numbers near each other, and 0 for the largest.
            let power = |x: f32| exp2((x - most) * LOG2_E);
            let sum = team::reduce_to_all(row.fold(0.0, power, |a, b| a + b), slots, |a, b| a + b);
            let share = divide(1.0, sum);
            row.write(out, |x| power(x) * share);
        }
    }
}

/// `(x - mean) / √(variance + 10^-5)`.
#[derive(Clone, Copy)]
struct LayerNorm {
    columns: usize,
}

impl Rule for LayerNorm {
    #[inline(always)]
    unsafe fn apply(self, row: impl Row, out: *mut f32, slots: *mut f32) {
        let share = divide(1.0, self.columns as f32);
        // SAFETY: by the caller.
        unsafe {
            let mean = share * team::reduce_to_all(row.fold(0.0, |x| x, |a, b| a + b), slots, |a, b| a + b);
            // Of the differences, not of the squares: two large numbers that are nearly equal would be subtracted.
            let square = |x: f32| (x - mean) * (x - mean);
            let variance = share * team::reduce_to_all(row.fold(0.0, square, |a, b| a + b), slots, |a, b| a + b);
            let inverse = rsqrt(variance + 1e-5);
            row.write(out, |x| (x - mean) * inverse);
        }
    }
}

/// `rule` for each row, a block a row.
///
/// # Safety
/// Every thread of the launch must come here, with shared memory for 32 values behind `slots`; `out` must be valid for `x.len()`
/// writes that no one else reads or makes meanwhile, and not overlap `x`.
#[inline(always)]
unsafe fn each_row(rule: impl Rule, x: &[f32], columns: usize, out: *mut f32, slots: *mut f32) {
    if columns == 0 {
        return;
    }
    let rows = x.len() / columns;
    let whole = packs::<f32, 4>(x);
    let aligned = columns.is_multiple_of(4) && out.cast::<Packed<f32, 4>>().is_aligned() && whole.len() == x.len() / 4;
    let fits = |threads: u32| aligned && team::threads() == threads && columns <= 4 * KEPT * threads as usize;
    let (wide, narrow) = (fits(512), fits(128));
    let mut row = team::block();
    while row < rows {
        // SAFETY: the row's place is within the output; the rest by the caller.
        unsafe {
            let out = out.add(row * columns);
            let packs = whole.as_ptr().wrapping_add(row * (columns / 4));
            if wide {
                rule.apply(Kept::<512>::load(packs, (columns / 4) as u32), out, slots);
            } else if narrow {
                rule.apply(Kept::<128>::load(packs, (columns / 4) as u32), out, slots);
            } else {
                rule.apply(Plain(&x[row * columns..(row + 1) * columns]), out, slots);
            }
        }
        row += team::blocks();
    }
}

/// Each row of `columns` elements becomes `e^(x - maximum)` over the sum of those.
///
/// # Safety
/// `out` must be valid for `x.len()` writes that no one else reads or makes meanwhile, and not overlap `x`.
#[kernel]
pub unsafe fn softmax_f32(x: &[f32], columns: usize, out: *mut f32) {
    // SAFETY: by the caller.
    unsafe { each_row(Softmax, x, columns, out, shared_array![f32; 32]) }
}

/// Each row of `columns` elements becomes `(x - mean) / √(variance + 10^-5)`.
///
/// # Safety
/// As for `softmax_f32`.
#[kernel]
pub unsafe fn layernorm_f32(x: &[f32], columns: usize, out: *mut f32) {
    // SAFETY: by the caller.
    unsafe { each_row(LayerNorm { columns }, x, columns, out, shared_array![f32; 32]) }
}

/// As `softmax_f32`, a thread a row: what one writes first. Neighbours in a warp are a row apart in memory.
///
/// # Safety
/// As for `softmax_f32`.
#[kernel]
pub unsafe fn softmax_naive_f32(x: &[f32], columns: usize, out: *mut f32) {
    for row in thread::grid_stride(x.len().checked_div(columns).unwrap_or(0)) {
        let first = row * columns;
        let row = &x[first..first + columns];
        let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let power = |x: f32| exp2((x - most) * LOG2_E);
        let sum = row.iter().fold(0.0, |sum, x| sum + power(*x));
        let share = divide(1.0, sum);
        for (i, x) in row.iter().enumerate() {
            // SAFETY: an element of the row, which this thread alone has.
            unsafe { *out.add(first + i) = power(*x) * share };
        }
    }
}
