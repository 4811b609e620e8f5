//! One launch in several orders: what it leaves must be the same, bit for bit.

use super::finding::FindingKind;
use crate::memory::{Allocation, Memory};

/// What all allocations hold.
type Contents = Vec<(Allocation, Vec<u8>)>;

/// The device's memory before the launch, and after its first order.
#[derive(Debug)]
pub(crate) struct Orders {
    before: Contents,
    first: Option<(u64, Contents)>,
}

impl Orders {
    /// Takes down the memory as the launch is to find it, each time.
    pub(crate) fn new(memory: &Memory) -> Self {
        Self { before: contents(memory), first: None }
    }

    /// Puts it back.
    pub(crate) fn restore(&self, memory: &Memory) {
        if self.first.is_some() {
            for (allocation, bytes) in &self.before {
                memory.restore(allocation.base, bytes);
            }
        }
    }

    /// Compares what is there now with what the first order left.
    pub(crate) fn compare(&mut self, memory: &Memory, seed: u64) -> Option<FindingKind> {
        let now = contents(memory);
        let Some((first_seed, first)) = &self.first else {
            self.first = Some((seed, now));
            return None;
        };
        for (allocation, bytes) in first {
            // What a kernel allocates itself may have another place each time.
            let Some((_, others)) = now.iter().find(|(other, _)| other == allocation) else { continue };
            let mut different = bytes.iter().zip(others).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at);
            if let Some(offset) = different.next() {
                let (offset, bytes) = (offset as u64, 1 + different.count() as u64);
                let seeds = [*first_seed, seed];
                return Some(FindingKind::OrderDependent { allocation: *allocation, offset, bytes, seeds });
            }
        }
        None
    }
}

fn contents(memory: &Memory) -> Contents {
    let live = memory.live().into_iter().map(|(allocation, _)| allocation);
    live.filter_map(|allocation| {
        let mut bytes = vec![0; usize::try_from(allocation.size).ok()?];
        memory.read(allocation.base, &mut bytes).ok()?;
        Some((allocation, bytes))
    })
    .collect()
}
