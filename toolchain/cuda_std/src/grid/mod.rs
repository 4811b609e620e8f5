//! Output that a kernel writes without `unsafe`: a slice whose elements are dealt out to the threads of the launch.
//!
//! A `&mut [T]` cannot be a kernel's parameter, because every thread of the launch would hold it. A [`GridMut`] can: each
//! thread holds one, and through it reaches its own elements only.
//!
//! # What the types guarantee
//!
//! | guaranteed | by |
//! | --- | --- |
//! | no element is reached by two threads | the number of the thread, which no two share, decides which elements are its own |
//! | nor twice at once by one thread | a `GridMut` cannot be copied |
//! | nor by two because they were dealt out in two ways | choosing one ([`grid_stride_mut`](GridMut::grid_stride_mut), [`into_packs`](GridMut::into_packs), [`into_2d`](GridMut::into_2d), …) takes the `GridMut` away |
//! | each is reached by some thread, whatever the launch shape | threads go on in strides of the launch's size |
//! | no access is outside of the buffer | each index is below the length that the launch gave |
//!
//! What remains is the launch's: that pointer and length are those of one buffer of initialised `T`, which nothing else reads
//! or writes while the kernel runs. That is why a launch is unsafe, and the kernel is not.

mod space;

use core::marker::PhantomData;

use crate::thread::{GridStride, grid_stride};
use crate::vector::Packed;

pub use space::{GridMut2, GridMut3};

/// A slice that the threads of a launch write, each its own elements: thread `t` of `T` those at `t`, `t + T`, `t + 2T`, ….
///
/// As a parameter of a kernel it is two in the PTX, pointer and length in elements, like a `&[T]`.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// `out[i] = 2 * x[i]`. Panics if `x` is shorter than `out`.
/// #[kernel]
/// pub fn double(x: &[f32], out: GridMut<f32>) {
///     let x = &x[..out.len()];
///     for (i, out) in out.grid_stride_mut() {
///         *out = 2.0 * x[i];
///     }
/// }
/// ```
#[derive(Debug)]
pub struct GridMut<'a, T> {
    first: *mut T,
    len: usize,
    elements: PhantomData<&'a mut [T]>,
}

impl<'a, T> GridMut<'a, T> {
    /// Deals out `len` elements from `first`.
    ///
    /// # Safety
    /// The elements must be valid for reads and writes through this while it lives, and be reached by nothing but the
    /// `GridMut`s that the other threads of this launch make of the same two values, one each.
    #[inline(always)]
    #[must_use]
    pub unsafe fn from_raw(first: *mut T, len: usize) -> Self {
        // SAFETY: no slice is longer, and these are one.
        unsafe { core::hint::assert_unchecked(len <= isize::MAX as usize) };
        Self { first, len, elements: PhantomData }
    }

    /// Elements that all threads have together.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// This thread's elements, each with its index. The loop is that of [`grid_stride`] and a raw pointer.
    #[inline(always)]
    pub fn grid_stride_mut(self) -> GridStrideMut<'a, T> {
        GridStrideMut { first: self.first, indices: grid_stride(self.len), elements: PhantomData }
    }

    /// This thread's elements, to go through more than once.
    #[inline(always)]
    #[must_use]
    pub fn into_own(self) -> Own<'a, T> {
        Own(self)
    }

    /// Two in place of one: the elements before `at`, and those from it on. Each half deals out anew.
    ///
    /// # Panics
    /// Where `at` is above the length.
    #[inline(always)]
    #[must_use]
    pub fn split_at(self, at: usize) -> (Self, Self) {
        assert!(at <= self.len, "the place to split at is behind the end");
        let part = |start: usize, len| Self { first: self.first.wrapping_add(start), len, elements: PhantomData };
        (part(0, at), part(at, self.len - at))
    }

    /// The elements as packs of `N`, 16 bytes each, and those behind the packs. There are no more than `most` packs, and none
    /// where the buffer does not start at a multiple of 16 bytes; [`packs`](crate::vector::packs) says how many the inputs have.
    #[inline(always)]
    #[must_use]
    pub fn into_packs<const N: usize>(self, most: usize) -> (GridMut<'a, Packed<T, N>>, Self)
    where
        T: Copy,
    {
        const { assert!(size_of::<Packed<T, N>>() == N * size_of::<T>(), "a pack has no padding: N elements of 16 bytes") };
        let first = self.first.cast::<Packed<T, N>>();
        let whole = if first.is_aligned() { (self.len / N).min(most) } else { 0 };
        let (_, rest) = self.split_at(whole * N);
        (GridMut { first, len: whole, elements: PhantomData }, rest)
    }

    /// The elements as rows of `columns`, dealt out along the launch's x and y axes. What does not fill a row is left out.
    ///
    /// # Panics
    /// Where `columns` is 0.
    #[inline(always)]
    #[must_use]
    pub fn into_2d(self, columns: usize) -> GridMut2<'a, T> {
        // SAFETY: rows times columns is no more than the length; the elements are this one's alone.
        unsafe { GridMut2::new(self.first, self.len / columns, columns) }
    }

    /// The elements as planes of `rows` rows of `columns`, dealt out along all three axes. What does not fill a plane is left
    /// out.
    ///
    /// # Panics
    /// Where `rows` or `columns` is 0.
    #[inline(always)]
    #[must_use]
    pub fn into_3d(self, rows: usize, columns: usize) -> GridMut3<'a, T> {
        let plane = rows.checked_mul(columns).expect("a plane of this size is beyond any memory");
        // SAFETY: as for `into_2d`.
        unsafe { GridMut3::new(self.first, self.len / plane, rows, columns) }
    }
}

/// The elements of a [`GridMut`] that are this thread's.
#[derive(Debug)]
pub struct Own<'a, T>(GridMut<'a, T>);

impl<T> Own<'_, T> {
    /// Each of them with its index.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> GridStrideMut<'_, T> {
        GridStrideMut { first: self.0.first, indices: grid_stride(self.0.len), elements: PhantomData }
    }
}

/// Iterator of [`GridMut::grid_stride_mut`].
#[derive(Debug)]
#[must_use = "iterators do nothing unless they are used"]
pub struct GridStrideMut<'a, T> {
    first: *mut T,
    indices: GridStride,
    elements: PhantomData<&'a mut [T]>,
}

impl<'a, T> Iterator for GridStrideMut<'a, T> {
    type Item = (usize, &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let index = self.indices.next()?;
        // SAFETY: the index is below the length, this thread's alone, and never comes again from this iterator, which has taken
        // or borrowed the only way to it.
        Some((index, unsafe { &mut *self.first.add(index) }))
    }
}

impl<T> core::iter::FusedIterator for GridStrideMut<'_, T> {}
