//! Threads that work together: the lanes of a warp and the threads of a block, in a launch of any shape.
//!
//! A block of 33 threads is a warp of 32 lanes and one of a single lane: whoever shuffles must know which lanes there are. A
//! block of 16x8x2 threads is 8 warps in the order of the threads' numbers, x fastest.

use core::sync::atomic::{AtomicU32, Ordering};

use cuda_std::thread;
use cuda_std::warp::{WarpShuffleValue, warp_shuffle_down, warp_shuffle_up};

/// This thread's number in its block, x fastest.
#[inline(always)]
#[must_use]
pub fn thread() -> u32 {
    if thread::block_dim_y() | thread::block_dim_z() == 1 {
        return thread::thread_idx_x();
    }
    let (at, of) = (thread::thread_idx(), thread::block_dim());
    at.x + of.x * (at.y + of.y * at.z)
}

/// Threads of the block.
#[inline(always)]
#[must_use]
pub fn threads() -> u32 {
    thread::block_dim_x() * thread::block_dim_y() * thread::block_dim_z()
}

/// This block's number in the grid, x fastest.
#[inline(always)]
#[must_use]
pub fn block() -> usize {
    if thread::grid_dim_y() | thread::grid_dim_z() == 1 {
        return thread::block_idx_x() as usize;
    }
    let (at, of) = (thread::block_idx(), thread::grid_dim());
    at.x as usize + of.x as usize * (at.y as usize + of.y as usize * at.z as usize)
}

/// Blocks of the grid.
#[inline(always)]
#[must_use]
pub fn blocks() -> usize {
    thread::grid_dim_x() as usize * thread::grid_dim_y() as usize * thread::grid_dim_z() as usize
}

/// The lanes that this thread's warp has.
#[derive(Debug, Clone, Copy)]
pub struct Warp {
    /// This thread's lane.
    pub lane: u32,
    /// This warp's number in its block.
    pub number: u32,
    /// Lanes: 32, or fewer in the last warp of a block.
    pub lanes: u32,
}

impl Warp {
    /// The warp of the calling thread.
    #[inline(always)]
    #[must_use]
    pub fn of_this_thread() -> Self {
        let (thread, threads) = (thread(), threads());
        let first = thread & !31;
        Self { lane: thread & 31, number: thread / 32, lanes: (threads - first).min(32) }
    }

    /// One bit a lane.
    #[inline(always)]
    #[must_use]
    pub fn mask(self) -> u32 {
        u32::MAX >> (32 - self.lanes)
    }

    /// `combine` of every lane's value, in lane 0; other lanes get something else. `combine` must be associative as far as the
    /// result is to be; it is applied in the same order every time.
    ///
    /// Every lane of the warp must come here.
    #[inline(always)]
    #[must_use]
    pub fn reduce<T: WarpShuffleValue + Copy>(self, mut value: T, combine: impl Fn(T, T) -> T) -> T {
        let mut distance = 16;
        while distance > 0 {
            // SAFETY: every lane that there is comes here, with the same mask.
            let (other, _) = unsafe { warp_shuffle_down(self.mask(), value, distance, 32) };
            // A lane that is not there has nothing to add.
            if self.lane + distance < self.lanes {
                value = combine(value, other);
            }
            distance /= 2;
        }
        value
    }

    /// `combine` of the values of the lanes up to this one and with it.
    ///
    /// Every lane of the warp must come here.
    #[inline(always)]
    #[must_use]
    pub fn scan<T: WarpShuffleValue + Copy>(self, mut value: T, combine: impl Fn(T, T) -> T) -> T {
        let mut distance = 1;
        while distance < 32 {
            // SAFETY: as in `reduce`.
            let (before, _) = unsafe { warp_shuffle_up(self.mask(), value, distance, 32) };
            if self.lane >= distance {
                value = combine(before, value);
            }
            distance *= 2;
        }
        value
    }
}

