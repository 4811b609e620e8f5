//! Runs the blocks of a launch on one core: warps in turn, each until it finishes, waits or spins.
//!
//! The normal case is a warp whose 32 lanes run together: block after block of straight-line code, one indirect call an
//! instruction. Everything else (parting, meeting, calls, barriers) happens between blocks of code, in `control.rs`.

use std::sync::Arc;

use crate::barrier::Barriers;
use crate::code::{Code, End, Step};
use crate::counters::Counters;
use crate::fault::{Fault, FaultKind};
use crate::frame::{Coordinates, Pool};
use crate::lane::{LANES, LaneFault, Lanes};
use crate::launch::LaunchContext;
use crate::memory::RecentRanges;
use crate::program::{Kernel, Program};
use crate::warp::{Activation, Split, Wait, Warp};

/// Loops a split may go round before others get their turn, if what it does may be waiting.
const TURNS: u32 = 1024;
/// Loops without any access that could be waiting, after which it is taken to wait all the same.
const PATIENCE: u32 = 256 * TURNS;

/// What one core needs to run blocks of a launch.
pub(crate) struct Engine<'l> {
    pub(crate) program: &'l Program,
    pub(crate) kernel: &'l Kernel,
    pub(crate) name: &'l Arc<str>,
    pub(crate) context: &'l LaunchContext<'l>,
    pub(crate) coordinates: Coordinates,
    pub(crate) counters: Counters,
    pub(crate) recent: RecentRanges,
    pub(crate) pool: Pool,
    pub(crate) shared: Vec<u64>,
    pub(crate) shared_bytes: u32,
    pub(crate) barriers: Barriers,
    /// Threads of the block that have not exited.
    pub(crate) live_threads: u32,
}

/// Why a warp stopped running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All lanes have exited.
    Finished,
    /// All lanes wait for other warps.
    Blocked,
    /// Some lanes may be waiting for another thread's store.
    Spinning,
}

/// Why a split stopped running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// It exited, came to a meeting place, or parted; the warp knows all that is left of it.
    Gone,
    /// It waits.
    Waiting,
    /// It has had its turns.
    Spinning,
}

pub(crate) type Run<T> = Result<T, Box<Fault>>;

