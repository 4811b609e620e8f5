//! The grid-stride loop: every index of `0..len` goes to exactly one thread, whatever the launch shape.
//!
//! Thread `t` of `T` takes `t`, `t + T`, `t + 2T`, …; both numbers are read from the launch. Only [`grid_stride_range`] asks
//! the hardware: the arithmetic is plain functions, which the tests at the end run on the host.

use core::iter::FusedIterator;
use core::ops::Range;

use glam::UVec3;

use super::{block_dim, block_dim_x, block_dim_y, block_dim_z, block_idx, block_idx_x};
use super::{grid_dim, grid_dim_x, grid_dim_y, grid_dim_z, thread_idx, thread_idx_x};

/// The indices of `0..len` that are this thread's.
///
/// Thread `t` of `T` gets `t`, `t + T`, `t + 2T`, …: neighbours in a warp touch neighbours in memory, and one thread or a
/// million give the same result. `T` is read from the launch, so it cannot disagree with it. Launches of one, two and three
/// dimensions work alike, and so does every `len`: 0, fewer than there are threads, or more than 2^32.
///
/// ```
/// # use cuda_std::prelude::*;
/// /// # Safety
/// /// `out` must be valid for `n` writes.
/// #[kernel]
/// pub unsafe fn count(out: *mut f32, n: usize) {
///     for i in thread::grid_stride(n) {
///         // SAFETY: `i` is below `n`, and no other thread has it.
///         unsafe { *out.add(i) = i as f32 }
///     }
/// }
/// ```
#[inline(always)]
pub fn grid_stride(len: usize) -> GridStride {
    grid_stride_range(0..len)
}

/// As [`grid_stride`], for the indices of a range: thread `t` of `T` gets `range.start + t`, `range.start + t + T`, ….
#[inline(always)]
pub fn grid_stride_range(range: Range<usize>) -> GridStride {
    let (thread, threads) = place();
    GridStride::new(range.start.saturating_add(thread), threads, range.end)
}

/// This thread's number in the launch and the number of threads.
#[inline(always)]
fn place() -> (usize, usize) {
    // No extent is 0, so this is 1 only where all four are. Nearly every launch goes here.
    if block_dim_y() | block_dim_z() | grid_dim_y() | grid_dim_z() == 1 {
        // 64-bit from the start: 2^31 blocks of 1024 threads do not fit in 32.
        let width = block_dim_x() as usize;
        return (block_idx_x() as usize * width + thread_idx_x() as usize, grid_dim_x() as usize * width);
    }
    place_in_space()
}

/// [`place`] in a launch of more than one dimension; out of line, because loops that never see one pay for it in registers.
#[cold]
#[inline(never)]
fn place_in_space() -> (usize, usize) {
    number(thread_idx(), block_idx(), block_dim(), grid_dim())
}

/// A thread's number, x fastest and blocks outermost, and the number of threads.
///
/// A number that does not fit is `usize::MAX`, which is below no end. That takes 2^54 blocks, and such a grid is legal.
#[inline(always)]
fn number(thread: UVec3, block: UVec3, dim: UVec3, grid: UVec3) -> (usize, usize) {
    let flat = |at: UVec3, extent: UVec3| {
        let wide = |axis: u32| axis as usize;
        wide(at.x) + wide(extent.x) * (wide(at.y) + wide(extent.y) * wide(at.z))
    };
    let volume = |extent: UVec3| extent.x as usize * extent.y as usize * extent.z as usize;
    // No overflow: a grid has at most 2^31 - 1, 65535 and 65535 blocks along its axes, together fewer than 2^63.
    let (block, blocks, threads) = (flat(block, grid), volume(grid), volume(dim));
    (block.saturating_mul(threads).saturating_add(flat(thread, dim)), blocks.saturating_mul(threads))
}

/// Iterator of [`grid_stride`].
#[derive(Debug, Clone)]
#[must_use = "iterators do nothing unless they are used"]
pub struct GridStride {
    next: usize,
    /// Whether `next` is an index. Where it is, `next < end`.
    more: bool,
    stride: usize,
    /// `end - stride`, or 0: the indices that have a successor are those below it.
    last: usize,
    end: usize,
}

impl GridStride {
    /// `first`, `first + stride`, … below `end`.
    #[inline(always)]
    pub(crate) fn new(first: usize, stride: usize, end: usize) -> Self {
        Self { next: first, more: first < end, stride, last: end.saturating_sub(stride), end }
    }
}

