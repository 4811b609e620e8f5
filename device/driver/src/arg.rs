//! What C callers hand over, as types with a name for each use of a pointer.
//!
//! Every exported function lifts its arguments once ([`FromC`]); from there on a null pointer is `INVALID_VALUE` and not
//! a crash, and what is behind a pointer is read and written here only.

use std::ffi::{CStr, c_char, c_void};

use crate::result::{CUresult, Result, fail};
use crate::types::{
    CUcontext, CUevent, CUfunction, CUhostFn, CUkernel, CUlibrary, CUlinkState, CUmemLocation, CUmemoryPool, CUmodule,
    CUoccupancyB2DSize, CUstream, CUstreamCallback,
};

/// An argument as it comes from C, and what it becomes.
pub(crate) trait FromC {
    type Safe;

    /// # Safety
    /// A pointer is null or, until the call returns, valid for what the function that it was passed to does with it by
    /// the words of the Driver API.
    unsafe fn lift(self) -> Self::Safe;
}

macro_rules! plain {
    ($($ty:ty)*) => {
        $(impl FromC for $ty {
            type Safe = Self;
            unsafe fn lift(self) -> Self {
                self
            }
        })*
    };
}

plain! {
    u8 u16 u32 i32 f32 u64 usize CUcontext CUevent CUfunction CUhostFn CUlinkState CUmodule CUoccupancyB2DSize CUresult CUstream
    CUlibrary CUkernel CUmemoryPool CUmemLocation CUstreamCallback
}

impl<T> FromC for *mut T {
    type Safe = Out<T>;
    unsafe fn lift(self) -> Out<T> {
        Out(self)
    }
}

impl<T> FromC for *const T {
    type Safe = In<T>;
    unsafe fn lift(self) -> In<T> {
        In(self)
    }
}

/// Where a result goes. Null, or valid as the function's documentation demands (made by [`FromC::lift`] alone).
pub(crate) struct Out<T>(*mut T);

/// What is to be read. Null, or valid as the function's documentation demands (made by [`FromC::lift`] alone).
pub(crate) struct In<T>(*const T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T> Out<T> {
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// `INVALID_VALUE` for null: for functions that must not do their work when the result has nowhere to go.
    pub(crate) fn wanted(self) -> Result<Self> {
        if self.0.is_null() { fail(CUresult::INVALID_VALUE) } else { Ok(self) }
    }

    pub(crate) fn set(self, value: T) -> Result {
        self.wanted()?;
        // SAFETY: not null, hence valid for a write of a T (invariant of the type).
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Writes unless the pointer is null, where the function allows that.
    pub(crate) fn set_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: as in `set`.
            unsafe { self.0.write(value) };
        }
    }

    /// Element `index` of an array that the caller passes as `*mut T`.
    ///
    /// # Safety
    /// The caller of the Driver API function says, by another argument, that there are more than `index` elements.
    pub(crate) unsafe fn element(self, index: usize) -> Result<T>
    where
        T: Copy,
    {
        self.wanted()?;
        // SAFETY: not null, and long enough as this function's contract says.
        Ok(unsafe { self.0.add(index).read() })
    }

    /// Overwrites element `index`.
    ///
    /// # Safety
    /// As for [`Out::element`].
    pub(crate) unsafe fn set_element(self, index: usize, value: T) {
        // SAFETY: by this function's contract.
        unsafe { self.0.add(index).write(value) };
    }
}

impl Out<c_void> {
    /// A place that the caller names in an array of places, each null or valid as the function's documentation demands.
    pub(crate) fn at(place: *mut c_void) -> Self {
        Self(place)
    }

    pub(crate) fn address(self) -> *mut u8 {
        self.0.cast()
    }

    /// For a result whose type another argument says.
    ///
    /// # Safety
    /// The caller of the Driver API function says, by that argument, that a T can be written here.
    pub(crate) unsafe fn typed<T>(self) -> Out<T> {
        Out(self.0.cast())
    }

    /// For input that the Driver API takes without `const`.
    pub(crate) fn as_input(self) -> In<c_void> {
        In(self.0)
    }
}

impl Out<c_char> {
    /// Writes as much of `text` as fits into `room` bytes, and a NUL.
    pub(crate) fn set_text(self, text: &str, room: usize) -> Result {
        self.wanted()?;
        if room == 0 {
            return fail(CUresult::INVALID_VALUE);
        }
        let length = text.len().min(room - 1);
        // SAFETY: not null; the function says that the caller offers `room` bytes, and length + 1 <= room.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), self.0.cast(), length);
            self.0.add(length).write(0);
        }
        Ok(())
    }
}

impl<T> In<T> {
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn get(self) -> Result<T>
    where
        T: Copy,
    {
        if self.0.is_null() {
            return fail(CUresult::INVALID_VALUE);
        }
        // SAFETY: not null, hence valid for a read of a T (invariant of the type).
        Ok(unsafe { self.0.read() })
    }
}

impl<T> In<T> {
    /// Element `index` of an array.
    ///
    /// # Safety
    /// The caller of the Driver API function says, by another argument, that there are more than `index` elements.
    pub(crate) unsafe fn element(self, index: usize) -> Result<T>
    where
        T: Copy,
    {
        if self.0.is_null() {
            return fail(CUresult::INVALID_VALUE);
        }
        // SAFETY: not null, and long enough as this function's contract says.
        Ok(unsafe { self.0.add(index).read() })
    }
}

impl In<c_void> {
    pub(crate) fn address(self) -> *mut u8 {
        self.0.cast_mut().cast()
    }

    /// The bytes from here.
    ///
    /// # Safety
    /// The caller of the Driver API function says that there are `length` bytes.
    pub(crate) unsafe fn bytes<'a>(self, length: usize) -> Result<&'a [u8]> {
        if self.0.is_null() {
            return fail(CUresult::INVALID_VALUE);
        }
        // SAFETY: not null, and long enough as this function's contract says.
        Ok(unsafe { std::slice::from_raw_parts(self.0.cast(), length) })
    }

    /// The text up to the first NUL, as bytes.
    pub(crate) fn text<'a>(self) -> Result<&'a [u8]> {
        In(self.0.cast::<c_char>()).c_str().map(CStr::to_bytes)
    }
}

impl In<c_char> {
    pub(crate) fn c_str<'a>(self) -> Result<&'a CStr> {
        if self.0.is_null() {
            return fail(CUresult::INVALID_VALUE);
        }
        // SAFETY: not null, and a C string wherever the Driver API takes `const char *` (or PTX text).
        Ok(unsafe { CStr::from_ptr(self.0) })
    }

    /// The text, if it is UTF-8. Names in PTX are.
    pub(crate) fn name<'a>(self) -> Result<&'a str> {
        self.c_str()?.to_str().map_err(|_| CUresult::NOT_FOUND.because("the name is not UTF-8"))
    }
}
