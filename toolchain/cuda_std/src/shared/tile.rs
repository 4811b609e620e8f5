//! Shared memory without `unsafe`: a tile that is in one of two phases, with a barrier between them.
//!
//! ```text
//! Tile<T, Own>      each thread reaches its own elements, to write and to read
//!    | sync() ^
//!    v        | sync()      a barrier: everyone has left the one phase before anyone enters the other
//! Tile<T, Common>   everyone reads every element
//! ```
//!
//! # What the types guarantee
//!
//! | guaranteed | by |
//! | --- | --- |
//! | no read of another thread's element without a barrier since it was written | `sync` takes the tile of the one phase and gives that of the other |
//! | no reference outlives its phase | it borrows the tile that `sync` takes |
//! | no two tiles are of the same memory | a tile costs the [`ThisBlock`], which a thread has once and cannot copy |
//! | no element has two writers | in the phase `Own`, the number of the thread in its block decides |
//! | no value is invalid | the elements are [`Plain`]: one that nothing was written to is arbitrary, not undefined |
//!
//! One thing no type can see: a barrier is for every thread of the block. Where some leave out a `sync` that others come to, as
//! inside of an `if` on the thread's index, the barriers of the threads no longer match. PTX calls that undefined, and the CPU
//! device reports it.

use core::marker::PhantomData;
use core::ops::Deref;
use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};

use crate::thread::{GridStride, block_dim_x, block_dim_y, block_dim_z, sync_threads, thread_idx};
use crate::vector::Packed;

/// A thread's part in its block, once a launch: what a [`Tile`] is made from. A kernel that has a parameter of this type gets
/// it; in the PTX there is none, and the host passes nothing.
#[derive(Debug)]
pub struct ThisBlock(());

impl ThisBlock {
    /// A thread's part in its block.
    ///
    /// # Safety
    /// A thread may do this once a launch.
    #[inline(always)]
    #[must_use]
    pub unsafe fn new() -> Self {
        Self(())
    }

    #[doc(hidden)]
    #[inline(always)]
    pub fn spend(self) {}

    /// All of the shared memory that the launch sized, as a tile of as many whole elements as there are.
    #[inline(always)]
    #[must_use]
    pub fn into_dynamic<T: Plain>(self) -> Tile<T, Own> {
        let len = crate::mem::dynamic_smem_size() as usize / size_of::<T>();
        // SAFETY: that many elements are there, and only the one `ThisBlock` leads to them.
        unsafe { Tile::from_raw(super::dynamic_shared_mem(), len) }
    }
}

/// Tiles of static shared memory, for a [`ThisBlock`]: `shared_tile!(block => [f32; 256])`, or several, which come as a tuple.
///
/// ```
/// use cuda_std::prelude::*;
/// use cuda_std::{shared::ThisBlock, shared_tile};
///
/// /// Turns each block's 256 elements round. For blocks of 256 threads, and buffers of whole blocks.
/// #[kernel]
/// pub fn reverse(block: ThisBlock, x: &[f32], out: GridMut<f32>) {
///     let mut tile = shared_tile!(block => [f32; 256]);
///     let base = (thread::block_idx_x() * 256) as usize;
///     tile.fill(|i| x[base + i]);
///     let tile = tile.sync();
///     for (i, out) in out.grid_stride_mut() {
///         *out = tile[255 - i % 256];
///     }
/// }
/// ```
#[macro_export]
macro_rules! shared_tile {
    ($block:expr => $([$t:ty; $n:expr]),+ $(,)?) => {{
        $crate::shared::ThisBlock::spend($block);
        ($(
            // SAFETY: this memory is reached from here alone, and a thread comes here once, as it has one `ThisBlock`.
            unsafe { $crate::shared::Tile::<$t, $crate::shared::Own>::from_raw($crate::shared_array![$t; $n], $n) }
        ),+)
    }};
}

/// Types of which every pattern of bits is a value.
///
/// # Safety
/// As it says: no padding, no forbidden values, no references. Shared memory starts with whatever the last block left.
pub unsafe trait Plain: Sync {}

