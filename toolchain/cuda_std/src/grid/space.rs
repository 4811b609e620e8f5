//! Output of two and three dimensions, dealt out along the axes of the launch.

use core::marker::PhantomData;

use crate::thread::GridStride;
use crate::thread::{block_dim, block_idx, grid_dim, thread_idx};

/// This thread's indices along an axis: its own, then in strides of the launch's extent.
#[inline(always)]
fn along(axis: impl Fn(glam::UVec3) -> u32, end: usize) -> GridStride {
    let (block, width) = (axis(block_idx()) as usize, axis(block_dim()) as usize);
    GridStride::new(block * width + axis(thread_idx()) as usize, axis(grid_dim()) as usize * width, end)
}

/// A matrix that the threads of a launch write: those at (x, y) its elements in column x and row y, then in strides of the
/// launch's extents. Made by [`GridMut::into_2d`](super::GridMut::into_2d).
#[derive(Debug)]
pub struct GridMut2<'a, T> {
    first: *mut T,
    rows: usize,
    columns: usize,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> GridMut2<'_, T> {
    /// # Safety
    /// As for `GridMut::from_raw`, for `rows * columns` elements.
    #[inline(always)]
    pub(super) unsafe fn new(first: *mut T, rows: usize, columns: usize) -> Self {
        Self { first, rows, columns, elements: PhantomData }
    }

    /// Whole rows.
    #[inline(always)]
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Elements a row.
    #[inline(always)]
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Calls `f` with row, column and element of each of this thread's. Neighbours along x get neighbours in a row.
    #[inline(always)]
    pub fn for_each(&mut self, mut f: impl FnMut(usize, usize, &mut T)) {
        // In a launch that has a third dimension its first layer has everything.
        for _ in along(|at| at.z, 1) {
            for row in along(|at| at.y, self.rows) {
                for column in along(|at| at.x, self.columns) {
                    // SAFETY: inside of the matrix; no other thread has this pair of indices, and this one has it once.
                    f(row, column, unsafe { &mut *self.first.add(row * self.columns + column) });
                }
            }
        }
    }
}

/// As [`GridMut2`], of three dimensions. Made by [`GridMut::into_3d`](super::GridMut::into_3d).
#[derive(Debug)]
pub struct GridMut3<'a, T> {
    first: *mut T,
    planes: usize,
    rows: usize,
    columns: usize,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> GridMut3<'_, T> {
    /// # Safety
    /// As for `GridMut::from_raw`, for `planes * rows * columns` elements.
    #[inline(always)]
    pub(super) unsafe fn new(first: *mut T, planes: usize, rows: usize, columns: usize) -> Self {
        Self { first, planes, rows, columns, elements: PhantomData }
    }

    /// Planes, rows a plane, elements a row.
    #[inline(always)]
    #[must_use]
    pub fn extents(&self) -> (usize, usize, usize) {
        (self.planes, self.rows, self.columns)
    }

    /// Calls `f` with plane, row, column and element of each of this thread's.
    #[inline(always)]
    pub fn for_each(&mut self, mut f: impl FnMut([usize; 3], &mut T)) {
        for plane in along(|at| at.z, self.planes) {
            for row in along(|at| at.y, self.rows) {
                for column in along(|at| at.x, self.columns) {
                    let at = (plane * self.rows + row) * self.columns + column;
                    // SAFETY: inside; no other thread has these three indices, and this one has them once.
                    f([plane, row, column], unsafe { &mut *self.first.add(at) });
                }
            }
        }
    }
}
