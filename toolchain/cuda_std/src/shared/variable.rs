//! What a `static mut` with `#[address_space(shared)]` is: a stand-in that leads to the memory.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};

/// A variable in shared memory. Made by [`#[address_space(shared)]`](crate::address_space) only; use it as the array that it was
/// declared as.
pub struct SharedStatic<P: SharedPlace>(PhantomData<P>);

impl<P: SharedPlace> SharedStatic<P> {
    #[doc(hidden)]
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<P: SharedPlace> core::fmt::Debug for SharedStatic<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SharedStatic")
    }
}

// Reaching a `static mut` is unsafe, and so the user has promised for the reference what one to a `static mut` needs.
impl<P: SharedPlace> Deref for SharedStatic<P> {
    type Target = P::Value;

    #[inline(always)]
    fn deref(&self) -> &P::Value {
        // SAFETY: the memory lives as long as the block; see above.
        unsafe { &*P::address() }
    }
}

impl<P: SharedPlace> DerefMut for SharedStatic<P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut P::Value {
        // SAFETY: as for `deref`.
        unsafe { &mut *P::address() }
    }
}

/// Where a variable is.
///
/// # Safety
/// `address` must be that of memory of this type's size and alignment.
#[doc(hidden)]
pub unsafe trait SharedPlace {
    type Value;
    fn address() -> *mut Self::Value;
}

/// Types that have no value to begin with.
#[diagnostic::on_unimplemented(
    message = "shared memory has no initial value",
    label = "write the type as `MaybeUninit<T>` or `[MaybeUninit<T>; N]`, and the value as uninitialised"
)]
#[doc(hidden)]
pub trait Uninitialised {}

impl<T> Uninitialised for MaybeUninit<T> {}
impl<T: Uninitialised, const N: usize> Uninitialised for [T; N] {}
