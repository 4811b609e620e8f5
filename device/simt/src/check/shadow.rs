//! What is remembered of each word of memory: who wrote it last, and who has read it since.
//!
//! A record may be forgotten when it cannot matter any more: when whatever could race with it would race with a later one,
//! too, that comes after it by the order of the program. Readers that are ordered with nobody, as those of an input that
//! all blocks read, would pile up: of other blocks' records no more than [`MOST_OTHERS`] are kept for a word, the earliest
//! and the latest. So a race with *one* of very many readers of a word may go unseen, but none is made up.

use crate::check::Site;

/// Records of other blocks that are kept of a word, apart from plain writes.
const MOST_OTHERS: usize = 4;

/// An access, as remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) stamp: u64,
    pub(crate) site: Site,
    pub(crate) block: u32,
    /// Lanes of the warp that did the same in the same instruction.
    pub(crate) lanes: u32,
    /// The word's bytes as written, for plain writes.
    pub(crate) value: u32,
    pub(crate) warp: u8,
    /// Bytes of the word, a bit each.
    pub(crate) bytes: u8,
    pub(crate) kind: Kind,
}

/// What kind of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind(pub(crate) u8);

impl Kind {
    pub(crate) const WRITE: u8 = 1;
    pub(crate) const ATOMIC: u8 = 2;
    /// Relaxed or stronger.
    pub(crate) const STRONG: u8 = 4;
    /// Towards threads of other blocks, too.
    pub(crate) const WIDE: u8 = 8;
    /// The value is known.
    pub(crate) const VALUED: u8 = 16;

    pub(crate) fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}

/// The records of a word.
pub(crate) type Cell = Vec<Record>;

/// A race that a new access has with an earlier one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clash {
    pub(crate) earlier: Record,
    pub(crate) lane: u32,
    pub(crate) same_value: bool,
}

/// Takes down `new`, an access of one lane. `unknown` says which lanes of an earlier access are not ordered before it.
pub(crate) fn access(cell: &mut Cell, new: Record, unknown: impl Fn(&Record) -> u32, mut clash: impl FnMut(Clash)) {
    let mut at = 0;
    while let Some(old) = cell.get_mut(at) {
        at += 1;
        if old.bytes & new.bytes == 0 {
            continue;
        }
        let own = if (old.block, old.warp) == (new.block, new.warp) { new.lanes } else { 0 };
        let mut open = match old.lanes & !own {
            0 => 0,
            others => unknown(old) & others,
        };
        if open != 0 && conflict(old, &new) {
            clash(Clash { earlier: *old, lane: open.trailing_zeros(), same_value: same_value(old, &new) });
            // Once is enough.
            open = 0;
        }
        if covers(new.kind, old.kind) {
            if old.bytes & !new.bytes == 0 {
                old.lanes &= open;
            } else if open == 0 {
                old.bytes &= !new.bytes;
            }
            if old.lanes == 0 {
                at -= 1;
                cell.swap_remove(at);
            }
        }
    }
    let same = |old: &&mut Record| {
        (old.stamp, old.block, old.bytes, old.kind, old.value) == (new.stamp, new.block, new.bytes, new.kind, new.value)
    };
    if let Some(old) = cell.iter_mut().find(same) {
        old.lanes |= new.lanes;
        return;
    }
    if cell.len() == cell.capacity() {
        // Most words never have more than one or two.
        cell.reserve_exact(1 + cell.len() / 2);
    }
    cell.push(new);
    if cell.len() > MOST_OTHERS {
        thin_out(cell, new.block);
    }
}

fn thin_out(cell: &mut Cell, here: u32) {
    let plain_write = |kind: Kind| kind.has(Kind::WRITE) && !kind.has(Kind::STRONG);
    let mut others: Vec<(u64, usize)> = (cell.iter().enumerate())
        .filter(|(_, record)| record.block != here && !plain_write(record.kind))
        .map(|(at, record)| (record.stamp, at))
        .collect();
    if others.len() > MOST_OTHERS {
        others.sort_unstable();
        cell.swap_remove(others[MOST_OTHERS / 2].1);
    }
}

