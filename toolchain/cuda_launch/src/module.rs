//! What a typed launch needs of whoever talks to the driver.

use std::ffi::c_void;

use crate::error::LaunchError;
use crate::shape::Shape;

/// A loaded module.
pub trait Module {
    /// A kernel of it.
    type Function<'m>: Function
    where
        Self: 'm;

    /// Looks a kernel up.
    ///
    /// # Errors
    /// [`LaunchError::NoKernel`].
    fn function(&self, entry: &'static str) -> Result<Self::Function<'_>, LaunchError>;
}

/// A kernel of a loaded module.
pub trait Function {
    /// What launches are queued on.
    type Stream;

    /// Most threads a block that its registers allow, where that is known.
    fn max_threads(&self) -> Option<u32> {
        None
    }

    /// Asks for more dynamic shared memory than the 48 KiB that every launch may have.
    ///
    /// # Errors
    /// When the device has not that much.
    fn allow_dynamic_shared(&self, bytes: usize) -> Result<(), LaunchError>;

    /// Queues a launch.
    ///
    /// # Safety
    /// `arguments` point to values of the kernel's parameters, in order, and what they point to on the device is what the
    /// kernel asks for, until the launch has ended.
    ///
    /// # Errors
    /// When the driver refuses.
    unsafe fn launch(
        &self,
        stream: &Self::Stream,
        shape: Shape,
        arguments: &mut [*mut c_void],
    ) -> Result<(), LaunchError>;
}

/// A generic kernel for types that are among its `#[instances]`.
#[diagnostic::on_unimplemented(
    message = "the kernel has no instance for these types",
    label = "not among the kernel's `#[instances]`"
)]
pub trait Instance {
    /// Name of the entry point.
    const ENTRY: &'static str;
}
