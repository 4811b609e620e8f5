//! Runs the warps of a block on one core, each until it finishes, waits or spins.
//!
//! The normal case is a warp whose 32 lanes run together: block after block of straight-line code, one indirect call an
//! instruction. Everything else (meeting, calls, barriers) happens between blocks of code, in `control.rs`.

use std::sync::Arc;

use crate::block::Block;
use crate::check::{Observer, Schedule};
use crate::code::{Code, CodeBlock, End, Step};
use crate::counters::Counters;
use crate::fault::Fault;
use crate::frame::Pool;
use crate::lane::{FULL, LaneFault, Lanes};
use crate::launch::LaunchContext;
use crate::linear::{Linear, Stopped};
use crate::memory::RecentRanges;
use crate::program::{Kernel, Program};
use crate::special::Coordinates;
use crate::warp::{Split, Wait, Warp};

/// Loops a warp may go round before others get their turn, if what it does may be waiting for them.
pub(crate) const TURNS: u32 = 64;
/// Loops without any access that could be waiting, after which it is taken to wait all the same.
pub(crate) const PATIENCE: u32 = 4096 * TURNS;

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
    /// The block at hand.
    pub(crate) block: Block,
    /// Looks at every instruction; only in launches that are watched, whose kernel has notes.
    pub(crate) observer: Option<Box<Observer>>,
    /// The kernel's code for warps that run together, if this launch may use it.
    pub(crate) linear: Option<&'l Linear>,
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
    /// It exited or came to a meeting place; the warp knows all that is left of it.
    Gone,
    /// It waits.
    Waiting,
    /// It has had its turns.
    Spinning,
    /// It could go on, but another warp is to have a turn.
    GivesWay,
}

pub(crate) type Run<T> = Result<T, Box<Fault>>;

/// Why straight-line code stopped.
pub(crate) enum Stop<'l> {
    /// The split has come to where it is awaited.
    Meet,
    Turns,
    /// The schedule has another warp run.
    GiveWay,
    /// The end of this block is not a jump or a branch.
    Control(&'l CodeBlock),
}

impl<'l> Engine<'l> {
    pub(crate) fn code(&self, function: usize) -> &'l Code {
        let kernel: &'l Kernel = self.kernel;
        kernel.codes[function].as_ref().expect("decoded, because the kernel reaches it")
    }

    /// Runs a warp until it finishes, waits or spins.
    pub(crate) fn warp(&mut self, warp: &mut Warp) -> Run<Outcome> {
        self.coordinates.first_thread = warp.first_thread;
        let (mut spun, mut live) = (0, warp.live);
        loop {
            let Some(ready) = self.ready(warp) else {
                if warp.live == 0 {
                    return Ok(Outcome::Finished);
                }
                // Lanes that wait for each other first; then those that wait only to go on together.
                if self.meet_lanes(warp)? || warp.open_all() || self.meet_anywhere(warp)? {
                    self.reclaim(warp);
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
                Pause::GivesWay => {
                    warp.splits.push(split);
                    return Ok(Outcome::Spinning);
                }
                Pause::Spinning => {
                    warp.put_back(split);
                    warp.open_all();
                    self.reclaim(warp);
                    (warp.turns, warp.spins) = (0, 0);
                    // Lanes that come to their end have not waited in vain: the next ones may well be served, too.
                    spun = if warp.live == live { spun + 1 } else { 0 };
                    live = warp.live;
                    if spun > warp.splits.len() {
                        return Ok(Outcome::Spinning);
                    }
                }
            }
        }
    }

    /// The split to run next.
    fn ready(&mut self, warp: &Warp) -> Option<usize> {
        let first = warp.ready()?;
        let Some(schedule) = self.schedule() else { return Some(first) };
        let ready: Vec<usize> =
            (first..warp.splits.len()).filter(|at| warp.splits[*at].wait == Wait::Nothing).collect();
        Some(ready[schedule.pick(ready.len())])
    }

    /// The order in which things run, if it is not their own.
    pub(crate) fn schedule(&mut self) -> Option<&mut Schedule> {
        self.observer.as_mut().and_then(|observer| observer.schedule.as_mut())
    }

    /// Runs a split until it exits, waits or has had its turns.
    fn split(&mut self, warp: &mut Warp, split: &mut Split) -> Run<Pause> {
        loop {
            let stop =
                if self.observer.is_none() { self.straight(warp, split) } else { self.straight_observed(warp, split) };
            match stop? {
                Stop::Turns => return Ok(Pause::Spinning),
                Stop::GiveWay => return Ok(Pause::GivesWay),
                Stop::Meet => {
                    if !warp.arrive(split) {
                        return Ok(Pause::Gone);
                    }
                }
                Stop::Control(block) => {
                    if let Some(pause) = self.control(warp, split, block)? {
                        return Ok(pause);
                    }
                }
            }
        }
    }

    /// Runs straight-line code, jumps and branches in one activation.
    fn straight(&mut self, warp: &mut Warp, split: &mut Split) -> Run<Stop<'l>> {
        let activation = warp.activation(split.activation);
        let code = self.code(activation.function);
        let frame = activation.frame.pointer();
        let mut meeting = warp.meeting_block(split);
        let mut lanes = Lanes {
            frame,
            mask: split.mask,
            shared: self.block.shared.pointer(),
            shared_bytes: self.coordinates.total_shared,
            local: warp.local.pointer(),
            local_bytes: self.kernel.local_bytes,
            first_thread: warp.first_thread,
            launch: self.context,
            counters: &mut self.counters,
            recent: self.recent,
            spins: 0,
        };
        let (mut mask, mut at) = (split.mask, split.block);
        let mut turns = warp.turns;
        let linear = self.linear.filter(|_| split.activation == 0);
        // Taken, so that splits that part from this one do not begin in linear code.
        let mut pace = Pace { linear, on: std::mem::take(&mut split.linear), warp: warp.pace };
        pace.enter(mask, at, meeting, frame);
        let result = loop {
            if at == meeting {
                break Ok(Stop::Meet);
            }
            let block = &code.blocks[at as usize];
            lanes.counters.instructions += u64::from(block.cost);
            lanes.counters.lane_instructions += u64::from(block.cost) * u64::from(mask.count_ones());
            // SAFETY: the steps were decoded for this function, `frame` is a frame of it, and the level is this CPU's.
            if let Err(fault) = unsafe { pace.run(block, at, &mut lanes, mask) } {
                break Err(fault);
            }
            let from = at;
            match &block.end {
                End::Jump(next) => at = *next,
                End::Branch { guard, taken, next } => {
                    // SAFETY: as above.
                    let passed = unsafe { guard.lanes(frame, mask) };
                    if passed == mask {
                        at = *taken;
                    } else if passed == 0 {
                        at = *next;
                    } else {
                        pace.leave(frame);
                        lanes.counters.divergent_branches += 1;
                        let sides = [(passed, *taken), (mask & !passed, *next)];
                        split.part(warp, &sides, block.meet);
                        (mask, at, meeting) = (split.mask, split.block, warp.meeting_block(split));
                    }
                }
                _ => break Ok(Stop::Control(block)),
            }
            if at <= from {
                turns += 1;
                if turns.is_multiple_of(TURNS) && (warp.spins + lanes.spins > 0 || turns >= PATIENCE) {
                    break Ok(Stop::Turns);
                }
                pace.enter(mask, at, meeting, frame);
            }
        };
        match &result {
            // Where a split goes on as it is, see `Split::linear`, or is gone.
            Ok(Stop::Turns) => {}
            Ok(Stop::Control(block))
                if matches!(
                    block.end,
                    End::Barrier(..) | End::Synced { .. } | End::Switch { .. } | End::Return | End::Exit
                ) => {}
            _ => pace.leave(frame),
        }
        (split.linear, warp.pace) = (pace.on, pace.warp);
        split.block = at;
        warp.turns = turns;
        warp.spins = warp.spins.saturating_add(lanes.spins);
        self.recent = lanes.recent;
        let first_thread = lanes.first_thread;
        result.map_err(|(fault, at)| self.fault(first_thread, code, at, *fault))
    }

    /// Before a split that may be in linear code is taken apart: writes its registers to all lanes.
    pub(crate) fn spread(&self, warp: &mut Warp, split: &mut Split) {
        if std::mem::take(&mut split.linear)
            && let Some(linear) = self.linear
        {
            let frame = warp.activation(split.activation).frame.pointer();
            // SAFETY: a split in linear code runs the kernel itself, whose frame this is.
            unsafe { linear.spread(frame) };
        }
    }

    /// Gives back the frames of functions that all lanes have left.
    pub(crate) fn reclaim(&mut self, warp: &mut Warp) {
        while let Some(at) = warp.left.pop() {
            if let Some(activation) = warp.activations[at].take() {
                self.pool.put_frame(activation.function, activation.frame);
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
}

/// Whether a split runs in linear code.
struct Pace<'l> {
    linear: Option<&'l Linear>,
    on: bool,
    warp: Backoff,
}

/// When a warp tries linear code again: after each failure it waits twice as long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Backoff {
    wait: u32,
    next: u32,
}

