//! What a launch knows of the allocations: a snapshot, and what it found in it lately.

use super::{AllocKind, Allocation};
use crate::fault::Access;
use crate::launch::LaunchContext;

/// The allocations that were live when a launch began. While the table is held none of their bytes goes back to the host,
/// nor do those of allocations that come and go in the meantime (see [`super::Memory::table`]).
#[derive(Debug, Default)]
pub(crate) struct AllocationTable {
    /// In order of address.
    pub(super) entries: Vec<Allocation>,
    /// Tables are numbered in the order in which they are made.
    pub(super) number: u64,
}

impl AllocationTable {
    /// The allocation that holds the whole range.
    pub(crate) fn find(&self, address: u64, size: u64) -> Option<Allocation> {
        let after = self.entries.partition_point(|entry| entry.base <= address);
        let entry = self.entries[..after].last()?;
        entry.holds(address, size).then_some(*entry)
    }
}

/// The allocations that a core's accesses fell into lately, so that the next access need not search: most kernels touch
/// two to four arrays in turn. Belongs to one launch.
///
/// Constant memory is remembered apart, where only loads look: a store never finds it, and need not ask what it found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecentRanges {
    ranges: [Allocation; 4],
    constants: [Allocation; 2],
    next: usize,
}

impl Default for RecentRanges {
    fn default() -> Self {
        // Of size 0: holds nothing.
        let none = Allocation { base: 0, size: 0, kind: AllocKind::Device };
        Self { ranges: [none; 4], constants: [none; 2], next: 0 }
    }
}

impl RecentRanges {
    /// True if the whole range is inside one allocation that the launch may access in this way.
    #[inline(always)]
    pub(crate) fn holds(&mut self, launch: &LaunchContext<'_>, address: u64, size: u64, access: Access) -> bool {
        self.ranges.iter().any(|range| range.holds(address, size))
            || (access == Access::Read && self.constants.iter().any(|range| range.holds(address, size)))
            || self.search(launch, address, size, access)
    }

    #[cold]
    #[inline(never)]
    fn search(&mut self, launch: &LaunchContext<'_>, address: u64, size: u64, access: Access) -> bool {
        // Not in the table: perhaps it was allocated after the launch began (`malloc` in a kernel, another stream).
        let found = launch.allocations.find(address, size).or_else(|| launch.memory.find(address));
        match found {
            Some(found) if found.holds(address, size) && found.kind == AllocKind::ModuleConstant => {
                if access == Access::Read {
                    self.constants = [found, self.constants[0]];
                }
                access == Access::Read
            }
            Some(found) if found.holds(address, size) => {
                self.ranges[self.next] = found;
                self.next = (self.next + 1) % self.ranges.len();
                true
            }
            _ => false,
        }
    }
}
