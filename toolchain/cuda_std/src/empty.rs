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