/// Most occasions that a warp lets pass.
const LONGEST_WAIT: u32 = 256;

impl Pace<'_> {
    /// Goes on in linear code, if all lanes are together and in line.
    #[inline(always)]
    fn enter(&mut self, mask: u32, at: u32, meeting: u32, frame: *mut u8) {
        if self.on || mask != FULL || meeting != u32::MAX {
            return;
        }
        let Some(linear) = self.linear else { return };
        if self.warp.wait > 0 {
            self.warp.wait -= 1;
            return;
        }
        // SAFETY: by the engine, `frame` is the kernel's, whose linear code this is.
        self.on = unsafe { linear.holds(at as usize, frame) };
        if !self.on {
            self.fail();
        }
    }

    fn fail(&mut self) {
        self.warp.next = (2 * self.warp.next).clamp(1, LONGEST_WAIT);
        self.warp.wait = self.warp.next;
    }

    /// Goes on in vector code.
    fn leave(&mut self, frame: *mut u8) {
        if let (true, Some(linear)) = (std::mem::take(&mut self.on), self.linear) {
            // SAFETY: as in `enter`.
            unsafe { linear.spread(frame) };
        }
    }

    /// Runs the steps of `block`, the function's block `at`.
    ///
    /// # Safety
    /// As for each [`crate::lane::ExecFn`] of the block.
    #[inline(always)]
    unsafe fn run(
        &mut self,
        block: &CodeBlock,
        at: u32,
        lanes: &mut Lanes<'_>,
        mask: u32,
    ) -> Result<(), (Box<LaneFault>, u32)> {
        let mut steps = &block.steps[..];
        if let (true, Some(linear)) = (self.on, self.linear) {
            // SAFETY: by the caller; a split is in linear code only while all lanes are together and in line.
            match unsafe { linear.run(at as usize, lanes) } {
                Ok(()) => return Ok(()),
                Err(Stopped::Fault(fault, at)) => return Err((fault, at)),
                Err(Stopped::Resume(step)) => {
                    self.leave(lanes.frame);
                    self.fail();
                    steps = &steps[step..];
                }
            }
        }
        // SAFETY: by the caller.
        unsafe { run_steps(steps, lanes, mask) }
    }
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
