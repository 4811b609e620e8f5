//! Matrix product, `c = a b`, in single precision.
//!
//! Floor: operations, 2 m n k; memory moves each element once, which for squares of 8192 is a three-hundredth of the time.
//! Shape of the code: an element of the product needs a row and a column, and a thread that reads both for each of its elements
//! (`matmul_naive`) reads 8 bytes for 2 operations. So numbers are used more often on each level on which they come closer:
//!
//! ```text
//! memory     a tile of 128 x 128 of c by a block: 8 columns of a and 8 rows of b at a time, each read once for 128 uses
//! shared     8 warps of 32 x 64 each, and in them 32 threads of 8 x 8: 16 numbers read for 64 products
//! registers  8 x 8 sums
//! ```
//!
//! There are two pairs of tiles in shared memory. While one is multiplied, the next is on its way from memory into registers,
//! and goes into the other pair: one barrier a step. `a` lies transposed in shared memory, so that the 8 numbers that a thread
//! needs of a column are two loads of 16 bytes; a thread's 8 rows and columns are two groups of four, so that neighbouring
//! lanes read neighbouring 16 bytes.
//!
//! A block of 256 threads takes this path where rows are whole packs of 16 bytes; everything else takes the plain one.
//! Deterministic: each element is summed from k = 0 upwards, in one thread.

use cuda_std::prelude::*;
use cuda_std::shared_array;

use crate::math::Float;
use crate::team;

/// Rows and columns of a block's tile of `c`.
const TILE: usize = 128;
/// Columns of `a` and rows of `b` in shared memory.
const DEPTH: usize = 8;
/// Elements from one row of a tile of `a`, transposed, to the next: four more than there are, for the banks' sake.
const PITCH_A: usize = TILE + 4;
const PITCH_B: usize = TILE;
const THREADS: u32 = 256;

type Four = Packed<f32, 4>;
const ZERO: Four = Packed([0.0; 4]);

/// Rows, columns, and what is summed over.
#[derive(Clone, Copy)]
struct Extent {
    m: usize,
    n: usize,
    k: usize,
}

/// The tiles of `a` and `b` in shared memory, two of each.
#[derive(Clone, Copy)]
struct Tiles {
    a: *mut f32,
    b: *mut f32,
}

/// A pack of each matrix on its way from memory to shared memory. That of `b` is not looked into.
#[derive(Clone, Copy)]
struct Flight {
    a: Four,
    b: u128,
}

/// Where a thread reads the matrices next.
#[derive(Clone, Copy)]
struct Source {
    a: *const Four,
    b: *const u128,
    /// From one tile of `b` to the next.
    b_step: usize,
}

/// What a thread does: which packs it brings, and which part of the tile is its own.
#[derive(Clone, Copy)]
struct Part {
    thread: usize,
    /// Its first row and column in the tile.
    row: usize,
    column: usize,
}

impl Part {
    #[inline(always)]
    fn of_this_thread() -> Self {
        let thread = team::thread() as usize;
        let (warp, lane) = (thread / 32, thread % 32);
        // 4 by 2 warps of 32 by 64; in each 4 by 8 lanes.
        Self { thread, row: warp / 2 * 32 + lane / 8 * 4, column: warp % 2 * 64 + lane % 8 * 4 }
    }

    /// Row and column of this thread's pack in a tile of `a`, and in one of `b`.
    #[inline(always)]
    fn places(self) -> [[usize; 2]; 2] {
        [[self.thread / 2, self.thread % 2 * 4], [self.thread / 32, self.thread % 32 * 4]]
    }

    /// Where this thread's packs are in the tiles at column 0 of `a` and row 0 of `b`.
    #[inline(always)]
    fn source(self, a: *const Four, b: *const Four, from: [usize; 2], of: Extent) -> Source {
        let [[a_row, a_column], [b_row, b_column]] = self.places();
        Source {
            a: a.wrapping_add(((from[0] + a_row) * of.k + a_column) / 4),
            b: b.wrapping_add((b_row * of.n + from[1] + b_column) / 4).cast(),
            b_step: DEPTH * of.n / 4,
        }
    }

