//! One step of heat spreading over a plate: each point moves towards the mean of its four neighbours; the rim stays.
//!
//! Floor: every point once in and once out, 8 bytes an `f32` a step. The neighbours are other threads' points: a row is read by
//! the three rows that need it at about the same time, and comes from the caches the second and third time.
//! Shape of the code: a thread makes four points in a row. The rows above and below come as one load of 16 bytes each, the
//! point to the left and the one to the right as one of 4 each, and the inner neighbours are in registers already.

use cuda_std::prelude::*;
use cuda_std::vector::packs;

use crate::math::Float;

/// The new value of a point: its own and its neighbours', rounded in this order, so that the host gets the same bits.
#[inline(always)]
fn point(rate: f32, own: f32, [left, right, up, down]: [f32; 4]) -> f32 {
    Float::mul_add(rate, Float::mul_add(-4.0, own, (left + right) + (up + down)), own)
}

/// `out` is `x`, a plate of `columns` points a row, after one step.
///
/// # Safety
/// `out` must be valid for `x.len()` writes that no one else reads or makes meanwhile, and not overlap `x`.
#[kernel]
pub unsafe fn stencil_f32(rate: f32, x: &[f32], columns: usize, out: *mut f32) {
    if columns == 0 {
        return;
    }
    let rows = x.len() / columns;
    let (whole, out_packs) = (packs::<f32, 4>(x), out.cast::<Packed<f32, 4>>());
    if columns.is_multiple_of(4) && out_packs.is_aligned() && whole.len() == x.len() / 4 {
        let across = columns / 4;
        for i in thread::grid_stride(rows * across) {
            // SAFETY: a pack of the plate; this thread alone has it.
            unsafe { *out_packs.add(i) = four(rate, x, whole, [rows, across], i) };
        }
    } else {
        for i in thread::grid_stride(rows * columns) {
            // SAFETY: a point of the plate; this thread alone has it.
            unsafe { *out.add(i) = one(rate, x, [rows, columns], i) };
        }
    }
}

/// Quotient and remainder, in 32 bits where that will do: 64 take four times as long.
#[inline(always)]
fn divide(i: usize, by: usize) -> (usize, usize) {
    match (u32::try_from(i), u32::try_from(by)) {
        (Ok(i), Ok(by)) => ((i / by) as usize, (i % by) as usize),
        _ => (i / by, i % by),
    }
}

#[inline(always)]
fn four(rate: f32, x: &[f32], packs: &[Packed<f32, 4>], [rows, across]: [usize; 2], i: usize) -> Packed<f32, 4> {
    let (row, place) = divide(i, across);
    let own = packs[i];
    if row == 0 || row + 1 == rows {
        return own;
    }
    let (Packed(up), Packed(down), Packed(own)) = (packs[i - across], packs[i + across], own);
    let mut new = own;
    if place > 0 {
        new[0] = point(rate, own[0], [x[4 * i - 1], own[1], up[0], down[0]]);
    }
    new[1] = point(rate, own[1], [own[0], own[2], up[1], down[1]]);
    new[2] = point(rate, own[2], [own[1], own[3], up[2], down[2]]);
    if place + 1 < across {
        new[3] = point(rate, own[3], [own[2], x[4 * i + 4], up[3], down[3]]);
    }
    Packed(new)
}

#[inline(always)]
fn one(rate: f32, x: &[f32], [rows, columns]: [usize; 2], i: usize) -> f32 {
    let (row, column) = divide(i, columns);
    if row == 0 || row + 1 == rows || column == 0 || column + 1 == columns {
        return x[i];
    }
    point(rate, x[i], [x[i - 1], x[i + 1], x[i - columns], x[i + columns]])
}
