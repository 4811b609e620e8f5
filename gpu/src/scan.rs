//! Prefix sums: `out[i] = x[0] + … + x[i]` (inclusive), or up to and without `x[i]` (exclusive).
//!
//! Floor: every element once in and once out, 8 bytes an `f32`. A scan in three launches, sums of tiles, scan of those, tiles
//! again, moves 12; in one pass a tile learns from its predecessors what comes before it (`lookback.rs`).
//! Shape of the code, for a tile of 8192 elements and a block of 512 threads:
//!
//! ```text
//! warp 0 of 16: row 0   lane 0: 4 elements | lane 1: 4 | … | lane 31: 4      a 16-byte load a lane: neighbours in memory
//!               row 1   …                                                    four rows in flight
//! ```
//!
//! Each lane scans its four, the lanes of a row scan their totals by shuffles, the rows follow each other, the warps' totals
//! meet in shared memory, and one warp looks back. Elements are read once, and stay in registers until they are written.
//! Blocks of another size, and tiles that are not whole, take a plain path of one element a thread.
//!
//! Integers wrap, and their result is the same each time. Floats are added in an order that depends on how far other blocks
//! have come: their last bits may differ from run to run.

use cuda_std::prelude::*;
use cuda_std::shared_array;
use cuda_std::vector::packs;
use cuda_std::warp::warp_shuffle_idx;

use crate::lookback::{Total, before, next_tile};
use crate::team::{self, Warp};

/// Elements of a tile.
pub const TILE: usize = 8192;
/// Threads of a block that take the fast path, and what each has: four packs of four.
const THREADS: u32 = 512;
const ROWS: usize = 4;

/// Shared memory of the block.
#[derive(Clone, Copy)]
struct Room<T> {
    /// A value for each of 32 warps, and one more.
    slots: *mut T,
    /// A word.
    ticket: *mut u32,
}

/// The scan, by all threads of the launch.
///
/// # Safety
/// Every thread of the launch must come here. `out` must be valid for `x.len()` writes that no one else reads or makes meanwhile,
/// and not overlap `x`; `words` must have a word for each tile, and one word of 32 bits is behind `tickets`, all of them 0.
#[inline(always)]
unsafe fn scan<T: Total, const INCLUSIVE: bool>(
    x: &[T],
    out: *mut T,
    words: *mut u64,
    tickets: *mut u32,
    room: Room<T>,
) {
    let tiles = x.len().div_ceil(TILE);
    let (x_packs, out_packs) = (packs::<T, 4>(x), out.cast::<Packed<T, 4>>());
    let fast = team::threads() == THREADS && out_packs.is_aligned() && x_packs.len() == x.len() / 4;
    loop {
        // SAFETY: every thread of the block comes here.
        let tile = unsafe { next_tile(tickets, room.ticket) };
        if tile >= tiles {
            return;
        }
        // SAFETY: by the caller; a whole tile has 2048 packs.
        unsafe {
            if fast && (tile + 1) * TILE <= x.len() {
                whole_tile::<T, INCLUSIVE>(x_packs, out_packs, tile, words, room);
            } else {
                any_tile::<T, INCLUSIVE>(x, out, tile, words, room);
            }
        }
    }
}

/// A tile of 8192 elements by 512 threads.
///
/// # Safety
/// As for [`scan`], for the packs of a whole tile.
#[inline(always)]
unsafe fn whole_tile<T: Total, const INCLUSIVE: bool>(
    x: &[Packed<T, 4>],
    out: *mut Packed<T, 4>,
    tile: usize,
    words: *mut u64,
    room: Room<T>,
) {
    let (warp, warps) = (Warp::of_this_thread(), THREADS / 32);
    let first = tile * (TILE / 4) + warp.number as usize * (ROWS * 32) + warp.lane as usize;
    let mut rows = [Packed([T::ZERO; 4]); ROWS];
    let mut k = 0;
    while k < ROWS {
        // SAFETY: a pack of the tile.
        rows[k] = unsafe { *x.get_unchecked(first + k * 32) };
        k += 1;
    }

    // `rows` become the scans of the lanes' own four, and `starts` what comes before them in the warp.
    let (mut starts, mut total) = ([T::ZERO; ROWS], T::ZERO);
    let mut k = 0;
    while k < ROWS {
        let Packed([a, b, c, d]) = rows[k];
        let (ab, abc) = (a.plus(b), a.plus(b).plus(c));
        rows[k] = Packed([a, ab, abc, abc.plus(d)]);
        let upto = warp.scan(rows[k].0[3], T::plus);
        // SAFETY: every lane of the warp comes here.
        let (before, row) = unsafe {
            let (before, _) = cuda_std::warp::warp_shuffle_up(u32::MAX, upto, 1, 32);
            (before, warp_shuffle_idx(u32::MAX, upto, 31, 32).0)
        };
        starts[k] = if warp.lane == 0 { total } else { total.plus(before) };
        total = total.plus(row);
        k += 1;
    }

    // SAFETY: a slot a warp and one for the tile; the barriers keep writes and reads apart.
    let mut start = unsafe {
        if warp.lane == 0 {
            *room.slots.add(warp.number as usize) = total;
        }
        thread::sync_threads();
        if warp.number == 0 {
            let mut all = T::ZERO;
            let mut k = 0;
            while k < warps as usize {
                all = all.plus(*room.slots.add(k));
                k += 1;
            }
            let before = before(words, tile, all, warp);
            if warp.lane == 0 {
                *room.slots.add(32) = before;
            }
        }
        thread::sync_threads();
        *room.slots.add(32)
    };
    let mut k = 0;
    while k < warp.number as usize {
        // SAFETY: as above.
        start = start.plus(unsafe { *room.slots.add(k) });
        k += 1;
    }

    let mut k = 0;
    while k < ROWS {
        let (start, Packed([a, b, c, d])) = (start.plus(starts[k]), rows[k]);
        let row = if INCLUSIVE {
            Packed([start.plus(a), start.plus(b), start.plus(c), start.plus(d)])
        } else {
            Packed([start, start.plus(a), start.plus(b), start.plus(c)])
        };
        // SAFETY: a pack of the tile, which is this thread's.
        unsafe { *out.add(first + k * 32) = row };
        k += 1;
    }
}

