//! One step of heat spreading over a plate: each point moves towards the mean of its four neighbours; the rim stays.
//!
//! Floor: every point once in and once out, 8 bytes an `f32` a step. The neighbours are other threads' points: a row is read by
//! the three rows that need it at about the same time, and comes from the caches the second and third time.
//! Shape of the code: a thread makes a piece of four columns and four rows. It loads six rows of 16 bytes, so that a row is read
//! one and a half times and not three; the points to the left and right are loads of 4 bytes, and all else is in registers.

use cuda_std::prelude::*;
use cuda_std::vector::packs;

use crate::math::Float;

/// Rows of a thread's piece.
const DOWN: usize = 4;

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
        for i in thread::grid_stride(rows.div_ceil(DOWN) * across) {
            let (strip, place) = divide(i, across);
            // SAFETY: packs of the plate; this thread alone has these.
            unsafe { piece(rate, x, whole, out_packs, [strip * DOWN, place], [rows, across]) };
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

/// Four columns from pack `place` of the row, and [`DOWN`] rows from `row`.
///
/// # Safety
/// `out` must be valid for the packs of the plate, and no one else use those of the piece meanwhile.
#[inline(always)]
unsafe fn piece(
    rate: f32,
    x: &[f32],
    packs: &[Packed<f32, 4>],
    out: *mut Packed<f32, 4>,
    [row, place]: [usize; 2],
    [rows, across]: [usize; 2],
) {
    let first = row * across + place;
    // Rows -1 to DOWN, all under way before the first is used.
    let mut own = [[0.0; 4]; DOWN + 2];
    let (mut left, mut right) = ([0.0; DOWN], [0.0; DOWN]);
    if row > 0 {
        own[0] = packs[first - across].0;
    }
    let mut k = 0;
    while k <= DOWN {
        if row + k < rows {
            let at = first + k * across;
            own[k + 1] = packs[at].0;
            if k < DOWN {
                left[k] = if place > 0 { x[4 * at - 1] } else { 0.0 };
                right[k] = if place + 1 < across { x[4 * at + 4] } else { 0.0 };
            }
        }
        k += 1;
    }
    let mut k = 0;
    while k < DOWN {
        if row + k < rows {
            let (up, here, down) = (own[k], own[k + 1], own[k + 2]);
            let mut new = here;
            if row + k > 0 && row + k + 1 < rows {
                if place > 0 {
                    new[0] = point(rate, here[0], [left[k], here[1], up[0], down[0]]);
                }
                new[1] = point(rate, here[1], [here[0], here[2], up[1], down[1]]);
                new[2] = point(rate, here[2], [here[1], here[3], up[2], down[2]]);
                if place + 1 < across {
                    new[3] = point(rate, here[3], [here[2], right[k], up[3], down[3]]);
                }
            }
            // SAFETY: a pack of the plate, by the caller this thread's.
            unsafe { *out.add(first + k * across) = Packed(new) };
        }
        k += 1;
    }
}

#[inline(always)]
fn one(rate: f32, x: &[f32], [rows, columns]: [usize; 2], i: usize) -> f32 {
    let (row, column) = divide(i, columns);
    if row == 0 || row + 1 == rows || column == 0 || column + 1 == columns {
        return x[i];
    }
    point(rate, x[i], [x[i - 1], x[i + 1], x[i - columns], x[i + columns]])
}

/// As `stencil_f32`, a thread a point: what one writes first.
///
/// # Safety
/// As for `stencil_f32`.
#[kernel]
pub unsafe fn stencil_naive_f32(rate: f32, x: &[f32], columns: usize, out: *mut f32) {
    let rows = x.len().checked_div(columns).unwrap_or(0);
    for i in thread::grid_stride(rows * columns) {
        // SAFETY: a point of the plate; this thread alone has it.
        unsafe { *out.add(i) = one(rate, x, [rows, columns], i) };
    }
}