    /// Loads this thread's packs of the tiles at `k`, and moves `source` on. `INSIDE` says that all of both tiles is within the
    /// matrices; else there are zeros beyond them.
    ///
    /// # Safety
    /// `source` must be that of the matrices, moved on to `k`.
    #[inline(always)]
    unsafe fn fetch<const INSIDE: bool>(self, source: &mut Source, from: [usize; 2], k: usize, of: Extent) -> Flight {
        let [[a_row, a_column], [b_row, b_column]] = self.places();
        let mut flight = Flight { a: ZERO, b: 0 };
        if INSIDE || (from[0] + a_row < of.m && k + a_column < of.k) {
            // SAFETY: within `a`, whose rows are whole packs.
            flight.a = unsafe { *source.a };
        }
        if INSIDE || (k + b_row < of.k && from[1] + b_column < of.n) {
            // SAFETY: within `b`, whose rows are whole packs.
            flight.b = unsafe { *source.b };
        }
        source.a = source.a.wrapping_add(DEPTH / 4);
        source.b = source.b.wrapping_add(source.b_step);
        flight
    }

    /// Puts them into the tiles of a pair, `a` transposed.
    ///
    /// # Safety
    /// No one may read that pair meanwhile.
    #[inline(always)]
    unsafe fn put(self, flight: Flight, tiles: Tiles, pair: usize) {
        let ([[a_row, a_column], [b_row, b_column]], Packed([x, y, z, w])) = (self.places(), flight.a);
        // SAFETY: within the tiles; each thread has places of its own.
        unsafe {
            let at = tiles.a.add((pair * DEPTH + a_column) * PITCH_A + a_row);
            *at = x;
            *at.add(PITCH_A) = y;
            *at.add(2 * PITCH_A) = z;
            *at.add(3 * PITCH_A) = w;
            *tiles.b.add((pair * DEPTH + b_row) * PITCH_B + b_column).cast::<u128>() = flight.b;
        }
    }

    /// Adds the product of a pair of tiles to the sums.
    ///
    /// # Safety
    /// The pair must have been put there, and a barrier passed since.
    #[inline(always)]
    unsafe fn multiply(self, tiles: Tiles, pair: usize, sums: &mut [[f32; 8]; 8]) {
        // Written out, so that places in shared memory are constants beside one register.
        // SAFETY: by the caller.
        unsafe {
            self.step(tiles, pair * DEPTH, sums);
            self.step(tiles, pair * DEPTH + 1, sums);
            self.step(tiles, pair * DEPTH + 2, sums);
            self.step(tiles, pair * DEPTH + 3, sums);
            self.step(tiles, pair * DEPTH + 4, sums);
            self.step(tiles, pair * DEPTH + 5, sums);
            self.step(tiles, pair * DEPTH + 6, sums);
            self.step(tiles, pair * DEPTH + 7, sums);
        }
    }

    /// Adds the product of a column of `a` and a row of `b`.
    ///
    /// # Safety
    /// As for `multiply`; there are 2 x 8 of them.
    #[inline(always)]
    unsafe fn step(self, tiles: Tiles, k: usize, sums: &mut [[f32; 8]; 8]) {
        // SAFETY: within the tiles.
        let (a, b) = unsafe {
            let a = tiles.a.add(self.row).add(k * PITCH_A).cast::<Four>();
            let b = tiles.b.add(self.column).add(k * PITCH_B).cast::<Four>();
            ([*a, *a.add(4)], [*b, *b.add(8)])
        };
        let mut i = 0;
        while i < 8 {
            let mut j = 0;
            while j < 8 {
                sums[i][j] = Float::mul_add(a[i / 4].0[i % 4], b[j / 4].0[j % 4], sums[i][j]);
                j += 1;
            }
            i += 1;
        }
    }
}

/// One tile of `c`, whose corner is at row and column `from`, by 256 threads.
///
/// # Safety
/// Every thread of the block must come here; the pointers must be those of the matrices, as packs.
#[inline(always)]
unsafe fn tile<const INSIDE: bool>(
    a: *const Four,
    b: *const Four,
    c: *mut Four,
    from: [usize; 2],
    of: Extent,
    tiles: Tiles,
) {
    let part = Part::of_this_thread();
    let mut source = part.source(a, b, from, of);
    let mut sums = [[0.0f32; 8]; 8];
    // SAFETY: by the caller; a pair is put while the other is read, with a barrier between the steps.
    unsafe {
        part.put(part.fetch::<INSIDE>(&mut source, from, 0, of), tiles, 0);
        thread::sync_threads();
        let mut k = DEPTH;
        // Two steps a round, so that it is known which pair is meant.
        loop {
            if k >= of.k {
                part.multiply(tiles, 0, &mut sums);
                break;
            }
            let next = part.fetch::<INSIDE>(&mut source, from, k, of);
            part.multiply(tiles, 0, &mut sums);
            part.put(next, tiles, 1);
            thread::sync_threads();
            k += DEPTH;
            if k >= of.k {
                part.multiply(tiles, 1, &mut sums);
                break;
            }
            let next = part.fetch::<INSIDE>(&mut source, from, k, of);
            part.multiply(tiles, 1, &mut sums);
            part.put(next, tiles, 0);
            thread::sync_threads();
            k += DEPTH;
        }
        // The next tile of this block begins with the first pair.
        thread::sync_threads();
    }
    let mut i = 0;
    while i < 8 {
        let row = from[0] + part.row + i / 4 * 16 + i % 4;
        let mut half = 0;
        while half < 2 {
            let column = from[1] + part.column + 32 * half;
            if INSIDE || (row < of.m && column < of.n) {
                let s = [sums[i][4 * half], sums[i][4 * half + 1], sums[i][4 * half + 2], sums[i][4 * half + 3]];
                // SAFETY: within `c`, whose rows are whole packs; this thread alone has the pack.
                unsafe { *c.add((row * of.n + column) / 4) = Packed(s) };
            }
            half += 1;
        }
        i += 1;
    }
}

