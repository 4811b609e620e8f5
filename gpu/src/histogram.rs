//! A histogram of 256 bins.
//!
//! Floor: every element once, 1 byte each for bytes; a kilobyte is written.
//! Shape of the code: one counter a bin would make every thread wait for every other, and a copy a block every lane of a warp
//! for the others that found the same bin. So each lane number has counters of its own, laid out so that lane `l` only ever
//! touches bank `l` of shared memory: a warp's 32 additions go in one step, whatever the data. Warps share the copies, which
//! is what shared atomics are for. In the end each block adds its 32 copies up, and the last block to finish hands the total
//! out and leaves the counters zero for the next launch.
//!
//! Deterministic: whole numbers, in any order.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::prelude::*;
use cuda_std::shared_array;
use cuda_std::vector::packs;

use crate::team;

/// Bins.
const BINS: usize = 256;
/// Copies of the counters in a block.
const COPIES: usize = 32;
/// Packs of 16 bytes that a thread has in flight.
const FLIGHT: usize = 2;

/// Where the counters are.
#[derive(Clone, Copy)]
struct Counters {
    /// Of the block: `[bin][lane]`.
    block: *mut u32,
    /// This thread's lane.
    lane: usize,
}

impl Counters {
    #[inline(always)]
    fn count(self, bin: u32) {
        // SAFETY: a counter of the block's, used by atomic operations alone meanwhile.
        let counter = unsafe { AtomicU32::from_ptr(self.block.add((bin as usize % BINS) * COPIES + self.lane)) };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts what `pack(i)` for `i` below `packs` and `element(i)` for `i` of `packs * per_pack..len` tell it to.
///
/// # Safety
/// Every thread of the launch must come here. `block` is shared memory for 8192 words and `flag` for one; `totals` has 256 words and
/// `done` one, all of them 0; `out` must be valid for 256 writes.
#[inline(always)]
unsafe fn histogram<P: Copy>(
    packs: &[P],
    pack: impl Fn(P, Counters),
    rest: core::ops::Range<usize>,
    element: impl Fn(usize, Counters),
    [block, flag]: [*mut u32; 2],
    [totals, done, out]: [*mut u32; 3],
) {
    let (me, width) = (team::thread() as usize, team::threads() as usize);
    let mut k = me;
    while k < BINS * COPIES {
        // SAFETY: a counter of the block's; the barrier keeps this apart from the counting.
        unsafe { *block.add(k) = 0 };
        k += width;
    }
    thread::sync_threads();

    let counters = Counters { block, lane: me % COPIES };
    let (first, stride) = (team::block() * width + me, team::blocks() * width);
    let mut i = first;
    while i + (FLIGHT - 1) * stride < packs.len() {
        // SAFETY: below the length.
        let flight = unsafe { [*packs.get_unchecked(i), *packs.get_unchecked(i + stride)] };
        pack(flight[0], counters);
        pack(flight[1], counters);
        i += FLIGHT * stride;
    }
    while i < packs.len() {
        pack(packs[i], counters);
        i += stride;
    }
    let mut i = rest.start + first;
    while i < rest.end {
        element(i, counters);
        i += stride;
    }
    thread::sync_threads();

    let mut bin = me;
    while bin < BINS {
        let (mut sum, mut k) = (0, 0);
        while k < COPIES {
            // Each lane begins elsewhere: the same place of 32 bins is in the same bank.
            // SAFETY: a counter of the block's, which is complete.
            sum += unsafe { *block.add(bin * COPIES + (k + me) % COPIES) };
            k += 1;
        }
        if sum > 0 {
            // SAFETY: by the caller.
            unsafe { AtomicU32::from_ptr(totals.add(bin)) }.fetch_add(sum, Ordering::Relaxed);
        }
        bin += width;
    }
    // SAFETY: every thread of every block comes here.
    if unsafe { team::is_last(team::blocks() as u32, done, flag) } {
        let mut bin = me;
        while bin < BINS {
            // SAFETY: by the caller; the other blocks are done with the totals.
            unsafe { *out.add(bin) = AtomicU32::from_ptr(totals.add(bin)).swap(0, Ordering::Relaxed) };
            bin += width;
        }
    }
}

/// `out[b]` is how many elements of `x` are `b`.
///
/// # Safety
/// `out` must be valid for 256 writes that no one else reads or makes meanwhile; `totals` for 256 words and `done` for one, all of
/// them 0 and not used by anyone else meanwhile.
#[kernel]
pub unsafe fn histogram_u8(x: &[u8], totals: *mut u32, done: *mut u32, out: *mut u32) {
    let shared = [shared_array![u32; 8192], shared_array![u32; 1]];
    // As words of four, which take one instruction to load and three to take apart.
    let whole = words(packs::<u8, 16>(x));
    let pack = |Packed(words): Packed<u32, 4>, counters: Counters| {
        let mut k = 0;
        while k < 4 {
            counters.count(words[k] & 255);
            counters.count((words[k] >> 8) & 255);
            counters.count((words[k] >> 16) & 255);
            counters.count(words[k] >> 24);
            k += 1;
        }
    };
    let element = |i: usize, counters: Counters| counters.count(u32::from(x[i]));
    // SAFETY: by the caller.
    unsafe { histogram(whole, pack, whole.len() * 16..x.len(), element, shared, [totals, done, out]) }
}

/// 16 bytes as four words.
#[inline(always)]
fn words(packs: &[Packed<u8, 16>]) -> &[Packed<u32, 4>] {
    // SAFETY: both are 16 bytes aligned to 16, and any bytes are words.
    unsafe { core::slice::from_raw_parts(packs.as_ptr().cast(), packs.len()) }
}

/// `out[b]` is how many elements of `x` are `b` in their lowest 8 bits.
///
/// # Safety
/// As for `histogram_u8`.
#[kernel]
pub unsafe fn histogram_u32(x: &[u32], totals: *mut u32, done: *mut u32, out: *mut u32) {
    let shared = [shared_array![u32; 8192], shared_array![u32; 1]];
    let whole = packs::<u32, 4>(x);
    let pack = |Packed(words): Packed<u32, 4>, counters: Counters| {
        let mut k = 0;
        while k < 4 {
            counters.count(words[k]);
            k += 1;
        }
    };
    let element = |i: usize, counters: Counters| counters.count(x[i]);
    // SAFETY: by the caller.
    unsafe { histogram(whole, pack, whole.len() * 4..x.len(), element, shared, [totals, done, out]) }
}

/// As `histogram_u8`, with one counter a bin for the whole grid: what one writes first. `out` must be 0 at the start.
///
/// # Safety
/// `out` must be valid for 256 words that no one else uses meanwhile other than by atomic operations.
#[kernel]
pub unsafe fn histogram_naive_u8(x: &[u8], out: *mut u32) {
    for i in thread::grid_stride(x.len()) {
        // SAFETY: by the caller.
        unsafe { AtomicU32::from_ptr(out.add(usize::from(x[i]))) }.fetch_add(1, Ordering::Relaxed);
    }
}
