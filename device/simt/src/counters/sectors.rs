//! What an access costs a GPU's memory system.
//!
//! - A *request* is one warp instruction that touches global (or shared) memory with at least one lane.
//! - A *sector* is 32 aligned bytes. A request has as many as its active lanes touch different ones, however the hardware
//!   splits wide accesses in time: a fully coalesced access of 4 bytes a lane has 4, of 16 bytes a lane 16.
//! - Shared memory has 32 banks of 4 bytes. Accesses of up to 4 bytes a lane take all lanes at once, of 8 bytes half a warp
//!   at a time, of 16 bytes a quarter. Each of these groups takes as many passes as its worst bank has different words
//!   (the same word is read once for all); passes beyond one a group are *bank conflicts*.
//! - Atomic operations serve the lanes at one address one after the other: in global memory each of them is a sector of its
//!   own, in shared memory a pass of its own. Seen on an H200, see `tests/profiler`.

use crate::lane::LANES;

/// Different 32-byte sectors that the active lanes touch.
pub(crate) fn sectors(at: &[u64; LANES], mask: u32, size: u64) -> u64 {
    pieces::<32>(at, mask, size)
}

/// Sectors of an atomic operation: each is touched as often as its most wanted address has lanes.
pub(crate) fn atomic_sectors(at: &[u64; LANES], mask: u32) -> u64 {
    let mut seen: Vec<(u64, u64)> = Vec::new();
    for lane in active(mask) {
        match seen.iter_mut().find(|(address, _)| *address == at[lane]) {
            Some((_, lanes)) => *lanes += 1,
            None => seen.push((at[lane], 1)),
        }
    }
    seen.sort_unstable();
    let sectors = seen.chunk_by(|a, b| a.0 / 32 == b.0 / 32);
    sectors.filter_map(|sector| sector.iter().map(|(_, lanes)| *lanes).max()).sum()
}

/// Passes beyond one of an atomic operation on shared memory: its worst bank serves a lane at a time.
pub(crate) fn atomic_conflicts(at: &[u64; LANES], mask: u32, size: u64) -> u64 {
    let group = LANES / size.div_ceil(4) as usize;
    let passes = |first: usize| {
        let mut banks = [0u64; 32];
        for lane in (first..first + group).filter(|lane| mask >> lane & 1 != 0) {
            banks[(at[lane] / 4 % 32) as usize] += 1;
        }
        banks.into_iter().max().unwrap_or(0).saturating_sub(1)
    };
    (0..LANES).step_by(group).map(passes).sum()
}

/// Different 128-byte lines that the active lanes touch.
pub(crate) fn lines(at: &[u64; LANES], mask: u32, size: u64) -> u64 {
    pieces::<128>(at, mask, size)
}

fn pieces<const BYTES: u64>(at: &[u64; LANES], mask: u32, size: u64) -> u64 {
    let mut seen = Distinct::new();
    for lane in active(mask) {
        // Aligned to its size, an access of up to 32 bytes is in one piece.
        for piece in at[lane] / BYTES..=(at[lane] + size - 1) / BYTES {
            seen.insert(piece);
        }
    }
    seen.len as u64
}

/// Lanes beyond the first at each address: an atomic operation serves those one after the other.
pub(crate) fn same_address(at: &[u64; LANES], mask: u32) -> u64 {
    let mut seen = Distinct::new();
    active(mask).filter(|lane| !seen.insert(at[*lane])).count() as u64
}

/// Passes beyond one for each group of lanes that shared memory takes at a time.
pub(crate) fn conflicts(at: &[u64; LANES], mask: u32, size: u64) -> u64 {
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