macro_rules! plain {
    ($($t:ty)*) => {$(
        // SAFETY: integers, floats, and atomics of both take any bits.
        unsafe impl Plain for $t {}
    )*};
}
plain!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 half::f16 half::bf16);
plain!(AtomicU32 AtomicI32 AtomicU64 AtomicI64 crate::atomic::AtomicF32 crate::atomic::AtomicF64);

// SAFETY: nothing but the elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
// SAFETY: a pack without padding; one with padding does not compile where packs are made.
unsafe impl<T: Plain, const N: usize> Plain for Packed<T, N> {}

/// Phase of a [`Tile`]: each thread has its own elements.
#[derive(Debug)]
pub enum Own {}

/// Phase of a [`Tile`]: everyone reads everything.
#[derive(Debug)]
pub enum Common {}

/// Shared memory in a phase. See [the module](self).
#[derive(Debug)]
pub struct Tile<T, Phase> {
    first: *mut T,
    len: usize,
    phase: PhantomData<(T, Phase)>,
}

impl<T: Plain, Phase> Tile<T, Phase> {
    /// A tile of memory that is at hand.
    ///
    /// # Safety
    /// `len` elements from `first` must be shared memory that only the tiles reach which the block's other threads make of it,
    /// one each.
    #[inline(always)]
    #[must_use]
    pub unsafe fn from_raw(first: *mut T, len: usize) -> Self {
        Self { first, len, phase: PhantomData }
    }

    #[inline(always)]
    fn turn<Next>(self) -> Tile<T, Next> {
        sync_threads();
        Tile { first: self.first, len: self.len, phase: PhantomData }
    }
}

impl<T: Plain> Tile<T, Own> {
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

    /// This thread's elements, each with its index: thread `t` of a block of `B` has `t`, `t + B`, ….
    #[inline(always)]
    pub fn own_mut(&mut self) -> OwnMut<'_, T> {
        let (at, y, z) = (thread_idx(), block_dim_y() as usize, block_dim_z() as usize);
        let x = block_dim_x() as usize;
        let thread = at.x as usize + x * (at.y as usize + y * at.z as usize);
        OwnMut { first: self.first, indices: GridStride::new(thread, x * y * z, self.len), elements: PhantomData }
    }

    /// Sets each of this thread's elements to what `f` makes of its index.
    #[inline(always)]
    pub fn fill(&mut self, mut f: impl FnMut(usize) -> T) {
        for (i, element) in self.own_mut() {
            *element = f(i);
        }
    }

    /// Waits for the block (`bar.sync 0`); then everyone may read. Every thread of the block must come here.
    #[inline(always)]
    #[must_use = "the tile goes on as what this gives"]
    pub fn sync(self) -> Tile<T, Common> {
        self.turn()
    }
}

impl<T: Plain> Tile<T, Common> {
    /// Waits for the block (`bar.sync 0`); then each thread may write its own elements. Every thread of the block must come here.
    #[inline(always)]
    #[must_use = "the tile goes on as what this gives"]
    pub fn sync(self) -> Tile<T, Own> {
        self.turn()
    }
}

impl<T: Plain> Deref for Tile<T, Common> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: that many elements of some value or other are there, and in this phase nobody holds one to write it.
        unsafe { core::slice::from_raw_parts(self.first, self.len) }
    }
}

/// Iterator of [`Tile::own_mut`].
#[derive(Debug)]
#[must_use = "iterators do nothing unless they are used"]
pub struct OwnMut<'a, T> {
    first: *mut T,
    indices: GridStride,
    elements: PhantomData<&'a mut [T]>,
}

impl<'a, T> Iterator for OwnMut<'a, T> {
    type Item = (usize, &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let index = self.indices.next()?;
        // SAFETY: inside; in this phase this thread's alone, and the iterator borrows the thread's one tile.
        Some((index, unsafe { &mut *self.first.add(index) }))
    }
}
