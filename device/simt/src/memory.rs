//! Global memory: which address ranges exist, and who may touch them.
//!
//! A device address *is* a host address, so managed and pinned memory are the same bytes for both sides. The table of
//! allocations is what makes it a device: an access outside of every live allocation is a fault, never a host access.

use std::alloc::{self, Layout};
use std::collections::BTreeMap;
use std::ptr::{self, NonNull};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

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

/// The bytes of an allocation; freed when the last launch that saw it live has ended.
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
    fn new(size: u64) -> Option<Self> {
        let layout = Layout::from_size_align(usize::try_from(size).ok()?, ALIGNMENT).ok()?;
        // SAFETY: the size is not 0, as `Memory::alloc` checks. Zeroed, because the host reads it back as plain bytes.
        let start = NonNull::new(unsafe { alloc::alloc_zeroed(layout) })?;
        Some(Self { start, layout })
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and dropped once.
        unsafe { alloc::dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Every allocation starts at a multiple of this, as `cuMemAlloc` promises at least 256.
const ALIGNMENT: usize = 512;

/// The device's global memory. Shared by streams and launches; all methods take `&self`.
#[derive(Debug)]
pub struct Memory {
    capacity: u64,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    live: BTreeMap<u64, (Allocation, Arc<Region>)>,
    used: u64,
    /// Made anew when asked for after a change.
    table: Option<Arc<AllocationTable>>,
}

impl Memory {
    /// A memory of `capacity` bytes.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, state: RwLock::default() }
    }

    /// Allocates `size` bytes (more than 0), aligned to at least 256 bytes, and returns the address.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`], also when the host itself has no more.
    pub fn alloc(&self, size: u64, kind: AllocKind) -> Result<u64, MemoryError> {
        let mut state = self.write_state();
        let free = self.capacity - state.used;
        let refused = MemoryError::OutOfMemory { asked: size, free, capacity: self.capacity };
        if size == 0 || size > free {
            return Err(refused);
        }
        let region = Region::new(size).ok_or(refused)?;
        let base = region.start.as_ptr() as u64;
        state.live.insert(base, (Allocation { base, size, kind }, Arc::new(region)));
        state.used += size;
        state.table = None;
        Ok(base)
    }

    /// Frees the allocation that starts at `address`. Launches in flight keep the bytes alive until they end.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] for anything else, an address that was freed before included.
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        self.take(address).map(drop)
    }

    /// As [`Memory::free`], but the bytes stay until the result is dropped.
    pub(crate) fn take(&self, address: u64) -> Result<Arc<Region>, MemoryError> {
        let mut state = self.write_state();
        let (allocation, region) = state.live.remove(&address).ok_or(MemoryError::NotAllocated { address })?;
        state.used -= allocation.size;
        state.table = None;
        Ok(region)
    }

    /// The live allocation that holds `address`.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<Allocation> {
        let state = self.read_state();
        let (_, (allocation, _)) = state.live.range(..=address).next_back()?;
        (address - allocation.base < allocation.size).then_some(*allocation)
    }

    /// Bytes in all.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes not allocated.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.capacity - self.read_state().used
    }

    /// Copies device bytes to the host.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] unless the whole range is inside one live allocation.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        let _alive = self.hold(address, into.len() as u64)?;
        // SAFETY: the range is live while `_alive` is. `into` is the caller's own; it may even be device memory that the
        // host sees (pinned), hence a copy that allows overlap.
        unsafe { ptr::copy(address as *const u8, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Copies host bytes to the device.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] unless the whole range is inside one live allocation.
    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        let _alive = self.hold(address, from.len() as u64)?;
        // SAFETY: as for `read`.
        unsafe { ptr::copy(from.as_ptr(), address as *mut u8, from.len()) };
        Ok(())
    }

    /// Copies between two places of device memory; they may overlap.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] unless each range is inside one live allocation.
    pub fn copy(&self, to: u64, from: u64, size: u64) -> Result<(), MemoryError> {
        let _alive = (self.hold(to, size)?, self.hold(from, size)?);
        // SAFETY: both ranges are live, and the copy allows overlap.
        unsafe { ptr::copy(from as *const u8, to as *mut u8, size as usize) };
        Ok(())
    }

    /// Fills `count` elements with `pattern` (1, 2 or 4 bytes).
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] unless the whole range is inside one live allocation.
    pub fn fill(&self, address: u64, pattern: &[u8], count: u64) -> Result<(), MemoryError> {
        let size = count.saturating_mul(pattern.len() as u64);
        let _alive = self.hold(address, size)?;
        // SAFETY: the range is live; device memory is plain bytes.
        let bytes = unsafe { std::slice::from_raw_parts_mut(address as *mut u8, size as usize) };
        match pattern {
            [byte] => bytes.fill(*byte),
            _ => bytes.chunks_exact_mut(pattern.len()).for_each(|chunk| chunk.copy_from_slice(pattern)),
        }
        Ok(())
    }

    /// The live allocations as they are now; they stay readable while the table is held.
    pub(crate) fn table(&self) -> Arc<AllocationTable> {
        if let Some(table) = &self.read_state().table {
            return table.clone();
        }
        let mut state = self.write_state();
        if state.table.is_none() {
            let entries = state.live.values().map(|(allocation, _)| *allocation).collect();
            let regions = state.live.values().map(|(_, region)| region.clone()).collect();
            state.table = Some(Arc::new(AllocationTable { entries, _regions: regions }));
        }
        state.table.clone().expect("made just now")
    }

    /// The bytes of a range, kept alive. `None` for an empty range, which needs no allocation.
    fn hold(&self, address: u64, size: u64) -> Result<Option<Arc<Region>>, MemoryError> {
        if size == 0 {
            return Ok(None);
        }
        let state = self.read_state();
        let found = state.live.range(..=address).next_back();
        match found {
            Some((_, (allocation, region))) if allocation.holds(address, size) => Ok(Some(region.clone())),
            _ => Err(MemoryError::OutOfBounds { address, size }),
        }
    }

    // A panic elsewhere cannot leave the map half-changed: each change is one insertion or removal.
    fn read_state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_state(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Allocation {
    /// True if the whole range lies inside.
    #[inline(always)]
    pub(crate) fn holds(&self, address: u64, size: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset < self.size && size <= self.size - offset
    }
}

/// A snapshot of the live allocations, for the accesses of one launch.
#[derive(Debug, Default)]
pub(crate) struct AllocationTable {
    /// In order of address.
    entries: Vec<Allocation>,
    _regions: Vec<Arc<Region>>,
}

impl AllocationTable {
    /// The allocation that holds the whole range.
    pub(crate) fn find(&self, address: u64, size: u64) -> Option<Allocation> {
        let after = self.entries.partition_point(|entry| entry.base <= address);
        let entry = self.entries[..after].last()?;
        entry.holds(address, size).then_some(*entry)
    }

    /// The allocation whose bytes are nearest to `address`.
    pub(crate) fn nearest(&self, address: u64) -> Option<Allocation> {
        let distance = |entry: &Allocation| {
            let end = entry.base + entry.size;
            if address < entry.base { entry.base - address } else { address.saturating_sub(end - 1) }
        };
        self.entries.iter().copied().min_by_key(distance)
    }
}

/// The allocations that a warp's accesses fell into lately, so that the next access need not search: most kernels touch
/// two to four arrays in turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecentRanges {
    ranges: [Allocation; 4],
    next: usize,
}

