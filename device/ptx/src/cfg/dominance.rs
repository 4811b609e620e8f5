//! Where the paths of a graph meet: post-dominators and loop headers.
//!
//! Post-dominators are dominators of the reversed graph, found by the iterative scheme of Cooper, Harvey and Kennedy
//! ("A Simple, Fast Dominance Algorithm", 2001), with one virtual exit behind all blocks that end the function. Blocks
//! that never reach it, those of endless loops, get an edge to it from one block of the loop. Nothing here recurses.

/// Edges of a graph by node.
type Edges = [Vec<u32>];

/// Immediate post-dominator of each block; `None` is the virtual exit.
pub(crate) fn post_dominators(successors: &Edges) -> Vec<Option<u32>> {
    let exit = u32::try_from(successors.len()).expect("fewer than 2^32 blocks");
    let mut forward = successors.to_vec();
    let mut backward = vec![Vec::new(); successors.len() + 1];
    for (at, next) in (0..).zip(&mut forward) {
        if next.is_empty() {
            next.push(exit);
        }
        for to in &*next {
            backward[*to as usize].push(at);
        }
    }
    forward.push(Vec::new());
    let mut walk = Walk::new(backward.len());
    walk.from(exit, &backward);
    for block in 0..exit {
        if !walk.seen[block as usize] {
            let leaves = innermost(block, &forward, &walk.seen);
            forward[leaves as usize].push(exit);
            backward[exit as usize].push(leaves);
            walk.from(leaves, &backward);
        }
    }
    // The exit was finished first of all roots; as the root of the whole it comes last.
    walk.post.retain(|block| *block != exit);
    walk.post.push(exit);
    let mut idoms = dominators(exit, &walk.post, &forward);
    idoms.pop();
    idoms.into_iter().map(|idom| idom.filter(|to| *to != exit)).collect()
}

/// Immediate dominator of each node; `post` is a post-order of the graph, whose last is `root`.
fn dominators(root: u32, post: &[u32], predecessors: &Edges) -> Vec<Option<u32>> {
    let mut place = vec![0; predecessors.len()];
    for (at, node) in (0u32..).zip(post) {
        place[*node as usize] = at;
    }
    let mut idoms: Vec<Option<u32>> = vec![None; predecessors.len()];
    idoms[root as usize] = Some(root);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in post.iter().rev().skip(1) {
            let known = predecessors[node as usize].iter().copied().filter(|from| idoms[*from as usize].is_some());
            let meet = known.reduce(|a, b| intersect(&idoms, &place, a, b));
            if idoms[node as usize] != meet {
                idoms[node as usize] = meet;
                changed = true;
            }
        }
    }
    idoms
}

fn intersect(idoms: &[Option<u32>], place: &[u32], mut a: u32, mut b: u32) -> u32 {
    let up = |node: u32| idoms[node as usize].expect("a node that has a dominator has one all the way up");
    while a != b {
        while place[a as usize] < place[b as usize] {
            a = up(a);
        }
        while place[b as usize] < place[a as usize] {
            b = up(b);
        }
    }
    a
}

/// A node of an endless loop that `start`, which never leaves, ends up in: the first that a depth-first walk finishes.
fn innermost(start: u32, forward: &Edges, leaves: &[bool]) -> u32 {
    debug_assert!(!leaves[start as usize]);
    let mut seen = std::collections::HashSet::from([start]);
    let mut node = start;
    while let Some(next) = forward[node as usize].iter().copied().find(|next| !seen.contains(next)) {
        seen.insert(next);
        node = next;
    }
    node
}

/// For each block, whether an edge goes back to it up the depth-first tree: one block of every cycle, the header where
/// the loop has a single entry.
pub(crate) fn loop_headers(successors: &Edges) -> Vec<bool> {
    let mut headers = vec![false; successors.len()];
    let mut walk = Walk::new(successors.len());
    for start in (0..).take(successors.len()) {
        walk.visit(start, successors, |to| headers[to as usize] = true);
    }
    headers
}

/// A depth-first walk, from several roots one after the other.
struct Walk {
    seen: Vec<bool>,
    /// On the path from the root to the current node.
    open: Vec<bool>,
    /// Nodes in the order in which they are finished.
    post: Vec<u32>,
}

impl Walk {
    fn new(nodes: usize) -> Self {
        Self { seen: vec![false; nodes], open: vec![false; nodes], post: Vec::with_capacity(nodes) }
    }

