//! What a launch did, counted exactly: the same launch of the same kernel on the same data gives the same numbers.
//!
//! The first few are counted in every launch. The rest costs time and is only counted when asked for; such a launch runs
//! on one core, so that kernels whose blocks wait for each other give the same numbers on every machine, too.
//! `docs/counters.md` defines each, with the profiler metric that it corresponds to.

mod class;
pub(crate) mod sectors;

pub use class::{ByClass, Class};

/// Counts of one launch. All are totals over the grid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Blocks that ran.
    pub blocks: u64,
    /// Warps that ran.
    pub warps: u64,
    /// Warp instructions issued: one per instruction and warp, whatever the number of active lanes.
    pub instructions: u64,
    /// Lane instructions: the sum of active lanes over all issued instructions (at most 32 times `instructions`).
    pub lane_instructions: u64,
    /// Branches at which the lanes of a warp went two ways.
    pub divergent_branches: u64,
    /// Barriers executed, counted per warp.
    pub barriers: u64,
    /// Atomic operations, counted per lane.
    pub atomics: u64,
    /// Global memory requests: warp instructions that touched global memory. Only counted when asked for, as all below.
    pub global_requests: u64,
    /// 32-byte sectors those requests touched.
    pub global_sectors: u64,
    /// Bytes the lanes asked for from global memory.
    pub global_bytes: u64,
    /// Shared memory requests, per warp instruction.
    pub shared_requests: u64,
    /// Extra passes that bank conflicts cost (32 banks of 4 bytes).
    pub bank_conflicts: u64,
    /// Warp and lane instructions by what they do.
    pub classes: ByClass,
    /// The global requests that load, `ld` and the reading side of `cp.async`.
    pub global_loads: Traffic,
    /// The global requests that store.
    pub global_stores: Traffic,
    /// The global requests of atomic operations, `atom` and `red`.
    pub global_atomics: Traffic,
    /// The shared-memory requests that load.
    pub shared_loads: Banks,
    /// The shared-memory requests that store, the writing side of `cp.async` included.
    pub shared_stores: Banks,
    /// The shared-memory requests of atomic operations.
    pub shared_atomics: Banks,
    /// Warp instructions that touched local memory.
    pub local_requests: u64,
    /// Bytes the lanes asked for from local memory.
    pub local_bytes: u64,
    /// Lanes of atomic operations that had to wait for another lane of their warp at the same address.
    pub atomic_conflicts: u64,
}

/// Requests to global memory of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Warp instructions.
    pub requests: u64,
    /// 32-byte sectors they touched.
    pub sectors: u64,
    /// 128-byte lines they touched.
    pub lines: u64,
    /// Bytes their lanes asked for.
    pub bytes: u64,
}

/// Requests to shared memory of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Banks {
    /// Warp instructions.
    pub requests: u64,
    /// Passes beyond the first of each group of lanes that is served at once.
    pub conflicts: u64,
    /// Bytes their lanes asked for.
    pub bytes: u64,
}

impl Traffic {
    /// Bytes that the sectors hold: what had to be moved for the bytes asked for.
    #[must_use]
    pub fn bytes_moved(&self) -> u64 {
        32 * self.sectors
    }

    /// 32-byte sectors per request; `None` without requests.
    #[must_use]
    pub fn sectors_per_request(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.sectors as f64 / self.requests as f64)
    }
}

impl Counters {
    /// Share of the 32 lanes that did work, in per cent of what the issued instructions could have done.
    /// `None` when nothing ran.
    #[must_use]
    pub fn active_lanes_percent(&self) -> Option<f64> {
        (self.instructions > 0).then(|| 100.0 * self.lane_instructions as f64 / (32 * self.instructions) as f64)
    }

    /// 32-byte sectors per global request: 4 is a fully coalesced 4-byte access of 32 lanes. `None` when there were none.
    #[must_use]
    pub fn sectors_per_request(&self) -> Option<f64> {
        (self.global_requests > 0).then(|| self.global_sectors as f64 / self.global_requests as f64)
    }

    /// Lanes that took part in an instruction, on average. `None` when nothing ran.
    #[must_use]
    pub fn lanes_per_instruction(&self) -> Option<f64> {
        (self.instructions > 0).then(|| self.lane_instructions as f64 / self.instructions as f64)
    }
}

/// Implements `+=` field by field.
macro_rules! sum {
    ($($t:ident { $($field:ident)* })*) => { $(
        impl std::ops::AddAssign for $t {
            fn add_assign(&mut self, other: Self) {
                // Names every field, so that a new one cannot be forgotten.
                let Self { $($field),* } = other;
                $(self.$field += $field;)*
            }
        }
    )* };
}

sum! {
    Counters {
        blocks warps instructions lane_instructions divergent_branches barriers atomics
        global_requests global_sectors global_bytes shared_requests bank_conflicts
        classes global_loads global_stores global_atomics shared_loads shared_stores shared_atomics
        local_requests local_bytes atomic_conflicts
    }
    Traffic { requests sectors lines bytes }
    Banks { requests conflicts bytes }
}
