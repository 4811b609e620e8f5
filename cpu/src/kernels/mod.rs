//! The kernels of `gpu/` as the host sees them: inputs, reference, launch, cost.
//!
//! To add one: a file here with a type that implements [`Kernel`] and another that implements [`Prepared`] (`add.rs` is the
//! pattern), and a line in [`ALL`]. The command, the tests and the benchmarks pick it up from there.

mod add;

use crate::dtype::Dtype;
use crate::error::{Error, Result, nearest};
use crate::memory;
use crate::module::Module;
use crate::shape::LaunchShape;
use crate::{Device, Facts};

/// A kernel, for all of its element types.
pub trait Kernel: Sync {
    /// What people call it.
    fn name(&self) -> &'static str;
    /// What it computes, in a line.
    fn summary(&self) -> &'static str;
    /// Element types it is there for.
    fn dtypes(&self) -> &'static [Dtype];
    /// Name of its entry point in the PTX.
    fn entry(&self, dtype: Dtype) -> String;
    /// Bytes that the algorithm must move for `n` elements, read and written.
    fn bytes(&self, dtype: Dtype, n: u64) -> u64;
    /// Bytes of device memory that `n` elements need.
    fn device_bytes(&self, dtype: Dtype, n: u64) -> u64;
    /// Iterations of its grid-stride loop for `n` elements.
    fn iterations(&self, dtype: Dtype, n: u64) -> u64;
    /// Makes random inputs from `seed` and puts them on the device.
    ///
    /// # Errors
    /// When the driver refuses.
    fn prepare(&self, device: &Device, dtype: Dtype, n: usize, seed: u64) -> Result<Box<dyn Prepared>>;
}

/// A kernel with its inputs on the device.
pub trait Prepared {
    /// Launches the entry point `entry` of `module` and returns without waiting.
    ///
    /// # Errors
    /// When the driver refuses the launch.
    fn launch(&mut self, device: &Device, module: &Module, entry: &str, shape: LaunchShape) -> Result<()>;
    /// Fills the output with a pattern that no right result has.
    ///
    /// # Errors
    /// When the driver refuses.
    fn poison(&mut self) -> Result<()>;
    /// Reads [`element_read`] of the output, as a program would that wants to see a result. Waits for whatever computes it.
    ///
    /// # Errors
    /// When the driver refuses, or the kernel before it failed.
    fn read_one(&mut self) -> Result<()>;
    /// Compares the whole output with the host reference. `Err` inside says which element is wrong and how.
    ///
    /// # Errors
    /// When the output cannot be read.
    fn verify(&self) -> Result<std::result::Result<(), String>>;
}

/// All kernels.
pub static ALL: &[&dyn Kernel] = &[&add::Add { vector: true }, &add::Add { vector: false }];

/// The kernel of a name.
///
/// # Errors
/// [`Error::NoKernel`], with the nearest name.
pub fn find(name: &str) -> Result<&'static dyn Kernel> {
    let known = ALL.iter().copied().find(|kernel| kernel.name() == name);
    known.ok_or_else(|| {
        let nearest = nearest(name, ALL.iter().map(|kernel| kernel.name()));
        Error::NoKernel { name: name.to_owned(), nearest }
    })
}

/// The launch shape that suits a kernel on a device.
#[must_use]
pub fn full_shape(kernel: &dyn Kernel, dtype: Dtype, n: u64, facts: &Facts) -> LaunchShape {
    let iterations = kernel.iterations(dtype, n);
    let bytes = kernel.bytes(dtype, n).checked_div(iterations).unwrap_or(0);
    LaunchShape::full(facts, iterations, bytes)
}

/// Checks that a kernel is there for a type, and that `n` elements fit the device and the host.
///
/// # Errors
/// [`Error::NoDtype`], [`Error::TooLarge`].
pub fn check(kernel: &dyn Kernel, device: &Device, dtype: Dtype, n: u64) -> Result<()> {
    if !kernel.dtypes().contains(&dtype) {
        return Err(Error::NoDtype { kernel: kernel.name(), dtype, known: kernel.dtypes() });
    }
    memory::check(kernel, device, dtype, n)
}

/// The element that [`Prepared::read_one`] reads of `n`, if there is one: the third, as in the question that started this.
#[must_use]
pub fn element_read(n: u64) -> Option<u64> {
    n.checked_sub(1).map(|last| last.min(2))
}
