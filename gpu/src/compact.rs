//! Stream compaction: the elements that pass a test, in their order, without gaps, and their number.
//!
//! Floor: every element once in, and those that pass once out: 4 to 8 bytes an `f32`, 6 where half of them pass.
//! Shape of the code: a scan of ones and zeros says where each element goes, in one pass (`lookback.rs`). A block keeps the
//! survivors of its tile in shared memory, so that they leave as one piece, neighbours beside each other; written from where
//! they were found, each warp would touch as many sectors as it has survivors apart.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::prelude::*;
use cuda_std::shared_array;
use cuda_std::vector::packs;
use cuda_std::warp::{warp_shuffle_idx, warp_vote_ballot};

use crate::lookback::{before, next_tile};
use crate::team::{self, Warp};

/// Elements of a tile.
pub const TILE: usize = 4096;
/// Threads of a block that take the fast path, and the packs of four that each has.
const THREADS: u32 = 256;
const ROWS: usize = 4;

/// Shared memory of the block.
#[derive(Clone, Copy)]
struct Room {
    /// Survivors of the tile.
    kept: *mut f32,
    /// A number for each of 32 warps, and one more.
    slots: *mut u32,
}

/// Writes the elements of `x` that are greater than `least` to the front of `out`, and their number to `count`.
///
/// # Safety
/// `out` must be valid for `x.len()` writes that no one else reads or makes meanwhile, and not overlap `x`, `count` for one;
/// `words` must have a word for each 4096 elements or part of them, and `tickets` one, all of them 0.
#[kernel]
pub unsafe fn compact_f32(least: f32, x: &[f32], out: *mut f32, count: *mut u32, words: *mut u64, tickets: *mut u32) {
    let room = Room { kept: shared_array![f32; 4096], slots: shared_array![u32; 33] };
    let ticket = shared_array![u32; 1];
    let whole = packs::<f32, 4>(x);
    let fast = team::threads() == THREADS && whole.len() == x.len() / 4;
    let tiles = x.len().div_ceil(TILE);
    if tiles == 0 && thread::first() {
        // SAFETY: by the caller.
        unsafe { *count = 0 };
    }
    loop {
        // SAFETY: every thread of the block comes here; the barriers keep writes and reads apart.
        unsafe {
            let tile = next_tile(tickets, ticket);
            if tile >= tiles {
                return;
            }
            let total = if fast && (tile + 1) * TILE <= x.len() {
                keep_whole(least, whole, tile, room)
            } else {
                keep_any(least, x, tile, room)
            };
            let warp = Warp::of_this_thread();
            if warp.number == 0 {
                let before = before(words, tile, total, warp);
                if warp.lane == 0 {
                    *room.slots.add(32) = before;
                    if tile + 1 == tiles {
                        *count = before + total;
                    }
                }
            }
            thread::sync_threads();
            let start = out.add(*room.slots.add(32) as usize);
            let mut k = team::thread() as usize;
            while k < total as usize {
                // Written above; together the tiles keep no more elements than there are.
                *start.add(k) = *room.kept.add(k);
                k += team::threads() as usize;
            }
        }
    }
}

/// Puts the survivors of a whole tile into shared memory, by 256 threads, and returns their number.
///
/// # Safety
/// Every thread of the block must come here, with the packs of a whole tile.
#[inline(always)]
unsafe fn keep_whole(least: f32, x: &[Packed<f32, 4>], tile: usize, room: Room) -> u32 {
    let warp = Warp::of_this_thread();
    let first = tile * (TILE / 4) + warp.number as usize * (ROWS * 32) + warp.lane as usize;
    let mut rows = [Packed([0.0; 4]); ROWS];
    let mut k = 0;
    while k < ROWS {
        // SAFETY: a pack of the tile.
        rows[k] = unsafe { *x.get_unchecked(first + k * 32) };
        k += 1;
    }
    // A byte a row: of 128 elements, there is room for their number. One scan does for all four.
    let mut own = 0u32;
    let mut k = 0;
    while k < ROWS {
        let Packed([a, b, c, d]) = rows[k];
        own += (u32::from(a > least) + u32::from(b > least) + u32::from(c > least) + u32::from(d > least)) << (8 * k);
        k += 1;
    }
    let upto = warp.scan(own, |a, b| a + b);
    // SAFETY: every lane of the warp comes here; a slot for each warp, and the barrier keeps writes and reads apart.
    let (all, mut place, total) = unsafe {
        let all = warp_shuffle_idx(u32::MAX, upto, 31, 32).0;
        let of_warp = (all & 255) + ((all >> 8) & 255) + ((all >> 16) & 255) + (all >> 24);
        let (before, total) = before_warp(of_warp, room.slots, warp);
        (all, before, total)
    };
    let mut k = 0;
    while k < ROWS {
        let mut at = place + (((upto - own) >> (8 * k)) & 255);
        let mut part = 0;
        while part < 4 {
            let value = rows[k].0[part];
            if value > least {
                // SAFETY: places are below 4096, as there are no more elements.
                unsafe { *room.kept.add(at as usize) = value };
                at += 1;
            }
            part += 1;
        }
        place += (all >> (8 * k)) & 255;
        k += 1;
    }
    total
}

