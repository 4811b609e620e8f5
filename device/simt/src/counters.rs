//! What a launch did, counted exactly: the same launch of the same kernel on the same data gives the same numbers.

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
    /// Global memory requests: warp instructions that touched global memory. Only counted when asked for.
    pub global_requests: u64,
    /// 32-byte sectors those requests touched. Only counted when asked for.
    pub global_sectors: u64,
    /// Bytes the lanes asked for from global memory. Only counted when asked for.
    pub global_bytes: u64,
    /// Shared memory requests, per warp instruction. Only counted when asked for.
    pub shared_requests: u64,
    /// Extra passes that bank conflicts cost (32 banks of 4 bytes). Only counted when asked for.
    pub bank_conflicts: u64,
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
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.warps += other.warps;
        self.instructions += other.instructions;
        self.lane_instructions += other.lane_instructions;
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
        self.atomics += other.atomics;
        self.global_requests += other.global_requests;
        self.global_sectors += other.global_sectors;
        self.global_bytes += other.global_bytes;
        self.shared_requests += other.shared_requests;
        self.bank_conflicts += other.bank_conflicts;
    }
}
