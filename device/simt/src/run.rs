//! One launch: its blocks, handed out in order to the cores that work on it, and what comes of them.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use crate::block::{Block, Progress};
use crate::check::{Findings, Observer, Settings};
use crate::counters::Counters;
use crate::device::LaunchConfig;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::frame::Pool;
use crate::launch::LaunchContext;
use crate::linear::Linear;
use crate::memory::{AllocKind, AllocationTable, Memory, RecentRanges, Region};
use crate::program::{Kernel, Program};
use crate::special::Coordinates;

/// Blocks that a core has under way at most, as a multiprocessor has, unless all must be.
const RESIDENT: usize = 32;

/// How long nothing has come of anything.
#[derive(Debug, Default)]
struct Idle {
    progress: u64,
    turns: u64,
}

impl Idle {
    /// A block has had a turn in a launch with `others` under way, and goes on waiting.
    fn is_too_long(&mut self, engine: &Engine<'_>, others: usize) -> bool {
        let Some(progress) = engine.observer.as_ref().and_then(|observer| observer.progress()) else { return false };
        let progress = progress + engine.counters.blocks + engine.counters.barriers;
        self.turns = if progress == self.progress { self.turns + 1 } else { 0 };
        self.progress = progress;
        self.turns > IDLE_TURNS + 64 * others as u64
    }
}

/// Launches so far in this process: `%gridid`.
static LAUNCHES: AtomicU64 = AtomicU64::new(1);

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
    id: u64,
    began: Instant,
    /// Blocks taken so far.
    taken: AtomicU64,
    /// The earliest block that faulted. Later ones need not run; earlier ones do, so that the same fault is reported
    /// whichever core is faster.
    faulted: AtomicU64,
    blocks: u64,
    /// Blocks that a core takes at once.
    chunk: u64,
    result: Mutex<Outcome>,
    done: Condvar,
    freed: Mutex<Vec<Arc<Region>>>,
    printed: Mutex<Vec<(u64, String)>>,
    watch: Option<Watch>,
    /// Two words of memory for the barrier of the grid, if the launch is cooperative.
    workspace: u64,
}

/// What is needed to watch a launch.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The kernel with notes.
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) settings: Settings,
    pub(crate) findings: Arc<Findings>,
}

/// Turns of blocks that may follow each other without anything having come of them, before a launch that is checked for
/// it counts as stuck. Every one is a hundred iterations of a loop or more.
const IDLE_TURNS: u64 = 3_000;

#[derive(Debug, Default)]
struct Outcome {
    /// Cores that are at work now.
    working: u32,
    counters: Counters,
    /// The fault of the earliest block, by its flat index.
    fault: Option<(u64, Box<Fault>)>,
    /// What a core panicked with.
    panic: Option<Box<dyn std::any::Any + Send>>,
}

impl Drop for Launch {
    fn drop(&mut self) {
        if self.workspace != 0 {
            // Nobody else knows the address.
            let _ = self.memory.free(self.workspace);
        }
    }
}

impl Launch {
    pub(crate) fn new(
        program: Arc<Program>,
        kernel: usize,
        config: LaunchConfig,
        params: &[u8],
        memory: &Arc<Memory>,
        cores: u32,
        watch: Option<Watch>,
    ) -> Self {
        let blocks: u64 = config.grid.iter().map(|n| u64::from(*n)).product();
        // A buffer that is too short reads as zeros, never as something else.
        let mut params = params.to_vec();
        params.resize(program.kernels()[kernel].param_bytes as usize, 0);
        // Without it the kernel's own check stops it.
        let workspace = if config.cooperative { memory.alloc(8, AllocKind::ModuleGlobal).unwrap_or(0) } else { 0 };
        Self {
            allocations: memory.table(),
            memory: memory.clone(),
            program,
            kernel,
            config,
            params,
            cores,
            id: LAUNCHES.fetch_add(1, Ordering::Relaxed),
            began: Instant::now(),
            taken: AtomicU64::new(0),
            faulted: AtomicU64::new(u64::MAX),
            blocks,
            // Small enough that all cores end together, large enough that taking them costs nothing.
            chunk: (blocks / (u64::from(cores) * 16)).clamp(1, 64),
            result: Mutex::default(),
            done: Condvar::new(),
            freed: Mutex::default(),
            printed: Mutex::default(),
            watch,
            workspace,
        }
    }

