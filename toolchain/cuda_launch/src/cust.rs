//! Launches through `cust`.

use std::ffi::c_void;

use ::cust::device::{Device, DeviceAttribute};
use ::cust::error::CudaError;
use ::cust::function::{Function as CustFunction, FunctionAttribute};
use ::cust::memory::{DeviceBox, DeviceBuffer, DeviceCopy, DevicePointer, DeviceSlice};
use ::cust::module::Module as CustModule;
use ::cust::stream::Stream;
use ::cust::sys::{CUfunction_attribute, CUresult, cuFuncSetAttribute};

use crate::argument::{MaybeReference, Pointer, PointerMut, Reference, Slice, SliceMut};
use crate::error::LaunchError;
use crate::images::Images;
use crate::module::{Function, Module};
use crate::shape::Shape;

impl Module for CustModule {
    type Function<'m> = CustFunction<'m>;

    fn function(&self, entry: &'static str) -> Result<CustFunction<'_>, LaunchError> {
        self.get_function(entry).map_err(|e| LaunchError::NoKernel { kernel: entry, source: e.into() })
    }
}

impl Function for CustFunction<'_> {
    type Stream = Stream;

    fn max_threads(&self) -> Option<u32> {
        self.get_attribute(FunctionAttribute::MaxThreadsPerBlock).ok().and_then(|most| most.try_into().ok())
    }

    fn allow_dynamic_shared(&self, bytes: usize) -> Result<(), LaunchError> {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // More than fits is refused by the driver, as it should be.
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        // SAFETY: the function is one of a module that is loaded while `self` borrows it.
        let result = unsafe { cuFuncSetAttribute(self.to_raw(), attribute, bytes) };
        match result {
            CUresult::CUDA_SUCCESS => Ok(()),
            code => Err(LaunchError::Driver {
                what: "asking for dynamic shared memory",
                source: format!("{code:?} for {bytes} bytes").into(),
            }),
        }
    }

    unsafe fn launch(&self, stream: &Stream, shape: Shape, arguments: &mut [*mut c_void]) -> Result<(), LaunchError> {
        let Shape { grid, block, dynamic_shared } = shape;
        let shared = u32::try_from(dynamic_shared).unwrap_or(u32::MAX);
        // SAFETY: by the caller.
        let result =
            unsafe { stream.launch(self, (grid.x, grid.y, grid.z), (block.x, block.y, block.z), shared, arguments) };
        result.map_err(|e| driver("launching the kernel", e))
    }
}

fn driver(what: &'static str, error: CudaError) -> LaunchError {
    LaunchError::Driver { what, source: error.into() }
}

impl Images {
    /// Loads the best image for the device of the current context.
    ///
    /// # Errors
    /// [`LaunchError::NoImage`] where none runs on it; [`LaunchError::Driver`] where the driver refuses the one that should.
    pub fn load(&self) -> Result<CustModule, LaunchError> {
        let asking = |e| driver("asking the device for its compute capability", e);
        let device: Device = ::cust::context::CurrentContext::get_device().map_err(asking)?;
        let number = |attribute| device.get_attribute(attribute).map(i32::unsigned_abs).map_err(asking);
        let major = number(DeviceAttribute::ComputeCapabilityMajor)?;
        let minor = number(DeviceAttribute::ComputeCapabilityMinor)?;
        let image = self.best_for((major, minor))?;
        CustModule::from_ptx(image.ptx(), &[]).map_err(|e| driver("loading the PTX", e))
    }
}

/// Implements a trait for types that know their device pointer.
macro_rules! arguments {
    ($($trait:ident for $t:ty $(, $length:ident)?;)*) => {$(
        // SAFETY: `cust` made the memory, and the borrow keeps it; a mutable one keeps others out.
        unsafe impl<T: DeviceCopy> $trait<T> for $t {
            fn address(&self) -> u64 {
                self.as_device_ptr().as_raw()
            }
            $(fn $length(&self) -> usize {
                self.len()
            })?
        }
    )*};
}

arguments! {
    Slice for &DeviceBuffer<T>, length;
    Slice for &DeviceSlice<T>, length;
    SliceMut for &mut DeviceBuffer<T>, length;
    SliceMut for &mut DeviceSlice<T>, length;
    Pointer for &DeviceBuffer<T>;
    Pointer for &DeviceSlice<T>;
    Pointer for &DeviceBox<T>;
    PointerMut for &mut DeviceBuffer<T>;
    PointerMut for &mut DeviceSlice<T>;
    PointerMut for &mut DeviceBox<T>;
    Reference for &DeviceBox<T>;
}

// SAFETY: whoever made the pointer said what it points to; that it still does is for the launch, which is unsafe.
unsafe impl<T: DeviceCopy> Pointer<T> for DevicePointer<T> {
    fn address(&self) -> u64 {
        self.as_raw()
    }
}

// SAFETY: as above.
unsafe impl<T: DeviceCopy> PointerMut<T> for DevicePointer<T> {
    fn address(&self) -> u64 {
        self.as_raw()
    }
}

// SAFETY: as for the reference itself.
unsafe impl<T: DeviceCopy> MaybeReference<T> for Option<&DeviceBox<T>> {
    fn address(&self) -> u64 {
        self.map_or(0, |value| value.as_device_ptr().as_raw())
    }
}