impl Iterator for GridStride {
    type Item = usize;

    // One addition and one comparison an iteration, for any `end`. Comparing the sum with `end` would be wrong where the sum
    // wraps; whether there is a next index is asked of this one instead.
    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if !self.more {
            return None;
        }
        let index = self.next;
        // SAFETY: the first index was compared with `end`; of every other one the one before it was below `last`, which
        // then is `end - stride`. Told to the optimiser, so that it sees which bounds checks cannot fail.
        unsafe { core::hint::assert_unchecked(index < self.end) };
        self.more = index < self.last;
        self.next = index.wrapping_add(self.stride);
        Some(index)
    }
}

impl FusedIterator for GridStride {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn extent(most: u32) -> impl Strategy<Value = UVec3> {
        (1..=most, 1..=most, 1..=most).prop_map(|(x, y, z)| UVec3::new(x, y, z))
    }

    fn each(extent: UVec3) -> impl Iterator<Item = UVec3> {
        let line = move |z, y| (0..extent.x).map(move |x| UVec3::new(x, y, z));
        (0..extent.z).flat_map(move |z| (0..extent.y).flat_map(move |y| line(z, y)))
    }

    /// What every thread of a launch gets, in the order of the threads' numbers.
    fn launch(grid: UVec3, dim: UVec3, range: Range<usize>) -> Vec<Vec<usize>> {
        let threads = each(grid).flat_map(|block| each(dim).map(move |thread| number(thread, block, dim, grid)));
        threads.map(|(at, of)| GridStride::new(range.start.saturating_add(at), of, range.end).collect()).collect()
    }

    proptest! {
        #[test]
        fn every_index_goes_to_one_thread(grid in extent(5), dim in extent(6), start in 0usize..50, len in 0usize..3000) {
            let mut visited: Vec<usize> = launch(grid, dim, start..start + len).concat();
            visited.sort_unstable();
            prop_assert!(visited.into_iter().eq(start..start + len));
        }

        #[test]
        fn the_last_indices_there_are(grid in extent(4), dim in extent(4), len in 0usize..500, below in 0usize..3) {
            let end = usize::MAX - below;
            let mut visited = launch(grid, dim, end - len..end).concat();
            visited.sort_unstable();
            prop_assert!(visited.into_iter().eq(end - len..end));
        }

        /// The sequence against 128-bit arithmetic, which nothing here overflows.
        #[test]
        fn no_sum_wraps(first: usize, stride in 1usize.., end: usize) {
            let expected = (0u128..).map(|k| first as u128 + k * stride as u128).take_while(|&i| i < end as u128);
            let got = GridStride::new(first, stride, end).map(|i| i as u128);
            prop_assert!(got.take(100).eq(expected.take(100)));
        }

        #[test]
        fn neighbours_along_x_get_neighbours(grid in extent(4), dim in extent(6)) {
            let threads = grid.element_product() as usize * dim.element_product() as usize;
            let numbers = each(grid).flat_map(|block| each(dim).map(move |thread| number(thread, block, dim, grid)));
            prop_assert!(numbers.eq((0..threads).map(|at| (at, threads))));
        }
    }

    #[test]
    fn beyond_32_bits() {
        let all: Vec<usize> = GridStride::new(5, 1 << 33, 3 << 33).collect();
        assert_eq!(all, [5, (1 << 33) + 5, (2 << 33) + 5]);
    }

    /// The largest grid that a launch may ask for has more threads than 64 bits count.
    #[test]
    fn a_number_that_does_not_fit_is_below_no_end() {
        let (grid, dim) = (UVec3::new(0x7FFF_FFFF, 65535, 65535), UVec3::new(1024, 1, 1));
        let (last, threads) = number(dim - 1, grid - 1, dim, grid);
        assert_eq!((last, threads), (usize::MAX, usize::MAX));
        assert_eq!(GridStride::new(last, threads, usize::MAX).next(), None);
        let (second, _) = number(UVec3::X, UVec3::ZERO, dim, grid);
        assert!(GridStride::new(second, threads, usize::MAX).eq([1]));
        // One dimension, as long as it gets.
        let line = UVec3::new(0x7FFF_FFFF, 1, 1);
        assert_eq!(number(dim - 1, line - 1, dim, line), ((0x7FFF_FFFF << 10) - 1, 0x7FFF_FFFF << 10));
    }
}
