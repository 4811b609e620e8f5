//! Global memory: which address ranges exist, and who may touch them.
//!
//! A device address *is* a host address, so managed and pinned memory are the same bytes for both sides. The table of
//! allocations is what makes it a device: an access outside of every live allocation is a fault, never a host access.

/// What an allocation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocKind {
    /// `cuMemAlloc`, `cuMemAllocAsync`
    Device,
    /// `cuMemAllocManaged`
    Managed,
    /// `cuMemAllocHost`, `cuMemHostAlloc`
    Pinned,
    /// A module-scope variable.
    ModuleGlobal,
    /// The device heap (`malloc` in a kernel).
    Heap,
}

/// A live allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// First address.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
    /// What it is for.
    pub kind: AllocKind,
}

/// Why memory could not be had or given back, or a host-side copy could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// More was asked for than the device has left.
    #[error("out of device memory: {asked} bytes asked for, {free} of {capacity} bytes free")]
    OutOfMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes left.
        free: u64,
        /// Bytes in all.
        capacity: u64,
    },
    /// The address is not the start of a live allocation.
    #[error("address {address:#x} is not the start of a live allocation")]
    NotAllocated {
        /// The address.
        address: u64,
    },
    /// The range is not inside one live allocation.
    #[error("{size} bytes at {address:#x} are not inside a live allocation")]
    OutOfBounds {
        /// First address.
        address: u64,
        /// Bytes.
        size: u64,
    },
}

/// The device's global memory. Shared by streams and launches; all methods take `&self`.
#[derive(Debug)]
pub struct Memory {}

impl Memory {
    /// A memory of `capacity` bytes.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        let _ = capacity;
        todo!()
    }
    /// Allocates `size` bytes (more than 0), aligned to at least 256 bytes, and returns the address.
    pub fn alloc(&self, size: u64, kind: AllocKind) -> Result<u64, MemoryError> {
        let _ = (size, kind);
        todo!()
    }
    /// Frees the allocation that starts at `address`. Launches in flight keep the bytes alive until they end.
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        let _ = address;
        todo!()
    }
    /// The live allocation that holds `address`.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<Allocation> {
        let _ = address;
        todo!()
    }
    /// Bytes in all.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        todo!()
    }
    /// Bytes not allocated.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        todo!()
    }
    /// Copies device bytes to the host. `OutOfBounds` unless the whole range is inside one live allocation.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        let _ = (address, into);
        todo!()
    }
    /// Copies host bytes to the device. `OutOfBounds` unless the whole range is inside one live allocation.
    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        let _ = (address, from);
        todo!()
    }
    /// Copies between two places of device memory; they may overlap.
    pub fn copy(&self, to: u64, from: u64, size: u64) -> Result<(), MemoryError> {
        let _ = (to, from, size);
        todo!()
    }
    /// Fills `count` elements with `pattern` (1, 2 or 4 bytes).
    pub fn fill(&self, address: u64, pattern: &[u8], count: u64) -> Result<(), MemoryError> {
        let _ = (address, pattern, count);
        todo!()
    }
}

/// A snapshot of the live allocations, for the accesses of one launch.
#[derive(Debug, Clone, Default)]
pub(crate) struct AllocationTable {}

/// A range of addresses known to be inside one live allocation; empty to begin with.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RecentRange {
    /// First address.
    pub(crate) base: u64,
    /// Bytes.
    pub(crate) size: u64,
}
