//! Control-flow graph of a function: basic blocks, successors, post-dominators, loop headers.
//!
//! `split` cuts the text into blocks, so that labels can become block numbers; `connect` then draws the edges and asks
//! [`dominance`] where paths meet again.

mod dominance;

use std::collections::HashSet;
use std::sync::Arc;

use crate::module::{Block, BlockId, Function, Instr, Operand};

/// True for an opcode behind which control never comes out, guard aside.
pub(crate) fn ends_block(instr: &Instr) -> bool {
    matches!(&*instr.opcode, "bra" | "brx" | "ret" | "exit" | "trap")
}

/// Cuts the instructions into blocks at the `labels` that are branched to, and returns, for every instruction, the block that holds it (and one more entry,
/// for labels at the very end). `ends` says of each instruction whether control never comes out behind it, guard aside.
///
/// Where control could fall off the end, a `ret` is added; behind a last call that does not return, a `trap`.
pub(crate) fn split(function: &mut Function, ends: &mut Vec<bool>, mut labels: Vec<(u32, Arc<str>)>) -> Vec<BlockId> {
    labels.sort();
    let end = function.instrs.len();
    if labels.last().is_some_and(|(at, _)| *at as usize == end) {
        end_with("ret", function, ends);
    } else {
        match function.instrs.last() {
            Some(last) if last.guard.is_none() && ends_block(last) => {}
            Some(last) if last.guard.is_none() && ends[end - 1] => end_with("trap", function, ends),
            _ => end_with("ret", function, ends),
        }
    }
    let mut labels = labels.into_iter().peekable();
    let mut holders = Vec::with_capacity(end + 1);
    for at in 0..function.instrs.len() {
        let place = index(at);
        let label = labels.next_if(|(label, _)| *label == place).map(|(_, name)| name);
        // Further labels of the same place name the same block.
        while labels.next_if(|(label, _)| *label == place).is_some() {}
        if at == 0 || label.is_some() || ends[at - 1] {
            let (successors, ipdom) = (Vec::new(), None);
            function.blocks.push(Block { start: place, end: place, label, successors, ipdom, loop_header: false });
        }
        let last = function.blocks.len() - 1;
        function.blocks[last].end = place + 1;
        holders.push(BlockId(index(last)));
    }
    holders
}

fn end_with(opcode: &str, function: &mut Function, ends: &mut Vec<bool>) {
    let last = function.instrs.last();
    let (line, loc) = last.map_or((function.line, None), |last| (last.line, last.loc.clone()));
    let opcode: Arc<str> = opcode.into();
    function.instrs.push(Instr { guard: None, opcode, modifiers: vec![], operands: vec![], line, loc });
    ends.push(true);
}

/// Fills in successors, immediate post-dominators and loop headers.
pub(crate) fn connect(function: &mut Function, ends: &[bool]) {
    for at in 0..function.blocks.len() {
        let last = function.blocks[at].end as usize - 1;
        function.blocks[at].successors = successors(function, last, ends[last], index(at + 1));
    }
    let successors: Vec<Vec<u32>> =
        function.blocks.iter().map(|block| block.successors.iter().map(|next| next.0).collect()).collect();
    let ipdoms = dominance::post_dominators(&successors);
    let headers = dominance::loop_headers(&successors);
    for (block, (ipdom, header)) in function.blocks.iter_mut().zip(ipdoms.into_iter().zip(headers)) {
        block.ipdom = ipdom.map(BlockId);
        block.loop_header = header;
    }
}

/// Where control goes behind instruction `last`: targets first, then the block that follows. Each once.
fn successors(function: &Function, last: usize, ends: bool, following: u32) -> Vec<BlockId> {
    let instr = &function.instrs[last];
    let mut next: Vec<BlockId> = match &instr.operands[..] {
        [Operand::Label(block)] => vec![*block],
        [_, Operand::Targets(blocks)] => {
            let mut seen = HashSet::new();
            blocks.iter().copied().filter(|block| seen.insert(*block)).collect()
        }
        _ => Vec::new(),
    };
    let following = BlockId(following);
    if (!ends || instr.guard.is_some()) && !next.contains(&following) {
        next.push(following);
    }
    next
}

fn index(n: usize) -> u32 {
    u32::try_from(n).expect("a text of less than 4 GiB has fewer than 2^32 of anything")
}
