//! Stream compaction: the elements that pass a test, in their order, without gaps, and their number.
//!
//! Floor: every element once in, and those that pass once out: 4 to 8 bytes an `f32`, 6 where half of them pass.
//! Shape of the code: a scan of ones and zeros says where each element goes, in one pass (`lookback.rs`). A block keeps the
//! survivors of its tile in shared memory, so that they leave as one piece, neighbours beside each other; written from where
//! they were found, each warp would touch as many sectors as it has survivors apart.

use cuda_std::prelude::*;
use cuda_std::shared_array;
use cuda_std::warp::{warp_shuffle_idx, warp_vote_ballot};

use crate::lookback::{before, next_tile};
use crate::team::{self, Warp};

/// Elements of a tile.
pub const TILE: usize = 4096;

/// Writes the elements of `x` that are greater than `least` to the front of `out`, and their number to `count`.
///
/// # Safety
/// `out` must be valid for `x.len()` writes that no one else reads or makes meanwhile, and not overlap `x`, `count` for one;
/// `words` must have a word for each 4096 elements or part of them, and `tickets` one, all of them 0.
#[kernel]
pub unsafe fn compact_f32(least: f32, x: &[f32], out: *mut f32, count: *mut u32, words: *mut u64, tickets: *mut u32) {
    let (kept, slots) = (shared_array![f32; 4096], shared_array![u32; 33]);
    let ticket = shared_array![u32; 1];
    let (me, width, warp) = (team::thread() as usize, team::threads() as usize, Warp::of_this_thread());
    let tiles = x.len().div_ceil(TILE);
    if tiles == 0 && thread::first() {
        // SAFETY: by the caller.
        unsafe { *count = 0 };
    }
    loop {
        // SAFETY: every thread of the block comes here.
        let tile = unsafe { next_tile(tickets, ticket) };
        if tile >= tiles {
            return;
        }
        let (first, end) = (tile * TILE, ((tile + 1) * TILE).min(x.len()));
        // Survivors of the tile so far, the same in every thread.
        let mut total = 0;
        let mut from = first;
        while from < end {
            let i = from + me;
            let value = if i < end { x[i] } else { least };
            let passes = i < end && value > least;
            // SAFETY: every thread of the block comes here; places are below 4096, as there are no more elements.
            unsafe {
                let lanes = warp_vote_ballot(warp.mask(), passes);
                let (before, all) = before_warp(lanes.count_ones(), slots, warp);
                if passes {
                    let place = total + before + (lanes & ((1 << warp.lane) - 1)).count_ones();
                    *kept.add(place as usize) = value;
                }
                total += all;
            }
            from += width;
        }
        // SAFETY: every thread of the block comes here; the barriers keep writes and reads apart.
        let start = unsafe {
            if warp.number == 0 {
                let before = before(words, tile, total, warp);
                if warp.lane == 0 {
                    *slots.add(32) = before;
                    if tile + 1 == tiles {
                        *count = before + total;
                    }
                }
            }
            thread::sync_threads();
            *slots.add(32) as usize
        };
        let mut k = me;
        while k < total as usize {
            // SAFETY: written above; together the tiles keep no more elements than there are.
            unsafe { *out.add(start + k) = *kept.add(k) };
            k += width;
        }
    }
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