/// Two accesses race if one of them writes, unless both are strong and each includes the other's thread in its scope.
fn conflict(a: &Record, b: &Record) -> bool {
    if !a.kind.has(Kind::WRITE) && !b.kind.has(Kind::WRITE) {
        return false;
    }
    let strong = a.kind.has(Kind::STRONG) && b.kind.has(Kind::STRONG);
    let in_scope = a.block == b.block || a.kind.has(Kind::WIDE) && b.kind.has(Kind::WIDE);
    !(strong && in_scope)
}

/// Whatever races with `old` races with `new` as well.
fn covers(new: Kind, old: Kind) -> bool {
    let (strong, write) = (Kind::STRONG, Kind::WRITE);
    match (new.has(strong), new.has(write)) {
        (false, true) => true,
        (false, false) => !old.has(write),
        (true, true) => old.has(strong) && old.has(Kind::WIDE) == new.has(Kind::WIDE),
        (true, false) => old.has(strong) && !old.has(write) && old.has(Kind::WIDE) == new.has(Kind::WIDE),
    }
}

fn same_value(a: &Record, b: &Record) -> bool {
    let plain = Kind::WRITE | Kind::VALUED;
    let common = a.bytes & b.bytes;
    let mask = (0..4).filter(|byte| common >> byte & 1 != 0).fold(0u32, |mask, byte| mask | 0xFF << (8 * byte));
    a.kind.0 & plain == plain && b.kind.0 & plain == plain && (a.value ^ b.value) & mask == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(stamp: u64, thread: u32, kind: u8) -> Record {
        let site = Site { function: 0, at: stamp as u32 };
        let (warp, lanes) = ((thread / 32) as u8, 1 << (thread % 32));
        Record { stamp, site, block: 0, lanes, value: 0, warp, bytes: 15, kind: Kind(kind) }
    }

    /// Stamps of the earlier accesses that each new one races with; `known` stamps are ordered before all.
    fn clashes(cell: &mut Cell, new: Record, known: u64) -> Vec<u64> {
        let mut found = Vec::new();
        let unknown = |old: &Record| if old.stamp <= known { 0 } else { old.lanes };
        access(cell, new, unknown, |clash| found.push(clash.earlier.stamp));
        found
    }

    #[test]
    fn a_write_races_with_every_reader_it_does_not_know() {
        let mut cell = Cell::new();
        for thread in 0..40 {
            assert_eq!(clashes(&mut cell, record(1 + u64::from(thread / 32), thread, 0), 0), []);
        }
        assert_eq!(cell.len(), 2);
        assert_eq!(clashes(&mut cell.clone(), record(3, 50, Kind::WRITE), 2), []);
        assert_eq!(clashes(&mut cell, record(3, 50, Kind::WRITE), 1), [2]);
        assert_eq!(cell.len(), 1);
    }

    #[test]
    fn atomics_race_with_plain_accesses_only() {
        let atomic = Kind::WRITE | Kind::ATOMIC | Kind::STRONG | Kind::WIDE;
        let mut cell = Cell::new();
        assert_eq!(clashes(&mut cell, record(1, 0, atomic), 0), []);
        assert_eq!(clashes(&mut cell, record(2, 64, atomic), 0), []);
        // The reader knows the second one only.
        assert_eq!(clashes(&mut cell, record(3, 64, 0), 0), [1]);
    }

    #[test]
    fn bytes_of_one_word_are_apart() {
        let mut cell = Cell::new();
        let byte = |stamp, thread, bytes| Record { bytes, ..record(stamp, thread, Kind::WRITE) };
        assert_eq!(clashes(&mut cell, byte(1, 0, 1), 0), []);
        assert_eq!(clashes(&mut cell, byte(1, 1, 2), 0), []);
        assert_eq!(clashes(&mut cell, byte(2, 2, 3), 0), [1, 1]);
        assert_eq!(clashes(&mut cell, byte(3, 3, 4), 0), []);
    }

    #[test]
    fn readers_of_many_blocks_do_not_pile_up() {
        let mut cell = Cell::new();
        for block in 0..1000u32 {
            clashes(&mut cell, Record { block, ..record(u64::from(block) + 1, 0, 0) }, 0);
        }
        assert!(cell.len() <= MOST_OTHERS + 1);
        assert!(cell.iter().any(|record| record.block == 0) && cell.iter().any(|record| record.block == 999));
        assert_eq!(clashes(&mut cell, Record { block: 5000, ..record(5000, 0, Kind::WRITE) }, 0).len(), cell.len() + 4);
    }
}
