//! What an access costs a GPU's memory system: counted only when asked for.
//!
//! - A *request* is one warp instruction that touches global (or shared) memory with at least one lane.
//! - A *sector* is 32 aligned bytes. A request has as many as its active lanes touch different ones, however the hardware
//!   splits wide accesses in time: a fully coalesced access of 4 bytes a lane has 4, of 16 bytes a lane 16.
//! - Shared memory has 32 banks of 4 bytes. Accesses of up to 4 bytes a lane take all lanes at once, of 8 bytes half a warp
//!   at a time, of 16 bytes a quarter. Each of these groups takes as many passes as its worst bank has different words
//!   (the same word is read once for all); passes beyond one a group are *bank conflicts*.
//!
//! Constant, local and parameter memory are not counted.

use gridstride_ptx::Space;

use crate::lane::{LANES, Lanes, SHARED_WINDOW};
use crate::ops::memory::place::space_of;

/// Counts an access whose active lanes are all in `space`, which starts at the address `start`.
#[cold]
#[inline(never)]
pub(super) fn count(lanes: &mut Lanes<'_>, at: &[u64; LANES], space: Space, start: u64, size: u64) {
    let mask = lanes.mask;
    match space {
        Space::Global => global(lanes, at, mask, size),
        Space::Shared => shared(lanes, &at.map(|address| address.wrapping_sub(start)), mask, size),
        Space::Const | Space::Local | Space::Param => {}
    }
}

/// Counts an access whose lanes may be in different spaces; `said` is the space that the program says.
pub(super) fn count_mixed(lanes: &mut Lanes<'_>, at: &[u64; LANES], said: Option<Space>, size: u64) {
    let of = |space: Space| {
        let in_space = |lane: &usize| said.unwrap_or_else(|| space_of(at[*lane])) == space;
        (0..LANES).filter(in_space).fold(0u32, |mask, lane| mask | 1 << lane)
    };
    let (in_global, in_shared) = (of(Space::Global) & lanes.mask, of(Space::Shared) & lanes.mask);
    if in_global != 0 {
        global(lanes, at, in_global, size);
    }
    if in_shared != 0 {
        let start = if said.is_none() { SHARED_WINDOW } else { 0 };
        shared(lanes, &at.map(|address| address.wrapping_sub(start)), in_shared, size);
    }
}

fn global(lanes: &mut Lanes<'_>, at: &[u64; LANES], mask: u32, size: u64) {
    lanes.counters.global_requests += 1;
    lanes.counters.global_sectors += sectors(at, mask, size);
    lanes.counters.global_bytes += u64::from(mask.count_ones()) * size;
}

fn shared(lanes: &mut Lanes<'_>, at: &[u64; LANES], mask: u32, size: u64) {
    lanes.counters.shared_requests += 1;
    lanes.counters.bank_conflicts += conflicts(at, mask, size);
}

/// Different 32-byte sectors that the active lanes touch.
fn sectors(at: &[u64; LANES], mask: u32, size: u64) -> u64 {
    let mut seen = Distinct::new();
    for lane in active(mask) {
        // Aligned to its size, an access of up to 32 bytes is in one sector.
        for sector in at[lane] / 32..=(at[lane] + size - 1) / 32 {
            seen.insert(sector);
        }
    }
    seen.len as u64
}

/// Passes beyond one for each group of lanes that shared memory takes at a time.
fn conflicts(at: &[u64; LANES], mask: u32, size: u64) -> u64 {
    let words = size.div_ceil(4);
    let group = LANES / words as usize;
    (0..LANES).step_by(group).map(|first| group_conflicts(&at[first..first + group], mask >> first, words)).sum()
}

fn group_conflicts(at: &[u64], mask: u32, words: u64) -> u64 {
    let mut seen = Distinct::new();
    let mut banks = [0u64; 32];
    for lane in (0..at.len()).filter(|lane| mask >> lane & 1 != 0) {
        for word in at[lane] / 4..at[lane] / 4 + words {
            if seen.insert(word) {
                banks[(word % 32) as usize] += 1;
            }
        }
    }
    banks.into_iter().max().unwrap_or(0).saturating_sub(1)
}

fn active(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

/// A small set; what is inserted twice in a row, as neighbours do, is found at once.
struct Distinct {
    values: [u64; 2 * LANES],
    len: usize,
}

impl Distinct {
    fn new() -> Self {
        Self { values: [0; 2 * LANES], len: 0 }
    }

    /// True if the value is new.
    fn insert(&mut self, value: u64) -> bool {
        if self.values[..self.len].iter().rev().any(|seen| *seen == value) {
            return false;
        }
        self.values[self.len] = value;
        self.len += 1;
        true
    }
}

#[cfg(test)]
mod tests;