    /// Cores that have something to do here.
    pub(crate) fn useful_cores(&self) -> u64 {
        if self.watch.is_some() {
            // What is seen is the same each time only if it happens in the same order.
            return 1;
        }
        self.blocks.div_ceil(self.chunk)
    }

    /// Takes blocks until none is left.
    pub(crate) fn work(&self, core: u32) {
        {
            // Under the lock: whoever waits sees either this core at work or no block left for it.
            let mut result = self.outcome();
            if self.taken.load(Ordering::Relaxed) >= self.blocks {
                return;
            }
            result.working += 1;
        }
        let ran = panic::catch_unwind(AssertUnwindSafe(|| self.run_blocks(core)));
        let mut result = self.outcome();
        match ran {
            Ok(counters) => result.counters += counters,
            Err(panic) => {
                self.taken.fetch_max(self.blocks, Ordering::Relaxed);
                result.panic = Some(panic);
            }
        }
        result.working -= 1;
        drop(result);
        self.done.notify_all();
    }

    fn run_blocks(&self, core: u32) -> Counters {
        let plain = &self.program.kernels[self.kernel];
        let kernel = self.watch.as_ref().map_or(plain, |watch| &watch.kernel);
        let info = &self.program.kernels()[self.kernel];
        let context = LaunchContext {
            allocations: &self.allocations,
            memory: &self.memory,
            params: &self.params,
            param_copy: kernel.codes[kernel.entry].as_ref().and_then(|code| code.frame.param_copy),
            began: self.began,
            freed: &self.freed,
            printed: &self.printed,
        };
        let mut coordinates = Coordinates::new(self.config.grid, self.config.block, core, self.cores);
        coordinates.dynamic_shared = self.config.dynamic_shared;
        coordinates.total_shared = kernel.shared_bytes(self.config.dynamic_shared);
        coordinates.grid_id = self.id;
        coordinates.workspace = self.workspace;
        let mut engine = Engine {
            program: &self.program,
            kernel,
            name: &info.name,
            context: &context,
            coordinates,
            counters: Counters::default(),
            recent: RecentRanges::default(),
            pool: Pool::default(),
            block: Block::default(),
            observer: self.observer(&info.name),
            // Where accesses are counted or watched, each is looked at lane by lane.
            linear: if self.config.count_memory || self.watch.is_some() { None } else { self.linear() },
        };
        // Blocks that wait for others, in turn; all but the one at hand.
        let mut resident: VecDeque<Block> = VecDeque::new();
        // On the one core of a launch that is watched all blocks may have to be there: others would have been on other
        // cores, and in a shuffled order the one that others wait for comes when it comes.
        let room = if self.config.cooperative || self.watch.is_some() { usize::MAX } else { RESIDENT };
        let mut own = 0..0;
        let mut waits = 0u32;
        let mut idle = Idle::default();
        loop {
            let start = if resident.len() < room { self.take(&mut own) } else { None };
            let start = start.map(|at| engine.schedule().map_or(at, |schedule| schedule.block(at)));
            if let Some(schedule) = engine.schedule().filter(|_| !resident.is_empty()) {
                let first = schedule.pick(resident.len());
                resident.swap(0, first);
            }
            match (start, resident.pop_front()) {
                (Some(flat), waiting) => {
                    resident.extend(waiting);
                    engine.begin(flat, self.block_index(flat));
                }
                (None, Some(waiting)) => {
                    // Nothing to do but to wait: perhaps the one that is waited for has no core of its own.
                    waits = waits.wrapping_add(1);
                    if waits.is_multiple_of(8) {
                        std::thread::yield_now();
                    }
                    engine.switch_block(waiting);
                }
                (None, None) => break,
            }
            match engine.advance() {
                Ok(Progress::Done) => {}
                // What a faulted block was to store never comes.
                Ok(Progress::Spinning) if self.faulted.load(Ordering::Relaxed) < u64::MAX => {}
                Ok(Progress::Spinning) => {
                    if idle.is_too_long(&engine, resident.len()) {
                        self.report(engine.block.flat, engine.deadlock());
                        continue;
                    }
                    resident.push_back(engine.switch_block(Block::default()));
                }
                Err(fault) => self.report(engine.block.flat, fault),
            }
        }
        if let (Some(watch), Some(observer)) = (&self.watch, engine.observer) {
            watch.findings.add(observer.into_findings());
        }
        engine.counters
    }

