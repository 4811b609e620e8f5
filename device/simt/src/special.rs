//! Special registers that do not change while a warp runs, and what they depend on.

use crate::code::{Special, Width};
use crate::frame::Frame;
use crate::lane::{LANES, Slot};

/// What special registers depend on.
#[derive(Debug, Clone)]
pub(crate) struct Coordinates {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) block_index: [u32; 3],
    /// Thread index of lane 0 in the block.
    pub(crate) first_thread: u32,
    /// Number of the core that runs the block.
    pub(crate) core: u32,
    pub(crate) cores: u32,
    pub(crate) dynamic_shared: u32,
    pub(crate) total_shared: u32,
    pub(crate) grid_id: u64,
    /// Where the blocks of a cooperative launch count their arrivals at the grid's barrier; 0 in other launches.
    pub(crate) workspace: u64,
    /// `%tid` of each thread of the block, one list a dimension, up to a whole number of warps.
    thread_ids: [Box<[u32]>; 3],
}

impl Coordinates {
    pub(crate) fn new(grid: [u32; 3], block: [u32; 3], core: u32, cores: u32) -> Self {
        let mut new = Self {
            grid,
            block,
            block_index: [0; 3],
            first_thread: 0,
            core,
            cores,
            dynamic_shared: 0,
            total_shared: 0,
            grid_id: 0,
            workspace: 0,
            thread_ids: Default::default(),
        };
        new.thread_ids = thread_ids(block, new.threads().next_multiple_of(LANES as u32));
        new
    }

    /// `%tid` of a thread of the block, from its flat index.
    pub(crate) fn thread(&self, flat: u32) -> [u32; 3] {
        let [x, y, _] = self.block;
        [flat % x, flat / x % y, flat / x / y]
    }

    /// Threads a block.
    pub(crate) fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Writes a special register to its place in a frame.
    pub(crate) fn store(&self, special: Special, frame: &mut Frame, slot: Slot, width: Width) {
        let same = |frame: &mut Frame, value: u64| frame.spread(slot, width, |_| value);
        match special {
            Special::Tid(axis) => {
                let ids = &self.thread_ids[axis][self.first_thread as usize..][..LANES];
                frame.spread(slot, width, |lane| u64::from(ids[lane]));
            }
            Special::Ntid(axis) => same(frame, self.block[axis].into()),
            Special::Ctaid(axis) => same(frame, self.block_index[axis].into()),
            Special::Nctaid(axis) => same(frame, self.grid[axis].into()),
            Special::WarpId => same(frame, (self.first_thread / 32).into()),
            Special::NWarpId => same(frame, self.threads().div_ceil(32).into()),
            Special::SmId => same(frame, self.core.into()),
            Special::NSmId => same(frame, self.cores.into()),
            Special::GridId => same(frame, self.grid_id),
            Special::DynamicShared => same(frame, self.dynamic_shared.into()),
            Special::TotalShared => same(frame, self.total_shared.into()),
            Special::Workspace { upper } => same(frame, self.workspace >> if upper { 32 } else { 0 } & 0xFFFF_FFFF),
            Special::Zero => same(frame, 0),
            Special::One => same(frame, 1),
            Special::LaneId => frame.spread(slot, width, |lane| lane as u64),
            Special::LaneMaskEq => frame.spread(slot, width, |lane| 1 << lane),
            Special::LaneMaskLt => frame.spread(slot, width, below),
            Special::LaneMaskLe => frame.spread(slot, width, |lane| below(lane) | 1 << lane),
            Special::LaneMaskGe => frame.spread(slot, width, |lane| 0xFFFF_FFFF & !below(lane)),
            Special::LaneMaskGt => frame.spread(slot, width, |lane| 0xFFFF_FFFF & !below(lane) & !(1 << lane)),
        }
    }
}

