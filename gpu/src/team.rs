//! Threads that work together: the lanes of a warp and the threads of a block, in a launch of any shape.
//!
//! A block of 33 threads is a warp of 32 lanes and one of a single lane: whoever shuffles must know which lanes there are. A
//! block of 16x8x2 threads is 8 warps in the order of the threads' numbers, x fastest.

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
