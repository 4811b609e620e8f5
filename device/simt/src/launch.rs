//! What all warps of a launch share.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::memory::{AllocationTable, Memory, Region};

/// What all warps of a launch share.
pub(crate) struct LaunchContext<'a> {
    /// The allocations that were live when the launch began.
    pub(crate) allocations: &'a AllocationTable,
    /// For `malloc` and `free` in kernels.
    pub(crate) memory: &'a Memory,
    /// The kernel's parameter buffer.
    pub(crate) params: &'a [u8],
    /// Where in each lane's local memory a copy of the parameters is, if the kernel takes the address of one.
    pub(crate) param_copy: Option<u32>,
    /// When the launch began: the zero of `%clock64`.
    pub(crate) began: Instant,
    /// Heap blocks that kernels freed: kept until the launch ends, because other warps may still remember their ranges.
    pub(crate) freed: &'a Mutex<Vec<Arc<Region>>>,
    /// What kernels print, by block.
    pub(crate) printed: &'a Mutex<Vec<(u64, String)>>,
}