/// A tile of up to 8192 elements by however many threads: twice over it, for its total and for its elements.
///
/// # Safety
/// As for [`scan`].
#[inline(never)]
unsafe fn any_tile<T: Total, const INCLUSIVE: bool>(x: &[T], out: *mut T, tile: usize, words: *mut u64, room: Room<T>) {
    let (me, width) = (team::thread() as usize, team::threads() as usize);
    let (first, end) = (tile * TILE, ((tile + 1) * TILE).min(x.len()));
    let mut sum = T::ZERO;
    let mut i = first + me;
    while i < end {
        sum = sum.plus(x[i]);
        i += width;
    }
    // SAFETY: every thread of the block comes here; the barriers keep writes and reads apart.
    let mut start = unsafe {
        let total = team::reduce(sum, room.slots, T::plus);
        let warp = Warp::of_this_thread();
        if warp.number == 0 {
            let total = warp_shuffle_idx(warp.mask(), total, 0, 32).0;
            let before = before(words, tile, total, warp);
            if warp.lane == 0 {
                *room.slots.add(32) = before;
            }
        }
        thread::sync_threads();
        *room.slots.add(32)
    };
    let mut from = first;
    while from < end {
        let i = from + me;
        let own = if i < end { x[i] } else { T::ZERO };
        // SAFETY: every thread of the block comes here.
        let (before, total) = unsafe { team::scan_exclusive(own, room.slots, T::ZERO, T::plus) };
        if i < end {
            let at = start.plus(before);
            // SAFETY: `i` is an element of the tile, and this thread's.
            unsafe { *out.add(i) = if INCLUSIVE { at.plus(own) } else { at } };
        }
        start = start.plus(total);
        from += width;
    }
}

/// The kernels of a type.
macro_rules! kernels {
    ($($t:ty: $inclusive:ident, $exclusive:ident;)*) => {$(
        /// `out[i] = x[0] + … + x[i]`.
        ///
        /// # Safety
        /// `out` must be valid for `x.len()` writes that no one else reads or makes meanwhile, and not overlap `x`; `words` for a word
        /// for each 8192 elements or part of them, and `tickets` for one, all of them 0.
        #[kernel]
        pub unsafe fn $inclusive(x: &[$t], out: *mut $t, words: *mut u64, tickets: *mut u32) {
            let room = Room { slots: shared_array![$t; 33], ticket: shared_array![u32; 1] };
            // SAFETY: by the caller.
            unsafe { scan::<$t, true>(x, out, words, tickets, room) }
        }

        /// `out[i] = x[0] + … + x[i - 1]`, and `out[0]` is 0.
        ///
        /// # Safety
        /// As for the inclusive scan.
        #[kernel]
        pub unsafe fn $exclusive(x: &[$t], out: *mut $t, words: *mut u64, tickets: *mut u32) {
            let room = Room { slots: shared_array![$t; 33], ticket: shared_array![u32; 1] };
            // SAFETY: by the caller.
            unsafe { scan::<$t, false>(x, out, words, tickets, room) }
        }
    )*};
}

kernels! {
    f32: scan_f32, scan_exclusive_f32;
    i32: scan_i32, scan_exclusive_i32;
}

/// A step of a scan in many launches (Hillis and Steele, "Data Parallel Algorithms", CACM 29, 1986): `out[i]` is
/// `x[i - distance] + x[i]`, and `x[i]` where nothing is so far before it. With distances 1, 2, 4, … up to the length, each step on
/// the result of the last, that is the inclusive scan: what one writes first.
///
/// # Safety
/// `out` must be valid for `x.len()` writes that no one else reads or makes meanwhile, and not overlap `x`.
#[kernel]
pub unsafe fn scan_naive_f32(x: &[f32], distance: usize, out: *mut f32) {
    for i in thread::grid_stride(x.len()) {
        let before = if i >= distance { x[i - distance] } else { 0.0 };
        // SAFETY: `i < x.len()`, and this thread alone has it.
        unsafe { *out.add(i) = before + x[i] };
    }
}