impl<'l> Engine<'l> {
    pub(crate) fn code(&self, function: usize) -> &'l Code {
        let kernel: &'l Kernel = self.kernel;
        kernel.codes[function].as_ref().expect("decoded, because the kernel reaches it")
    }

    /// Runs one block to its end.
    pub(crate) fn block(&mut self, index: [u32; 3]) -> Run<()> {
        self.coordinates.block_index = index;
        self.counters.blocks += 1;
        let threads = self.coordinates.threads();
        self.live_threads = threads;
        self.barriers.reset();
        // On a GPU shared memory starts with whatever was there; here with a pattern that is no likely value.
        self.shared.fill(0xA5A5_A5A5_A5A5_A5A5);
        let mut waiting: Vec<Warp> = Vec::new();
        // First each warp as far as it goes: most kernels need no more, and then one frame serves all warps of the block.
        let mut spinning = false;
        for first_thread in (0..threads).step_by(LANES) {
            let mut warp = self.start(first_thread, threads);
            match self.warp(&mut warp)? {
                Outcome::Finished => self.retire(warp),
                outcome => {
                    spinning |= outcome == Outcome::Spinning;
                    waiting.push(warp);
                }
            }
        }
        while !waiting.is_empty() {
            let released = self.release(&mut waiting);
            if !released && !spinning {
                return Err(self.deadlock(&mut waiting));
            }
            if !released {
                std::thread::yield_now();
            }
            spinning = false;
            let mut at = 0;
            while at < waiting.len() {
                let mut warp = std::mem::take(&mut waiting[at]);
                let outcome = self.warp(&mut warp)?;
                spinning |= outcome == Outcome::Spinning;
                if outcome == Outcome::Finished {
                    self.retire(warp);
                    waiting.remove(at);
                    // Those that still wait may have waited for the lanes that are gone.
                    spinning |= self.barriers.any_waiting();
                } else {
                    waiting[at] = warp;
                    at += 1;
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, first_thread: u32, threads: u32) -> Warp {
        self.counters.warps += 1;
        self.coordinates.first_thread = first_thread;
        let lanes = (threads - first_thread).min(LANES as u32);
        let live = if lanes == 32 { u32::MAX } else { (1 << lanes) - 1 };
        let code = self.code(self.kernel.entry);
        let frame = self.pool.frame(code, &self.coordinates, 0);
        let entry = Activation { frame, function: self.kernel.entry, local_base: 0, caller: None, depth: 0 };
        let split = Split { mask: live, activation: 0, block: 0, node: None, wait: Wait::Nothing };
        let local = match self.kernel.local_bytes {
            0 => Box::default(),
            bytes => self.pool.local(bytes as usize * LANES),
        };
        Warp { first_thread, live, splits: vec![split], nodes: Vec::new(), activations: vec![Some(entry)], local }
    }

    fn retire(&mut self, warp: Warp) {
        for activation in warp.activations.into_iter().flatten() {
            self.pool.put_frame(self.code(activation.function), activation.frame);
        }
        if !warp.local.is_empty() {
            self.pool.put_local(warp.local);
        }
    }

    /// Runs a warp until it finishes, waits or spins.
    fn warp(&mut self, warp: &mut Warp) -> Run<Outcome> {
        self.coordinates.first_thread = warp.first_thread;
        let mut spun = 0;
        loop {
            let Some(ready) = warp.ready() else {
                if warp.live == 0 {
                    return Ok(Outcome::Finished);
                }
                // Lanes that wait for each other first; then those that wait only to go on together.
                if self.meet_lanes(warp)? || warp.open_all() {
                    continue;
                }
                return Ok(Outcome::Blocked);
            };
            let mut split = warp.splits.remove(ready);
            match self.split(warp, &mut split)? {
                Pause::Gone => {}
                Pause::Waiting => {
                    warp.splits.push(split);
                    self.meet_lanes(warp)?;
                }
                Pause::Spinning => {
                    warp.splits.push(split);
                    warp.open_all();
                    spun += 1;
                    if spun > warp.splits.len() {
                        return Ok(Outcome::Spinning);
                    }
                }
            }
        }
    }

    /// Runs a split until something other than straight-line code, jumps or uniform branches comes up and ends it.
    fn split(&mut self, warp: &mut Warp, split: &mut Split) -> Run<Pause> {
        let mut turns = 0u32;
        'activation: loop {
            let activation = warp.activation(split.activation);
            let code = self.code(activation.function);
            let frame = activation.frame.pointer();
            let mut counters = std::mem::take(&mut self.counters);
            let mut lanes = Lanes {
                frame,
                mask: split.mask,
                shared: self.shared.as_mut_ptr().cast(),
                shared_bytes: self.shared_bytes,
                local: warp.local.as_mut_ptr(),
                local_bytes: self.kernel.local_bytes,
                first_thread: warp.first_thread,
                launch: self.context,
                counters: &mut counters,
                recent: self.recent,
                spins: 0,
            };
            let mut meeting = warp.meeting_block(split);
            let result = loop {
                if split.block == meeting {
                    break Ok(Stop::Meet);
                }
                let block = &code.blocks[split.block as usize];
                lanes.counters.instructions += u64::from(block.cost);
                lanes.counters.lane_instructions += u64::from(block.cost * split.mask.count_ones());
                // SAFETY: the steps were decoded for this function, `frame` is a frame of it, and the level is this CPU's.
                if let Err((fault, at)) = unsafe { run_steps(&block.steps, &mut lanes, split.mask) } {
                    break Err((fault, at));
                }
                let from = split.block;
                match &block.end {
                    End::Jump(next) => split.block = *next,
                    End::Branch { guard, taken, next } => {
                        // SAFETY: as above.
                        let passed = unsafe { guard.lanes(frame, split.mask) };
                        if passed == split.mask {
                            split.block = *taken;
                        } else if passed == 0 {
                            split.block = *next;
                        } else {
                            lanes.counters.divergent_branches += 1;
                            let sides = [(passed, *taken), (split.mask & !passed, *next)];
                            part(warp, split, &sides, block.meet);
                            meeting = warp.meeting_block(split);
                        }
                    }
                    _ => break Ok(Stop::Control(from)),
                }
                if split.block <= from {
                    turns += 1;
                    if turns % TURNS == 0 && (lanes.spins > 0 || turns >= PATIENCE) {
                        break Ok(Stop::Turns);
                    }
                }
            };
            self.recent = lanes.recent;
            self.counters = counters;
            match result {
                Err((fault, at)) => return Err(self.fault(warp.first_thread, code, at, *fault)),
                Ok(Stop::Turns) => return Ok(Pause::Spinning),
                Ok(Stop::Meet) => match self.arrive(warp, split) {
                    true => {}
                    false => return Ok(Pause::Gone),
                },
                Ok(Stop::Control(at)) => match self.control(warp, split, &code.blocks[at as usize])? {
                    Some(pause) => return Ok(pause),
                    None => continue 'activation,
                },
            }
        }
    }

    pub(crate) fn fault(&self, first_thread: u32, code: &Code, at: u32, fault: LaneFault) -> Box<Fault> {
        let function = &self.program.module.functions[code.function];
        let instr = &function.instrs[at as usize];
        Box::new(Fault {
            kind: fault.kind,
            kernel: self.name.clone(),
            block: self.coordinates.block_index,
            thread: Some(self.coordinates.thread(first_thread + fault.lane)),
            ptx_line: instr.line,
            instruction: self.program.module.instr_text(function, at as usize),
            loc: instr.loc.clone(),
        })
    }

    fn deadlock(&self, warps: &mut [Warp]) -> Box<Fault> {
        let mut detail = Vec::new();
        let mut first = None;
        for warp in warps {
            for split in warp.splits.clone() {
                let code = self.code(warp.activation(split.activation).function);
                let at = code.blocks[split.block.saturating_sub(1) as usize].at;
                first.get_or_insert((code, at));
                let what = match split.wait {
                    Wait::Barrier(id) => format!("barrier {id}"),
                    _ => "the other lanes of its warp".to_owned(),
                };
                let lane = split.mask.trailing_zeros();
                let [x, y, z] = self.coordinates.thread(warp.first_thread + lane);
                let count = split.mask.count_ones();
                if detail.len() < 4 {
                    detail.push(format!("{count} threads from ({x}, {y}, {z}) wait for {what}"));
                }
            }
        }
        let (code, at) = first.unwrap_or((self.code(self.kernel.entry), 0));
        let kind = FaultKind::Deadlock { detail: detail.join("; ") };
        let mut fault = self.fault(0, code, at, LaneFault { lane: 0, kind });
        fault.thread = None;
        fault
    }
}

/// Why the loop over blocks of code stopped.
enum Stop {
    Meet,
    Turns,
    /// The end of this block is not a branch.
    Control(u32),
}

/// Runs straight-line code.
///
/// # Safety
/// As for each [`crate::lane::ExecFn`] of `steps`.
#[inline(always)]
unsafe fn run_steps(steps: &[Step], lanes: &mut Lanes<'_>, mask: u32) -> Result<(), (Box<LaneFault>, u32)> {
    for step in steps {
        // SAFETY: by the caller.
        let active = unsafe { step.guard.lanes(lanes.frame, mask) };
        if active == 0 {
            continue;
        }
        lanes.mask = active;
        // SAFETY: by the caller.
        if let Err(fault) = unsafe { (step.exec)(lanes, &step.args) } {
            return Err((fault, step.at));
        }
    }
    Ok(())
}

/// Lanes go different ways: `split` goes on with the side that comes first in the text, the others become splits of
/// their own, and all will meet at `meet`.
pub(crate) fn part(warp: &mut Warp, split: &mut Split, sides: &[(u32, u32)], meet: Option<u32>) {
    use crate::warp::{Meet, Node};
    if let Some(meet) = meet
        && warp.meeting_block(split) != meet
    {
        let node = Node {
            meet: Meet::Block(meet),
            activation: split.activation,
            expect: split.mask,
            arrived: 0,
            parent: split.node,
        };
        split.node = Some(warp.add_node(node));
    }
    let first = *sides.iter().min_by_key(|(_, block)| *block).expect("lanes go somewhere");
    for &(mask, block) in sides {
        if (mask, block) != first {
            warp.splits.push(Split { mask, block, ..split.clone() });
        }
    }
    (split.mask, split.block) = first;
}
