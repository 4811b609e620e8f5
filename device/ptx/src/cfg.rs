//! Control-flow graph of a function: basic blocks, successors, post-dominators, loop headers.
//!
//! Post-dominators are found as dominators of the reversed graph by the iterative scheme of Cooper, Harvey and Kennedy
//! ("A Simple, Fast Dominance Algorithm", 2001), with one virtual exit behind all blocks that end the function.

use std::sync::Arc;

use crate::module::{Block, BlockId, Function, Instr, Operand};

/// True for an instruction after which control never falls through, guard aside.
fn ends_block(instr: &Instr) -> bool {
    matches!(&*instr.opcode, "bra" | "brx" | "ret" | "exit" | "trap")
}

/// Cuts the instructions into blocks and returns, for every instruction, the block that holds it (and one more entry,
/// for labels at the very end). A `ret` is added where control could fall off the end.
pub(crate) fn split(function: &mut Function, labels: &[(&str, u32)]) -> Vec<BlockId> {
    let end = function.instrs.len();
    let falls_off = function.instrs.last().is_none_or(|last| !ends_block(last) || last.guard.is_some());
    if falls_off || labels.iter().any(|(_, at)| *at as usize == end) {
        let line = function.instrs.last().map_or(function.line, |last| last.line);
        let loc = function.instrs.last().and_then(|last| last.loc.clone());
        let opcode: Arc<str> = "ret".into();
        function.instrs.push(Instr { guard: None, opcode, modifiers: vec![], operands: vec![], line, loc });
    }
    let count = function.instrs.len();
    let mut starts = vec![false; count];
    starts[0] = true;
    for (_, at) in labels {
        starts[*at as usize] = true;
    }
    for (at, instr) in function.instrs.iter().enumerate() {
        if ends_block(instr) && at + 1 < count {
            starts[at + 1] = true;
        }
    }
    let mut holder = Vec::with_capacity(count + 1);
    for (at, start) in starts.iter().enumerate() {
        let at = u32::try_from(at).expect("fewer than 2^32 instructions");
        if *start {
            if let Some(last) = function.blocks.last_mut() {
                last.end = at;
            }
            function.blocks.push(Block {
                start: at,
                end: at,
                label: labels.iter().find(|(_, place)| *place == at).map(|(name, _)| (*name).into()),
                successors: Vec::new(),
                ipdom: None,
                loop_header: false,
            });
        }
        holder.push(BlockId(u32::try_from(function.blocks.len() - 1).expect("fewer blocks than instructions")));
    }
    if let Some(last) = function.blocks.last_mut() {
        last.end = u32::try_from(count).expect("fewer than 2^32 instructions");
    }
    holder
}

/// Fills in successors, immediate post-dominators and loop headers.
pub(crate) fn connect(function: &mut Function) {
    let count = function.blocks.len();
    for at in 0..count {
        let last = &function.instrs[function.blocks[at].end as usize - 1];
        let mut next: Vec<BlockId> = Vec::new();
        for operand in &last.operands {
            match operand {
                Operand::Label(block) if &*last.opcode == "bra" => next.push(*block),
                Operand::Targets(blocks) => next.extend(blocks.iter()),
                _ => {}
            }
        }
        let falls = !ends_block(last) || last.guard.is_some();
        if falls && at + 1 < count {
            next.push(BlockId(u32::try_from(at + 1).expect("few blocks")));
        }
        let mut seen = Vec::new();
        next.retain(|block| {
            !seen.contains(block) && {
                seen.push(*block);
                true
            }
        });
        function.blocks[at].successors = next;
    }
    let successors: Vec<Vec<usize>> =
        function.blocks.iter().map(|b| b.successors.iter().map(|s| s.0 as usize).collect()).collect();
    for (at, ipdom) in post_dominators(&successors).into_iter().enumerate() {
        function.blocks[at].ipdom = ipdom.map(|b| BlockId(u32::try_from(b).expect("few blocks")));
    }
    for header in retreating_targets(&successors) {
        function.blocks[header].loop_header = true;
    }
}

