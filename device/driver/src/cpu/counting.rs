//! What launches counted, for whoever asks after the fact.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use gridstride_simt::Counters;

static COUNT_MEMORY: AtomicBool = AtomicBool::new(false);
static LAST: Mutex<Option<Counters>> = Mutex::new(None);

pub(crate) fn count_memory(on: bool) {
    COUNT_MEMORY.store(on, Ordering::Relaxed);
}

pub(crate) fn counts_memory() -> bool {
    COUNT_MEMORY.load(Ordering::Relaxed)
}

pub(crate) fn keep(counters: Counters) {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(counters);
}

pub(crate) fn last() -> Option<Counters> {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner)
}
