//! The kernels of `gpu/` as the host sees them: inputs, reference, launch, cost.
//!
//! To add one, two files and three lines, fewer than 60 in all:
//!
//! 1. `gpu/src/FAMILY.rs` with the kernel, and its `pub mod` line in `gpu/src/lib.rs`.
//! 2. `FAMILY.rs` here with a type that implements [`Kernel`]: what it moves and computes, and its `Case`, which is its
//!    inputs, what should come out, and the parameters of the launch. `maps.rs` is the pattern.
//! 3. Its `mod` line and its line in [`ALL`].
//!
//! `compare`, the checks, `bench`, the lattice of `tests/kernels.rs` and the list in the documentation pick it up from there.

mod add;
mod case;
mod expected;
mod histogram;
mod mandelbrot;
mod maps;
mod matmul;
mod montecarlo;
mod nbody;
mod random;
mod rectangle;
mod reduce;
mod rows;
mod scan;
mod spmv;
mod stencil;
mod transpose;

pub(crate) use self::case::Case;
use crate::dtype::Dtype;
use crate::error::{Error, Result, nearest};
use crate::memory;
use crate::module::Module;
use crate::shape::LaunchShape;
use crate::{Device, Facts};

/// All kernels.
pub static ALL: &[&dyn Kernel] = &[
    &add::Add { vector: true },
    &add::Add { vector: false },
    &maps::Fill,
    &maps::Copy,
    &maps::Saxpy,
    &maps::Triad,
    &maps::Gelu,
    &reduce::Reduce::Sum,
    &reduce::Reduce::SumNaive,
    &reduce::Reduce::Min,
    &reduce::Reduce::Max,
    &reduce::Reduce::Dot,
    &scan::Scan { inclusive: true },
    &scan::Scan { inclusive: false },
    &scan::ScanNaive,
    &scan::Compact,
    &scan::CompactNaive,
    &histogram::Histogram { private: true },
    &histogram::Histogram { private: false },
    &transpose::Transpose { tiled: true },
    &transpose::Transpose { tiled: false },
    &stencil::Stencil { pieces: true },
    &stencil::Stencil { pieces: false },
    &rows::Rows::Softmax,
    &rows::Rows::SoftmaxNaive,
    &rows::Rows::LayerNorm,
    &matmul::Matmul { tiled: true },
    &matmul::Matmul { tiled: false },
    &mandelbrot::Mandelbrot { strided: true },
    &mandelbrot::Mandelbrot { strided: false },
    &montecarlo::MonteCarlo { reduced: true },
    &montecarlo::MonteCarlo { reduced: false },
    &nbody::Nbody { tiled: true },
    &nbody::Nbody { tiled: false },
    &spmv::Spmv { group: true },
    &spmv::Spmv { group: false },
];

/// A kernel, for all of its element types.
#[expect(private_interfaces, reason = "a case is for the kernels of this crate; others implement `Prepared`")]
pub trait Kernel: Sync {
    /// What people call it.
    fn name(&self) -> &'static str;
    /// What it computes, in a line.
    fn summary(&self) -> &'static str;
    /// Element types it is there for; the first is the one that is meant where none is named.
    fn dtypes(&self) -> &'static [Dtype];
    /// Name of its entry point in the PTX.
    fn entry(&self, dtype: Dtype) -> String {
        format!("{}_{dtype}", self.name())
    }
    /// Bytes that the algorithm must move for `n` elements, read and written.
    fn bytes(&self, dtype: Dtype, n: u64) -> u64;
    /// Operations that the algorithm must do for `n` elements, where it is them that take the time; else 0.
    fn operations(&self, _dtype: Dtype, _n: u64) -> u64 {
        0
    }
    /// Bytes of device memory that `n` elements need.
    fn device_bytes(&self, dtype: Dtype, n: u64) -> u64 {
        self.bytes(dtype, n)
    }
    /// Iterations of its grid-stride loop for `n` elements.
    fn iterations(&self, _dtype: Dtype, n: u64) -> u64 {
        n
    }
    /// Elements of its output.
    fn outputs(&self, n: u64) -> u64 {
        n
    }
    /// What `n` elements are, for people: `4096 x 4096` where that says more than their number.
    fn extent(&self, _n: u64) -> Option<String> {
        None
    }
    /// How many elements are worth measuring.
    fn sizes(&self) -> Sizes {
        Sizes::STREAM
    }
    /// Threads that a block of it may have on a device; fewer than the device's own limit where it needs many registers.
    fn most_threads(&self, facts: &Facts) -> u64 {
        u64::from(facts.max_threads_per_block)
    }
    /// The launch shape that suits it on a device.
    fn shape(&self, dtype: Dtype, n: u64, facts: &Facts) -> LaunchShape {
        let iterations = self.iterations(dtype, n);
        let bytes = self.bytes(dtype, n).checked_div(iterations).unwrap_or(0);
        LaunchShape::full(facts, iterations, bytes)
    }
    /// Its arrays, what should come out of it, and its parameters.
    #[doc(hidden)]
    fn case(&self, dtype: Dtype, n: usize, seed: u64) -> Case;
    /// Makes random inputs from `seed` and puts them on the device.
    ///
    /// # Errors
    /// When the driver refuses.
    fn prepare(&self, _device: &Device, dtype: Dtype, n: usize, seed: u64) -> Result<Box<dyn Prepared>> {
        self.case(dtype, n, seed).load()
    }
}

/// How many elements of a kernel are worth measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Enough to see what a launch shape costs, and few enough to wait for one thread.
    pub compare: u64,
    /// Enough to leave a GPU's caches and to make the launch itself cost nothing.
    pub full: u64,
    /// The same for the CPU device.
    pub full_cpu: u64,
}

impl Sizes {
    /// Of what passes over memory once.
    pub const STREAM: Self = Self { compare: 10_000_000, full: 1 << 28, full_cpu: 10_000_000 };

    /// The full size on a device.
    #[must_use]
    pub fn on(&self, facts: &Facts) -> u64 {
        if facts.is_gpu() { self.full } else { self.full_cpu }
    }
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
    kernel.shape(dtype, n, facts)
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

/// The element that [`Prepared::read_one`] reads of an output of `n`, if there is one: the third, as in the question that
/// started this.
#[must_use]
pub fn element_read(n: u64) -> Option<u64> {
    n.checked_sub(1).map(|last| last.min(2))
}
