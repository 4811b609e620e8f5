//! Every kind of launch shape against every kind of size: what a kernel must be right for.

use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::kernels::Kernel;
use crate::module::Module;
use crate::shape::LaunchShape;

/// One thread, one warp, warps with lanes missing, more and fewer threads than elements, the sizes that kernels have a path of their
/// own for, and more than one dimension.
pub const SHAPES: &[LaunchShape] = &[
    shape([1, 1, 1], [1, 1, 1]),
    shape([1, 1, 1], [32, 1, 1]),
    shape([1, 1, 1], [33, 1, 1]),
    shape([2, 1, 1], [31, 1, 1]),
    shape([7, 1, 1], [96, 1, 1]),
    shape([5, 1, 1], [128, 1, 1]),
    shape([3, 1, 1], [512, 1, 1]),
    shape([2, 1, 1], [1024, 1, 1]),
    shape([40, 1, 1], [256, 1, 1]),
    shape([2, 2, 1], [16, 8, 2]),
];

/// Nothing, one, around a warp, a block and a tile, primes, and more elements than threads.
pub const SIZES: &[usize] =
    &[0, 1, 2, 3, 5, 31, 32, 33, 127, 255, 256, 257, 1009, 4095, 4096, 4099, 16_384, 30_011, 65_536, 300_007];

const fn shape(grid: [u32; 3], block: [u32; 3]) -> LaunchShape {
    LaunchShape { grid, block }
}

/// Launches of a kernel that were right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verified {
    /// Launches.
    pub launches: u64,
}

/// Sizes that ask for up to so many times as much are verified in the launch that suits the device.
const MORE: u64 = 200;

/// Launches the kernel in every shape for every size that asks for at most `work` operations or elements moved, and for larger sizes
/// in the shape that suits the device; each time with new inputs and over a poisoned output, and compares the result with the host's. Each launch is made twice: the second one shows
/// whether the first left its scratch memory as it found it.
///
/// # Errors
/// [`Error::Wrong`] for the first that is wrong; it names shape, size and seed.
pub fn verify(
    device: &Device,
    module: &Module,
    kernel: &dyn Kernel,
    dtype: Dtype,
    work: u64,
    seed: u64,
) -> Result<Verified> {
    let asked = |n: u64| kernel.operations(dtype, n).max(kernel.bytes(dtype, n) / dtype.bytes());
    let entry = kernel.entry(dtype);
    let mut verified = Verified::default();
    for (&n, seed) in SIZES.iter().filter(|n| asked(**n as u64) <= work.saturating_mul(MORE)).zip(seed..) {
        let mut prepared = kernel.prepare(device, dtype, n, seed)?;
        let suited = kernel.shape(dtype, n as u64, device.facts());
        let all: &[LaunchShape] = if asked(n as u64) <= work { SHAPES } else { &[] };
        let possible = |shape: &&LaunchShape| shape.threads_per_block() <= kernel.most_threads(device.facts());
        for &shape in all.iter().filter(possible).chain([&suited]) {
            for _ in 0..2 {
                prepared.poison()?;
                prepared.launch(device, module, &entry, shape)?;
                device.synchronize()?;
                let wrong = |detail: String| Error::Wrong {
                    kernel: entry.clone(),
                    shape: shape.to_string(),
                    detail: format!("{detail} (n = {n}, seed {seed})"),
                };
                prepared.verify()?.map_err(wrong)?;
                verified.launches += 1;
            }
        }
    }
    Ok(verified)
}
