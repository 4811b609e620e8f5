//! Code for warps whose 32 lanes run together, in which most registers are known from their first lane.
//!
//! In a grid-stride loop nearly everything but the data itself is the same in all lanes (bounds, strides, loop counters) or
//! grows by the same amount from lane to lane (indices, addresses): `first + lane * stride`, with a stride that is known when
//! the kernel is read. Such registers are computed in lane 0 alone, by scalar code, and an access by such an address is
//! known to be a row without a look at 32 addresses.
//!
//! ```text
//! classes   which registers are in a line, and with what stride   (a data-flow analysis over all definitions)
//! build     steps of each block: scalar where it can be, checks where a line might break, `spread` where vector code
//!           needs all lanes
//! ```
//!
//! It holds only while all 32 lanes of the warp are active and have taken every branch together. When they part, or a check
//! finds a line broken, or an access goes where scalar code does not follow, all registers are spread to their 32 lanes and
//! vector code goes on at the same step ([`Linear::spread`]). It comes back when all lanes are together again and their
//! registers are in line ([`Linear::holds`]). So nothing here decides what a kernel computes, only how fast.

mod build;
mod classes;

use crate::code::Width;
use crate::lane::{LANES, Slot};
use crate::lane::{LaneFault, Lanes};

/// A function's linear code.
#[derive(Debug)]
pub(crate) struct Linear {
    /// As the function's blocks.
    blocks: Box<[LinearBlock]>,
    /// Registers of which only lane 0 is kept.
    narrow: Box<[Line]>,
}

#[derive(Debug)]
struct LinearBlock {
    steps: Box<[crate::code::Step]>,
    /// For each step, the step of the function's own block that does its work in vector code.
    resume: Box<[u32]>,
    /// Registers that must be in line when the block is entered from vector code.
    live: Box<[Line]>,
}

/// A register in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    slot: Slot,
    width: Width,
    stride: i64,
}

/// Why linear code stopped in the middle of a block.
pub(crate) enum Stopped {
    /// Vector code goes on at this step.
    Resume(usize),
    /// A lane's fault, and the instruction.
    Fault(Box<LaneFault>, u32),
}

impl Linear {
    /// Runs the steps of a block.
    ///
    /// # Safety
    /// As for a lane function; besides, all lanes of the warp are active, and the registers that this code keeps in lane 0
    /// are in line there.
    #[inline(always)]
    pub(crate) unsafe fn run(&self, block: usize, lanes: &mut Lanes<'_>) -> Result<(), Stopped> {
        for (at, step) in self.blocks[block].steps.iter().enumerate() {
            // SAFETY: by the caller.
            let active = unsafe { step.guard.lanes(lanes.frame, crate::lane::FULL) };
            if active == 0 {
                continue;
            }
            lanes.mask = active;
            // SAFETY: by the caller; the step was built for this function.
            if let Err(fault) = unsafe { (step.exec)(lanes, &step.args) } {
                return Err(self.stopped(block, at, fault));
            }
        }
        Ok(())
    }

    #[cold]
    fn stopped(&self, block: usize, at: usize, fault: Box<LaneFault>) -> Stopped {
        let block = &self.blocks[block];
        if crate::ops::linear::leaves(&fault) {
            Stopped::Resume(block.resume[at] as usize)
        } else {
            Stopped::Fault(fault, block.steps[at].at)
        }
    }

    /// Writes all lanes of the registers of which only lane 0 was kept.
    ///
    /// # Safety
    /// `frame` must be a frame of the function.
    pub(crate) unsafe fn spread(&self, frame: *mut u8) {
        for line in &self.narrow {
            // SAFETY: by the caller; the slots are those of registers of these widths.
            unsafe {
                let at = frame.add(line.slot.0 as usize);
                if line.width == Width::W64 {
                    let all = &mut *at.cast::<[u64; LANES]>();
                    let (first, stride) = (all[0], line.stride.cast_unsigned());
                    for (lane, value) in all.iter_mut().enumerate() {
                        *value = first.wrapping_add(stride.wrapping_mul(lane as u64));
                    }
                } else {
                    let all = &mut *at.cast::<[u32; LANES]>();
                    let (first, stride) = (all[0], line.stride as u32);
                    for (lane, value) in all.iter_mut().enumerate() {
                        *value = first.wrapping_add(stride.wrapping_mul(lane as u32));
                    }
                }
            }
        }
    }

    /// True if a warp, all of whose lanes run together in vector code, may go on here from the start of `block`.
    ///
    /// # Safety
    /// `frame` must be a frame of the function.
    pub(crate) unsafe fn holds(&self, block: usize, frame: *const u8) -> bool {
        // SAFETY: by the caller; the slots are those of registers of these widths.
        self.blocks[block]
            .live
            .iter()
            .all(|line| unsafe { crate::ops::linear::in_line(frame, line.slot, line.width, line.stride) })
    }
}