/// As [`keep_whole`], for a tile that need not be whole and however many threads.
///
/// # Safety
/// Every thread of the block must come here.
#[inline(never)]
unsafe fn keep_any(least: f32, x: &[f32], tile: usize, room: Room) -> u32 {
    let (me, width, warp) = (team::thread() as usize, team::threads() as usize, Warp::of_this_thread());
    let (mut from, end) = (tile * TILE, ((tile + 1) * TILE).min(x.len()));
    // Survivors so far, the same number in every thread.
    let mut total = 0;
    while from < end {
        let i = from + me;
        let value = if i < end { x[i] } else { least };
        let passes = i < end && value > least;
        // SAFETY: every thread of the block comes here; places are below 4096, as there are no more elements.
        unsafe {
            let lanes = warp_vote_ballot(warp.mask(), passes);
            let (before, all) = before_warp(lanes.count_ones(), room.slots, warp);
            if passes {
                let place = total + before + (lanes & ((1 << warp.lane) - 1)).count_ones();
                *room.kept.add(place as usize) = value;
            }
            total += all;
        }
        from += width;
    }
    total
}

/// Of a number for each warp, the sum of those before this warp's, and of all.
///
/// # Safety
/// Every thread of the block must come here, and nobody else use the 32 values of shared memory behind `slots`.
#[inline(always)]
unsafe fn before_warp(own: u32, slots: *mut u32, warp: Warp) -> (u32, u32) {
    let warps = team::threads().div_ceil(32);
    // SAFETY: a slot for each warp; the barriers keep writes and reads apart.
    unsafe {
        thread::sync_threads();
        if warp.lane == 0 {
            *slots.add(warp.number as usize) = own;
        }
        thread::sync_threads();
        let mut value = if warp.lane < warps { *slots.add(warp.lane as usize) } else { 0 };
        if warp.lanes < 32 {
            // Too few lanes to read one each.
            let (mut before, mut all, mut k) = (0, 0, 0);
            while k < warps {
                before += if k < warp.number { *slots.add(k as usize) } else { 0 };
                all += *slots.add(k as usize);
                k += 1;
            }
            return (before, all);
        }
        value = warp.scan(value, |a, b| a + b);
        let all = warp_shuffle_idx(u32::MAX, value, 31, 32).0;
        (warp_shuffle_idx(u32::MAX, value, warp.number, 32).0 - own, all)
    }
}

/// As `compact_f32`, with a place for each survivor from one counter, which must be 0 at the start: what one writes first. The order is
/// that in which the threads come.
///
/// # Safety
/// `out` must be valid for as many writes as there are survivors, `count` for one that others make by atomic operations alone.
#[kernel]
pub unsafe fn compact_naive_f32(least: f32, x: &[f32], out: *mut f32, count: *mut u32) {
    // SAFETY: by the caller.
    let count = unsafe { AtomicU32::from_ptr(count) };
    for i in thread::grid_stride(x.len()) {
        if x[i] > least {
            let place = count.fetch_add(1, Ordering::Relaxed);
            // SAFETY: no other survivor has this place, and there are as many places as survivors.
            unsafe { *out.add(place as usize) = x[i] };
        }
    }
}