    fn from(&mut self, root: u32, edges: &Edges) {
        self.visit(root, edges, |_| ());
    }

    /// Calls `back` with the target of every edge that leads to a node of the current path.
    fn visit(&mut self, root: u32, edges: &Edges, mut back: impl FnMut(u32)) {
        if self.seen[root as usize] {
            return;
        }
        self.seen[root as usize] = true;
        self.open[root as usize] = true;
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.last_mut() {
            let Some(&to) = edges[*node as usize].get(*next) else {
                self.open[*node as usize] = false;
                self.post.push(*node);
                path.pop();
                continue;
            };
            *next += 1;
            if self.open[to as usize] {
                back(to);
            } else if !self.seen[to as usize] {
                self.seen[to as usize] = true;
                self.open[to as usize] = true;
                path.push((to, 0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        assert_eq!(loop_headers(&graph), [false, true, false, false]);
    }

    #[test]
    fn two_exits_meet_nowhere() {
        assert_eq!(post_dominators(&[vec![1, 2], vec![], vec![]]), [None, None, None]);
    }

    #[test]
    fn an_endless_loop_has_a_place() {
        let found = post_dominators(&[vec![1, 3], vec![2], vec![1], vec![]]);
        assert_eq!(found, [None, Some(2), None, None]);
        // A block behind the loop in the text that leads into it.
        let found = post_dominators(&[vec![3], vec![2], vec![1], vec![1]]);
        assert_eq!(found, [Some(3), Some(2), None, Some(1)]);
        assert_eq!(post_dominators(&[vec![0]]), [None]);
    }

    #[test]
    fn a_loop_with_two_entries_has_a_header() {
        let graph = [vec![1, 2], vec![2], vec![1, 3], vec![]];
        assert_eq!(loop_headers(&graph), [false, true, false, false]);
        assert_eq!(post_dominators(&graph), [Some(2), Some(2), Some(3), None]);
    }

    #[test]
    fn long_chains_and_many_endless_loops_are_quick() {
        let chain: Vec<Vec<u32>> = (1..200_000).map(|next| vec![next]).chain([vec![]]).collect();
        assert_eq!(post_dominators(&chain)[0], Some(1));
        let loops: Vec<Vec<u32>> = (0..200_000).map(|own| vec![own]).collect();
        assert!(post_dominators(&loops).iter().all(Option::is_none));
    }

    /// Blocks on every path from `from` to the exit, by taking each away.
    fn naive(graph: &Edges, from: u32, without: u32) -> bool {
        let mut walk = Walk::new(graph.len());
        walk.seen[without as usize] = true;
        walk.from(from, graph);
        !walk.post.iter().any(|node| graph[*node as usize].is_empty())
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(raw in prop::collection::vec(prop::collection::vec(0u32..12, 0..3), 1..12)) {
            let count = u32::try_from(raw.len()).unwrap();
            let graph: Vec<Vec<u32>> = raw.iter().map(|next| next.iter().map(|to| to % count).collect()).collect();
            let found = post_dominators(&graph);
            let ends = |from: u32| !naive_never_ends(&graph, from);
            // Where all blocks can reach the exit there is no choice.
            prop_assume!((0..count).all(ends));
            for from in 0..count {
                let expected: Vec<u32> = (0..count).filter(|by| *by != from && naive(&graph, from, *by)).collect();
                let mut chain = Vec::new();
                let mut at = found[from as usize];
                while let Some(block) = at {
                    chain.push(block);
                    at = found[block as usize];
                }
                chain.sort_unstable();
                prop_assert_eq!(chain, expected);
            }
        }

        #[test]
        fn every_cycle_has_a_header(raw in prop::collection::vec(prop::collection::vec(0u32..12, 0..3), 1..12)) {
            let count = u32::try_from(raw.len()).unwrap();
            let mut graph: Vec<Vec<u32>> = raw.iter().map(|next| next.iter().map(|to| to % count).collect()).collect();
            let headers = loop_headers(&graph);
            for next in &mut graph {
                next.retain(|to| !headers[*to as usize]);
            }
            prop_assert!(loop_headers(&graph).iter().all(|header| !header));
        }
    }

    fn naive_never_ends(graph: &Edges, from: u32) -> bool {
        let mut walk = Walk::new(graph.len());
        walk.from(from, graph);
        !walk.post.iter().any(|node| graph[*node as usize].is_empty())
    }
}
