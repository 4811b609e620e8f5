//! Kernel parameters, as the entry point that `#[kernel]` writes receives and checks them.

use core::marker::PhantomData;

use crate::grid::GridMut;
use crate::shared::ThisBlock;

/// The slice of two kernel parameters.
///
/// # Safety
/// `pointer` and `len` must be those of one slice that is not written while the result lives. `pointer` may be `None`
/// only where `len` is 0.
//
// Why `Option<&[T; 0]>`. A parameter that is a reference gets `noalias readonly` and the alignment of `T`, and only then are
// reads of it `ld.global.nc`; a raw pointer gets none of the three. A reference to more than zero elements would promise
// LLVM that they can be read, which is false of an empty slice, and `None` is the null pointer that an empty buffer has.
// `noalias readonly` itself is what a `&[T]` of the kernel's own signature promises anyway: nothing writes the elements
// while the kernel runs. A `T` with interior mutability loses both, here as there.
//
// The pointer is the host's, so its provenance is the whole buffer. Making it a `&[T; 0]` and reading further than those
// zero bytes is allowed by Tree Borrows, where a reference's range is no bound, and by LLVM, which is told of no size. It is
// not by Stacked Borrows, under which no reference could stand for a slice in an ABI of single words.
#[inline(always)]
#[must_use]
pub unsafe fn slice<T>(pointer: Option<&[T; 0]>, len: usize) -> &[T] {
    let Some(first) = pointer else { return crate::empty::empty() };
    // SAFETY: by the caller; that no slice is longer is a rule of slices, which the optimiser does not know of itself.
    unsafe {
        core::hint::assert_unchecked(len <= isize::MAX as usize);
        core::slice::from_raw_parts(first.as_ptr(), len)
    }
}

/// The [`GridMut`] of two kernel parameters.
///
/// # Safety
/// As for [`GridMut::from_raw`]. `pointer` may be `None` only where `len` is 0.
//
// An `Option<&mut [T; 0]>` for what `slice` has one: the alignment of `T`, and `noalias`. That one is true although all threads
// of the launch have the same pointer: it speaks of what this thread accesses, and a thread accesses its own elements only.
#[inline(always)]
#[must_use]
pub unsafe fn grid_mut<T>(pointer: Option<&mut [T; 0]>, len: usize) -> GridMut<'_, T> {
    let (first, len) = pointer.map_or((core::ptr::dangling_mut(), 0), |first| (first.as_mut_ptr(), len));
    // SAFETY: by the caller.
    unsafe { GridMut::from_raw(first, len) }
}

/// The [`ThisBlock`] of a kernel that takes one.
///
/// # Safety
/// As for [`ThisBlock::new`].
#[inline(always)]
#[must_use]
pub unsafe fn block() -> ThisBlock {
    // SAFETY: by the caller.
    unsafe { ThisBlock::new() }
}

/// Tells whether a parameter's type is a slice that the macro could not see, because a `type` names it.
///
/// The constructor of slices is inherent and found first; every other type has the one of the trait.
pub struct Probe<T>(PhantomData<T>);

/// Of every type that is passed as it is written.
pub struct Plain;
/// Of `&[T]`, `&str`, `GridMut<T>` and `ThisBlock`.
pub struct HiddenSlice;

#[allow(missing_docs)]
impl<T> Probe<&[T]> {
    pub fn shape() -> HiddenSlice {
        HiddenSlice
    }
}

#[allow(missing_docs)]
impl Probe<&str> {
    pub fn shape() -> HiddenSlice {
        HiddenSlice
    }
}

#[allow(missing_docs)]
impl<T> Probe<GridMut<'_, T>> {
    pub fn shape() -> HiddenSlice {
        HiddenSlice
    }
}

#[allow(missing_docs)]
impl Probe<ThisBlock> {
    pub fn shape() -> HiddenSlice {
        HiddenSlice
    }
}

/// The constructor of everything else.
#[allow(missing_docs)]
pub trait AsWritten {
    fn shape() -> Plain {
        Plain
    }
}

impl<T> AsWritten for Probe<T> {}

/// A parameter of which the PTX has one as well.
#[diagnostic::on_unimplemented(
    message = "a slice under another name would be one parameter of 16 bytes, not a pointer and a length",
    label = "write the type out, as `&[T]`, `GridMut<T>` or `ThisBlock`"
)]
pub trait OneParameter {}

impl OneParameter for Plain {}

/// Compiles for what is passed as it is written.
pub fn one_parameter<T: OneParameter>(_: T) {}
