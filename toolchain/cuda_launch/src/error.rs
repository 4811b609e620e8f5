//! Why a kernel was not loaded or not launched.

use std::error::Error;

use crate::shape::Dim3;

/// Why a kernel was not loaded or not launched. Nothing reached the device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the numbers of the messages")]
pub enum LaunchError {
    /// The module has no such kernel.
    #[error("the module has no kernel `{kernel}`: {source}. Was it built from the same crate of kernels?")]
    NoKernel { kernel: &'static str, source: Box<dyn Error + Send + Sync> },
    /// An extent of the grid or of a block is 0 or beyond what any device takes.
    #[error("`{kernel}`: the {what} has {count} along {axis}; from 1 to {most} are possible")]
    Extent { kernel: &'static str, what: &'static str, axis: &'static str, count: u32, most: u32 },
    /// The kernel is for another size of block.
    #[error("`{kernel}` is written for blocks of {required} threads (`#[block_size]`), and was launched with {block}")]
    BlockSize { kernel: &'static str, required: Dim3, block: Dim3 },
    /// A block has more threads than the kernel takes.
    #[error(
        "`{kernel}` takes at most {most} threads a block (`#[launch_bounds]`, or its registers), and {block} are {threads}"
    )]
    BlockTooLarge { kernel: &'static str, block: Dim3, threads: u64, most: u32 },
    /// The launch gives less dynamic shared memory than the kernel uses.
    #[error("`{kernel}` needs {needed} bytes of dynamic shared memory for this launch, and {given} were given")]
    SharedTooSmall { kernel: &'static str, needed: usize, given: usize },
    /// The device has not that much.
    #[error(
        "`{kernel}` needs {bytes} bytes of dynamic shared memory for this launch, which the device does not give: {source}"
    )]
    SharedTooLarge { kernel: &'static str, bytes: usize, source: Box<LaunchError> },
    /// A rule of the kernel's `#[requires]` does not hold.
    #[error("`{kernel}` requires `{rule}`, and {values}")]
    Requirement { kernel: &'static str, rule: &'static str, values: String },
    /// No image runs on the device.
    #[error(
        "the program was built for {built}, and none of these runs on a device of compute capability {major}.{minor}. Build it \
         for compute_{major}{minor} or older"
    )]
    NoImage { built: String, major: u32, minor: u32 },
    /// The driver refused.
    #[error("{what} failed: {source}")]
    Driver { what: &'static str, source: Box<dyn Error + Send + Sync> },
}