/// `combine` of the values of all threads of the block, in thread 0; other threads get something else. In the same order every
/// time: lanes by distance, then warps likewise.
///
/// # Safety
/// Every thread of the block must come here. `slots` must be shared memory for 32 values that nobody uses meanwhile; it is free
/// again when the function returns.
#[inline(always)]
pub unsafe fn reduce<T: WarpShuffleValue + Copy>(value: T, slots: *mut T, combine: impl Fn(T, T) -> T + Copy) -> T {
    let (warp, warps) = (Warp::of_this_thread(), threads().div_ceil(32));
    let mut value = warp.reduce(value, combine);
    if warps > 1 {
        if warp.lane == 0 {
            // SAFETY: a block has at most 32 warps, and each has its slot.
            unsafe { *slots.add(warp.number as usize) = value };
        }
        thread::sync_threads();
        if thread() < warps {
            // SAFETY: written before the barrier.
            let part = unsafe { *slots.add(warp.lane as usize) };
            value = Warp { lanes: warps, ..warp }.reduce(part, combine);
        }
        thread::sync_threads();
    }
    value
}

/// [`reduce`], with the result in every thread.
///
/// # Safety
/// As for [`reduce`].
#[inline(always)]
pub unsafe fn reduce_to_all<T: WarpShuffleValue + Copy>(
    value: T,
    slots: *mut T,
    combine: impl Fn(T, T) -> T + Copy,
) -> T {
    let (warp, warps) = (Warp::of_this_thread(), threads().div_ceil(32));
    let value = warp.reduce(value, combine);
    if warp.lane == 0 {
        // SAFETY: a block has at most 32 warps, and each has its slot.
        unsafe { *slots.add(warp.number as usize) = value };
    }
    thread::sync_threads();
    // All lanes read the same slot, which is one access, and slots do not wait for each other.
    // SAFETY: written before the barrier.
    let mut all = unsafe { *slots };
    let mut k = 1;
    while k < warps {
        // SAFETY: as above.
        all = combine(all, unsafe { *slots.add(k as usize) });
        k += 1;
    }
    thread::sync_threads();
    all
}

/// Whether this block is the last of `blocks` to come here; then it sees what the others wrote before they came, and the counter
/// is 0 again for the next launch.
///
/// # Safety
/// Every thread of each of the blocks must come here once. `counter` must be valid and 0 before the first of them comes, and
/// `flag` shared memory for a word that nobody uses meanwhile.
#[inline(always)]
pub unsafe fn is_last(blocks: u32, counter: *mut u32, flag: *mut u32) -> bool {
    // What all threads wrote comes before thread 0 says that the block is done.
    thread::sync_threads();
    if thread() == 0 {
        // SAFETY: by the caller.
        let counter = unsafe { AtomicU32::from_ptr(counter) };
        let last = counter.fetch_add(1, Ordering::AcqRel) + 1 == blocks;
        if last {
            counter.store(0, Ordering::Relaxed);
        }
        // SAFETY: by the caller.
        unsafe { *flag = u32::from(last) };
    }
    thread::sync_threads();
    // SAFETY: written before the barrier.
    unsafe { *flag != 0 }
}

/// `combine` of the values of all threads of the block before this one, and of all threads.
///
/// # Safety
/// As for [`reduce`].
#[inline(always)]
pub unsafe fn scan_exclusive<T: WarpShuffleValue + Copy>(
    value: T,
    slots: *mut T,
    identity: T,
    combine: impl Fn(T, T) -> T + Copy,
) -> (T, T) {
    let (warp, warps) = (Warp::of_this_thread(), threads().div_ceil(32));
    let upto = warp.scan(value, combine);
    // SAFETY: every lane comes here; a block has at most 32 warps, and each has its slot.
    let lanes_before = unsafe {
        if warp.lane + 1 == warp.lanes {
            *slots.add(warp.number as usize) = upto;
        }
        warp_shuffle_up(warp.mask(), upto, 1, 32).0
    };
    thread::sync_threads();
    let (mut before, mut all) = (identity, identity);
    let mut k = 0;
    while k < warps {
        if k == warp.number {
            before = all;
        }
        // SAFETY: written before the barrier.
        all = combine(all, unsafe { *slots.add(k as usize) });
        k += 1;
    }
    thread::sync_threads();
    (if warp.lane == 0 { before } else { combine(before, lanes_before) }, all)
}
