//! What the host passes for a parameter of a kernel.

use std::ffi::c_void;

/// Device memory for a `&[T]`: initialised, and not written while the kernel runs.
///
/// # Safety
/// `address` and `len` are those of that many initialised `T` on the device.
#[diagnostic::on_unimplemented(
    message = "the kernel reads a `&[{T}]` here, and `{Self}` is none",
    label = "pass a `&DeviceBuffer<{T}>` or a `&DeviceSlice<{T}>`"
)]
pub unsafe trait Slice<T> {
    /// Where it is.
    fn address(&self) -> u64;
    /// Elements.
    fn length(&self) -> usize;
}

/// Device memory of a known length for a `GridMut<T>` or a `*mut T`, which nothing else reaches.
///
/// # Safety
/// `address` and `len` are those of that many `T` on the device, borrowed mutably.
#[diagnostic::on_unimplemented(
    message = "the kernel writes elements of type `{T}` here, and `{Self}` cannot be written as such",
    label = "pass a `&mut DeviceBuffer<{T}>` or a `&mut DeviceSlice<{T}>`"
)]
pub unsafe trait SliceMut<T> {
    /// Where it is.
    fn address(&self) -> u64;
    /// Elements.
    fn length(&self) -> usize;
}

/// Device memory for a `*const T`.
///
/// # Safety
/// `address` is one of `T`s on the device.
#[diagnostic::on_unimplemented(
    message = "the kernel reads through a `*const {T}` here, and `{Self}` is no place of `{T}` on the device",
    label = "pass a `&DeviceBuffer<{T}>`, a `&DeviceSlice<{T}>`, a `&DeviceBox<{T}>` or a `DevicePointer<{T}>`"
)]
pub unsafe trait Pointer<T> {
    /// Where it is.
    fn address(&self) -> u64;
}

/// Device memory for a `*mut T`.
///
/// # Safety
/// `address` is one of `T`s on the device that may be written.
#[diagnostic::on_unimplemented(
    message = "the kernel writes through a `*mut {T}` here, and `{Self}` is no place of `{T}` on the device that may be written",
    label = "pass a `&mut DeviceBuffer<{T}>`, a `&mut DeviceSlice<{T}>`, a `&mut DeviceBox<{T}>` or a `DevicePointer<{T}>`"
)]
pub unsafe trait PointerMut<T> {
    /// Where it is.
    fn address(&self) -> u64;
}

/// A single value on the device for a `&T`: initialised, and not written while the kernel runs.
///
/// # Safety
/// `address` is that of an initialised `T` on the device.
#[diagnostic::on_unimplemented(
    message = "the kernel reads a `&{T}` here, and `{Self}` is none on the device",
    label = "pass a `&DeviceBox<{T}>`"
)]
pub unsafe trait Reference<T> {
    /// Where it is.
    fn address(&self) -> u64;
}

/// A single value on the device, or none, for an `Option<&T>`.
///
/// # Safety
/// `address` is that of an initialised `T` on the device, or 0.
#[diagnostic::on_unimplemented(
    message = "the kernel reads an `Option<&{T}>` here, and `{Self}` is none on the device",
    label = "pass a `Some(&DeviceBox<{T}>)` or `None`"
)]
pub unsafe trait MaybeReference<T> {
    /// Where it is.
    fn address(&self) -> u64;
}

/// What a rule of `#[requires]` or `#[dynamic_shared]` sees of device memory.
#[derive(Debug, Clone, Copy)]
pub struct Length(pub usize);

impl Length {
    /// Elements.
    #[must_use]
    pub fn len(self) -> usize {
        self.0
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Pointers to the values of at most `N` parameters, as `cuLaunchKernel` takes them.
#[derive(Debug)]
pub struct Pointers<const N: usize> {
    all: [*mut c_void; N],
    count: usize,
}

impl<const N: usize> Pointers<N> {
    /// None yet.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "only generated code makes one")]
    pub fn new() -> Self {
        Self { all: [std::ptr::null_mut(); N], count: 0 }
    }

    /// Adds a parameter. One of size 0 has none in the PTX. The value must outlive the launch call.
    pub fn push<T>(&mut self, value: &T) {
        if size_of::<T>() != 0 {
            self.all[self.count] = (&raw const *value).cast_mut().cast();
            self.count += 1;
        }
    }

    /// All of them.
    pub fn as_mut_slice(&mut self) -> &mut [*mut c_void] {
        &mut self.all[..self.count]
    }
}
