//! Calls: activations, arguments and results, and the functions of CUDA's device runtime.

use crate::code::{Call, Callee, CodeBlock, End, Place, System, Width};
use crate::control::lanes_of;
use crate::engine::{Engine, Pause, Run};
use crate::fault::FaultKind;
use crate::lane::{LANES, LaneFault};
use crate::program::function_at;
use crate::system;
use crate::warp::{Activation, Meet, Node, Split, Warp};

/// Calls may nest this deep, whatever the local memory allows.
const MAX_DEPTH: u32 = 4096;

impl Engine<'_> {
    pub(crate) fn call(
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
                let frame = &warp.activation(split.activation).frame;
                let address = frame.lane(slot, Width::W64, split.mask.trailing_zeros() as usize);
                let same = lanes_of(split.mask).filter(|lane| frame.lane(slot, Width::W64, *lane) == address);
                let same = same.fold(0, |mask, lane| mask | 1 << lane);
                if same != split.mask {
                    // Those that call another function make the call again, by themselves; all meet behind it. They
                    // will be counted then.
                    let (here, others) = (split.block, split.mask & !same);
                    self.counters.divergent_branches += 1;
                    self.counters.lane_instructions -= u64::from(block.cost) * u64::from(others.count_ones());
                    if let Some(notes) = &self.code(warp.activation(split.activation).function).notes {
                        for &(class, times) in notes.classes(here) {
                            self.counters.classes.take_back(class, times.into(), others.count_ones());
                        }
                    }
                    split.part(warp, &[(same, here), (others, here)], Some(next));
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
    pub(crate) fn finish_call(&mut self, warp: &mut Warp, split: &mut Split) -> Option<Pause> {
        let callee = split.activation;
        let Some((caller, next)) = warp.activation(callee).caller else {
            return Some(self.exit(warp, split));
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
        // Lanes that wait inside the function for these wait no longer.
        warp.forget(split.mask, Some(callee));
        let is_return = |node: &Option<Node>| node.is_some_and(|n| n.meet == Meet::Return && n.activation == callee);
        let at = warp.nodes.iter().position(is_return).expect("the call made it, and these lanes are still expected");
        split.node = Some(at);
        if !warp.arrive(split) {
            return Some(Pause::Gone);
        }
        (split.activation, split.block) = (caller, next);
        warp.left.push(callee);
        self.reclaim(warp);
        None
    }

    /// Copies a parameter or a result between two activations. Both have the size that the function was declared with;
    /// where they differ, which PTX does not allow, the smaller counts.
    fn copy(&mut self, warp: &mut Warp, mask: u32, from: (usize, Place), to: (usize, Place)) {
        if let (Place::Local { offset: a, size }, Place::Local { offset: b, size: room }) = (from.1, to.1) {
            let size = size.min(room) as usize;
            let source = (warp.activation(from.0).local_base + a) as usize;
            let target = (warp.activation(to.0).local_base + b) as usize;
            let stride = self.kernel.local_bytes as usize;
            let local = warp.local.bytes();
            for lane in lanes_of(mask) {
                let lane = lane * stride;
                local.copy_within(lane + source..lane + source + size, lane + target);
                if warp.local_written.is_on() {
                    let [source, target, size] = [lane + source, lane + target, size].map(|n| n as u64);
                    warp.local_written.copy_within(source, target, size);
                }
            }
            return;
        }
        for lane in lanes_of(mask) {
            let value = self.load_place(warp, from, lane);
            self.store_place(warp, to, lane, value);
        }
    }

    /// The first 8 bytes, or fewer where there are not as many.
    fn load_place(&self, warp: &mut Warp, (activation, place): (usize, Place), lane: usize) -> u64 {
        match place {
            Place::Reg(slot, Width::Pred) => warp.activation(activation).frame.lane(slot, Width::W32, 0) >> lane & 1,
            Place::Reg(slot, width) => warp.activation(activation).frame.lane(slot, width, lane),
            Place::Local { offset, size } => {
                let at = lane * self.kernel.local_bytes as usize
                    + (warp.activation(activation).local_base + offset) as usize;
                let size = size.min(8) as usize;
                let mut value = [0; 8];
                value[..size].copy_from_slice(&warp.local.bytes()[at..at + size]);
                u64::from_le_bytes(value)
            }
        }
    }

    fn store_place(&self, warp: &mut Warp, (activation, place): (usize, Place), lane: usize, value: u64) {
        match place {
            Place::Reg(slot, Width::Pred) => {
                warp.activation(activation).frame.set_predicate(slot, 1 << lane, value & 1 != 0);
            }
            Place::Reg(slot, width) => warp.activation(activation).frame.set_lane(slot, width, lane, value),
            Place::Local { offset, size } => {
                let at = lane * self.kernel.local_bytes as usize
                    + (warp.activation(activation).local_base + offset) as usize;
                let size = size.min(8) as usize;
                warp.local.bytes()[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
                warp.local_written.set(at as u64, size as u64);
            }
        }
    }

    fn system_call(&mut self, warp: &mut Warp, split: &Split, call: &Call, system: System, at: u32) -> Run<()> {
        for lane in lanes_of(split.mask) {
            let mut args = [0u64; 5];
            for (arg, place) in args.iter_mut().zip(&call.args) {
                *arg = self.load_place(warp, (split.activation, *place), lane);
            }
            let lane_bytes = self.kernel.local_bytes as usize;
            let local = &warp.local.bytes()[lane * lane_bytes..(lane + 1) * lane_bytes];
            match system::call(system, args, self.context, local, self.block.flat) {
                Ok(result) => {
                    if matches!(system, System::Malloc | System::Free) {
                        // What was freed must not be taken for live, nor the other way round.
                        self.recent = crate::memory::RecentRanges::default();
                        self.observer.iter_mut().for_each(|observer| observer.forget_regions());
                    }
                    if let Some(place) = call.returns.first() {
                        self.store_place(warp, (split.activation, *place), lane, result);
                    }
                }
                Err(kind) => {
                    let code = self.code(warp.activation(split.activation).function);
                    return Err(self.fault(warp.first_thread, code, at, LaneFault { lane: lane as u32, kind }));
                }
            }
        }
        debug_assert!(warp.local.len() <= LANES * self.kernel.local_bytes as usize);
        Ok(())
    }
}
