//! π by throwing darts: how many of `n` random points of the unit square lie within the quarter circle.
//!
//! Floor: operations, about 45 on integers a point, half of a Philox block; nothing is read, and a number a warp is written.
//! Shape of the code: the random numbers are a function of the point's number (counter-based: Salmon and others, "Parallel
//! Random Numbers: As Easy as 1, 2, 3", SC 2011), so that no thread keeps a state, any launch shape throws the same darts, and
//! the host can check the count exactly. Each thread counts in a register, each warp adds its lanes up by shuffles, and one
//! lane of it adds to the total.

use core::sync::atomic::{AtomicU64, Ordering};

use cuda_std::prelude::*;

use crate::team;

/// Philox-4x32-10: four random words from a counter and a key.
#[inline(always)]
fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let ([mut a, mut b, mut c, mut d], [mut k, mut l]) = (counter, key);
    let mut round = 0;
    while round < 10 {
        let (first, second) = (u64::from(a) * 0xD251_1F53, u64::from(c) * 0xCD9E_8D57);
        (a, b) = ((second >> 32) as u32 ^ b ^ k, second as u32);
        (c, d) = ((first >> 32) as u32 ^ d ^ l, first as u32);
        (k, l) = (k.wrapping_add(0x9E37_79B9), l.wrapping_add(0xBB67_AE85));
        round += 1;
    }
    [a, b, c, d]
}

/// 1 where a point lies within the circle. 24 bits of each coordinate: their squares' sum is then a 49-bit integer, and exact.
#[inline(always)]
fn hit(x: u32, y: u32) -> u32 {
    let (x, y) = (u64::from(x >> 8), u64::from(y >> 8));
    u32::from(x * x + y * y < 1 << 48)
}

/// Adds to `*hits` how many of the points 0 to `n` lie within the circle. A block of Philox is two points.
///
/// # Safety
/// `hits` must be valid, and no one else may use it meanwhile other than by atomic operations.
#[kernel]
pub unsafe fn montecarlo_u32(n: usize, seed: u32, hits: *mut u64) {
    let mut count = 0u64;
    for pair in thread::grid_stride(n.div_ceil(2)) {
        let [x, y, z, w] = philox([pair as u32, (pair as u64 >> 32) as u32, 0, 0], [seed, 0]);
        // Of an odd number of points the last block's second one is not thrown.
        let second = if 2 * pair + 1 < n { hit(z, w) } else { 0 };
        count += u64::from(hit(x, y) + second);
    }
    let warp = team::Warp::of_this_thread();
    let count = warp.reduce(count, |a, b| a + b);
    if warp.lane == 0 {
        // SAFETY: by the caller.
        unsafe { AtomicU64::from_ptr(hits) }.fetch_add(count, Ordering::Relaxed);
    }
}

/// As `montecarlo_u32`, with an atomic addition a hit: what one writes first.
///
/// # Safety
/// As for `montecarlo_u32`.
#[kernel]
pub unsafe fn montecarlo_naive_u32(n: usize, seed: u32, hits: *mut u64) {
    // SAFETY: by the caller.
    let hits = unsafe { AtomicU64::from_ptr(hits) };
    for pair in thread::grid_stride(n.div_ceil(2)) {
        let [x, y, z, w] = philox([pair as u32, (pair as u64 >> 32) as u32, 0, 0], [seed, 0]);
        if hit(x, y) == 1 {
            hits.fetch_add(1, Ordering::Relaxed);
        }
        if 2 * pair + 1 < n && hit(z, w) == 1 {
            hits.fetch_add(1, Ordering::Relaxed);
        }
    }
}