/// A tile that is not whole; out of line, so that its registers are not the other tiles' concern.
///
/// # Safety
/// As for [`tile`].
#[inline(never)]
unsafe fn edge(a: *const Four, b: *const Four, c: *mut Four, from: [usize; 2], of: Extent, tiles: Tiles) {
    // SAFETY: by the caller.
    unsafe { tile::<false>(a, b, c, from, of, tiles) }
}

/// `c = a b`: `a` has `k` columns, `b` has `k` rows, and their other extents follow from their lengths.
///
/// A thread takes up to 128 registers: blocks have 512 threads at most on a GPU. Blocks of 256 are fast.
///
/// # Safety
/// `c` must be valid for `a.len() / k * (b.len() / k)` writes that no one else reads or makes meanwhile, and not overlap `a` or `b`.
#[kernel]
pub unsafe fn matmul_f32(a: &[f32], b: &[f32], k: usize, c: *mut f32) {
    let tiles = Tiles { a: shared_array![f32; 2112], b: shared_array![f32; 2048] };
    if k == 0 {
        return;
    }
    let of = Extent { m: a.len() / k, n: b.len() / k, k };
    let (a_packs, b_packs, c_packs) = (a.as_ptr().cast::<Four>(), b.as_ptr().cast::<Four>(), c.cast::<Four>());
    let aligned = a_packs.is_aligned() && b_packs.is_aligned() && c_packs.is_aligned();
    if team::threads() != THREADS || !k.is_multiple_of(4) || !of.n.is_multiple_of(4) || !aligned {
        // SAFETY: by the caller.
        unsafe { plain(a, b, of, c) };
        return;
    }
    let (down, across) = (of.m.div_ceil(TILE), of.n.div_ceil(TILE));
    let mut number = team::block();
    while number < down * across {
        let from = [number / across * TILE, number % across * TILE];
        let inside = from[0] + TILE <= of.m && from[1] + TILE <= of.n && of.k.is_multiple_of(DEPTH);
        // SAFETY: every thread of the block comes here; the rest by the caller.
        unsafe {
            if inside {
                tile::<true>(a_packs, b_packs, c_packs, from, of, tiles);
            } else {
                edge(a_packs, b_packs, c_packs, from, of, tiles);
            }
        }
        number += team::blocks();
    }
}

/// An element a thread.
///
/// # Safety
/// As for [`matmul_f32`].
#[inline(never)]
unsafe fn plain(a: &[f32], b: &[f32], of: Extent, c: *mut f32) {
    for i in thread::grid_stride(of.m * of.n) {
        let (row, column) = (i / of.n, i % of.n);
        let mut sum = 0.0;
        let mut k = 0;
        while k < of.k {
            sum = Float::mul_add(a[row * of.k + k], b[k * of.n + column], sum);
            k += 1;
        }
        // SAFETY: an element of `c`, which this thread alone has.
        unsafe { *c.add(i) = sum };
    }
}

/// As `matmul_f32`, an element a thread and everything from memory: what one writes first.
///
/// # Safety
/// As for `matmul_f32`.
#[kernel]
pub unsafe fn matmul_naive_f32(a: &[f32], b: &[f32], k: usize, c: *mut f32) {
    if k == 0 {
        return;
    }
    // SAFETY: by the caller.
    unsafe { plain(a, b, Extent { m: a.len() / k, n: b.len() / k, k }, c) };
}
