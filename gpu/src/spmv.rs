//! Sparse matrix times vector, `out = A x`, with `A` in compressed rows (CSR).
//!
//! Floor: bytes, 8 a stored element (value and column) and 8 a row, plus `x` once; `x` is read where the columns say, which
//! caches serve as well as the matrix lets them.
//! Shape of the code: 8 lanes share a row. With a thread a row, which one writes first and which stands here for comparison
//! (`spmv_scalar`), neighbouring lanes read elements that are a row apart, and all wait for the longest row among 32; 8 lanes read
//! neighbours and add their parts up by shuffles.

use cuda_std::prelude::*;
use cuda_std::warp::warp_shuffle_xor;

use crate::math::Float;
use crate::team;

/// Lanes a row.
const GROUP: u32 = 8;

/// The matrix and the vector that it is multiplied with.
#[derive(Clone, Copy)]
struct Product<'a> {
    starts: &'a [u32],
    columns: &'a [u32],
    values: &'a [f32],
    x: &'a [f32],
}

impl Product<'_> {
    /// The sum over every `step`th element of a row, from its `first`.
    #[inline(always)]
    fn part(&self, row: usize, first: usize, step: usize) -> f32 {
        let (mut at, end) = (self.starts[row] as usize + first, self.starts[row + 1] as usize);
        let mut sum = 0.0;
        while at < end {
            sum = Float::mul_add(self.values[at], self.x[self.columns[at] as usize], sum);
            at += step;
        }
        sum
    }
}

/// `out[row]` is the sum of `values[k] * x[columns[k]]` for `k` from `starts[row]` to `starts[row + 1]`; 8 lanes a row.
/// Panics where an index is not there.
///
/// # Safety
/// `out` must be valid for `starts.len() - 1` writes that no one else reads or makes meanwhile.
#[kernel]
pub unsafe fn spmv_f32(starts: &[u32], columns: &[u32], values: &[f32], x: &[f32], out: *mut f32) {
    let product = Product { starts, columns, values, x };
    let rows = starts.len().saturating_sub(1);
    if !team::threads().is_multiple_of(GROUP) {
        // A group would have lanes missing.
        for row in thread::grid_stride(rows) {
            // SAFETY: `row < rows`, and this thread alone has it.
            unsafe { *out.add(row) = product.part(row, 0, 1) };
        }
        return;
    }
    let lane = team::thread() % 32;
    let group = ((1 << GROUP) - 1) << (lane / GROUP * GROUP);
    for i in thread::grid_stride(rows * GROUP as usize) {
        let (row, place) = (i / GROUP as usize, i % GROUP as usize);
        let mut sum = product.part(row, place, GROUP as usize);
        let mut distance = GROUP / 2;
        while distance > 0 {
            // SAFETY: the lanes of a group have the same row, and so the same number of iterations; all of them come here.
            sum += unsafe { warp_shuffle_xor(group, sum, distance, 32) }.0;
            distance /= 2;
        }
        if place == 0 {
            // SAFETY: `row < rows`, and this thread alone writes it.
            unsafe { *out.add(row) = sum };
        }
    }
}

/// As `spmv_f32`, a thread a row: what one writes first.
///
/// # Safety
/// As for `spmv_f32`.
#[kernel]
pub unsafe fn spmv_scalar_f32(starts: &[u32], columns: &[u32], values: &[f32], x: &[f32], out: *mut f32) {
    let product = Product { starts, columns, values, x };
    for row in thread::grid_stride(starts.len().saturating_sub(1)) {
        // SAFETY: there is such a row, and this thread alone has it.
        unsafe { *out.add(row) = product.part(row, 0, 1) };
    }
}
