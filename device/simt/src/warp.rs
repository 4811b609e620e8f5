//! A warp: 32 lanes, one or more *splits* of them that run together, and the places where splits meet again.
//!
//! Lanes part at a branch and meet at its immediate post-dominator. Until all of them have come (or left the kernel), those
//! that are there wait in a [`Node`]. Waiting is a courtesy, not a rule: where the others spin and may be waiting for
//! *these* lanes, the engine lets them go on by themselves, so that every lane makes progress.
//!
//! ```text
//!            [####....]  branch, meet at M           node M: expect ####....  arrived ........
//!   [##......] then      [..##....] else              two splits, both with node M
//!            M: ##......  waits, ..##....  comes      one split again, with the node that M's splits had before
//! ```

use crate::check::Bits;
use crate::engine::Backoff;
use crate::frame::{Arena, Frame};

/// Lanes that run together.
#[derive(Debug, Clone)]
pub(crate) struct Split {
    pub(crate) mask: u32,
    /// Position in [`Warp::activations`].
    pub(crate) activation: usize,
    /// The block to run next.
    pub(crate) block: u32,
    /// Where the lanes are awaited, a position in [`Warp::nodes`].
    pub(crate) node: Option<usize>,
    pub(crate) wait: Wait,
    /// True while the kernel's linear code runs it: then all 32 lanes are in it, and some of its registers are kept in lane
    /// 0 alone. Whoever takes lanes out of it, or gives their registers to others, spreads them first.
    pub(crate) linear: bool,
}

/// What a split waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Nothing,
    /// A barrier of the block, by its number.
    Barrier(usize),
    /// Other lanes of the warp.
    Lanes,
}

/// A place where lanes meet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) meet: Meet,
    pub(crate) activation: usize,
    /// Lanes that will come unless they exit.
    pub(crate) expect: u32,
    pub(crate) arrived: u32,
    pub(crate) parent: Option<usize>,
}

/// Where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meet {
    Block(u32),
    /// The return of the activation.
    Return,
}

/// A function that is running in some lanes.
#[derive(Debug)]
pub(crate) struct Activation {
    pub(crate) frame: Frame,
    /// Number of the function in the module.
    pub(crate) function: usize,
    /// Where its part of the local memory begins.
    pub(crate) local_base: u32,
    /// Caller and the block that goes on there; `None` for the kernel.
    pub(crate) caller: Option<(usize, u32)>,
    pub(crate) depth: u32,
}

/// A warp of a block.
#[derive(Debug, Default)]
pub(crate) struct Warp {
    /// Thread index of lane 0 in the block.
    pub(crate) first_thread: u32,
    /// Lanes that have not exited.
    pub(crate) live: u32,
    pub(crate) splits: Vec<Split>,
    pub(crate) nodes: Vec<Option<Node>>,
    pub(crate) activations: Vec<Option<Activation>>,
    /// Activations that no lane will come back to.
    pub(crate) left: Vec<usize>,
    /// Local memory of the 32 lanes.
    pub(crate) local: Arena,
    /// Which bytes of it have been written, in launches that are checked for that.
    pub(crate) local_written: Bits,
    /// Loops gone round since the warp last gave way.
    pub(crate) turns: u32,
    /// Accesses since then that may have been waiting for another thread.
    pub(crate) spins: u32,
    pub(crate) pace: Backoff,
}

impl Split {
    /// Lanes go different ways: this split goes on with the side that comes first in the text, the others become splits of
    /// their own, and all will meet at `meet`.
    pub(crate) fn part(&mut self, warp: &mut Warp, sides: &[(u32, u32)], meet: Option<u32>) {
        if let Some(meet) = meet
            && warp.meeting_block(self) != meet
        {
            let (activation, parent) = (self.activation, self.node);
            let node = Node { meet: Meet::Block(meet), activation, expect: self.mask, arrived: 0, parent };
            self.node = Some(warp.add_node(node));
        }
        let first = *sides.iter().min_by_key(|(_, block)| *block).expect("lanes go somewhere");
        for &(mask, block) in sides {
            if (mask, block) != first {
                warp.splits.push(Self { mask, block, ..self.clone() });
            }
        }
        (self.mask, self.block) = first;
    }
}

impl Warp {
    /// A split has come to where it is awaited. True if it goes on, as one with the others; false if it waits there.
    pub(crate) fn arrive(&mut self, split: &mut Split) -> bool {
        let at = split.node.expect("only splits with a node arrive");
        let node = self.node(at);
        node.arrived |= split.mask;
        if node.arrived != node.expect {
            return false;
        }
        (split.mask, split.node) = (node.arrived, node.parent);
        self.nodes[at] = None;
        true
    }

