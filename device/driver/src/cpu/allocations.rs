//! Who owns which allocation: contexts free theirs when they end, and nothing is freed twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gridstride_simt::{AllocKind, Memory, MemoryError};

use crate::cpu::context::ContextId;
use crate::cpu::pool::Pool;
use crate::result::{CUresult, Error, Result};

/// All allocations that API calls made. `Memory` knows where they are, this knows whose they are.
#[derive(Debug, Default)]
pub(crate) struct Allocations(Mutex<HashMap<u64, Owned>>);

#[derive(Debug)]
struct Owned {
    context: ContextId,
    kind: AllocKind,
    /// The pool that it counts in.
    pool: Option<Arc<Pool>>,
    size: u64,
    /// The bytes are the caller's (`cuMemHostRegister`).
    registered: bool,
    /// `cuMemFreeAsync` has been called, and its turn has not come.
    being_freed: bool,
}

impl From<MemoryError> for Error {
    fn from(error: MemoryError) -> Self {
        let code = match error {
            MemoryError::OutOfMemory { .. } => CUresult::OUT_OF_MEMORY,
            MemoryError::NotAllocated { .. } | MemoryError::OutOfBounds { .. } => CUresult::INVALID_VALUE,
        };
        code.because(error.to_string())
    }
}

impl Owned {
    /// Takes it out of its pool's count.
    fn end(&self) {
        if let Some(pool) = &self.pool {
            pool.count_free(self.size);
        }
    }
}

impl Allocations {
    /// Allocates for a context.
    pub(crate) fn alloc(&self, memory: &Memory, context: ContextId, size: usize, kind: AllocKind) -> Result<u64> {
        self.alloc_in(memory, context, size, kind, None)
    }

    /// Allocates for a context, from a pool.
    pub(crate) fn alloc_in(
        &self,
        memory: &Memory,
        context: ContextId,
        size: usize,
        kind: AllocKind,
        pool: Option<Arc<Pool>>,
    ) -> Result<u64> {
        let mut all = self.lock();
        let size = size as u64;
        let address = memory.alloc(size, kind)?;
        if let Some(pool) = &pool {
            pool.count_alloc(size);
        }
        all.insert(address, Owned { context, kind, pool, size, registered: false, being_freed: false });
        Ok(address)
    }

    /// Makes host memory of the caller's part of the device's.
    pub(crate) fn register(&self, memory: &Memory, context: ContextId, start: *mut u8, size: usize) -> Result {
        let mut all = self.lock();
        let size = size as u64;
        // SAFETY: the caller of cuMemHostRegister says that the memory stays valid until it is unregistered, and lets the
        // device access it.
        let Some(address) = (unsafe { memory.adopt(start, size, AllocKind::Pinned) }) else {
            let detail = "some of the memory is known to the device already";
            return Err(CUresult::HOST_MEMORY_ALREADY_REGISTERED.because(detail));
        };
        let kind = AllocKind::Pinned;
        all.insert(address, Owned { context, kind, pool: None, size, registered: true, being_freed: false });
        Ok(())
    }

    /// True for the start of registered memory.
    pub(crate) fn is_registered(&self, address: u64) -> bool {
        self.lock().get(&address).is_some_and(|owned| owned.registered)
    }

    /// The pool that the allocation at `base` is from.
    pub(crate) fn pool_of(&self, base: u64) -> Option<Arc<Pool>> {
        self.lock().get(&base)?.pool.clone()
    }

    /// Notes that the allocation that starts at `address` is going to be freed, so that a second call is refused.
    /// `accept` says which kinds of memory the function frees.
    pub(crate) fn begin_free(&self, address: u64, accept: impl Fn(AllocKind) -> bool) -> Result {
        let detail = match self.lock().get_mut(&address) {
            Some(owned) if accept(owned.kind) && !owned.being_freed => {
                owned.being_freed = true;
                return Ok(());
            }
            Some(owned) if owned.being_freed => format!("{address:#x} has been freed before"),
            Some(owned) => format!("{address:#x} is {:?} memory, which another function frees", owned.kind),
            None => format!("{address:#x} is not the start of an allocation; was it freed before?"),
        };
        Err(CUresult::INVALID_VALUE.because(detail))
    }

    /// Frees what [`Allocations::begin_free`] noted.
    pub(crate) fn free(&self, memory: &Memory, address: u64) -> Result {
        let mut all = self.lock();
        // Not there: the context ended in between, and freed it.
        if let Some(owned) = all.remove(&address) {
            owned.end();
            memory.free(address)?;
        }
        Ok(())
    }

    /// Frees all that a context owns.
    pub(crate) fn free_all(&self, memory: &Memory, context: ContextId) {
        self.lock().retain(|&address, owned| {
            if owned.context == context {
                // It is live: only `free` and this end it, and both take it out of the map.
                let _ = memory.free(address);
                owned.end();
            }
            owned.context != context
        });
    }

    /// Whose memory an address is in the middle of.
    pub(crate) fn context_of(&self, base: u64) -> Option<ContextId> {
        self.lock().get(&base).map(|owned| owned.context)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Owned>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
