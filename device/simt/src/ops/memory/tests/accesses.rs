//! Loads and stores of every width against plain copies.

use super::*;
use crate::lane::{LOCAL_WINDOW, SHARED_WINDOW};

const MASKS: [u32; 6] = [FULL, 1, 0xFFFF, 0x8000_0001, 0xAAAA_AAAA, 1 << 31];

/// Addresses of many shapes inside `bytes` bytes from `base`, each aligned to `size`.
fn shapes(base: u64, bytes: u64, size: u64) -> Vec<[u64; LANES]> {
    let slots = bytes / size;
    let mut shapes = vec![strided(base, size), strided(base + 3 * size, 0)];
    shapes.extend([3, 7, 33].map(|step| std::array::from_fn(|lane| base + (lane as u64 * step % slots) * size)));
    shapes.push(std::array::from_fn(|lane| base + (slots - 1 - lane as u64 % slots) * size));
    shapes
}

/// What a register of `register` bytes gets from the bytes of an element.
fn widened(bytes: &[u8], signed: bool, register: usize) -> u128 {
    let mut value = [0; 16];
    value[..bytes.len()].copy_from_slice(bytes);
    if signed && bytes[bytes.len() - 1] >= 0x80 {
        value[bytes.len()..].fill(0xFF);
    }
    u128::from_le_bytes(value) & (u128::MAX >> (128 - 8 * register))
}

fn register_of(warp: &Warp, slot: Slot, bytes: u32) -> [u128; LANES] {
    match bytes {
        2 => warp.get::<u16>(slot).map(u128::from),
        4 => warp.get::<u32>(slot).map(u128::from),
        8 => warp.get::<u64>(slot).map(u128::from),
        _ => warp.get::<u128>(slot),
    }
}

const FORMS: [(Type, Type, usize); 24] = [
    (Type::U8, Type::B16, 1),
    (Type::S8, Type::B16, 1),
    (Type::U8, Type::B32, 1),
    (Type::S8, Type::B32, 1),
    (Type::B8, Type::B64, 1),
    (Type::S8, Type::B64, 1),
    (Type::S16, Type::B16, 1),
    (Type::B16, Type::B32, 1),
    (Type::S16, Type::B32, 1),
    (Type::U16, Type::B64, 1),
    (Type::S16, Type::B64, 1),
    (Type::F32, Type::F32, 1),
    (Type::U32, Type::B64, 1),
    (Type::S32, Type::B64, 1),
    (Type::F64, Type::B64, 1),
    (Type::B128, Type::B128, 1),
    (Type::B8, Type::B16, 2),
    (Type::B8, Type::B16, 4),
    (Type::B16, Type::B16, 2),
    (Type::B16, Type::B16, 4),
    (Type::B32, Type::B32, 2),
    (Type::B32, Type::B32, 4),
    (Type::B64, Type::B64, 2),
    (Type::B64, Type::B64, 4),
];