/// `%tid` of threads 0 to `count`, a list a dimension. Counted up, because dividing takes longer than a launch may.
fn thread_ids([width, height, _]: [u32; 3], count: u32) -> [Box<[u32]>; 3] {
    let mut lists = [(); 3].map(|()| Vec::with_capacity(count as usize));
    let mut id = [0; 3];
    for _ in 0..count {
        lists.iter_mut().zip(id).for_each(|(list, id)| list.push(id));
        id[0] += 1;
        if id[0] == width {
            (id[0], id[1]) = (0, id[1] + 1);
        }
        if id[1] == height {
            (id[1], id[2]) = (0, id[2] + 1);
        }
    }
    lists.map(Vec::into_boxed_slice)
}

/// The lanes before one.
fn below(lane: usize) -> u64 {
    (1 << lane) - 1
}

impl Special {
    /// True if its value is not the same in all warps that a core runs for one launch.
    pub(crate) fn moves(self) -> bool {
        matches!(self, Self::Tid(_) | Self::Ctaid(_) | Self::WarpId)
    }
}

/// The special register of a name; `None` for one that is not known, or that changes with time.
pub(crate) fn find(name: &str, axis: Option<char>) -> Option<Special> {
    let axis = match axis {
        None => None,
        Some('x') => Some(0),
        Some('y') => Some(1),
        Some('z') => Some(2),
        Some(_) => Some(3),
    };
    Some(match (name, axis) {
        // `%tid` and its relatives are vectors of four; the fourth is always 0.
        ("tid" | "ctaid" | "clusterid" | "cluster_ctaid", Some(3)) => Special::Zero,
        ("ntid" | "nctaid" | "nclusterid" | "cluster_nctaid", Some(3)) => Special::Zero,
        ("tid", Some(axis)) => Special::Tid(axis),
        ("ntid", Some(axis)) => Special::Ntid(axis),
        // Every cluster is one block.
        ("ctaid" | "clusterid", Some(axis)) => Special::Ctaid(axis),
        ("nctaid" | "nclusterid", Some(axis)) => Special::Nctaid(axis),
        ("cluster_ctaid", Some(_)) | ("cluster_ctarank", None) => Special::Zero,
        ("cluster_nctaid", Some(_)) | ("cluster_nctarank", None) => Special::One,
        ("laneid", None) => Special::LaneId,
        ("warpid", None) => Special::WarpId,
        ("nwarpid", None) => Special::NWarpId,
        ("smid", None) => Special::SmId,
        ("nsmid", None) => Special::NSmId,
        ("gridid", None) => Special::GridId,
        ("lanemask_eq", None) => Special::LaneMaskEq,
        ("lanemask_le", None) => Special::LaneMaskLe,
        ("lanemask_lt", None) => Special::LaneMaskLt,
        ("lanemask_ge", None) => Special::LaneMaskGe,
        ("lanemask_gt", None) => Special::LaneMaskGt,
        // As `cooperative_groups/details/driver_abi.h` of the CUDA toolkit reads them.
        ("envreg1", None) => Special::Workspace { upper: true },
        ("envreg2", None) => Special::Workspace { upper: false },
        ("dynamic_smem_size", None) => Special::DynamicShared,
        ("total_smem_size", None) => Special::TotalShared,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_numbered_x_first() {
        let at = Coordinates::new([1; 3], [3, 2, 4], 0, 1);
        assert_eq!(at.thread(0), [0, 0, 0]);
        assert_eq!(at.thread(23), [2, 1, 3]);
        assert_eq!(at.thread_ids[1][..7], [0, 0, 0, 1, 1, 1, 0]);
        for block in [[3, 2, 4], [1, 1, 1], [32, 1, 2], [1, 5, 1], [7, 9, 3]] {
            let at = Coordinates::new([1; 3], block, 0, 1);
            let all = (0..at.threads()).map(|flat| at.thread(flat));
            let listed = (0..at.threads() as usize).map(|flat| [0, 1, 2].map(|axis| at.thread_ids[axis][flat]));
            assert!(all.eq(listed), "{block:?}");
        }
    }
}
