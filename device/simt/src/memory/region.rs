//! The bytes of one allocation.

use std::alloc::{self, Layout};
use std::ptr::NonNull;

use crate::check::SharedBits;

/// Every allocation starts at a multiple of this, as `cuMemAlloc` promises at least 256.
const ALIGNMENT: usize = 512;
/// Bytes behind an allocation, at least, that belong to no allocation: whoever runs over the end is seen to.
const GAP: usize = 512;

/// The bytes of an allocation; given back to the host when the last owner is gone.
#[derive(Debug)]
pub(crate) struct Region {
    start: NonNull<u8>,
    /// `None` for bytes of the host's that it only lends.
    layout: Option<Layout>,
    /// Which bytes have been written, where that is watched; all of them where it is not.
    written: Option<SharedBits>,
    /// The number of the allocation in its memory, from 1.
    number: u64,
}

// SAFETY: a Region owns its bytes and hands out only their address; who touches them is the business of whoever does.
unsafe impl Send for Region {}
// SAFETY: as above; there is no interior state.
unsafe impl Sync for Region {}

impl Region {
    /// Zeroed bytes, because the host reads them back as plain ones. `None` when the host has no more.
    pub(super) fn new(size: u64, number: u64, track: bool) -> Option<Self> {
        let bytes = usize::try_from(size).ok()?.checked_next_multiple_of(ALIGNMENT)?.checked_add(ALIGNMENT + GAP)?;
        // Asking the host for no more than its ordinary alignment lets it hand out untouched zero pages; asked for more,
        // it would clear (and so commit) every byte.
        let layout = Layout::from_size_align(bytes, 16).ok()?;
        // SAFETY: the size is not 0.
        let start = NonNull::new(unsafe { alloc::alloc_zeroed(layout) })?;
        Some(Self { start, layout: Some(layout), written: track.then(|| SharedBits::new(size)), number })
    }

    /// The host's own bytes, which start where they start and do not go back to anyone.
    pub(super) fn lent(start: NonNull<u8>, number: u64) -> Self {
        Self { start, layout: None, written: None, number }
    }

    /// Bytes that the host gave for it.
    pub(super) fn bytes(&self) -> u64 {
        self.layout.map_or(0, |layout| layout.size() as u64)
    }

    pub(super) fn is_lent(&self) -> bool {
        self.layout.is_none()
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// True if all bytes of a range, counted from the first, have been written.
    pub(crate) fn is_written(&self, from: u64, size: u64) -> bool {
        self.written.as_ref().is_none_or(|written| written.all(from, size))
    }

    pub(crate) fn mark_written(&self, from: u64, size: u64) {
        if let Some(written) = &self.written {
            written.set(from, size);
        }
    }

    /// Bytes were copied here: they are as written as they were where they came from.
    pub(super) fn mark_copied(&self, to: u64, source: &Self, from: u64, size: u64) {
        if let Some(written) = &self.written {
            written.copy(to, source.written.as_ref().map(|source| (source, from)), size);
        }
    }

    /// Address of the first byte that may be used. The pointer's provenance is exposed: lane accesses make their pointers
    /// from addresses that kernels compute.
    pub(super) fn base(&self) -> u64 {
        let start = self.start.as_ptr().expose_provenance();
        if self.is_lent() { start as u64 } else { start.next_multiple_of(ALIGNMENT) as u64 }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: allocated in `new` with this layout, and dropped once.
            unsafe { alloc::dealloc(self.start.as_ptr(), layout) }
        }
    }
}
