//! The kernels of `gpu/` as the host sees them: inputs, reference, launch, cost.
//!
//! To add one: a file here with a type that implements [`Kernel`] and another that implements [`Prepared`] (`add.rs` is the
//! pattern), and a line in [`ALL`]. The command, the tests and the benchmarks pick it up from there.

mod add;

use crate::dtype::Dtype;
use crate::error::{Error, Result, nearest};
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
    /// Reads one element of the output, as a program would that wants to see a result. Waits for whatever computes it.
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
    let needed = kernel.device_bytes(dtype, n);
    let free = device.free_memory()?;
    let place = |facts: &Facts| match facts.kind {
        crate::Kind::Gpu => format!("the memory of {}", facts.name),
        crate::Kind::Cpu => "memory on the CPU device".to_owned(),
    };
    fits(n, needed, free, place(device.facts()), |n| kernel.device_bytes(dtype, n))?;
    // The host keeps inputs and reference too, and on the CPU device both are in the same memory.
    if let Some(available) = host_memory() {
        let shared = if device.facts().is_gpu() { 0 } else { needed };
        let on_host = |n| kernel.device_bytes(dtype, n) + if shared > 0 { kernel.device_bytes(dtype, n) } else { 0 };
        fits(n, needed.saturating_add(shared), available, "host memory".into(), on_host)?;
    }
    Ok(())
}

fn fits(n: u64, needed: u64, free: u64, place: String, bytes: impl Fn(u64) -> u64) -> Result<()> {
    if needed <= free {
        return Ok(());
    }
    let each = bytes(1 << 20).div_ceil(1 << 20).max(1);
    Err(Error::TooLarge { n, needed: gib(needed), place, free: gib(free), most: free / each })
}

fn gib(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{bytes} bytes"),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

/// Bytes that the host can still give, where the system says so.
fn host_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