impl Default for RecentRanges {
    fn default() -> Self {
        // Of size 0: holds nothing.
        Self { ranges: [Allocation { base: 0, size: 0, kind: AllocKind::Device }; 4], next: 0 }
    }
}

impl RecentRanges {
    /// The live allocation that holds the whole range.
    #[inline(always)]
    pub(crate) fn find(&mut self, table: &AllocationTable, address: u64, size: u64) -> Option<Allocation> {
        for range in &self.ranges {
            if range.holds(address, size) {
                return Some(*range);
            }
        }
        self.search(table, address, size)
    }

    #[cold]
    fn search(&mut self, table: &AllocationTable, address: u64, size: u64) -> Option<Allocation> {
        let found = table.find(address, size)?;
        self.ranges[self.next] = found;
        self.next = (self.next + 1) % self.ranges.len();
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_is_used_and_refuses_what_does_not_fit() {
        let memory = Memory::new(1 << 20);
        let a = memory.alloc(1000, AllocKind::Device).unwrap();
        assert_eq!(a % 256, 0);
        assert_eq!(memory.free_bytes(), (1 << 20) - 1000);
        let refused = memory.alloc(1 << 20, AllocKind::Device).unwrap_err();
        assert_eq!(refused, MemoryError::OutOfMemory { asked: 1 << 20, free: (1 << 20) - 1000, capacity: 1 << 20 });
        memory.free(a).unwrap();
        assert_eq!(memory.free(a), Err(MemoryError::NotAllocated { address: a }));
        assert_eq!(memory.free_bytes(), 1 << 20);
    }

    #[test]
    fn copies_only_inside_an_allocation() {
        let memory = Memory::new(1 << 20);
        let a = memory.alloc(16, AllocKind::Device).unwrap();
        memory.write(a + 8, &[1; 8]).unwrap();
        let mut back = [0; 16];
        memory.read(a, &mut back).unwrap();
        assert_eq!(back, [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
        assert!(memory.write(a + 9, &[1; 8]).is_err());
        assert!(memory.read(a - 1, &mut back).is_err());
        assert!(memory.read(u64::MAX, &mut back).is_err());
        assert!(memory.copy(a, a, u64::MAX).is_err());
        memory.fill(a, &[1, 2], 8).unwrap();
        memory.read(a, &mut back).unwrap();
        assert_eq!(back[..4], [1, 2, 1, 2]);
    }

    #[test]
    fn a_table_keeps_freed_bytes_alive() {
        let memory = Memory::new(1 << 20);
        let a = memory.alloc(64, AllocKind::Device).unwrap();
        let table = memory.table();
        memory.free(a).unwrap();
        assert!(table.find(a, 64).is_some());
        assert!(memory.table().find(a, 1).is_none());
    }
}
