//! Where lanes that part at a branch meet again.
//!
//! The meeting place is the branch's immediate post-dominator, with one liberty: ways that end in a trap, in a function
//! that does not return, or in an early return do not count. Every bounds check has such a way, and lanes that take it are
//! not waited for (see [`crate::warp`]), so leaving it out costs nothing and lets the others meet at once.

use crate::code::{CodeBlock, End};

/// Fills in [`CodeBlock::meet`] of every block with two ways out.
///
/// `leaves(block)` tells of a call whether it never returns.
pub(crate) fn find(blocks: &mut [CodeBlock], leaves: impl Fn(&CodeBlock) -> bool) {
    let count = blocks.len();
    let mut next: Vec<Vec<usize>> =
        blocks.iter().map(|block| if leaves(block) { vec![] } else { successors(block) }).collect();
    let returns: Vec<usize> = (0..count).filter(|at| matches!(blocks[*at].end, End::Return)).collect();
    let exits: Vec<usize> = (0..count).filter(|at| matches!(blocks[*at].end, End::Exit)).collect();
    let ends = if returns.is_empty() { exits } else { returns };
    keep_ways_to(&ends, &mut next);
    let mut meets = post_dominators(&next, &ends);
    // Where only an early return is in the way, the last one in the text is taken to be the way on.
    if let [_, .., last] = ends[..] {
        keep_ways_to(&[last], &mut next);
        let later = post_dominators(&next, &[last]);
        for (meet, later) in meets.iter_mut().zip(later) {
            *meet = meet.or(later);
        }
    }
    for (block, meet) in blocks.iter_mut().zip(meets) {
        let parts = matches!(block.end, End::Branch { .. } | End::Switch { .. });
        block.meet = meet.filter(|_| parts).map(|at| at as u32);
    }
}

fn successors(block: &CodeBlock) -> Vec<usize> {
    match &block.end {
        End::Jump(next) | End::Sleep(next) | End::Call(_, next) | End::Barrier(_, next) | End::Synced { next, .. } => {
            vec![*next as usize]
        }
        End::Branch { taken, next, .. } if taken == next => vec![*next as usize],
        End::Branch { taken, next, .. } => vec![*taken as usize, *next as usize],
        End::Switch { targets, .. } => {
            let mut all: Vec<usize> = targets.iter().map(|at| *at as usize).collect();
            all.sort_unstable();
            all.dedup();
            all
        }
        End::Return | End::Exit | End::Trap => vec![],
    }
}

/// Drops the edges that lead to where no way to `ends` begins, from all blocks that have one.
fn keep_ways_to(ends: &[usize], next: &mut [Vec<usize>]) {
    let mut before = vec![Vec::new(); next.len()];
    for (at, next) in next.iter().enumerate() {
        next.iter().for_each(|to| before[*to].push(at));
    }
    let mut reaches = vec![false; next.len()];
    let mut waiting = ends.to_vec();
    while let Some(at) = waiting.pop() {
        if !std::mem::replace(&mut reaches[at], true) {
            waiting.extend(&before[at]);
        }
    }
    for (at, next) in next.iter_mut().enumerate() {
        if reaches[at] {
            next.retain(|to| reaches[*to]);
        } else {
            next.clear();
        }
    }
}

/// Immediate post-dominators, for the blocks that have one and lead to `ends` (the iterative scheme of Cooper, Harvey and
/// Kennedy, "A Simple, Fast Dominance Algorithm").
fn post_dominators(next: &[Vec<usize>], ends: &[usize]) -> Vec<Option<usize>> {
    let exit = next.len();
    let mut before = vec![Vec::new(); next.len() + 1];
    for (at, next) in next.iter().enumerate() {
        next.iter().for_each(|to| before[*to].push(at));
    }
    before[exit] = ends.to_vec();
    let order = post_order(&before, exit);
    let mut rank = vec![usize::MAX; next.len() + 1];
    order.iter().enumerate().for_each(|(place, at)| rank[*at] = place);
    let mut dominator = vec![None; next.len() + 1];
    dominator[exit] = Some(exit);
    ends.iter().for_each(|end| dominator[*end] = Some(exit));
    let common = |dominator: &[Option<usize>], mut a: usize, mut b: usize| {
        while a != b {
            let lower = if rank[a] < rank[b] { &mut a } else { &mut b };
            *lower = dominator[*lower].unwrap_or(exit);
        }
        a
    };
    loop {
        let mut changed = false;
        for &at in order.iter().rev().filter(|at| **at != exit && !ends.contains(at)) {
            let known = next[at].iter().copied().filter(|to| dominator[*to].is_some());
            let meet = known.reduce(|a, b| common(&dominator, a, b));
            changed |= meet != dominator[at];
            dominator[at] = meet;
        }
        if !changed {
            return dominator[..exit].iter().map(|meet| meet.filter(|at| *at != exit)).collect();
        }
    }
}

/// Nodes reachable from `root`, each behind those that it leads to where there is no cycle.
fn post_order(edges: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut seen = vec![false; edges.len()];
    seen[root] = true;
    let mut order = Vec::new();
    let mut stack = vec![(root, 0)];
    while let Some((at, tried)) = stack.last_mut() {
        let Some(&to) = edges[*at].get(*tried) else {
            order.push(*at);
            stack.pop();
            continue;
        };
        *tried += 1;
        if !std::mem::replace(&mut seen[to], true) {
            stack.push((to, 0));
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Guard;
    use crate::lane::Slot;

    fn meets(ends: Vec<End>) -> Vec<Option<u32>> {
        let mut blocks: Vec<CodeBlock> =
            ends.into_iter().map(|end| CodeBlock { steps: Box::new([]), end, cost: 1, meet: None, at: 0 }).collect();
        find(&mut blocks, |_| false);
        blocks.iter().map(|block| block.meet).collect()
    }

    fn branch(taken: u32, next: u32) -> End {
        End::Branch { guard: Guard::of(Slot(0), false), taken, next }
    }

    #[test]
    fn a_diamond_meets_at_its_end() {
        assert_eq!(meets(vec![branch(2, 1), End::Jump(3), End::Jump(3), End::Return])[0], Some(3));
    }

    #[test]
    fn a_trap_on_the_way_does_not_count() {
        assert_eq!(
            meets(vec![branch(2, 1), branch(4, 3), End::Jump(3), End::Return, End::Trap]),
            [Some(3), Some(3), None, None, None]
        );
    }

    #[test]
    fn an_early_return_on_the_way_does_not_count() {
        assert_eq!(meets(vec![branch(3, 1), branch(2, 3), End::Return, End::Return])[0], Some(3));
    }

    #[test]
    fn a_loop_meets_behind_it() {
        assert_eq!(meets(vec![End::Jump(1), branch(3, 2), branch(1, 3), End::Return]), [None, Some(3), Some(3), None]);
        // A loop without an end meets nowhere, and takes no time to find out.
        assert_eq!(meets(vec![branch(0, 1), End::Jump(0)]), [None, None]);
    }
}
