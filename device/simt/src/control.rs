//! What ends a block of code other than a jump or a branch: calls and returns, exits, barriers, warp-wide operations.

use crate::code::{Barrier, Call, Callee, CodeBlock, End, Guard, Place, Step, System, Width};
use crate::engine::{Engine, Pause, Run, part};
use crate::fault::FaultKind;
use crate::lane::{LANES, LaneFault, Lanes, Slot};
use crate::memory::RecentRanges;
use crate::program::function_at;
use crate::system;
use crate::warp::{Activation, Meet, Node, Split, Wait, Warp};

/// Calls may nest this deep, whatever the local memory allows.
const MAX_DEPTH: u32 = 4096;

impl<'l> Engine<'l> {
    /// A split has come to where it is awaited. True if it goes on, as one with the others; false if it waits there.
    pub(crate) fn arrive(&mut self, warp: &mut Warp, split: &mut Split) -> bool {
        let at = split.node.expect("only splits with a node arrive");
        let node = warp.node(at);
        node.arrived |= split.mask;
        if node.arrived != node.expect {
            return false;
        }
        (split.mask, split.node) = (node.arrived, node.parent);
        warp.nodes[at] = None;
        true
    }

    /// Runs the end of `block`. `None` if the split goes on.
    pub(crate) fn control(&mut self, warp: &mut Warp, split: &mut Split, block: &'l CodeBlock) -> Run<Option<Pause>> {
        match &block.end {
            End::Jump(_) | End::Branch { .. } => unreachable!("the engine's loop runs these itself"),
            End::Exit => Ok(Some(self.exit(warp, split))),
            End::Return => self.finish_call(warp, split),
            End::Trap => Err(self.lane_fault(warp, split, block.at, FaultKind::Trap)),
            End::Sleep(next) => {
                split.block = *next;
                Ok(Some(Pause::Spinning))
            }
            End::Switch { index, targets } => self.switch(warp, split, *index, targets, block),
            End::Call(call, next) => self.call(warp, split, call, *next, block),
            End::Barrier(barrier, next) => self.barrier(warp, split, barrier, *next, block.at),
            End::Synced { members, step, next } => {
                // Nearly always the whole warp is here already.
                let groups = self.groups(warp, split.activation, *members, split.mask);
                if let [(named, mask)] = groups[..]
                    && named & warp.live & !mask == 0
                {
                    self.run_synced(warp, split.activation, step, mask)?;
                    split.block = *next;
                    return Ok(None);
                }
                split.wait = Wait::Lanes;
                Ok(Some(Pause::Waiting))
            }
        }
    }

    pub(crate) fn lane_fault(&self, warp: &mut Warp, split: &Split, at: u32, kind: FaultKind) -> Box<crate::Fault> {
        let code = self.code(warp.activation(split.activation).function);
        self.fault(warp.first_thread, code, at, LaneFault { lane: split.mask.trailing_zeros(), kind })
    }

