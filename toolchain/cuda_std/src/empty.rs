//! Empty slices that the back end can see through.
//!
//! `ld.global.nc` (the read-only load) is emitted only where every possible base of an address is known to be read-only
//! memory. The dangling pointer of `&[]` is not; a constant variable is.

/// Aligned as much as any element type may be.
#[repr(align(256))]
struct Empty([u8; 256]);
static EMPTY: Empty = Empty([0; 256]);

/// An empty slice whose pointer is that of a constant variable.
#[inline(always)]
pub(crate) fn empty<'a, T>() -> &'a [T] {
    const { assert!(align_of::<T>() <= align_of::<Empty>(), "elements are aligned to 256 bytes at most") };
    // SAFETY: aligned, not null, and of length 0, so that no byte of EMPTY is ever made a T.
    unsafe { core::slice::from_raw_parts(EMPTY.0.as_ptr().cast(), 0) }
}

/// The slice of two kernel parameters.
///
/// # Safety
/// `pointer` and `len` must be those of one slice that is not written while the result lives. `pointer` may be `None`
/// only where `len` is 0.
#[inline(always)]
#[must_use]
pub unsafe fn slice<T>(pointer: Option<&[T; 0]>, len: usize) -> &[T] {
    let Some(first) = pointer else { return empty() };
    // SAFETY: by the caller; that no slice is longer is a rule of slices, which the optimiser does not know of itself.
    unsafe {
        core::hint::assert_unchecked(len <= isize::MAX as usize);
        core::slice::from_raw_parts(first.as_ptr(), len)
    }
}
