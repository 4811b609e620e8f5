//! A bit a byte: has it been written?

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// For memory of one core.
#[derive(Debug, Default)]
pub(crate) struct Bits(Vec<u64>);

/// For global memory, which host calls and launches write at the same time.
#[derive(Debug)]
pub(crate) struct SharedBits(Box<[AtomicU64]>);

/// The words that a range touches, each with the bits of it.
fn words(from: u64, size: u64) -> impl Iterator<Item = (usize, u64)> {
    let end = from + size;
    (from / 64..end.div_ceil(64)).map(move |word| {
        let first = from.saturating_sub(word * 64).min(64);
        let last = (end - word * 64).min(64);
        let below = |bits: u64| if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        (word as usize, below(last) & !below(first))
    })
}

impl Bits {
    /// `bytes` bytes that nothing wrote.
    pub(crate) fn reset(&mut self, bytes: usize) {
        self.0.clear();
        self.0.resize(bytes.div_ceil(64), 0);
    }

    /// False if nothing is tracked.
    pub(crate) fn is_on(&self) -> bool {
        !self.0.is_empty()
    }

    pub(crate) fn set(&mut self, from: u64, size: u64) {
        for (word, bits) in words(from, size) {
            if let Some(word) = self.0.get_mut(word) {
                *word |= bits;
            }
        }
    }

    pub(crate) fn all(&self, from: u64, size: u64) -> bool {
        words(from, size).all(|(word, bits)| self.0.get(word).is_none_or(|word| word & bits == bits))
    }

    /// Copies what is known of a range to another one.
    pub(crate) fn copy_within(&mut self, from: u64, to: u64, size: u64) {
        let known: Vec<bool> = (0..size).map(|at| self.all(from + at, 1)).collect();
        for (at, known) in (to..).zip(known) {
            for (word, bits) in words(at, 1) {
                if let Some(word) = self.0.get_mut(word) {
                    *word = if known { *word | bits } else { *word & !bits };
                }
            }
        }
    }
}

impl SharedBits {
    pub(crate) fn new(bytes: u64) -> Self {
        Self((0..bytes.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    pub(crate) fn set(&self, from: u64, size: u64) {
        for (word, bits) in words(from, size) {
            self.0[word].fetch_or(bits, Relaxed);
        }
    }

    pub(crate) fn all(&self, from: u64, size: u64) -> bool {
        words(from, size).all(|(word, bits)| self.0[word].load(Relaxed) & bits == bits)
    }

    /// What `source` (or written memory, where there is none) has from `from` on becomes what this has from `to` on.
    pub(crate) fn copy(&self, to: u64, source: Option<(&Self, u64)>, size: u64) {
        let Some((source, from)) = source else { return self.set(to, size) };
        let known: Vec<bool> = (0..size).map(|at| source.all(from + at, 1)).collect();
        for (at, known) in (to..).zip(known) {
            let (word, bit) = ((at / 64) as usize, 1 << (at % 64));
            if known {
                self.0[word].fetch_or(bit, Relaxed);
            } else {
                self.0[word].fetch_and(!bit, Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_within_and_across_words() {
        let mut bits = Bits::default();
        assert!(bits.all(0, 8) && !bits.is_on());
        bits.reset(256);
        for (from, size) in [(0, 1), (60, 8), (128, 64), (255, 1)] {
            assert!(!bits.all(from, size));
            bits.set(from, size);
            assert!(bits.all(from, size));
            assert!(!bits.all(from, size + 1) || from + size == 256);
        }
        bits.copy_within(126, 10, 4);
        assert!(!bits.all(10, 1) && !bits.all(11, 1) && bits.all(12, 2));
        let shared = SharedBits::new(100);
        shared.set(3, 90);
        assert!(shared.all(3, 90) && !shared.all(2, 1) && !shared.all(93, 1));
        let other = SharedBits::new(10);
        other.copy(0, Some((&shared, 1)), 5);
        assert!(!other.all(0, 2) && !other.all(1, 1) && other.all(2, 3));
    }
}