    fn observer(&self, name: &Arc<str>) -> Option<Box<Observer>> {
        let Watch { settings, kernel, .. } = self.watch.as_ref()?;
        let LaunchConfig { grid, block, count_memory, .. } = self.config;
        Some(Box::new(Observer::new(*settings, count_memory, &self.program.module, kernel, name, grid, block)))
    }

    fn linear(&self) -> Option<&Linear> {
        let kernel = &self.program.kernels[self.kernel];
        let function = &self.program.module.functions[kernel.entry];
        kernel.codes[kernel.entry].as_ref()?.linear(function, self.config.block)
    }

    /// The next block to start: in order, and none behind one that faulted.
    fn take(&self, own: &mut Range<u64>) -> Option<u64> {
        if own.is_empty() {
            let first = self.taken.fetch_add(self.chunk, Ordering::Relaxed);
            *own = first.min(self.blocks)..first.saturating_add(self.chunk).min(self.blocks);
        }
        own.next().filter(|flat| *flat < self.faulted.load(Ordering::Relaxed))
    }

    fn report(&self, block: u64, fault: Box<Fault>) {
        self.faulted.fetch_min(block, Ordering::Relaxed);
        self.taken.fetch_max(self.blocks, Ordering::Relaxed);
        let mut result = self.outcome();
        if result.fault.as_ref().is_none_or(|(earliest, _)| block < *earliest) {
            result.fault = Some((block, fault));
        }
    }

    fn block_index(&self, flat: u64) -> [u32; 3] {
        let [x, y, _] = self.config.grid.map(u64::from);
        // Each is below its own dimension of the grid, which is a u32.
        [flat % x, flat / x % y, flat / x / y].map(|n| n as u32)
    }

    /// Waits for the last core and gives the result.
    pub(crate) fn finish(&self) -> Result<Counters, Box<Fault>> {
        let mut result = self.outcome();
        while result.working > 0 || self.taken.load(Ordering::Relaxed) < self.blocks {
            result = self.done.wait(result).unwrap_or_else(PoisonError::into_inner);
        }
        let mut printed = std::mem::take(&mut *self.printed.lock().unwrap_or_else(PoisonError::into_inner));
        printed.sort_by_key(|(block, _)| *block);
        if !printed.is_empty() {
            use std::io::Write;
            let text: String = printed.into_iter().map(|(_, text)| text).collect();
            // Nobody reads it: then there is nobody to tell.
            let mut stdout = std::io::stdout().lock();
            // In a shared library nobody flushes at the end what has no line end.
            let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        }
        if let Some(panic) = result.panic.take() {
            drop(result);
            panic::resume_unwind(panic);
        }
        match result.fault.take() {
            Some((_, fault)) => Err(fault),
            None => Ok(result.counters),
        }
    }

    fn outcome(&self) -> std::sync::MutexGuard<'_, Outcome> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
