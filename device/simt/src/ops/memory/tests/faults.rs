//! What must not be touched is not.

use proptest::prelude::*;

use super::*;
use crate::fault::Access;
use crate::lane::{LOCAL_WINDOW, SHARED_WINDOW};

fn load(warp: &mut Warp, level: Level, space: Option<Space>, at: [u64; LANES], ty: Type) -> Result<(), FaultKind> {
    warp.set(ADDRESS, at);
    warp.load(level, weak(space), ty, ty, 1)
}

fn is_out_of(space: Space, result: Result<(), FaultKind>) -> bool {
    matches!(result, Err(FaultKind::OutOfBounds { space: found, .. }) if found == space)
}

#[test]
fn neighbours_of_an_allocation_are_out_of_bounds() {
    let mut warp = Warp::new();
    let all: Vec<u64> = (0..20).map(|_| warp.alloc(256)).collect();
    for level in levels() {
        for space in [Some(Space::Global), None] {
            for base in &all {
                let fine = load(&mut warp, level, space, strided(base + 128, 4), Type::B32);
                assert_eq!(fine, Ok(()));
                for at in [strided(base + 132, 4), strided(base - 4, 4), strided(base + 256, 0), strided(base - 1, 0)] {
                    for ty in [Type::B8, Type::B32] {
                        let result = load(&mut warp, level, space, at, ty);
                        assert!(result.is_err() || ty == Type::B8 && at[0] == base + 132, "{at:x?}");
                    }
                }
                assert!(is_out_of(Space::Global, load(&mut warp, level, space, strided(base + 132, 4), Type::B32)));
                assert!(is_out_of(Space::Global, load(&mut warp, level, space, strided(base + 256, 0), Type::B8)));
                assert!(is_out_of(Space::Global, load(&mut warp, level, space, strided(base - 1, 0), Type::B8)));
            }
        }
    }
}

#[test]
fn addresses_that_wrap_around_are_out_of_bounds() {
    let mut warp = Warp::new();
    let base = warp.alloc(4096);
    for level in levels() {
        for first in [u64::MAX - 3, u64::MAX - 63, 0, 1 << 47, 3 << 48, base ^ 1 << 63] {
            assert!(is_out_of(Space::Global, load(&mut warp, level, None, strided(first & !3, 0), Type::B32)));
            let row = std::array::from_fn(|lane| (first & !3).wrapping_add(4 * lane as u64));
            assert!(is_out_of(Space::Global, load(&mut warp, level, Some(Space::Global), row, Type::B32)));
        }
        // One lane far away, the others fine.
        let mut at = strided(base, 4);
        at[17] = u64::MAX - 7;
        assert!(is_out_of(Space::Global, load(&mut warp, level, None, at.map(|at| at & !7), Type::B64)));
    }
}

#[test]
fn shared_and_local_memory_end_where_they_end() {
    let mut warp = Warp::new();
    let (shared, local) = (warp.shared.len() as u64 * 8, u64::from(warp.local_bytes));
    for level in levels() {
        for (space, window, end) in [(Space::Shared, SHARED_WINDOW, shared), (Space::Local, LOCAL_WINDOW, local)] {
            for (said, start) in [(Some(space), 0), (None, window)] {
                assert_eq!(load(&mut warp, level, said, strided(start + end - 8, 0), Type::B64), Ok(()));
                for at in [end, end + 8, 1 << 31, (1 << 32) - 8] {
                    let result = load(&mut warp, level, said, strided(start + at, 0), Type::B64);
                    assert!(is_out_of(space, result), "{space:?} {at}");
                }
            }
            assert!(is_out_of(space, load(&mut warp, level, Some(space), strided(u64::MAX - 7, 0), Type::B64)));
            assert!(is_out_of(space, load(&mut warp, level, Some(space), strided(window, 0), Type::B64)));
        }
    }
}

#[test]
fn misaligned_accesses_fault_and_say_what_they_need() {
    let mut warp = Warp::new();
    let base = warp.alloc(4096);
    for level in levels() {
        for (ty, needed) in [(Type::B16, 2), (Type::B32, 4), (Type::B64, 8), (Type::B128, 16)] {
            let at = strided(base + u64::from(needed) / 2, u64::from(needed));
            let expected = FaultKind::Misaligned { space: Space::Global, access: Access::Read, address: at[0], needed };
            assert_eq!(load(&mut warp, level, Some(Space::Global), at, ty), Err(expected));
        }
        warp.set(ADDRESS, strided(base + 4, 16));
        let result = warp.store(level, weak(None), Type::B32, Type::B32, 4);
        assert!(matches!(result, Err(FaultKind::Misaligned { access: Access::Write, needed: 16, .. })));
    }
}

#[test]
fn what_was_freed_is_called_freed() {
    let mut warp = Warp::new();
    let base = warp.alloc(4096);
    warp.alloc(64);
    warp.memory.free(base).unwrap();
    for level in levels() {
        let result = load(&mut warp, level, None, strided(base + 64, 4), Type::B32);
        assert!(matches!(result, Err(FaultKind::UseAfterFree { address, .. }) if address == base + 64), "{result:?}");
    }
}

#[test]
fn nothing_is_stored_when_any_lane_faults() {
    let mut warp = Warp::new();
    let base = warp.alloc(124);
    for level in levels() {
        warp.set(ADDRESS, strided(base, 4));
        warp.set::<u32>(data(0), [u32::MAX; LANES]);
        assert!(warp.store(level, weak(Some(Space::Global)), Type::B32, Type::B32, 1).is_err());
        let mut bytes = vec![0; 124];
        warp.memory.read(base, &mut bytes).unwrap();
        assert_eq!(bytes, pattern(124));
        warp.mask = FULL >> 1;
        assert!(warp.store(level, weak(Some(Space::Global)), Type::B8, Type::B32, 1).is_ok());
        warp.mask = FULL;
        warp.memory.write(base, &pattern(124)).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the addresses, an access succeeds exactly if each active lane is aligned and inside one allocation.
    #[test]
    fn any_addresses_are_judged_right(
        picks in proptest::array::uniform32((0usize..3, -40i64..300)),
        mask in any::<u32>(),
        log2 in 0u32..4,
        generic in any::<bool>(),
    ) {
        prop_assume!(mask != 0);
        let mut warp = Warp::new();
        let bases = [warp.alloc(256), warp.alloc(100), warp.alloc(1)];
        let sizes = [256, 100, 1];
        let size = 1i64 << log2;
        let ty = [Type::B8, Type::B16, Type::B32, Type::B64][log2 as usize];
        let at = picks.map(|(which, offset)| bases[which].wrapping_add_signed(offset));
        let fine = |lane: usize| {
            let (which, offset) = picks[lane];
            offset >= 0 && offset + size <= sizes[which] && offset % size == 0
        };
        let expected = (0..LANES).filter(|lane| mask >> lane & 1 != 0).all(fine);
        warp.mask = mask;
        for level in levels() {
            warp.set(ADDRESS, at);
            let register = if log2 == 0 { Type::B16 } else { ty };
            let space = if generic { None } else { Some(Space::Global) };
            prop_assert_eq!(warp.load(level, weak(space), ty, register, 1).is_ok(), expected);
        }
    }
}