    pub(crate) fn add_node(&mut self, node: Node) -> usize {
        insert(&mut self.nodes, node)
    }

    pub(crate) fn add_activation(&mut self, activation: Activation) -> usize {
        insert(&mut self.activations, activation)
    }

    pub(crate) fn activation(&mut self, at: usize) -> &mut Activation {
        self.activations[at].as_mut().expect("a split's activation lives as long as the split")
    }

    pub(crate) fn node(&mut self, at: usize) -> &mut Node {
        self.nodes[at].as_mut().expect("a node lives as long as lanes are expected at it")
    }

    /// The block at which a split is awaited, or a number that no block has.
    pub(crate) fn meeting_block(&self, split: &Split) -> u32 {
        let node = split.node.and_then(|at| self.nodes[at].as_ref());
        match node {
            Some(Node { meet: Meet::Block(block), activation, .. }) if *activation == split.activation => *block,
            _ => u32::MAX,
        }
    }

    /// Lanes are gone for good: no node of the warp expects them any more. Nodes that were waiting for them alone open.
    pub(crate) fn forget(&mut self, mask: u32, only_in: Option<usize>) {
        for at in 0..self.nodes.len() {
            let Some(node) = &mut self.nodes[at] else { continue };
            let concerned = only_in.is_none_or(|activation| node.activation == activation && node.meet != Meet::Return);
            if concerned && node.expect & mask != 0 {
                node.expect &= !mask;
                if node.arrived == node.expect {
                    self.open(at);
                }
            }
        }
    }

    /// Lets the lanes that have come to a node go on, whoever is missing. Returns false if there were none.
    ///
    /// Lanes at a `Return` node go on in the caller; their results must have been copied when they came.
    pub(crate) fn open(&mut self, at: usize) -> bool {
        let node = self.node(at);
        let (arrived, meet, activation, parent) = (node.arrived, node.meet, node.activation, node.parent);
        node.expect &= !arrived;
        node.arrived = 0;
        let done = node.expect == 0;
        if arrived != 0 {
            let (activation, block) = match meet {
                Meet::Block(block) => (activation, block),
                Meet::Return => self.activation(activation).caller.expect("only callees have a Return node"),
            };
            self.splits.push(Split {
                mask: arrived,
                activation,
                block,
                node: parent,
                wait: Wait::Nothing,
                linear: false,
            });
        }
        if done {
            self.nodes[at] = None;
            if meet == Meet::Return {
                self.left.push(activation);
            }
        }
        arrived != 0
    }

    /// Opens every node at which lanes wait. Returns false if there was none.
    pub(crate) fn open_all(&mut self) -> bool {
        let mut opened = false;
        for at in 0..self.nodes.len() {
            if self.nodes[at].is_some_and(|node| node.arrived != 0) {
                opened |= self.open(at);
            }
        }
        opened
    }

    /// Puts a split that can go on behind the others, or together with one that has come to the same place.
    pub(crate) fn put_back(&mut self, split: Split) {
        let place = |split: &Split| (split.activation, split.block, split.node, split.wait);
        match self.splits.iter().position(|other| place(other) == place(&split)) {
            Some(at) => {
                let other = self.splits.remove(at);
                self.splits.push(Split { mask: other.mask | split.mask, ..split });
            }
            None => self.splits.push(split),
        }
    }

    /// The first split that can run.
    pub(crate) fn ready(&self) -> Option<usize> {
        self.splits.iter().position(|split| split.wait == Wait::Nothing)
    }
}

fn insert<T>(places: &mut Vec<Option<T>>, value: T) -> usize {
    match places.iter().position(Option::is_none) {
        Some(free) => {
            places[free] = Some(value);
            free
        }
        None => {
            places.push(Some(value));
            places.len() - 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warp(expect: u32, arrived: u32) -> Warp {
        let node = Node { meet: Meet::Block(7), activation: 0, expect, arrived, parent: None };
        Warp { live: u32::MAX, nodes: vec![Some(node)], ..Warp::default() }
    }

    #[test]
    fn a_node_opens_when_the_missing_lanes_exit() {
        let mut warp = warp(0b1111, 0b0011);
        warp.forget(0b0100, None);
        assert!(warp.splits.is_empty());
        warp.forget(0b1000, None);
        assert_eq!((warp.splits[0].mask, warp.splits[0].block), (0b0011, 7));
        assert!(warp.nodes[0].is_none());
    }

    #[test]
    fn a_node_opened_early_still_expects_the_others() {
        let mut warp = warp(0b1111, 0b0011);
        assert!(warp.open_all());
        assert_eq!(warp.nodes[0].unwrap().expect, 0b1100);
        assert!(!warp.open_all());
    }
}
