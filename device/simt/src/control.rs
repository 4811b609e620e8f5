//! What ends a block of code other than a jump or a branch: exits, traps, `brx`, and the ways to calls and barriers.

use crate::code::{CodeBlock, End, Width};
use crate::engine::{Engine, Pause, Run};
use crate::fault::FaultKind;
use crate::lane::{LANES, LaneFault, Slot};
use crate::warp::{Split, Warp};

impl<'l> Engine<'l> {
    /// Runs the end of `block`. `None` if the split goes on.
    pub(crate) fn control(&mut self, warp: &mut Warp, split: &mut Split, block: &'l CodeBlock) -> Run<Option<Pause>> {
        match &block.end {
            End::Jump(_) | End::Branch { .. } => unreachable!("the engine's loop runs these itself"),
            End::Exit => Ok(Some(self.exit(warp, split))),
            End::Return => Ok(self.finish_call(warp, split)),
            End::Trap => Err(self.lane_fault(warp, split, block.at, FaultKind::Trap)),
            End::Sleep(next) => {
                split.block = *next;
                Ok(Some(Pause::Spinning))
            }
            End::Switch { index, targets } => self.switch(warp, split, *index, targets, block),
            End::Call(call, next) => self.call(warp, split, call, *next, block),
            End::Barrier(barrier, next) => self.barrier(warp, split, barrier, *next, block.at),
            End::Synced { members, step, next } => self.synced(warp, split, *members, step, *next),
        }
    }

    pub(crate) fn lane_fault(&self, warp: &mut Warp, split: &Split, at: u32, kind: FaultKind) -> Box<crate::Fault> {
        let code = self.code(warp.activation(split.activation).function);
        self.fault(warp.first_thread, code, at, LaneFault { lane: split.mask.trailing_zeros(), kind })
    }

    pub(crate) fn exit(&mut self, warp: &mut Warp, split: &Split) -> Pause {
        warp.live &= !split.mask;
        self.observer.iter_mut().for_each(|observer| observer.advance());
        self.block.live_threads -= split.mask.count_ones();
        warp.forget(split.mask, None);
        self.reclaim(warp);
        Pause::Gone
    }

    fn switch(
        &mut self,
        warp: &mut Warp,
        split: &mut Split,
        index: Slot,
        targets: &[u32],
        block: &CodeBlock,
    ) -> Run<Option<Pause>> {
        let mut sides: Vec<(u32, u32)> = Vec::new();
        for lane in lanes_of(split.mask) {
            let index = warp.activation(split.activation).frame.lane(index, Width::W32, lane);
            let Some(&target) = targets.get(index as usize) else {
                let detail = format!("`brx.idx` with index {index}, and the list has {} labels", targets.len());
                let one = Split { mask: 1 << lane, ..split.clone() };
                return Err(self.lane_fault(warp, &one, block.at, FaultKind::BadTarget { detail }));
            };
            match sides.iter_mut().find(|(_, block)| *block == target) {
                Some((mask, _)) => *mask |= 1 << lane,
                None => sides.push((1 << lane, target)),
            }
        }
        if let [(_, target)] = sides[..] {
            split.block = target;
        } else {
            self.counters.divergent_branches += 1;
            self.spread(warp, split);
            split.part(warp, &sides, block.meet);
        }
        Ok(None)
    }
}

/// The lanes of a mask, in ascending order.
pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}
