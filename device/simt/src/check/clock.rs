//! Who knows of whose past: the happens-before order of a launch.
//!
//! Every warp instruction that touches memory gets a *stamp*, one more than the last. A thread *knows* another up to a
//! stamp when all that the other did up to then happens before all that it does from now on. A clock holds what a thread
//! knows. Most knowledge comes from barriers and is of a whole block at once, so a clock is one number most of the time.

use std::sync::Arc;

use imbl::OrdMap;

/// What is known of the threads of one block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// All of its threads.
    all: u64,
    /// Warps known beyond that, by number.
    warps: Vec<(u32, u64)>,
    /// Threads known beyond that.
    threads: Vec<(u32, u64)>,
}

/// What is known of blocks.
pub(crate) type Blocks = OrdMap<u32, Arc<Known>>;

/// What a thread knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    pub(crate) own: Known,
    /// Other blocks.
    pub(crate) others: Blocks,
}

impl Known {
    /// Lanes of `lanes` in `warp` whose doings at `stamp` are not known.
    pub(crate) fn unknown(&self, warp: u32, lanes: u32, stamp: u64) -> u32 {
        if self.all >= stamp || look(&self.warps, warp) >= stamp {
            return 0;
        }
        if self.threads.is_empty() {
            return lanes;
        }
        let known = |lane: &usize| look(&self.threads, warp * 32 + *lane as u32) >= stamp;
        crate::control::lanes_of(lanes).filter(known).fold(lanes, |left, lane| left & !(1 << lane))
    }

    pub(crate) fn learn_all(&mut self, stamp: u64) {
        if stamp > self.all {
            self.all = stamp;
            self.warps.retain(|(_, known)| *known > stamp);
            self.threads.retain(|(_, known)| *known > stamp);
        }
    }

    pub(crate) fn learn_warp(&mut self, warp: u32, stamp: u64) {
        if stamp > self.all && raise(&mut self.warps, warp, stamp) {
            self.threads.retain(|(thread, known)| thread / 32 != warp || *known > stamp);
        }
    }

    pub(crate) fn learn_thread(&mut self, thread: u32, stamp: u64) {
        if stamp > self.all && stamp > look(&self.warps, thread / 32) {
            raise(&mut self.threads, thread, stamp);
        }
    }

    pub(crate) fn join(&mut self, other: &Self) {
        self.learn_all(other.all);
        other.warps.iter().for_each(|(warp, stamp)| self.learn_warp(*warp, *stamp));
        other.threads.iter().for_each(|(thread, stamp)| self.learn_thread(*thread, *stamp));
    }
}

fn look(known: &[(u32, u64)], whom: u32) -> u64 {
    known.binary_search_by_key(&whom, |(who, _)| *who).map_or(0, |at| known[at].1)
}

/// True if that is news.
fn raise(known: &mut Vec<(u32, u64)>, whom: u32, stamp: u64) -> bool {
    match known.binary_search_by_key(&whom, |(who, _)| *who) {
        Ok(at) if known[at].1 >= stamp => return false,
        Ok(at) => known[at].1 = stamp,
        Err(at) => known.insert(at, (whom, stamp)),
    }
    true
}

impl Clock {
    /// Lanes of another thread's warp, or its own, whose doings at `stamp` are not known to a thread of block `here`.
    pub(crate) fn unknown(&self, here: u32, block: u32, warp: u32, lanes: u32, stamp: u64) -> u32 {
        if block == here {
            return self.own.unknown(warp, lanes, stamp);
        }
        self.others.get(&block).map_or(lanes, |known| known.unknown(warp, lanes, stamp))
    }

    /// Learns what another clock of the same block knows.
    pub(crate) fn join(&mut self, other: &Self) {
        self.own.join(&other.own);
        join(&mut self.others, &other.others);
    }

    /// Learns of blocks, its own one (`here`) perhaps among them.
    pub(crate) fn learn(&mut self, here: u32, blocks: &Blocks) {
        match blocks.get(&here) {
            Some(own) => {
                self.own.join(own);
                join(&mut self.others, &blocks.without(&here));
            }
            None => join(&mut self.others, blocks),
        }
    }

    /// All that a thread of block `here` knows, and what it has done itself up to `stamp`.
    pub(crate) fn snapshot(&self, here: u32, thread: u32, stamp: u64) -> Blocks {
        let mut own = self.own.clone();
        own.learn_thread(thread, stamp);
        self.others.update(here, Arc::new(own))
    }
}

/// Adds what `more` knows. The maps share structure, so it costs what the smaller one has.
pub(crate) fn join(blocks: &mut Blocks, more: &Blocks) {
    if more.is_empty() || blocks.ptr_eq(more) {
        return;
    }
    let (mut large, small) = if blocks.len() < more.len() { (more.clone(), &*blocks) } else { (blocks.clone(), more) };
    for (block, known) in small {
        match large.get(block) {
            Some(there) if Arc::ptr_eq(there, known) || there == known => {}
            Some(there) => {
                let mut both = Known::clone(there);
                both.join(known);
                large.insert(*block, Arc::new(both));
            }
            None => {
                large.insert(*block, known.clone());
            }
        }
    }
    *blocks = large;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_warps_and_blocks_are_known_apart() {
        let mut known = Known::default();
        known.learn_thread(33, 5);
        assert_eq!(known.unknown(1, 0b111, 5), 0b101);
        known.learn_warp(1, 4);
        assert_eq!((known.unknown(1, 0b111, 4), known.unknown(1, 0b111, 5)), (0, 0b101));
        known.learn_all(7);
        assert_eq!(known, Known { all: 7, ..Known::default() });
        assert_eq!(known.unknown(0, u32::MAX, 8), u32::MAX);
    }

    #[test]
    fn knowledge_of_other_blocks_is_handed_on() {
        let mut first = Clock::default();
        first.own.learn_all(3);
        let released = first.snapshot(0, 7, 5);
        let mut second = Clock::default();
        second.learn(1, &released);
        let third = second.snapshot(1, 0, 9);
        let mut last = Clock::default();
        last.learn(2, &third);
        assert_eq!(last.unknown(2, 0, 0, u32::MAX, 3), 0);
        assert_eq!(last.unknown(2, 0, 0, 1 << 7 | 1, 5), 1);
        assert_eq!(last.unknown(2, 1, 0, 1, 9), 0);
        assert_eq!(last.unknown(2, 1, 0, 1, 10), 1);
        // Back to where it came from: it becomes knowledge of the own block.
        let mut back = Clock::default();
        back.learn(0, &third);
        assert_eq!(back.own.unknown(0, u32::MAX, 3), 0);
        assert_eq!(back.others.len(), 1);
    }
}
