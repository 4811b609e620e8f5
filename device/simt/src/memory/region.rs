//! The bytes of one allocation.

use std::alloc::{self, Layout};
use std::ptr::NonNull;

/// Every allocation starts at a multiple of this, as `cuMemAlloc` promises at least 256.
const ALIGNMENT: usize = 512;
/// Bytes behind an allocation, at least, that belong to no allocation: whoever runs over the end is seen to.
const GAP: usize = 512;

/// The bytes of an allocation; given back to the host when the last owner is gone.
#[derive(Debug)]
pub(crate) struct Region {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a Region owns its bytes and hands out only their address; who touches them is the business of whoever does.
unsafe impl Send for Region {}
// SAFETY: as above; there is no interior state.
unsafe impl Sync for Region {}

impl Region {
    /// Zeroed bytes, because the host reads them back as plain ones. `None` when the host has no more.
    pub(super) fn new(size: u64) -> Option<Self> {
        let bytes = usize::try_from(size).ok()?.checked_next_multiple_of(ALIGNMENT)?.checked_add(ALIGNMENT + GAP)?;
        // Asking the host for no more than its ordinary alignment lets it hand out untouched zero pages; asked for more,
        // it would clear (and so commit) every byte.
        let layout = Layout::from_size_align(bytes, 16).ok()?;
        // SAFETY: the size is not 0.
        let start = NonNull::new(unsafe { alloc::alloc_zeroed(layout) })?;
        Some(Self { start, layout })
    }

    /// Address of the first byte that may be used. The pointer's provenance is exposed: lane accesses make their pointers
    /// from addresses that kernels compute.
    pub(super) fn base(&self) -> u64 {
        self.start.as_ptr().expose_provenance().next_multiple_of(ALIGNMENT) as u64
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and dropped once.
        unsafe { alloc::dealloc(self.start.as_ptr(), self.layout) }
    }
}