    fn exit(&mut self, warp: &mut Warp, split: &Split) -> Pause {
        warp.live &= !split.mask;
        self.live_threads -= split.mask.count_ones();
        warp.forget(split.mask, None);
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
                return Err(self.lane_fault(warp, split, block.at, FaultKind::BadTarget { detail }));
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
            part(warp, split, &sides, block.meet);
        }
        Ok(None)
    }

    fn call(
        &mut self,
        warp: &mut Warp,
        split: &mut Split,
        call: &Call,
        next: u32,
        block: &CodeBlock,
    ) -> Run<Option<Pause>> {
        let function = match call.callee {
            Callee::System(system) => {
                self.system_call(warp, split, call, system, block.at)?;
                split.block = next;
                return Ok(None);
            }
            Callee::Direct(function) => function as usize,
            Callee::Indirect(slot) => {
                let first = split.mask.trailing_zeros() as usize;
                let frame = &warp.activation(split.activation).frame;
                let address = frame.lane(slot, Width::W64, first);
                let same = lanes_of(split.mask).filter(|lane| frame.lane(slot, Width::W64, *lane) == address);
                let same = same.fold(0, |mask, lane| mask | 1 << lane);
                if same != split.mask {
                    // Those that call another function make the call again, by themselves; all meet behind it.
                    let here = split.block;
                    part(warp, split, &[(same, here), (split.mask & !same, here)], Some(next));
                    split.mask = same;
                }
                let found = function_at(address).filter(|at| self.kernel.codes.get(*at).is_some_and(Option::is_some));
                let Some(found) = found else {
                    let detail = format!("an indirect call to {address:#x}, where no function of the kernel is");
                    return Err(self.lane_fault(warp, split, block.at, FaultKind::BadTarget { detail }));
                };
                found
            }
        };
        self.enter(warp, split, call, next, function, block.at)?;
        Ok(None)
    }

    fn enter(
        &mut self,
        warp: &mut Warp,
        split: &mut Split,
        call: &Call,
        next: u32,
        function: usize,
        at: u32,
    ) -> Run<()> {
        let code = self.code(function);
        let caller = warp.activation(split.activation);
        let (caller_base, depth) = (caller.local_base, caller.depth + 1);
        let local_base = caller_base + self.code(caller.function).local_bytes;
        if local_base + code.local_bytes > self.kernel.local_bytes || depth > MAX_DEPTH {
            return Err(self.lane_fault(warp, split, at, FaultKind::StackOverflow));
        }
        if call.args.len() != code.params.len() {
            let detail =
                format!("`{}` takes {} arguments, and {} are passed", code.name, code.params.len(), call.args.len());
            return Err(self.lane_fault(warp, split, at, FaultKind::BadTarget { detail }));
        }
        let frame = self.pool.frame(code, &self.coordinates, local_base);
        let caller = split.activation;
        let callee = Activation { frame, function, local_base, caller: Some((caller, next)), depth };
        let callee = warp.add_activation(callee);
        for (from, to) in call.args.iter().zip(&code.params) {
            self.copy(warp, split.mask, (caller, *from), (callee, *to));
        }
        let node = Node { meet: Meet::Return, activation: callee, expect: split.mask, arrived: 0, parent: split.node };
        split.node = Some(warp.add_node(node));
        (split.activation, split.block) = (callee, 0);
        Ok(())
    }

    /// `ret`: leaves the kernel, or goes back to the caller with the other lanes of the call.
    fn finish_call(&mut self, warp: &mut Warp, split: &mut Split) -> Run<Option<Pause>> {
        let callee = split.activation;
        let Some((caller, next)) = warp.activation(callee).caller else {
            return Ok(Some(self.exit(warp, split)));
        };
        let code = self.code(warp.activation(callee).function);
        let calling = self.code(warp.activation(caller).function);
        // The call stands at the end of the block before the one that goes on.
        let call = calling.blocks[..next as usize].last().map(|block| &block.end);
        if let Some(End::Call(call, _)) = call {
            for (from, to) in code.returns.iter().zip(&call.returns) {
                self.copy(warp, split.mask, (callee, *from), (caller, *to));
            }
        }
        warp.forget(split.mask, Some(callee));
        let is_return = |node: &Option<Node>| node.is_some_and(|n| n.meet == Meet::Return && n.activation == callee);
        let at = warp.nodes.iter().position(is_return).expect("the call made it, and these lanes are still expected");
        split.node = Some(at);
        if !self.arrive(warp, split) {
            return Ok(Some(Pause::Gone));
        }
        (split.activation, split.block) = (caller, next);
        if let Some(done) = warp.activations[callee].take() {
            self.pool.put_frame(code, done.frame);
        }
        Ok(None)
    }

    /// Copies a parameter or a result between two activations.
    fn copy(&mut self, warp: &mut Warp, mask: u32, from: (usize, Place), to: (usize, Place)) {
        for lane in lanes_of(mask) {
            let mut bytes = [0u8; 64];
            match (from.1, to.1) {
                (Place::Local { size, .. }, _) | (_, Place::Local { size, .. }) if size as usize > bytes.len() => {
                    return self.copy_large(warp, mask, from, to);
                }
                _ => {}
            }
            let size = self.load_place(warp, from, lane, &mut bytes);
            self.store_place(warp, to, lane, &bytes[..size]);
        }
    }

    /// Parameters of more than 64 bytes are in local memory on both sides.
    fn copy_large(&mut self, warp: &mut Warp, mask: u32, from: (usize, Place), to: (usize, Place)) {
        let (Place::Local { offset: a, size }, Place::Local { offset: b, size: room }) = (from.1, to.1) else { return };
        let (source, target) = (warp.activation(from.0).local_base + a, warp.activation(to.0).local_base + b);
        for lane in lanes_of(mask) {
            let lane_base = lane * self.kernel.local_bytes as usize;
            let start = lane_base + source as usize;
            warp.local.copy_within(start..start + size.min(room) as usize, lane_base + target as usize);
        }
    }

    fn load_place(&self, warp: &mut Warp, (activation, place): (usize, Place), lane: usize, bytes: &mut [u8]) -> usize {
        match place {
            Place::Reg(slot, width) => {
                bytes[..8].copy_from_slice(&warp.activation(activation).frame.lane(slot, width, lane).to_ne_bytes());
                (width.bytes() as usize / LANES).min(8)
            }
            Place::Local { offset, size } => {
                let at = lane * self.kernel.local_bytes as usize
                    + (warp.activation(activation).local_base + offset) as usize;
                bytes[..size as usize].copy_from_slice(&warp.local[at..at + size as usize]);
                size as usize
            }
        }
    }

    fn store_place(&self, warp: &mut Warp, (activation, place): (usize, Place), lane: usize, bytes: &[u8]) {
        match place {
            Place::Reg(slot, width) => {
                let mut value = [0; 8];
                let size = bytes.len().min(8);
                value[..size].copy_from_slice(&bytes[..size]);
                warp.activation(activation).frame.set_lane(slot, width, lane, u64::from_ne_bytes(value));
            }
            Place::Local { offset, size } => {
                let at = lane * self.kernel.local_bytes as usize
                    + (warp.activation(activation).local_base + offset) as usize;
                let size = bytes.len().min(size as usize);
                warp.local[at..at + size].copy_from_slice(&bytes[..size]);
            }
        }
    }

    fn system_call(&mut self, warp: &mut Warp, split: &Split, call: &Call, system: System, at: u32) -> Run<()> {
        for lane in lanes_of(split.mask) {
            let mut args = [0u64; 5];
            for (arg, place) in args.iter_mut().zip(&call.args) {
                let mut bytes = [0; 64];
                self.load_place(warp, (split.activation, *place), lane, &mut bytes);
                *arg = u64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes"));
            }
            let lane_bytes = self.kernel.local_bytes as usize;
            let local = &warp.local[lane * lane_bytes..(lane + 1) * lane_bytes];
            let block = self.flat_block();
            match system::call(system, args, self.context, local, block) {
                Ok(result) => {
                    if let Some(place) = call.returns.first() {
                        self.store_place(warp, (split.activation, *place), lane, &result.to_ne_bytes());
                    }
                }
                Err(kind) => {
                    let code = self.code(warp.activation(split.activation).function);
                    return Err(self.fault(warp.first_thread, code, at, LaneFault { lane: lane as u32, kind }));
                }
            }
        }
        Ok(())
    }

    fn flat_block(&self) -> u64 {
        let [x, y, z] = self.coordinates.block_index.map(u64::from);
        let [width, height, _] = self.coordinates.grid.map(u64::from);
        x + width * (y + height * z)
    }

    fn barrier(
        &mut self,
        warp: &mut Warp,
        split: &mut Split,
        barrier: &Barrier,
        next: u32,
        at: u32,
    ) -> Run<Option<Pause>> {
        self.counters.barriers += 1;
        let first = split.mask.trailing_zeros() as usize;
        let frame = &warp.activation(split.activation).frame;
        let id = frame.lane(barrier.id, Width::W32, first) as usize;
        let count = barrier.count.map(|slot| frame.lane(slot, Width::W32, first) as u32);
        let predicate = |guard: Guard| {
            let frame = &mut warp.activations[split.activation].as_mut().expect("running").frame;
            // SAFETY: the guard was decoded for the function of this frame.
            unsafe { guard.lanes(frame.pointer(), split.mask) }
        };
        let whole = split.mask == warp.live;
        match self.barriers.arrive(id, count, barrier.kind, split.mask, whole, predicate) {
            Err(detail) => Err(self.lane_fault(warp, split, at, FaultKind::BadTarget { detail })),
            Ok(waits) => {
                split.block = next;
                if !waits {
                    return Ok(None);
                }
                split.wait = Wait::Barrier(id);
                Ok(Some(Pause::Waiting))
            }
        }
    }

    /// Opens the barriers to which all have come. True if any split can go on.
    pub(crate) fn release(&mut self, warps: &mut [Warp]) -> bool {
        let mut released = false;
        for id in 0..crate::barrier::COUNT {
            let Some(results) = self.barriers.complete(id, self.live_threads) else { continue };
            for warp in &mut *warps {
                for at in 0..warp.splits.len() {
                    if warp.splits[at].wait != Wait::Barrier(id) {
                        continue;
                    }
                    let split = warp.splits[at].clone();
                    let code = self.code(warp.activation(split.activation).function);
                    if let Some(End::Barrier(barrier, _)) = code.blocks[..split.block as usize].last().map(|b| &b.end) {
                        let frame = &mut warp.activation(split.activation).frame;
                        results.store(barrier.kind, frame, split.mask);
                    }
                    warp.splits[at].wait = Wait::Nothing;
                    released = true;
                }
            }
        }
        released
    }

    /// Runs the warp-wide operations for which all lanes have come. True if any split can go on.
    pub(crate) fn meet_lanes(&mut self, warp: &mut Warp) -> Run<bool> {
        let mut met = false;
        let waiting: Vec<usize> = (0..warp.splits.len()).filter(|at| warp.splits[*at].wait == Wait::Lanes).collect();
        for at in waiting {
            if warp.splits[at].wait != Wait::Lanes {
                continue;
            }
            let (activation, block) = (warp.splits[at].activation, warp.splits[at].block);
            let code = self.code(warp.activation(activation).function);
            let block_code = &code.blocks[block as usize];
            let End::Synced { members, step, next } = &block_code.end else { continue };
            let same =
                |split: &Split| split.wait == Wait::Lanes && split.activation == activation && split.block == block;
            let here = warp.splits.iter().filter(|split| same(split)).fold(0, |mask, split| mask | split.mask);
            let groups = self.groups(warp, activation, *members, here);
            if groups.iter().any(|(named, _)| named & warp.live & !here != 0) {
                continue;
            }
            for (_, mask) in groups {
                self.run_synced(warp, activation, step, mask)?;
            }
            for split in warp.splits.iter_mut().filter(|split| same(split)) {
                (split.wait, split.block) = (Wait::Nothing, *next);
            }
            met = true;
        }
        Ok(met)
    }

    /// The lanes of `here` by the lanes that they name.
    fn groups(&self, warp: &mut Warp, activation: usize, members: Slot, here: u32) -> Vec<(u32, u32)> {
        let frame = &warp.activation(activation).frame;
        let mut groups: Vec<(u32, u32)> = Vec::new();
        for lane in lanes_of(here) {
            let named = frame.lane(members, Width::W32, lane) as u32;
            match groups.iter_mut().find(|(mask, _)| *mask == named) {
                Some((_, mask)) => *mask |= 1 << lane,
                None => groups.push((named, 1 << lane)),
            }
        }
        groups
    }

    fn run_synced(&mut self, warp: &mut Warp, activation: usize, step: &Step, mask: u32) -> Run<()> {
        let code = self.code(warp.activation(activation).function);
        let mut counters = std::mem::take(&mut self.counters);
        let mut lanes = Lanes {
            frame: warp.activation(activation).frame.pointer(),
            mask,
            shared: self.shared.as_mut_ptr().cast(),
            shared_bytes: self.shared_bytes,
            local: warp.local.as_mut_ptr(),
            local_bytes: self.kernel.local_bytes,
            first_thread: warp.first_thread,
            launch: self.context,
            counters: &mut counters,
            recent: RecentRanges::default(),
            spins: 0,
        };
        // SAFETY: the step was decoded for this function, and the frame is one of it.
        let result = unsafe { (step.exec)(&mut lanes, &step.args) };
        self.counters = counters;
        result.map_err(|fault| self.fault(warp.first_thread, code, step.at, *fault))
    }
}

/// The lanes of a mask, in ascending order.
pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}
