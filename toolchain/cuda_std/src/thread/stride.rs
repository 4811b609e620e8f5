//! The grid-stride loop: every index of `0..len` goes to exactly one thread, whatever the launch shape.

/// The indices of `0..len` that are this thread's, in a launch of any one-dimensional shape.
///
/// Thread `t` of `T` gets `t`, `t + T`, `t + 2T`, …: neighbours in a warp touch neighbours in memory, and one thread or a
/// million give the same result. `T` is read from the launch, so it cannot disagree with it.
///
/// # Panics
/// When `len` is above `isize::MAX`, which no slice is.
#[inline(always)]
pub fn grid_stride(len: usize) -> GridStride {
    grid_stride_range(0..len)
}

/// As [`grid_stride`], for the indices of a range: thread `t` of `T` gets `range.start + t`, `range.start + t + T`, ….
///
/// # Panics
/// When the range ends above `isize::MAX`, which no slice does.
#[inline(always)]
pub fn grid_stride_range(range: core::ops::Range<usize>) -> GridStride {
    use super::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};
    // 64-bit from the start: 2^31 blocks of 1024 threads do not fit in 32.
    let first = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;
    let stride = block_dim_x() as usize * grid_dim_x() as usize;
    GridStride::new(range.start.saturating_add(first), stride, range.end)
}

/// Iterator of [`grid_stride`].
#[derive(Debug, Clone)]
#[must_use = "iterators do nothing unless they are used"]
pub struct GridStride {
    next: usize,
    stride: usize,
    end: usize,
}

impl GridStride {
    /// `first`, `first + stride`, … below `end`.
    #[inline(always)]
    fn new(first: usize, stride: usize, end: usize) -> Self {
        // Keeps `next + stride` from wrapping round: it is computed only for `next < end`, and a stride is at most 2^41.
        assert!(end <= isize::MAX as usize, "more elements than can be addressed");
        Self { next: first, stride, end }
    }
}

impl Iterator for GridStride {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.next >= self.end {
            return None;
        }
        let index = self.next;
        self.next = index.wrapping_add(self.stride);
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_index_goes_to_one_thread(grid in 1usize..40, block in 1usize..100, len in 0usize..5000) {
            let mut visits = vec![0; len];
            for thread in 0..grid * block {
                for i in GridStride::new(thread, grid * block, len) {
                    visits[i] += 1;
                }
            }
            prop_assert!(visits.iter().all(|&n| n == 1));
        }

        #[test]
        fn the_largest_launch_ends(first in 0usize..1 << 41, below in 0usize..1 << 20) {
            let len = isize::MAX as usize - below;
            let stride = 0x7FFF_FFFF * 1024;
            let start = len - (len - first) % stride - if (len - first).is_multiple_of(stride) { stride } else { 0 };
            let tail: Vec<usize> = GridStride::new(start, stride, len).collect();
            prop_assert_eq!(tail, vec![start]);
        }
    }

    #[test]
    fn beyond_32_bits() {
        let all: Vec<usize> = GridStride::new(5, 1 << 33, 3 << 33).collect();
        assert_eq!(all, [5, (1 << 33) + 5, (2 << 33) + 5]);
    }
}
