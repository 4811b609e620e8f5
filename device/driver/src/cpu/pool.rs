//! Pools of memory for allocations in the order of a stream. Memory of the CPU device comes from the host's allocator, so a
//! pool holds nothing in reserve: it is a name, settings, and a count of what is in use.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::cpu::handles::{Lookup, Table};
use crate::result::{CUresult, Result, fail};
use crate::types::{CUdevice, CUmemoryPool};

/// A pool.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) handle: CUmemoryPool,
    pub(crate) device: CUdevice,
    is_default: bool,
    /// Three ways of using memory again, 1 or 0 each; and how much to keep when a stream is waited for.
    settings: [AtomicU64; 4],
    used: AtomicU64,
    most_used: AtomicU64,
}

/// All pools.
#[derive(Debug)]
pub(crate) struct Pools {
    table: Table<Pool>,
    /// For each device: its own pool, and the one that `cuMemAllocAsync` uses.
    of_devices: Mutex<Vec<(CUdevice, CUmemoryPool, CUmemoryPool)>>,
}

impl Default for Pools {
    fn default() -> Self {
        Self { table: Table::new(0x90), of_devices: Mutex::default() }
    }
}

impl Pool {
    fn new(handle: CUmemoryPool, device: CUdevice, is_default: bool) -> Self {
        let [on, nothing] = [1, 0].map(|value| move || AtomicU64::new(value));
        let settings = [on(), on(), on(), nothing()];
        Self { handle, device, is_default, settings, used: nothing(), most_used: nothing() }
    }

    pub(crate) fn count_alloc(&self, size: u64) {
        let used = self.used.fetch_add(size, Ordering::Relaxed) + size;
        self.most_used.fetch_max(used, Ordering::Relaxed);
    }

    pub(crate) fn count_free(&self, size: u64) {
        self.used.fetch_sub(size, Ordering::Relaxed);
    }

    /// `CUmemPool_attribute`: the first three are of 4 bytes, the others of 8.
    pub(crate) fn get(&self, attribute: i32) -> Result<u64> {
        match attribute {
            1..=4 => Ok(self.settings[attribute as usize - 1].load(Ordering::Relaxed)),
            // Nothing is reserved beyond what is used.
            5 | 7 => Ok(self.used.load(Ordering::Relaxed)),
            6 | 8 => Ok(self.most_used.load(Ordering::Relaxed)),
            _ => fail(CUresult::INVALID_VALUE),
        }
    }

    pub(crate) fn set(&self, attribute: i32, value: u64) -> Result {
        match attribute {
            1..=4 => self.settings[attribute as usize - 1].store(value, Ordering::Relaxed),
            // The two high-water marks can be brought down to what is used now.
            6 | 8 if value == 0 => self.most_used.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed),
            _ => return fail(CUresult::INVALID_VALUE),
        }
        Ok(())
    }
}

impl Pools {
    pub(crate) fn create(&self, device: CUdevice) -> Arc<Pool> {
        self.insert(device, false)
    }

    fn insert(&self, device: CUdevice, is_default: bool) -> Arc<Pool> {
        self.table.insert_with(|handle| Arc::new(Pool::new(CUmemoryPool(handle), device, is_default)))
    }

    pub(crate) fn find(&self, handle: CUmemoryPool) -> Result<Arc<Pool>> {
        match self.table.get(handle.0) {
            Lookup::Live(pool) => Ok(pool),
            Lookup::Stale | Lookup::Foreign => fail(CUresult::INVALID_VALUE),
        }
    }

    /// The device's own pool, which always is.
    pub(crate) fn default_of(&self, device: CUdevice) -> CUmemoryPool {
        self.with(device, |(_, own, _)| *own)
    }

    /// The pool that `cuMemAllocAsync` uses.
    pub(crate) fn current_of(&self, device: CUdevice) -> CUmemoryPool {
        self.with(device, |(_, _, current)| *current)
    }

    pub(crate) fn set_current(&self, device: CUdevice, pool: CUmemoryPool) -> Result {
        if self.find(pool)?.device != device {
            return fail(CUresult::INVALID_VALUE);
        }
        self.with(device, |(_, _, current)| *current = pool);
        Ok(())
    }

    /// Ends a pool. What was allocated from it stays until it is freed.
    pub(crate) fn destroy(&self, handle: CUmemoryPool) -> Result {
        let pool = self.find(handle)?;
        if pool.is_default {
            return Err(CUresult::INVALID_VALUE.because("the pool of a device cannot be destroyed"));
        }
        self.table.remove(handle.0);
        self.with(pool.device, |(_, own, current)| {
            if *current == handle {
                *current = *own;
            }
        });
        Ok(())
    }

    fn with<T>(&self, device: CUdevice, run: impl FnOnce(&mut (CUdevice, CUmemoryPool, CUmemoryPool)) -> T) -> T {
        let mut all = self.of_devices.lock().unwrap_or_else(PoisonError::into_inner);
        let index = all.iter().position(|(of, ..)| *of == device).unwrap_or_else(|| {
            let own = self.insert(device, true).handle;
            all.push((device, own, own));
            all.len() - 1
        });
        run(&mut all[index])
    }
}
