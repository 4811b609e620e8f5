//! Decoupled look-back: how a tile learns in one pass what comes before it (Merrill and Garland, "Single-pass Parallel Prefix
//! Scan with Decoupled Look-back", NVIDIA 2016).
//!
//! Each tile has a word in memory that goes from nothing to its own total, and from there to the total of everything up to and
//! with it. A tile adds up the totals before it until it meets a word of the second kind:
//!
//! ```text
//! tile      0        1        2        3        4
//! word    [up to]  [up to]  [own]    [own]    reads 3, 2, 1 and stops there
//! ```
//!
//! A tile waits for earlier ones only, and tiles are handed out in order ([`next_tile`]), so that whatever is waited for has
//! been started, however few blocks run at a time. State and value are in one word of 64 bits, which is written and read
//! whole: no fence is needed.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use cuda_std::thread;
use cuda_std::warp::{WarpShuffleValue, warp_shuffle_idx, warp_vote_ballot};

use crate::team::{self, Warp};

/// What tiles add up: 32 bits, because the word has 32 more for the state.
pub trait Total: WarpShuffleValue + Copy {
    /// Nothing.
    const ZERO: Self;
    /// The sum; of integers it wraps.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// Its bits.
    fn bits(self) -> u32;
    /// From its bits.
    fn from_bits(bits: u32) -> Self;
}

macro_rules! totals {
    ($($t:ty: $zero:literal, $plus:expr, $bits:expr, $from:expr;)*) => {$(
        impl Total for $t {
            const ZERO: Self = $zero;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                $plus(self, other)
            }
            #[inline(always)]
            fn bits(self) -> u32 {
                $bits(self)
            }
            #[inline(always)]
            fn from_bits(bits: u32) -> Self {
                $from(bits)
            }
        }
    )*};
}

totals! {
    f32: 0.0, |a, b| a + b, f32::to_bits, f32::from_bits;
    i32: 0, i32::wrapping_add, i32::cast_unsigned, u32::cast_signed;
    u32: 0, u32::wrapping_add, u32::from, u32::from;
}

/// Times as many tiles as a warp has lanes that are read at once.
const WINDOWS: usize = 2;

/// The word holds the tile's own total.
const OWN: u64 = 1 << 32;
/// The word holds the total of everything up to and with the tile.
const UP_TO: u64 = 2 << 32;

/// The number of the next tile that no block has, the same for all threads of the block.
///
/// # Safety
/// Every thread of the block must come here. `tickets` must be valid and 0 at the start of the launch, and `slot` a word of shared
/// memory that nobody uses meanwhile.
#[inline(always)]
pub unsafe fn next_tile(tickets: *mut u32, slot: *mut u32) -> usize {
    // The slot may still be read from the last time.
    thread::sync_threads();
    if team::thread() == 0 {
        // SAFETY: by the caller.
        unsafe { *slot = AtomicU32::from_ptr(tickets).fetch_add(1, Ordering::Relaxed) };
    }
    thread::sync_threads();
    // SAFETY: written before the barrier.
    unsafe { *slot as usize }
}

/// Publishes a tile's total and returns that of all tiles before it. For the lanes of one warp of the tile's block.
///
/// # Safety
/// Every lane of the warp must come here, once for each tile, with a tile from [`next_tile`] and the same total. `words` must have
/// a word for each tile, all 0 at the start of the launch.
#[inline(always)]
pub unsafe fn before<T: Total>(words: *mut u64, tile: usize, total: T, warp: Warp) -> T {
    // SAFETY: there is a word for each tile.
    let word = |tile: usize| unsafe { AtomicU64::from_ptr(words.add(tile)) };
    let publish = |state: u64, value: T| {
        if warp.lane == 0 {
            word(tile).store(state | u64::from(value.bits()), Ordering::Relaxed);
        }
    };
    if tile == 0 {
        publish(UP_TO, total);
        return T::ZERO;
    }
    publish(OWN, total);
    let mut sum = T::ZERO;
    // The lanes read as many tiles as they are, lane 0 the nearest, and two such windows at a time: how fast totals travel from
    // tile to tile is how many of them are read in the time that one takes to be seen.
    let mut end = tile;
    loop {
        let mut found = [UP_TO; WINDOWS];
        let mut k = 0;
        while k < WINDOWS {
            let back = (warp.lane + k as u32 * warp.lanes) as usize;
            if back < end {
                found[k] = word(end - 1 - back).load(Ordering::Relaxed);
            }
            k += 1;
        }
        // Beyond the nearest complete total everything is counted already.
        let (mut complete, mut part) = (0, T::ZERO);
        let mut k = 0;
        while k < WINDOWS {
            // A loop of as many rounds whatever is found: its words stay in registers.
            if complete == 0 {
                let back = (warp.lane + k as u32 * warp.lanes) as usize;
                while found[k] < OWN {
                    found[k] = word(end - 1 - back).load(Ordering::Relaxed);
                }
                // SAFETY: every lane comes here: `complete` is the same in all of them.
                complete = unsafe { warp_vote_ballot(warp.mask(), found[k] >= UP_TO) };
                if warp.lane <= complete.trailing_zeros() {
                    part = T::from_bits(found[k] as u32).plus(part);
                }
            }
            k += 1;
        }
        sum = warp.reduce(part, T::plus).plus(sum);
        if complete != 0 {
            // Lane 0 has the sum, and others wait for its word: first things first.
            publish(UP_TO, sum.plus(total));
            // SAFETY: every lane comes here.
            return unsafe { warp_shuffle_idx(warp.mask(), sum, 0, 32) }.0;
        }
        end -= WINDOWS * warp.lanes as usize;
    }
}
