//! What is watched of a block: what its threads know, what its shared memory has seen, who has come to which barrier.

use std::collections::HashMap;
use std::sync::Arc;

use super::Site;
use super::bits::Bits;
use super::clock::{self, Blocks, Clock};
use super::race::SyncPlace;
use super::shadow::Cell;
use crate::barrier;
use crate::control::lanes_of;

/// What is watched of a block.
#[derive(Debug, Default)]
pub(crate) struct BlockWatch {
    pub(crate) threads: Vec<Thread>,
    /// By word.
    pub(crate) shared: Vec<Cell>,
    pub(crate) shared_places: HashMap<u64, SyncPlace>,
    pub(crate) shared_written: Bits,
    barriers: [Vec<Arrival>; barrier::COUNT],
}

/// What a thread knows and gives away.
#[derive(Debug, Clone, Default)]
pub(crate) struct Thread {
    pub(crate) clock: Arc<Clock>,
    /// What it gives away with its next strong write: all that it knew at its last fence; to threads of its own block, and
    /// to all.
    pub(crate) released: [Option<Blocks>; 2],
    /// What it gets at its next fence, from what its strong reads have seen; in the same order.
    pub(crate) pending: [Option<Blocks>; 2],
    /// Stamps of its last plain access, and of its last fences.
    pub(crate) plain: u64,
    pub(crate) fenced: [u64; 2],
}

/// Lanes of a warp that have come to a barrier.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) first_thread: u32,
    pub(crate) lanes: u32,
    pub(crate) site: Site,
    pub(crate) stamp: u64,
    /// False for `bar.arrive`.
    pub(crate) waits: bool,
}

impl BlockWatch {
    /// For a block of so many threads; `words` of shared memory, if races there are looked for.
    pub(crate) fn new(threads: u32, words: usize) -> Self {
        let mut shared = Vec::new();
        shared.resize_with(words, Cell::new);
        Self { threads: vec![Thread::default(); threads.next_multiple_of(32) as usize], shared, ..Self::default() }
    }

    pub(crate) fn arrive(&mut self, barrier: usize, arrival: Arrival) {
        if let Some(arrivals) = self.barriers.get_mut(barrier) {
            arrivals.push(arrival);
        }
    }

    /// The barrier opens. `everyone`: for all threads of the block that have not exited. Returns who came.
    pub(crate) fn open(&mut self, barrier: usize, everyone: bool, now: u64) -> Vec<Arrival> {
        let arrivals = std::mem::take(&mut self.barriers[barrier]);
        let came = |arrival: &Arrival| threads(arrival.first_thread, arrival.lanes);
        let mut joined = self.join(arrivals.iter().flat_map(came));
        let clock = Arc::make_mut(&mut joined.clock);
        if everyone {
            clock.own.learn_all(now);
        } else {
            // At most up to when they came: those that only arrive may have gone on since.
            arrivals.iter().for_each(|at| learn(clock, at.first_thread, at.lanes, at.stamp));
        }
        self.give(arrivals.iter().filter(|arrival| arrival.waits).flat_map(came), &joined);
        arrivals
    }

    /// `bar.warp.sync` of the lanes `members`, of which `lanes` are at this instruction. `whole`: they are all there are.
    pub(crate) fn warp_barrier(&mut self, first_thread: u32, lanes: u32, members: u32, whole: bool, now: u64) {
        let mut joined = self.join(threads(first_thread, members));
        learn(Arc::make_mut(&mut joined.clock), first_thread, if whole { u32::MAX } else { members }, now);
        self.give(threads(first_thread, lanes), &joined);
    }

    /// What these threads know together. What one has fenced all may give away: that it comes before their next writes is
    /// what the barrier sees to.
    fn join(&self, those: impl Iterator<Item = u32>) -> Thread {
        let mut joined = Thread::default();
        let mut clock = Clock::default();
        let mut last: Option<&Arc<Clock>> = None;
        for thread in those {
            let thread = &self.threads[thread as usize];
            if last.is_none_or(|last| !Arc::ptr_eq(last, &thread.clock)) {
                clock.join(&thread.clock);
                last = Some(&thread.clock);
            }
            let gifts = joined.released.iter_mut().chain(&mut joined.pending);
            for (to, from) in gifts.zip(thread.released.iter().chain(&thread.pending)) {
                if let Some(from) = from {
                    clock::join(to.get_or_insert_default(), from);
                }
            }
        }
        joined.clock = Arc::new(clock);
        joined
    }

    fn give(&mut self, those: impl Iterator<Item = u32>, joined: &Thread) {
        for thread in those {
            let Thread { clock, released, pending, .. } = joined.clone();
            let own = &mut self.threads[thread as usize];
            (own.clock, own.released, own.pending) = (clock, released, pending);
        }
    }
}

fn learn(clock: &mut Clock, first_thread: u32, lanes: u32, stamp: u64) {
    if lanes == u32::MAX {
        clock.own.learn_warp(first_thread / 32, stamp);
    } else {
        threads(first_thread, lanes).for_each(|thread| clock.own.learn_thread(thread, stamp));
    }
}

pub(crate) fn threads(first_thread: u32, lanes: u32) -> impl Iterator<Item = u32> {
    lanes_of(lanes).map(move |lane| first_thread + lane as u32)
}
