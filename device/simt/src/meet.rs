//! Where lanes wait for each other: warp-wide operations, and the barriers of the block.

use crate::barrier::Results;
use crate::check::{Arrival, Site};
use crate::code::{Barrier, End, Guard, Step, Width};
use crate::control::lanes_of;
use crate::engine::{Engine, Pause, Run};
use crate::fault::FaultKind;
use crate::lane::{Lanes, Slot};
use crate::memory::RecentRanges;
use crate::warp::{Split, Wait, Warp};

impl Engine<'_> {
    /// A warp-wide operation: runs it if all lanes are here that it names, else waits for them.
    pub(crate) fn synced(
        &mut self,
        warp: &mut Warp,
        split: &mut Split,
        members: Slot,
        step: &Step,
        next: u32,
    ) -> Run<Option<Pause>> {
        let frame = &warp.activation(split.activation).frame;
        // Nearly always all lanes name the same ones, and those are here.
        let named = frame.lane(members, Width::W32, split.mask.trailing_zeros() as usize) as u32;
        let agree = lanes_of(split.mask).all(|lane| frame.lane(members, Width::W32, lane) as u32 == named);
        if agree && named & warp.live & !split.mask == 0 {
            self.run_synced(warp, split.activation, step, split.mask, named)?;
            split.block = next;
            return Ok(None);
        }
        self.spread(warp, split);
        split.wait = Wait::Lanes;
        Ok(Some(Pause::Waiting))
    }

    /// Runs the warp-wide operations for which all lanes have come. True if any split can go on.
    pub(crate) fn meet_lanes(&mut self, warp: &mut Warp) -> Run<bool> {
        let mut met = false;
        let mut at = 0;
        while at < warp.splits.len() {
            if warp.splits[at].wait == Wait::Lanes {
                let place = (warp.splits[at].activation, warp.splits[at].block);
                let here = waiting(warp, |split| (split.activation, split.block) == place);
                met |= self.meet_at(warp, place, here, here)?;
            }
            at += 1;
        }
        Ok(met)
    }

    /// When nothing else can go on: lanes that name each other may stand at different instructions, as two `bar.warp.sync`
    /// on the two ways of a branch do.
    pub(crate) fn meet_anywhere(&mut self, warp: &mut Warp) -> Run<bool> {
        let here = waiting(warp, |_| true);
        let mut met = false;
        let mut at = 0;
        while at < warp.splits.len() {
            let Split { mask, activation, block, wait, .. } = warp.splits[at];
            if wait == Wait::Lanes {
                met |= self.meet_at(warp, (activation, block), mask, here)?;
            }
            at += 1;
        }
        Ok(met)
    }

    /// Runs one warp-wide operation for the groups of `lanes` whose members are all in `here`.
    fn meet_at(&mut self, warp: &mut Warp, place: (usize, u32), lanes: u32, here: u32) -> Run<bool> {
        let (activation, block) = place;
        let code = self.code(warp.activation(activation).function);
        let End::Synced { members, step, next } = &code.blocks[block as usize].end else {
            unreachable!("only there lanes wait for lanes")
        };
        let mut left = lanes;
        let mut done = 0;
        while left != 0 {
            let frame = &warp.activation(activation).frame;
            let named = frame.lane(*members, Width::W32, left.trailing_zeros() as usize) as u32;
            let group = lanes_of(left).filter(|lane| frame.lane(*members, Width::W32, *lane) as u32 == named);
            let group = group.fold(0, |mask, lane| mask | 1 << lane);
            left &= !group;
            if named & warp.live & !here == 0 {
                self.run_synced(warp, activation, step, group, named)?;
                done |= group;
            }
        }
        let parted: Vec<Split> = (warp.splits.iter_mut())
            .filter(|split| split.wait == Wait::Lanes && (split.activation, split.block) == place)
            .filter(|split| split.mask & done != 0)
            .map(|split| {
                let on = Split { mask: split.mask & done, block: *next, wait: Wait::Nothing, ..split.clone() };
                split.mask &= !done;
                on
            })
            .collect();
        warp.splits.retain(|split| split.mask != 0);
        for split in parted {
            // Those that are expected at the same place go on together.
            let together = |other: &&mut Split| {
                other.wait == Wait::Nothing
                    && (other.activation, other.block, other.node) == (activation, *next, split.node)
            };
            match warp.splits.iter_mut().find(together) {
                Some(other) => other.mask |= split.mask,
                None => warp.splits.push(split),
            }
        }
        Ok(done != 0)
    }

    fn run_synced(&mut self, warp: &mut Warp, activation: usize, step: &Step, mask: u32, named: u32) -> Run<()> {
        let code = self.code(warp.activation(activation).function);
        let mut lanes = Lanes {
            frame: warp.activation(activation).frame.pointer(),
            mask,
            shared: self.block.shared.pointer(),
            shared_bytes: self.coordinates.total_shared,
            local: warp.local.pointer(),
            local_bytes: self.kernel.local_bytes,
            first_thread: warp.first_thread,
            launch: self.context,
            counters: &mut self.counters,
            recent: RecentRanges::default(),
            spins: 0,
        };
        // SAFETY: the step was decoded for this function, and the frame is one of it.
        let result = unsafe { (step.exec)(&mut lanes, &step.args) };
        result.map_err(|fault| self.fault(warp.first_thread, code, step.at, *fault))?;
        if let (Some(observer), Some(watch), Some(notes)) = (&mut self.observer, &mut self.block.watch, &code.notes) {
            let site = Site { function: code.function as u32, at: step.at };
            let place = (self.block.flat, warp.first_thread);
            observer.warp_wide(watch, place, site, notes.of(step.at).effect, (mask, named, warp.live));
        }
        Ok(())
    }

    /// A barrier of the block.
    pub(crate) fn barrier(
        &mut self,
        warp: &mut Warp,
        split: &mut Split,
        barrier: &Barrier,
        next: u32,
        at: u32,
    ) -> Run<Option<Pause>> {
        self.counters.barriers += 1;
        let first = split.mask.trailing_zeros() as usize;
        let whole = split.mask == warp.live;
        let frame = &mut warp.activation(split.activation).frame;
        let id = frame.lane(barrier.id, Width::W32, first) as usize;
        let count = barrier.count.map(|slot| frame.lane(slot, Width::W32, first) as u32);
        let predicate = |guard: Guard| {
            // SAFETY: the guard was decoded for the function of this frame.
            unsafe { guard.lanes(frame.pointer(), split.mask) }
        };
        match self.block.barriers.arrive(id, count, barrier.kind, split.mask, whole, predicate) {
            Err(detail) => Err(self.lane_fault(warp, split, at, FaultKind::BadTarget { detail })),
            Ok(waits) => {
                if let (Some(observer), Some(watch)) = (&self.observer, &mut self.block.watch) {
                    let function = warp.activation(split.activation).function as u32;
                    let (first_thread, lanes) = (warp.first_thread, split.mask);
                    let (site, stamp) = (Site { function, at }, observer.stamp);
                    watch.arrive(id, Arrival { first_thread, lanes, site, stamp, waits });
                }
                split.block = next;
                if !waits {
                    return Ok(None);
                }
                split.wait = Wait::Barrier(id);
                Ok(Some(Pause::Waiting))
            }
        }
    }

    /// Lets the lanes of `warp` that wait at barrier `id` go on. True if there were any.
    pub(crate) fn open_barrier(&self, warp: &mut Warp, id: usize, results: Results) -> bool {
        let mut opened = false;
        for at in 0..warp.splits.len() {
            let Split { mask, activation, block, wait, .. } = warp.splits[at];
            if wait != Wait::Barrier(id) {
                continue;
            }
            let code = self.code(warp.activation(activation).function);
            // The barrier stands at the end of the block before the one that goes on.
            if let Some(End::Barrier(barrier, _)) = code.blocks[..block as usize].last().map(|block| &block.end) {
                results.store(barrier.kind, &mut warp.activation(activation).frame, mask);
            }
            warp.splits[at].wait = Wait::Nothing;
            opened = true;
        }
        opened
    }
}

/// Lanes that wait for lanes at the places that `at` picks.
fn waiting(warp: &Warp, at: impl Fn(&Split) -> bool) -> u32 {
    let those = warp.splits.iter().filter(|split| split.wait == Wait::Lanes && at(split));
    those.fold(0, |mask, split| mask | split.mask)
}
