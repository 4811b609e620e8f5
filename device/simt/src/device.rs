//! The CPU device: takes a launch and spreads its blocks over the machine's cores.

use std::sync::Arc;

use crate::counters::Counters;
use crate::fault::Fault;
use crate::memory::Memory;
use crate::pool::Workers;
use crate::program::{NEWEST_SM, Program};
use crate::run::Launch;

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
pub struct Device {
    facts: Facts,
    memory: Arc<Memory>,
    workers: Workers,
}

impl Device {
    /// A device that runs blocks on `threads` cores (at least 1) over `memory`.
    #[must_use]
    pub fn new(threads: usize, memory: Arc<Memory>) -> Self {
        let threads = threads.max(1);
        let facts = Facts {
            name: format!("gridstride CPU device ({threads} core{})", if threads == 1 { "" } else { "s" }),
            multiprocessors: u32::try_from(threads).unwrap_or(u32::MAX),
            warp_size: 32,
            sm: NEWEST_SM,
            max_threads_per_block: 1024,
            max_block: [1024, 1024, 64],
            max_grid: [i32::MAX as u32, 65535, 65535],
            shared_per_block: 48 << 10,
            shared_per_block_optin: 227 << 10,
            constant_bytes: 64 << 10,
        };
        Self { facts, memory, workers: Workers::new(threads) }
    }

    /// What the device says of itself.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Its memory.
    #[must_use]
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Runs kernel number `kernel` of `program` to its end. `params` is the parameter buffer
    /// ([`crate::KernelInfo::params`]); the shape has been checked against [`Facts`] by the caller. What kernels print
    /// goes to standard output when the launch ends.
    ///
    /// Callable from several threads at once.
    ///
    /// # Errors
    /// The fault of the first block (in the order of the grid) that had one; blocks that had not started by then do not run.
    ///
    /// # Panics
    /// When `kernel` is not below the number of the program's kernels.
    pub fn launch(
        &self,
        program: &Arc<Program>,
        kernel: usize,
        config: &LaunchConfig,
        params: &[u8],
    ) -> Result<Counters, Box<Fault>> {
        let launch = Launch::new(program.clone(), kernel, *config, params, &self.memory, self.facts.multiprocessors);
        self.workers.run(Arc::new(launch))
    }
}
