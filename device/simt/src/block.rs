//! A block of threads that is running on a core: its warps, its shared memory, its barriers.
//!
//! A block is an object that can be set aside and gone on with later. A core runs one block at a time; one that only waits
//! for another block's stores makes room for others, as it would on a GPU, where many blocks are resident at once.

use crate::barrier::Barriers;
use crate::check::BlockWatch;
use crate::engine::{Engine, Outcome, Run};
use crate::fault::{Fault, FaultKind};
use crate::frame::Arena;
use crate::lane::{LANES, LaneFault};
use crate::warp::{Activation, Split, Wait, Warp};

/// On a GPU shared memory starts with whatever was there; here with a pattern that is no likely value, so that a kernel
/// that forgets to write it gets the same wrong result each time.
const POISON: u8 = 0xA5;

/// Turns that each warp gets before a block that seems to wait makes room for others.
const SWEEPS: u32 = 2;

/// A block that has started.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Position in the grid, x fastest.
    pub(crate) flat: u64,
    pub(crate) index: [u32; 3],
    pub(crate) shared: Arena,
    pub(crate) barriers: Barriers,
    /// Threads that have not exited.
    pub(crate) live_threads: u32,
    /// The first thread whose warp has not started.
    next_thread: u32,
    /// First threads of the warps in the order in which they start, if it is not their own.
    order: Option<Vec<u32>>,
    /// Warps that have started and not finished.
    #[expect(clippy::vec_box, reason = "warps move between here and the pool at every turn")]
    warps: Vec<Box<Warp>>,
    /// Some warp stopped in the middle of something, not at a barrier.
    spinning: bool,
    /// What is watched of it, in launches that are watched.
    pub(crate) watch: Option<Box<BlockWatch>>,
}

/// How far a block has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// All of its threads have exited.
    Done,
    /// What is left may be waiting for another block.
    Spinning,
}

