//! Against models that count with sets.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn strided(stride: u64) -> [u64; LANES] {
    std::array::from_fn(|lane| 4096 + lane as u64 * stride)
}

fn model_sectors(at: &[u64; LANES], mask: u32, size: u64) -> u64 {
    let bytes = (0..LANES).filter(|lane| mask >> lane & 1 != 0).flat_map(|lane| at[lane]..at[lane] + size);
    bytes.map(|byte| byte / 32).collect::<BTreeSet<_>>().len() as u64
}

fn model_conflicts(at: &[u64; LANES], mask: u32, size: u64) -> u64 {
    let together = match size {
        1 | 2 | 4 => 32,
        8 => 16,
        16 => 8,
        _ => 4,
    };
    let mut extra = 0;
    for group in 0..LANES / together {
        let mut banks: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for lane in (group * together..(group + 1) * together).filter(|lane| mask >> lane & 1 != 0) {
            for byte in at[lane]..at[lane] + size {
                banks.entry(byte / 4 % 32).or_default().insert(byte / 4);
            }
        }
        extra += banks.values().map(|words| words.len() as u64 - 1).max().unwrap_or(0);
    }
    extra
}

#[test]
fn sectors_of_well_known_strides() {
    let of = |stride: u64| sectors(&strided(4 * stride), u32::MAX, 4);
    assert_eq!([0, 1, 2, 4, 8, 32].map(of), [1, 4, 8, 16, 32, 32]);
    assert_eq!(sectors(&strided(16), u32::MAX, 16), 16);
    assert_eq!(sectors(&strided(4).map(|at| at + 16), u32::MAX, 4), 5);
}

#[test]
fn conflicts_of_well_known_strides() {
    let of = |stride: u64| conflicts(&strided(4 * stride), u32::MAX, 4);
    assert_eq!([0, 1, 2, 4, 16, 32, 33].map(of), [0, 0, 1, 3, 15, 31, 0]);
    assert_eq!(conflicts(&strided(8), u32::MAX, 8), 0);
    assert_eq!(conflicts(&strided(16), u32::MAX, 16), 0);
}

#[test]
fn atomics_serve_lanes_at_one_address_one_by_one() {
    let every = |lanes: u64| std::array::from_fn(|lane| 4096 + 4 * (lane as u64 / lanes));
    assert_eq!([1, 2, 4, 32].map(|lanes| atomic_sectors(&every(lanes), u32::MAX)), [4, 4, 4, 32]);
    assert_eq!(atomic_sectors(&strided(32), u32::MAX), 32);
    assert_eq!([1, 2, 32].map(|lanes| atomic_conflicts(&every(lanes), u32::MAX, 4)), [0, 1, 31]);
    assert_eq!(atomic_conflicts(&strided(128), 0xFFFF, 4), 15);
}

proptest! {
    #[test]
    fn any_access_counts_as_the_models_say(
        slots in proptest::array::uniform32(0u64..512),
        stride in 0u64..40,
        random in any::<bool>(),
        mask in any::<u32>(),
        log2 in 0u32..6,
    ) {
        let size = 1 << log2;
        let at = if random { slots.map(|slot| slot * size) } else { strided(stride * size) };
        prop_assert_eq!(sectors(&at, mask, size), model_sectors(&at, mask, size));
        prop_assert_eq!(conflicts(&at, mask, size), model_conflicts(&at, mask, size));
    }
}
