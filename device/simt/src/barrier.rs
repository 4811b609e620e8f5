//! The sixteen barriers of a block (PTX ISA, "bar, barrier").
//!
//! Threads are counted as the hardware of compute capability 7.0 and later does: each lane for itself, so that lanes of one
//! warp may come by different ways. Where the instruction names a count, a warp that comes whole counts as 32.

use crate::code::{BarrierKind, Guard, Width};
use crate::frame::Frame;

/// Barriers a block.
pub(crate) const COUNT: usize = 16;

/// The barriers of a block.
#[derive(Debug, Default)]
pub(crate) struct Barriers {
    all: [State; COUNT],
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    threads: u32,
    /// Threads with every whole warp counted as 32.
    rounded: u32,
    expected: Option<u32>,
    waiting: u32,
    results: Results,
}

/// What `bar.red` gives.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Results {
    set: u32,
    clear: u32,
}

impl Results {
    /// Writes the result of a reducing barrier to the lanes of `mask`.
    pub(crate) fn store(self, kind: BarrierKind, frame: &mut Frame, mask: u32) {
        let (slot, width, value) = match kind {
            BarrierKind::Sync | BarrierKind::Arrive => return,
            BarrierKind::Popc { out, .. } => (out, Width::W32, self.set),
            BarrierKind::And { out, .. } => (out, Width::Pred, u32::from(self.clear == 0)),
            BarrierKind::Or { out, .. } => (out, Width::Pred, u32::from(self.set != 0)),
        };
        if width == Width::Pred {
            frame.set_predicate(slot, mask, value != 0);
        } else {
            crate::control::lanes_of(mask).for_each(|lane| frame.set_lane(slot, width, lane, u64::from(value)));
        }
    }
}

impl Barriers {
    pub(crate) fn reset(&mut self) {
        self.all = [State::default(); COUNT];
    }

    /// Lanes of one warp come to barrier `id`. True if they wait.
    pub(crate) fn arrive(
        &mut self,
        id: usize,
        count: Option<u32>,
        kind: BarrierKind,
        mask: u32,
        whole_warp: bool,
        predicate: impl FnOnce(Guard) -> u32,
    ) -> Result<bool, String> {
        let Some(state) = self.all.get_mut(id) else {
            return Err(format!("barrier {id}: a block has {COUNT}, from 0"));
        };
        if count.is_some_and(|count| count == 0 || !count.is_multiple_of(32)) {
            return Err(format!("barrier {id} for {} threads: the count is a multiple of 32", count.unwrap_or(0)));
        }
        let lanes = mask.count_ones();
        state.threads += lanes;
        state.rounded += if whole_warp { 32 } else { lanes };
        state.expected = state.expected.max(count);
        if let BarrierKind::Popc { predicate: guard, .. }
        | BarrierKind::And { predicate: guard, .. }
        | BarrierKind::Or { predicate: guard, .. } = kind
        {
            let set = predicate(guard).count_ones();
            state.results.set += set;
            state.results.clear += lanes - set;
        }
        let waits = !matches!(kind, BarrierKind::Arrive);
        state.waiting += if waits { lanes } else { 0 };
        Ok(waits)
    }

    /// True if the barrier is one for all threads of the block, not for a number of them.
    pub(crate) fn is_for_all(&self, id: usize) -> bool {
        self.all[id].expected.is_none()
    }

    /// If all have come to barrier `id`, opens it and gives the results of its reduction.
    pub(crate) fn complete(&mut self, id: usize, live_threads: u32) -> Option<Results> {
        let state = &mut self.all[id];
        let complete = match state.expected {
            Some(expected) => state.rounded >= expected,
            None => state.threads > 0 && state.threads >= live_threads,
        };
        if !complete {
            return None;
        }
        let results = state.results;
        *state = State::default();
        Some(results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_when_the_last_live_thread_has_come() {
        let mut barriers = Barriers::default();
        let arrive = |barriers: &mut Barriers, mask| barriers.arrive(0, None, BarrierKind::Sync, mask, true, |_| 0);
        assert_eq!(arrive(&mut barriers, u32::MAX), Ok(true));
        assert!(barriers.complete(0, 33).is_none());
        arrive(&mut barriers, 1).unwrap();
        assert!(barriers.complete(0, 33).is_some());
    }

    #[test]
    fn a_count_takes_whole_warps() {
        let mut barriers = Barriers::default();
        barriers.arrive(1, Some(64), BarrierKind::Arrive, u32::MAX, true, |_| 0).unwrap();
        assert!(barriers.complete(1, 1024).is_none());
        barriers.arrive(1, Some(64), BarrierKind::Sync, 1, true, |_| 0).unwrap();
        assert!(barriers.complete(1, 1024).is_some());
        assert!(barriers.arrive(16, None, BarrierKind::Sync, 1, true, |_| 0).is_err());
        assert!(barriers.arrive(0, Some(33), BarrierKind::Sync, 1, true, |_| 0).is_err());
    }
}