impl Engine<'_> {
    /// Makes `flat` the block at hand.
    pub(crate) fn begin(&mut self, flat: u64, index: [u32; 3]) {
        self.counters.blocks += 1;
        let block = &mut self.block;
        (block.flat, block.index) = (flat, index);
        (block.live_threads, block.next_thread, block.spinning) = (self.coordinates.threads(), 0, false);
        block.barriers.reset();
        block.shared.reset(self.coordinates.total_shared as usize, POISON);
        self.coordinates.block_index = index;
        if let Some(observer) = &self.observer {
            let watch = observer.block(self.coordinates.threads(), self.coordinates.total_shared);
            self.block.watch = Some(Box::new(watch));
        }
        let threads = self.coordinates.threads();
        self.block.order = self.schedule().map(|schedule| {
            let mut order: Vec<u32> = (0..threads).step_by(LANES).collect();
            schedule.shuffle(&mut order);
            order
        });
    }

    /// Changes the block at hand for another one.
    pub(crate) fn switch_block(&mut self, other: Block) -> Block {
        self.coordinates.block_index = other.index;
        std::mem::replace(&mut self.block, other)
    }

    /// Runs the block at hand until it is done, or until all that is left may be waiting for other blocks.
    pub(crate) fn advance(&mut self) -> Run<Progress> {
        let threads = self.coordinates.threads();
        // First each warp as far as it goes: most kernels need no more, and then one frame serves all warps of the block.
        while self.block.next_thread < threads {
            let first_thread = match &self.block.order {
                Some(order) => order[self.block.next_thread as usize / LANES],
                None => self.block.next_thread,
            };
            let mut warp = self.start(first_thread, threads);
            self.block.next_thread += LANES as u32;
            match self.warp(&mut warp)? {
                Outcome::Finished => self.pool.put_warp(warp, self.kernel),
                outcome => {
                    self.block.spinning |= outcome == Outcome::Spinning;
                    self.block.warps.push(warp);
                }
            }
        }
        let mut sweeps = 0;
        while !self.block.warps.is_empty() {
            let released = self.release();
            if !released && !self.block.spinning {
                return Err(self.deadlock());
            }
            self.sweep()?;
            if released {
                sweeps = 0;
            } else if self.block.spinning && !self.block.warps.is_empty() {
                sweeps += 1;
                if sweeps == SWEEPS {
                    return Ok(Progress::Spinning);
                }
            }
        }
        Ok(Progress::Done)
    }

    /// Gives each warp its turn.
    fn sweep(&mut self) -> Run<()> {
        self.block.spinning = false;
        let mut warps = std::mem::take(&mut self.block.warps);
        if let Some(schedule) = self.schedule() {
            schedule.shuffle(&mut warps);
        }
        let mut at = 0;
        while let Some(warp) = warps.get_mut(at) {
            match self.warp(warp)? {
                Outcome::Finished => self.pool.put_warp(warps.remove(at), self.kernel),
                outcome => {
                    self.block.spinning |= outcome == Outcome::Spinning;
                    at += 1;
                }
            }
        }
        self.block.warps = warps;
        Ok(())
    }

    fn start(&mut self, first_thread: u32, threads: u32) -> Box<Warp> {
        self.counters.warps += 1;
        self.coordinates.first_thread = first_thread;
        let lanes = (threads - first_thread).min(LANES as u32);
        let live = if lanes == 32 { u32::MAX } else { (1 << lanes) - 1 };
        let code = self.code(self.kernel.entry);
        let frame = self.pool.frame(code, &self.coordinates, 0);
        let entry = Activation { frame, function: self.kernel.entry, local_base: 0, caller: None, depth: 0 };
        let mut warp = self.pool.warp(self.kernel.local_bytes as usize * LANES);
        (warp.first_thread, warp.live) = (first_thread, live);
        warp.splits.push(Split { mask: live, activation: 0, block: 0, node: None, wait: Wait::Nothing, linear: false });
        warp.activations.push(Some(entry));
        if let Some(observer) = &self.observer {
            observer.warp(&mut warp.local_written, self.kernel.local_bytes as usize * LANES);
        }
        if let Some(offset) = code.frame.param_copy {
            let params = self.context.params;
            for lane in 0..LANES {
                let at = lane * self.kernel.local_bytes as usize + offset as usize;
                warp.local.bytes()[at..at + params.len()].copy_from_slice(params);
                warp.local_written.set(at as u64, params.len() as u64);
            }
        }
        warp
    }

    /// Opens the barriers to which all have come. True if any split can go on.
    fn release(&mut self) -> bool {
        let mut warps = std::mem::take(&mut self.block.warps);
        let mut released = false;
        for id in 0..crate::barrier::COUNT {
            let everyone = self.block.barriers.is_for_all(id);
            if let Some(results) = self.block.barriers.complete(id, self.block.live_threads) {
                self.watch_barrier(id, everyone);
                warps.iter_mut().for_each(|warp| released |= self.open_barrier(warp, id, results));
            }
        }
        self.block.warps = warps;
        released
    }

    /// Shows a barrier that opens to the checks.
    fn watch_barrier(&mut self, id: usize, everyone: bool) {
        if let (Some(observer), Some(watch)) = (&mut self.observer, &mut self.block.watch) {
            let came = watch.open(id, everyone, observer.stamp);
            let exited = self.coordinates.threads() - self.block.live_threads;
            observer.barrier(self.block.flat, id, &came, everyone, exited);
        }
    }

    pub(crate) fn deadlock(&mut self) -> Box<Fault> {
        let mut warps = std::mem::take(&mut self.block.warps);
        let mut detail = Vec::new();
        let mut first = None;
        for warp in &mut warps {
            for split in warp.splits.clone() {
                let code = self.code(warp.activation(split.activation).function);
                let (at, what) = match split.wait {
                    Wait::Barrier(id) => (split.block.saturating_sub(1), format!("at barrier {id}")),
                    Wait::Lanes => (split.block, "for other lanes of the warp".to_owned()),
                    Wait::Nothing => (split.block, "in a loop that nothing ends".to_owned()),
                };
                let at = code.blocks[at as usize].at;
                let line = self.program.module.functions[code.function].instrs[at as usize].line;
                first.get_or_insert((code, at));
                let [x, y, z] = self.coordinates.thread(warp.first_thread + split.mask.trailing_zeros());
                let threads = match split.mask.count_ones() {
                    1 => format!("thread ({x}, {y}, {z}) waits"),
                    count => format!("{count} threads from ({x}, {y}, {z}) on wait"),
                };
                if detail.len() < 4 {
                    detail.push(format!("{threads} {what} (PTX line {line})"));
                }
            }
        }
        let waiting: u32 = warps.iter().map(|warp| warp.live.count_ones()).sum();
        let exited = self.coordinates.threads() - self.block.live_threads;
        detail.push(format!("{waiting} threads wait in all, {exited} have exited"));
        let (code, at) = first.unwrap_or((self.code(self.kernel.entry), 0));
        let kind = FaultKind::Deadlock { detail: detail.join("; ") };
        let mut fault = self.fault(0, code, at, LaneFault { lane: 0, kind });
        fault.thread = None;
        fault
    }
}
