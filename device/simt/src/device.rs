//! The CPU device: takes a launch and spreads its blocks over the machine's cores.

use std::sync::Arc;

use crate::counters::Counters;
use crate::fault::Fault;
use crate::memory::Memory;
use crate::program::Program;

/// What the device says of itself.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Name, with the word CPU in it.
    pub name: String,
    /// Cores that run blocks; the device's multiprocessors.
    pub multiprocessors: u32,
    /// Lanes a warp: 32.
    pub warp_size: u32,
    /// Highest compute capability times ten whose PTX runs.
    pub sm: u32,
    /// Threads a block at most, in all.
    pub max_threads_per_block: u32,
    /// Threads a block at most, each way.
    pub max_block: [u32; 3],
    /// Blocks a grid at most, each way.
    pub max_grid: [u32; 3],
    /// Bytes of shared memory a block may use without asking for more.
    pub shared_per_block: u32,
    /// Bytes of shared memory a block may have at most.
    pub shared_per_block_optin: u32,
    /// Bytes of constant memory.
    pub constant_bytes: u32,
}

/// How a kernel is launched.
#[derive(Debug, Clone, Copy)]
pub struct LaunchConfig {
    /// Blocks each way.
    pub grid: [u32; 3],
    /// Threads a block each way.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory a block.
    pub dynamic_shared: u32,
    /// All blocks are resident at once (`cuLaunchCooperativeKernel`).
    pub cooperative: bool,
    /// Also count memory requests, sectors and bank conflicts.
    pub count_memory: bool,
}

/// The CPU device.
#[derive(Debug)]
pub struct Device {}

impl Device {
    /// A device that runs blocks on `threads` cores (at least 1) over `memory`.
    #[must_use]
    pub fn new(threads: usize, memory: Arc<Memory>) -> Self {
        let _ = (threads, memory);
        todo!()
    }
    /// What the device says of itself.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        todo!()
    }
    /// Its memory.
    #[must_use]
    pub fn memory(&self) -> &Arc<Memory> {
        todo!()
    }
    /// Runs kernel number `kernel` of `program` to its end. `params` is the parameter buffer
    /// ([`crate::KernelInfo::params`]); the shape has been checked against [`Facts`] by the caller. What kernels print
    /// goes to standard output when the launch ends.
    ///
    /// Callable from several threads at once.
    ///
    /// # Errors
    /// The first fault; blocks that had not started by then do not run.
    pub fn launch(
        &self,
        program: &Program,
        kernel: usize,
        config: &LaunchConfig,
        params: &[u8],
    ) -> Result<Counters, Box<Fault>> {
        let _ = (program, kernel, config, params);
        todo!()
    }
}
