//! Transposition, `out[column][row] = x[row][column]`.
//!
//! Floor: every element once in and once out, 8 bytes an `f32`.
//! Shape of the code: rows of the input are columns of the output, so that whoever reads neighbours writes far apart; that is
//! `transpose_naive`, which writes 4 bytes of each 32-byte sector that it touches. `transpose` takes squares of 64 x 64 through
//! shared memory: it reads rows of 256 bytes and writes rows of 256 bytes, 16 a thread. The rows of the square are 65 elements
//! long, so that a column of it lies in different banks.

use cuda_std::prelude::*;
use cuda_std::shared_array;
use cuda_std::vector::packs;

use crate::team;

/// Rows and columns of a square.
const SIDE: usize = 64;
/// Elements from one row of the square in shared memory to the next.
const PITCH: usize = SIDE + 1;
/// Packs of a square's row, and of the square.
const ACROSS: usize = SIDE / 4;
const PACKS: usize = SIDE * ACROSS;
/// Packs that a thread has in flight: all of them, in a block of 256.
const FLIGHT: usize = 4;

/// `out[column * rows + row] = x[row * columns + column]` for `rows = x.len() / columns`. Nothing is done for 0 columns.
///
/// # Safety
/// `out` must be valid for `x.len()` writes that no one else reads or makes meanwhile, and not overlap `x`.
#[kernel]
pub unsafe fn transpose_f32(x: &[f32], columns: usize, out: *mut f32) {
    let square = shared_array![f32; 4160];
    if columns == 0 {
        return;
    }
    let rows = x.len() / columns;
    let (x_packs, out_packs) = (packs::<f32, 4>(x), out.cast::<Packed<f32, 4>>());
    let fast =
        columns.is_multiple_of(4) && rows.is_multiple_of(4) && out_packs.is_aligned() && x_packs.len() == x.len() / 4;
    let (down, across) = (rows.div_ceil(SIDE), columns.div_ceil(SIDE));
    let mut number = team::block();
    while number < down * across {
        let (row, column) = (number / across * SIDE, number % across * SIDE);
        // SAFETY: every thread of the block comes here; elements are looked up within the matrix alone.
        unsafe {
            if fast {
                by_packs(x_packs, out_packs, [row, column], [rows, columns], square);
            } else {
                by_elements(x, out, [row, column], [rows, columns], square);
            }
        }
        number += team::blocks();
    }
}

/// The square whose corner is at row and column `from`, of a matrix of `extent` rows and columns, both of which are multiples of 4.
///
/// # Safety
/// Every thread of the block must come here; `x` and `out` must have the packs of the matrix, and `square` room for 64 x 65.
#[inline(always)]
unsafe fn by_packs(
    x: &[Packed<f32, 4>],
    out: *mut Packed<f32, 4>,
    from: [usize; 2],
    extent: [usize; 2],
    square: *mut f32,
) {
    let ([row, column], [rows, columns]) = (from, extent);
    let (me, width) = (team::thread() as usize, team::threads() as usize);
    let mut first = me;
    while first < PACKS {
        let mut flight = [Packed([0.0; 4]); FLIGHT];
        let mut k = 0;
        while k < FLIGHT {
            let (r, c) = ((first + k * width) / ACROSS, (first + k * width) % ACROSS * 4);
            if r < SIDE && row + r < rows && column + c < columns {
                // SAFETY: within the matrix, whose rows are whole packs.
                flight[k] = unsafe { *x.get_unchecked(((row + r) * columns + column + c) / 4) };
            }
            k += 1;
        }
        let mut k = 0;
        while k < FLIGHT {
            let (r, c) = ((first + k * width) / ACROSS, (first + k * width) % ACROSS * 4);
            let mut part = 0;
            while r < SIDE && part < 4 {
                // SAFETY: within the square.
                unsafe { *square.add(r * PITCH + c + part) = flight[k].0[part] };
                part += 1;
            }
            k += 1;
        }
        first += FLIGHT * width;
    }
    thread::sync_threads();
    let mut first = me;
    while first < PACKS {
        // Row `c` of the output is column `c` of the square.
        let (c, r) = (first / ACROSS, first % ACROSS * 4);
        if column + c < columns && row + r < rows {
            // SAFETY: within the square and within the output, whose rows are whole packs; this thread alone has the pack.
            unsafe {
                let at = |part: usize| *square.add((r + part) * PITCH + c);
                *out.add(((column + c) * rows + row + r) / 4) = Packed([at(0), at(1), at(2), at(3)]);
            }
        }
        first += width;
    }
    thread::sync_threads();
}

/// As [`by_packs`], for any extent.
///
/// # Safety
/// As for [`by_packs`], with elements instead of packs.
#[inline(never)]
unsafe fn by_elements(x: &[f32], out: *mut f32, from: [usize; 2], extent: [usize; 2], square: *mut f32) {
    let ([row, column], [rows, columns]) = (from, extent);
    let (me, width) = (team::thread() as usize, team::threads() as usize);
    let mut k = me;
    while k < SIDE * SIDE {
        let (r, c) = (k / SIDE, k % SIDE);
        if row + r < rows && column + c < columns {
            // SAFETY: within the square.
            unsafe { *square.add(r * PITCH + c) = x[(row + r) * columns + column + c] };
        }
        k += width;
    }
    thread::sync_threads();
    let mut k = me;
    while k < SIDE * SIDE {
        let (c, r) = (k / SIDE, k % SIDE);
        if row + r < rows && column + c < columns {
            // SAFETY: within the square and the output; this thread alone has the element.
            unsafe { *out.add((column + c) * rows + row + r) = *square.add(r * PITCH + c) };
        }
        k += width;
    }
    thread::sync_threads();
}

/// As `transpose_f32`, an element a thread: what one writes first.
///
/// # Safety
/// As for `transpose_f32`.
#[kernel]
pub unsafe fn transpose_naive_f32(x: &[f32], columns: usize, out: *mut f32) {
    if columns == 0 {
        return;
    }
    let rows = x.len() / columns;
    for i in thread::grid_stride(rows * columns) {
        let (row, column) = (i / columns, i % columns);
        // SAFETY: an element of the output, which this thread alone has.
        unsafe { *out.add(column * rows + row) = x[i] };
    }
}
