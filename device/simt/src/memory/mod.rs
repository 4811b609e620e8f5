//! Global memory: which address ranges exist, and who may touch them.
//!
//! A device address *is* a host address, so managed and pinned memory are the same bytes for both sides. The table of
//! allocations is what makes it a device: an access outside of every live allocation is a fault, never a host access.
//!
//! ```text
//! Memory -- table() --> AllocationTable (one launch) -- RecentRanges (one core of it) -- raw (bytes of one access)
//! ```

pub(crate) mod raw;
mod region;
pub(crate) mod rows;
mod table;

use std::collections::{BTreeMap, VecDeque};
use std::ptr::{self, NonNull};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

pub(crate) use region::Region;
pub(crate) use table::{AllocationTable, RecentRanges};

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
    /// A module-scope variable in constant memory.
    ModuleConstant,
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
pub struct Memory {
    capacity: u64,
    state: RwLock<State>,
}

/// Freed allocations that are remembered, so that a use after free can be called one.
const REMEMBERED: usize = 256;

/// Freed bytes that are held back at most.
const QUARANTINE: u64 = 256 << 20;

#[derive(Debug, Default)]
struct State {
    live: BTreeMap<u64, (Allocation, Arc<Region>)>,
    used: u64,
    /// Made anew when asked for after a change.
    table: Option<Arc<AllocationTable>>,
    /// Tables made so far.
    tables: u64,
    /// Tables that launches may still hold, oldest first.
    held: Vec<Weak<AllocationTable>>,
    /// Freed bytes that launches may still touch, each with the number of the last table made before it was freed.
    resting: Vec<(u64, Arc<Region>)>,
    /// Allocations made so far.
    allocations: u64,
    /// Whether new ones are watched for which bytes have been written.
    track: bool,
    /// Freed bytes that are held back, so that nothing else gets their place, oldest first; and how many.
    quarantine: VecDeque<Arc<Region>>,
    quarantined: u64,
    hold_back: bool,
    /// The last allocations freed, unless their place is taken again.
    freed: VecDeque<Allocation>,
}

impl State {
    /// The live allocations are about to change.
    fn change(&mut self) {
        self.table = None;
        self.held.retain(|table| table.strong_count() > 0);
        let oldest = self.held.iter().find_map(Weak::upgrade).map_or(u64::MAX, |table| table.number);
        self.resting.retain(|(number, _)| *number >= oldest);
    }

    fn hold_back(&mut self, region: &Arc<Region>) {
        if !self.hold_back {
            return;
        }
        self.quarantined += region.bytes();
        self.quarantine.push_back(region.clone());
        while self.quarantined > QUARANTINE || self.quarantine.len() > REMEMBERED {
            let Some(oldest) = self.quarantine.pop_front() else { break };
            self.quarantined -= oldest.bytes();
        }
    }

