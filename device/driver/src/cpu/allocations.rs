//! Who owns which allocation: contexts free theirs when they end, and nothing is freed twice.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gridstride_simt::{AllocKind, Memory, MemoryError};

use crate::cpu::context::ContextId;
use crate::result::{CUresult, Error, Result};

/// All allocations that API calls made. `Memory` knows where they are, this knows whose they are.
#[derive(Debug, Default)]
pub(crate) struct Allocations(Mutex<HashMap<u64, Owned>>);

#[derive(Debug, Clone, Copy)]
struct Owned {
    context: ContextId,
    kind: AllocKind,
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

impl Allocations {
    /// Allocates for a context.
    pub(crate) fn alloc(&self, memory: &Memory, context: ContextId, size: usize, kind: AllocKind) -> Result<u64> {
        let mut all = self.lock();
        let address = memory.alloc(size as u64, kind)?;
        all.insert(address, Owned { context, kind, being_freed: false });
        Ok(address)
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
        if all.remove(&address).is_some() {
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