#[test]
fn loads_give_what_memory_has() {
    let mut warp = Warp::new();
    let base = warp.alloc(4096);
    let shared = pattern(4096);
    for (word, bytes) in warp.shared.iter_mut().zip(shared.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    // Global memory by its own name and generically; shared memory likewise.
    let spaces = [
        (Some(Space::Global), base, base),
        (None, base, base),
        (Some(Space::Const), base, base),
        (Some(Space::Shared), 0, 0),
        (None, SHARED_WINDOW, SHARED_WINDOW),
    ];
    let memory = pattern(4096);
    for level in levels() {
        for (ty, register, count) in FORMS {
            let (each, size) = (ty.bytes() as usize, ty.bytes() as usize * count);
            for (space, first, start) in spaces {
                for at in shapes(first, 4096, size as u64) {
                    for mask in MASKS {
                        warp.mask = mask;
                        warp.set(ADDRESS, at);
                        for part in 0..count {
                            warp.set(data(part), [0xEEEE_EEEE_EEEE_EEEE_EEEE_EEEE_EEEE_EEEEu128; LANES]);
                        }
                        warp.load(level, weak(space), ty, register, count).unwrap();
                        for part in 0..count {
                            let found = register_of(&warp, data(part), register.bytes().max(2));
                            for lane in 0..LANES {
                                let from = (at[lane] - start) as usize + part * each;
                                let expected =
                                    widened(&memory[from..from + each], ty.is_signed(), register.bytes() as usize);
                                let untouched = 0xEEEE_EEEE_EEEE_EEEE_EEEE_EEEE_EEEE_EEEEu128
                                    & (u128::MAX >> (128 - 8 * register.bytes()));
                                let expected = if mask >> lane & 1 != 0 { expected } else { untouched };
                                assert_eq!(
                                    found[lane], expected,
                                    "{level:?} {ty:?} {register:?} v{count} {space:?} {lane}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn stores_change_what_they_name_and_nothing_else() {
    for level in levels() {
        for (ty, register, count) in FORMS.into_iter().filter(|(ty, ..)| !ty.is_signed() || ty.bytes() == 2) {
            if ty == Type::S16 && register != Type::B16 {
                continue;
            }
            let (each, size) = (ty.bytes() as usize, ty.bytes() as usize * count);
            for shared in [false, true] {
                let mut warp = Warp::new();
                let base = warp.alloc(4096);
                for at in shapes(0, 4096, size as u64) {
                    for mask in MASKS {
                        warp.mask = mask;
                        let start = if shared { 0 } else { base };
                        warp.set(ADDRESS, at.map(|at| at + start));
                        let value = |lane: usize, part: usize| {
                            0x0123_4567_89AB_CDEF_0011_2233_4455_6677u128.wrapping_mul((lane * 8 + part + 1) as u128)
                        };
                        for part in 0..count {
                            match register.bytes() {
                                2 => warp.set::<u16>(data(part), std::array::from_fn(|l| value(l, part) as u16)),
                                4 => warp.set::<u32>(data(part), std::array::from_fn(|l| value(l, part) as u32)),
                                8 => warp.set::<u64>(data(part), std::array::from_fn(|l| value(l, part) as u64)),
                                _ => warp.set::<u128>(data(part), std::array::from_fn(|l| value(l, part))),
                            }
                        }
                        let bytes = |warp: &Warp| {
                            let mut bytes = vec![0; 4096];
                            warp.memory.read(base, &mut bytes).unwrap();
                            if shared {
                                bytes = warp.shared.iter().flat_map(|word| word.to_le_bytes()).collect();
                            }
                            bytes
                        };
                        let mut expected = bytes(&warp);
                        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
                            for part in 0..count {
                                let to = at[lane] as usize + part * each;
                                expected[to..to + each].copy_from_slice(&value(lane, part).to_le_bytes()[..each]);
                            }
                        }
                        let space = if shared { Space::Shared } else { Space::Global };
                        warp.store(level, weak(Some(space)), ty, register, count).unwrap();
                        assert!(bytes(&warp) == expected, "{level:?} {ty:?} {register:?} v{count} {mask:#x} {at:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn each_lane_has_a_local_memory_of_its_own() {
    for level in levels() {
        for (space, start) in [(Some(Space::Local), 0), (None, LOCAL_WINDOW)] {
            let mut warp = Warp::new();
            warp.set(ADDRESS, strided(start + 4, 0));
            warp.set::<u32>(data(0), std::array::from_fn(|lane| lane as u32 + 1));
            warp.store(level, weak(space), Type::B32, Type::B32, 1).unwrap();
            warp.set::<u32>(data(0), [0; LANES]);
            warp.mask = 0x0F0F_0F0F;
            warp.load(level, weak(space), Type::B32, Type::B32, 1).unwrap();
            let found = warp.get::<u32>(data(0));
            for (lane, found) in found.into_iter().enumerate() {
                assert_eq!(found, if warp.mask >> lane & 1 != 0 { lane as u32 + 1 } else { 0 });
            }
            assert_eq!(warp.local[0] >> 32, 1);
            assert_eq!(warp.local[4] >> 32, 2);
        }
    }
}

#[test]
fn lanes_may_be_in_different_spaces_and_allocations() {
    let mut warp = Warp::new();
    let (a, b) = (warp.alloc(64), warp.alloc(64));
    warp.shared[1] = 0x1111_2222;
    warp.local.fill(0x3333_4444);
    let places = [a + 4, b + 8, SHARED_WINDOW + 8, LOCAL_WINDOW + 16];
    warp.set(ADDRESS, std::array::from_fn::<u64, LANES, _>(|lane| places[lane % 4]));
    let values = [0x0706_0504, 0x0B0A_0908, 0x1111_2222, 0x3333_4444];
    for level in levels() {
        warp.load(level, weak(None), Type::B32, Type::B32, 1).unwrap();
        assert_eq!(warp.get::<u32>(data(0)), std::array::from_fn(|lane| values[lane % 4]));
    }
}

#[test]
fn offsets_and_narrow_addresses_wrap_as_their_registers_do() {
    let mut warp = Warp::new();
    warp.shared[0] = 42;
    let form = Form::new(Some(Space::Shared), true, Order::Weak);
    warp.set::<u32>(ADDRESS, [4; LANES]);
    let exec = load::exec(Level::Baseline, Type::B32, Type::B32, 1, form.is_quick()).unwrap();
    warp.run(exec, &args(form, 1, -4)).unwrap();
    assert_eq!(warp.get::<u32>(data(0)), [42; LANES]);
    let base = warp.alloc(256);
    let form = weak(Some(Space::Global));
    for level in levels() {
        warp.set(ADDRESS, strided(base + 8, 4));
        let exec = load::exec(level, Type::B32, Type::B32, 1, form.is_quick()).unwrap();
        warp.run(exec, &args(form, 1, -8)).unwrap();
        assert_eq!(warp.get::<u32>(data(0))[1], 0x0706_0504);
    }
}