/// Immediate post-dominator of each block; `None` is the virtual exit.
fn post_dominators(successors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let count = successors.len();
    let exit = count;
    let mut predecessors = vec![Vec::new(); count + 1];
    let mut forward: Vec<Vec<usize>> = successors.to_vec();
    forward.push(Vec::new());
    for (at, next) in forward.iter_mut().enumerate().take(count) {
        if next.is_empty() {
            next.push(exit);
        }
        for &s in &*next {
            predecessors[s].push(at);
        }
    }
    let mut order = reverse_post_order(&predecessors, exit);
    // Blocks of endless loops never reach the exit: the last of them is taken to, so that each block has a place.
    while order.len() < count + 1 {
        let mut reached = vec![false; count + 1];
        order.iter().for_each(|&b| reached[b] = true);
        let stuck = (0..count).rev().find(|&b| !reached[b]).expect("fewer are reached than there are");
        forward[stuck].push(exit);
        predecessors[exit].push(stuck);
        order = reverse_post_order(&predecessors, exit);
    }
    let mut place = vec![0; count + 1];
    order.iter().enumerate().for_each(|(at, &block)| place[block] = at);
    let mut idom: Vec<Option<usize>> = vec![None; count + 1];
    idom[exit] = Some(exit);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &order[1..] {
            let mut known = forward[block].iter().copied().filter(|&s| idom[s].is_some());
            let Some(first) = known.next() else { continue };
            let meet = known.fold(first, |a, b| intersect(&idom, &place, a, b));
            if idom[block] != Some(meet) {
                idom[block] = Some(meet);
                changed = true;
            }
        }
    }
    (0..count).map(|b| idom[b].filter(|&d| d != exit)).collect()
}

fn intersect(idom: &[Option<usize>], place: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while place[a] > place[b] {
            a = idom[a].expect("processed before");
        }
        while place[b] > place[a] {
            b = idom[b].expect("processed before");
        }
    }
    a
}

/// Nodes reachable from `root`, each before those it leads to where the graph allows. No recursion.
fn reverse_post_order(edges: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut seen = vec![false; edges.len()];
    let mut post = Vec::new();
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, next)) = stack.last_mut() {
        if let Some(&to) = edges[*node].get(*next) {
            *next += 1;
            if !seen[to] {
                seen[to] = true;
                stack.push((to, 0));
            }
        } else {
            post.push(*node);
            stack.pop();
        }
    }
    post.reverse();
    post
}

/// Targets of edges that go back up the depth-first tree: the headers of loops.
fn retreating_targets(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut state = vec![0u8; successors.len()];
    let mut found = Vec::new();
    let mut stack = vec![(0, 0)];
    if let Some(first) = state.first_mut() {
        *first = 1;
    }
    while let Some((node, next)) = stack.last_mut() {
        if let Some(&to) = successors[*node].get(*next) {
            *next += 1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    stack.push((to, 0));
                }
                1 if !found.contains(&to) => found.push(to),
                _ => {}
            }
        } else {
            state[*node] = 2;
            stack.pop();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diamond_meets_at_its_end() {
        let found = post_dominators(&[vec![1, 2], vec![3], vec![3], vec![]]);
        assert_eq!(found, [Some(3), Some(3), Some(3), None]);
    }

    #[test]
    fn a_loop_meets_behind_its_exit() {
        let graph = [vec![1], vec![2, 3], vec![1], vec![]];
        assert_eq!(post_dominators(&graph), [Some(1), Some(3), Some(1), None]);
        assert_eq!(retreating_targets(&graph), [1]);
    }

    #[test]
    fn two_exits_meet_nowhere() {
        assert_eq!(post_dominators(&[vec![1, 2], vec![], vec![]]), [None, None, None]);
    }

    #[test]
    fn an_endless_loop_has_a_place() {
        let found = post_dominators(&[vec![1, 3], vec![2], vec![1], vec![]]);
        assert_eq!(found, [None, Some(2), None, None]);
    }
}
