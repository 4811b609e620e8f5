//! One launch: its blocks, handed out in order to the cores that work on it, and what comes of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use crate::barrier::Barriers;
use crate::counters::Counters;
use crate::device::LaunchConfig;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::frame::{Coordinates, Pool};
use crate::launch::LaunchContext;
use crate::memory::{AllocationTable, Memory, RecentRanges, Region};
use crate::program::Program;

/// A launch in progress. Cores call [`Launch::work`]; the one that asked for it waits in [`Launch::finish`].
#[derive(Debug)]
pub(crate) struct Launch {
    program: Arc<Program>,
    kernel: usize,
    config: LaunchConfig,
    params: Vec<u8>,
    memory: Arc<Memory>,
    allocations: Arc<AllocationTable>,
    cores: u32,
    began: Instant,
    /// Blocks taken so far.
    taken: AtomicU64,
    blocks: u64,
    /// Blocks that a core takes at once.
    chunk: u64,
    result: Mutex<Progress>,
    done: Condvar,
    freed: Mutex<Vec<Arc<Region>>>,
    printed: Mutex<Vec<(u64, String)>>,
}

#[derive(Debug, Default)]
struct Progress {
    /// Cores that are at work now.
    working: u32,
    counters: Counters,
    /// The fault of the earliest block, by its flat index.
    fault: Option<(u64, Box<Fault>)>,
}

impl Launch {
    pub(crate) fn new(
        program: Arc<Program>,
        kernel: usize,
        config: LaunchConfig,
        params: &[u8],
        memory: &Arc<Memory>,
        cores: u32,
    ) -> Self {
        let blocks: u64 = config.grid.iter().map(|n| u64::from(*n)).product();
        // A buffer that is too short reads as zeros, never as something else.
        let mut params = params.to_vec();
        params.resize(params.len().max(program.kernels()[kernel].param_bytes as usize), 0);
        Self {
            allocations: memory.table(),
            memory: memory.clone(),
            program,
            kernel,
            config,
            params,
            cores,
            began: Instant::now(),
            taken: AtomicU64::new(0),
            blocks,
            // Small enough that all cores end together, large enough that taking them costs nothing.
            chunk: (blocks / (u64::from(cores) * 16)).clamp(1, 64),
            result: Mutex::default(),
            done: Condvar::new(),
            freed: Mutex::default(),
            printed: Mutex::default(),
        }
    }

    /// Cores that have something to do here.
    pub(crate) fn useful_cores(&self) -> u64 {
        self.blocks.div_ceil(self.chunk)
    }

    /// Takes blocks until none is left.
    pub(crate) fn work(&self, core: u32) {
        {
            // Under the lock: whoever waits sees either this core at work or no block left for it.
            let mut result = self.progress();
            if self.taken.load(Ordering::Relaxed) >= self.blocks {
                return;
            }
            result.working += 1;
        }
        let (counters, fault) = self.run_blocks(core);
        let mut result = self.progress();
        result.counters += counters;
        if let Some((block, fault)) = fault
            && result.fault.as_ref().is_none_or(|(earliest, _)| block < *earliest)
        {
            result.fault = Some((block, fault));
        }
        result.working -= 1;
        drop(result);
        self.done.notify_all();
    }

    fn run_blocks(&self, core: u32) -> (Counters, Option<(u64, Box<Fault>)>) {
        let kernel = &self.program.kernels[self.kernel];
        let info = &self.program.kernels()[self.kernel];
        let context = LaunchContext {
            allocations: &self.allocations,
            memory: &self.memory,
            params: &self.params,
            count_memory: self.config.count_memory,
            began: self.began,
            freed: &self.freed,
            printed: &self.printed,
        };
        let shared_bytes = kernel.static_shared.next_multiple_of(16) + self.config.dynamic_shared;
        let mut engine = Engine {
            program: &self.program,
            kernel,
            name: &info.name,
            context: &context,
            coordinates: Coordinates {
                grid: self.config.grid,
                block: self.config.block,
                block_index: [0; 3],
                first_thread: 0,
                core,
                cores: self.cores,
                dynamic_shared: self.config.dynamic_shared,
                total_shared: shared_bytes,
            },
            counters: Counters::default(),
            recent: RecentRanges::default(),
            pool: Pool::default(),
            shared: vec![0; (shared_bytes as usize).div_ceil(8)],
            shared_bytes,
            barriers: Barriers::default(),
            live_threads: 0,
        };
        loop {
            let first = self.taken.fetch_add(self.chunk, Ordering::Relaxed);
            if first >= self.blocks {
                return (engine.counters, None);
            }
            for flat in first..(first + self.chunk).min(self.blocks) {
                if let Err(fault) = engine.block(self.block_index(flat)) {
                    self.taken.store(self.blocks, Ordering::Relaxed);
                    return (engine.counters, Some((flat, fault)));
                }
            }
        }
    }

    fn block_index(&self, flat: u64) -> [u32; 3] {
        let [x, y, _] = self.config.grid.map(u64::from);
        // Each is below its own dimension of the grid, which is a u32.
        [flat % x, flat / x % y, flat / x / y].map(|n| n as u32)
    }

    /// Waits for the last core and gives the result.
    pub(crate) fn finish(&self) -> Result<Counters, Box<Fault>> {
        let mut result = self.progress();
        while result.working > 0 || self.taken.load(Ordering::Relaxed) < self.blocks {
            result = self.done.wait(result).unwrap_or_else(PoisonError::into_inner);
        }
        let mut printed = std::mem::take(&mut *self.printed.lock().unwrap_or_else(PoisonError::into_inner));
        printed.sort_by_key(|(block, _)| *block);
        if !printed.is_empty() {
            use std::io::Write;
            let text: String = printed.into_iter().map(|(_, text)| text).collect();
            // Nobody reads it: then there is nobody to tell.
            let _ = std::io::stdout().lock().write_all(text.as_bytes());
        }
        match result.fault.take() {
            Some((_, fault)) => Err(fault),
            None => Ok(result.counters),
        }
    }

    fn progress(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