    fn remember(&mut self, freed: Allocation) {
        if self.freed.len() == REMEMBERED {
            self.freed.pop_front();
        }
        self.freed.push_back(freed);
    }
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
        state.change();
        state.allocations += 1;
        // Others are written by the host without a call, or start as zeros.
        let track = state.track && matches!(kind, AllocKind::Device | AllocKind::Heap);
        let region = Region::new(size, state.allocations, track).ok_or(refused)?;
        let base = region.base();
        let allocation = Allocation { base, size, kind };
        state.freed.retain(|freed| freed.base >= base + size || base >= freed.base + freed.size);
        state.live.insert(base, (allocation, Arc::new(region)));
        state.used += size;
        Ok(base)
    }

    /// Makes host memory part of the device's, at the same address, until it is freed. `None` if a part of it is already.
    /// It does not count against the capacity.
    ///
    /// # Safety
    /// The bytes are valid, and accesses of the device are allowed, until [`Memory::free`] has been called and the launches
    /// that were under way then have ended.
    pub unsafe fn adopt(&self, start: *mut u8, size: u64, kind: AllocKind) -> Option<u64> {
        let start = NonNull::new(start)?;
        let mut state = self.write_state();
        let base = start.as_ptr() as u64;
        let end = base.checked_add(size)?;
        let last = state.live.range(..end).next_back();
        if last.is_some_and(|(_, (allocation, _))| allocation.base + allocation.size > base) {
            return None;
        }
        state.change();
        state.allocations += 1;
        let region = Region::lent(start, state.allocations);
        let base = region.base();
        state.freed.retain(|freed| freed.base >= end || base >= freed.base + freed.size);
        state.live.insert(base, (Allocation { base, size, kind }, Arc::new(region)));
        Some(base)
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
        if !region.is_lent() {
            state.used -= allocation.size;
        }
        state.remember(allocation);
        state.hold_back(&region);
        state.change();
        if !state.held.is_empty() {
            let last = state.tables;
            state.resting.push((last, region.clone()));
        }
        Ok(region)
    }

    /// From now on takes down which bytes of new allocations are written, and keeps freed ones from being allocated again
    /// for a while.
    pub(crate) fn watch(&self, track: bool, hold_back: bool) {
        let mut state = self.write_state();
        (state.track, state.hold_back) = (track, hold_back);
        if !hold_back {
            state.quarantine.clear();
            state.quarantined = 0;
        }
    }

    /// The live allocation that holds `address`, and its bytes.
    pub(crate) fn region(&self, address: u64) -> Option<(Allocation, Arc<Region>)> {
        let state = self.read_state();
        let (_, (allocation, region)) = state.live.range(..=address).next_back()?;
        allocation.holds(address, 1).then(|| (*allocation, region.clone()))
    }

    /// All live allocations, each with the number that it had among all, from 1.
    #[must_use]
    pub fn live(&self) -> Vec<(Allocation, u64)> {
        self.read_state().live.values().map(|(allocation, region)| (*allocation, region.number())).collect()
    }

    /// The live allocation that holds `address`.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<Allocation> {
        let state = self.read_state();
        let (_, (allocation, _)) = state.live.range(..=address).next_back()?;
        (address - allocation.base < allocation.size).then_some(*allocation)
    }

    /// The live allocation whose bytes are nearest to `address`.
    pub(crate) fn nearest(&self, address: u64) -> Option<Allocation> {
        let state = self.read_state();
        let below = state.live.range(..=address).next_back().map(|(_, (allocation, _))| *allocation);
        let above = state.live.range(address..).next().map(|(_, (allocation, _))| *allocation);
        let behind = |below: &Allocation| address.saturating_sub(below.base + below.size - 1);
        match (below, above) {
            (Some(below), Some(above)) if above.base - address < behind(&below) => Some(above),
            (below, above) => below.or(above),
        }
    }

    /// The allocation that `address` was in before it was freed, if it was freed not long ago.
    #[must_use]
    pub fn freed(&self, address: u64) -> Option<Allocation> {
        self.read_state().freed.iter().rev().find(|freed| freed.holds(address, 1)).copied()
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

    /// Copies device bytes to the host. As on a GPU, nothing orders it with kernels that run at the same time: the caller
    /// waits for those that write here.
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
        let alive = self.hold(address, from.len() as u64)?;
        // SAFETY: as for `read`.
        unsafe { ptr::copy(from.as_ptr(), address as *mut u8, from.len()) };
        mark(alive.as_ref(), address, from.len() as u64);
        Ok(())
    }

    /// Puts back what was there before, where it is still allocated: no write as far as checks are concerned.
    pub(crate) fn restore(&self, address: u64, bytes: &[u8]) {
        if let Ok(Some(_alive)) = self.hold(address, bytes.len() as u64) {
            // SAFETY: as for `read`.
            unsafe { ptr::copy(bytes.as_ptr(), address as *mut u8, bytes.len()) };
        }
    }

    /// Copies between two places of device memory; they may overlap.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] unless each range is inside one live allocation.
    pub fn copy(&self, to: u64, from: u64, size: u64) -> Result<(), MemoryError> {
        let alive = (self.hold(to, size)?, self.hold(from, size)?);
        // SAFETY: both ranges are live, and the copy allows overlap.
        unsafe { ptr::copy(from as *const u8, to as *mut u8, size as usize) };
        if let (Some(target), Some(source)) = alive {
            target.mark_copied(to - target.base(), &source, from - source.base(), size);
        }
        Ok(())
    }

    /// Fills `count` elements with `pattern` (1, 2 or 4 bytes).
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] unless the whole range is inside one live allocation.
    pub fn fill(&self, address: u64, pattern: &[u8], count: u64) -> Result<(), MemoryError> {
        let size = count.saturating_mul(pattern.len() as u64);
        let alive = self.hold(address, size)?;
        // SAFETY: the range is live while `alive` is, and every copy below stays in it.
        unsafe {
            let start = address as *mut u8;
            if let [byte] = pattern {
                ptr::write_bytes(start, *byte, size as usize);
            } else if size > 0 {
                ptr::copy_nonoverlapping(pattern.as_ptr(), start, pattern.len());
                // What is filled already doubles with each copy.
                let (mut done, size) = (pattern.len(), size as usize);
                while done < size {
                    let more = done.min(size - done);
                    ptr::copy_nonoverlapping(start, start.add(done), more);
                    done += more;
                }
            }
        }
        mark(alive.as_ref(), address, size);
        Ok(())
    }

    /// The live allocations as they are now. Whatever is freed while the table is held, even if it was allocated later,
    /// keeps its bytes until the table is dropped: kernels may go on touching it.
    pub(crate) fn table(&self) -> Arc<AllocationTable> {
        if let Some(table) = &self.read_state().table {
            return table.clone();
        }
        let mut state = self.write_state();
        if let Some(table) = &state.table {
            return table.clone();
        }
        state.change();
        state.tables += 1;
        let entries = state.live.values().map(|(allocation, _)| *allocation).collect();
        let table = Arc::new(AllocationTable { entries, number: state.tables });
        state.held.push(Arc::downgrade(&table));
        state.table = Some(table.clone());
        table
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

/// The host has written here.
fn mark(region: Option<&Arc<Region>>, address: u64, size: u64) {
    if let Some(region) = region {
        region.mark_written(address - region.base(), size);
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
