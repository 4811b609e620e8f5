//! Options of Rust-CUDA's builder that this one cannot offer: calling them is a compile error that says why.
//!
//! Each takes a type that implements its trait, and none does. That is the one way to give a method call an error message of
//! its own; an option that was accepted and did nothing would be worse.

use crate::options::CudaBuilder;

/// What [`CudaBuilder::ftz`] would take.
#[diagnostic::on_unimplemented(
    message = "cuda_builder has no `ftz`: flushing denormal numbers to zero is a property of functions that the compiler cannot be told of",
    label = "remove the call; `ftz(false)` is what happens without it"
)]
pub trait FlushToZero {}

/// What [`CudaBuilder::optix`] would take.
#[diagnostic::on_unimplemented(
    message = "cuda_builder has no `optix`: OptiX programs are another dialect of PTX, which the compiler's NVPTX back end does not write",
    label = "remove the call; `optix(false)` is what happens without it"
)]
pub trait Optix {}

/// What [`CudaBuilder::override_libm`] would take.
#[diagnostic::on_unimplemented(
    message = "cuda_builder has no `override_libm`: it replaces functions by NVIDIA's libdevice, which only a CUDA toolkit has. \
               `cuda_std` has its own fast functions",
    label = "remove the call; `override_libm(false)` is what happens without it"
)]
pub trait OverrideLibm {}

/// What [`CudaBuilder::use_constant_memory_space`] would take.
#[diagnostic::on_unimplemented(
    message = "cuda_builder has no `use_constant_memory_space`: the compiler cannot place a `static` in constant memory. Read-only \
               data is in global memory, and read through the read-only cache where the compiler sees that it is",
    label = "remove the call; `use_constant_memory_space(false)` is what happens without it"
)]
pub trait ConstantMemory {}

impl CudaBuilder {
    /// Not offered: the compiler has no way to say that functions flush denormal numbers to zero.
    ///
    /// ```compile_fail,E0277
    /// cuda_builder::CudaBuilder::new("kernels").ftz(true);
    /// ```
    pub fn ftz<T: FlushToZero>(self, _flush: T) -> Self {
        self
    }

    /// Not offered: OptiX takes another dialect of PTX that the compiler's back end does not write.
    ///
    /// ```compile_fail,E0277
    /// cuda_builder::CudaBuilder::new("kernels").optix(true);
    /// ```
    pub fn optix<T: Optix>(self, _optix: T) -> Self {
        self
    }

    /// Not offered: there is no libdevice without a CUDA toolkit.
    ///
    /// ```compile_fail,E0277
    /// cuda_builder::CudaBuilder::new("kernels").override_libm(true);
    /// ```
    pub fn override_libm<T: OverrideLibm>(self, _replace: T) -> Self {
        self
    }

    /// Not offered: the compiler places `static`s in global memory only.
    ///
    /// ```compile_fail,E0277
    /// cuda_builder::CudaBuilder::new("kernels").use_constant_memory_space(true);
    /// ```
    pub fn use_constant_memory_space<T: ConstantMemory>(self, _constant: T) -> Self {
        self
    }
}
