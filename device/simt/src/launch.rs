//! What all warps of a launch share.

use crate::memory::AllocationTable;

/// What all warps of a launch share, read-only.
pub(crate) struct LaunchContext<'a> {
    /// The allocations that were live when the launch began.
    pub(crate) allocations: &'a AllocationTable,
    /// The kernel's parameter buffer.
    pub(crate) params: &'a [u8],
    /// Count memory requests, sectors and bank conflicts.
    pub(crate) count_memory: bool,
    /// When the launch began: the zero of `%clock64` and `%globaltimer`'s monotonic part.
    pub(crate) began: std::time::Instant,
}
