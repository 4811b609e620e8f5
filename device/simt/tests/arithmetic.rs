//! Arithmetic of random operands against the host's own.

use proptest::prelude::*;

mod rig;
use rig::{Rig, kernel};

/// Runs `body`, which makes `%d5` (or `%r5`) of `%d3`, `%d4` and `%d6` (or `%r3`, `%r4` and `%r6`), for one set of operands
/// a thread, and returns what it made.
fn results(body: &str, operands: &[[u64; 3]]) -> Vec<u64> {
    let rig = Rig::new(1);
    let words = |value: u64| [value as u32, (value >> 32) as u32];
    let input: Vec<u32> = operands.iter().flatten().flat_map(|value| words(*value)).collect();
    let input = rig.words(&input);
    let output = rig.words(&vec![0; 2 * operands.len()]);
    let text = kernel(&format!(
        "ld.param.u64 %d7, [p1]; ld.param.u64 %d8, [p2];
         mad.wide.u32 %d7, %r0, 24, %d7; mad.wide.u32 %d8, %r0, 8, %d8;
         ld.global.b64 %d3, [%d7]; ld.global.b64 %d4, [%d7+8]; ld.global.b64 %d6, [%d7+16];
         cvt.u32.u64 %r3, %d3; cvt.u32.u64 %r4, %d4; cvt.u32.u64 %r6, %d6;
         {body}
         st.global.b64 [%d8], %d5; ret;"
    ));
    rig.map(&text, 1, u32::try_from(operands.len()).unwrap(), &[input, output]);
    rig.read(output, 2 * operands.len())
        .as_chunks()
        .0
        .iter()
        .map(|[low, high]| u64::from(*low) | u64::from(*high) << 32)
        .collect()
}

/// Numbers with the edges among them.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        any::<u32>().prop_map(u64::from),
        any::<f64>().prop_map(f64::to_bits),
        any::<f32>().prop_map(|value| u64::from(value.to_bits())),
        prop::sample::select(vec![
            0,
            1,
            2,
            31,
            32,
            63,
            64,
            65,
            u64::MAX,
            1 << 63,
            1 << 31,
            (1 << 63) - 1,
            u64::MAX << 31
        ]),
    ]
}

type Host = fn(u64, u64, u64) -> u64;

const OPERATIONS: &[(&str, Host)] = &[
    ("add.s64 %d5, %d3, %d4;", |a, b, _| a.wrapping_add(b)),
    ("sub.s64 %d5, %d3, %d4;", |a, b, _| a.wrapping_sub(b)),
    ("mad.lo.s64 %d5, %d3, %d4, %d6;", |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    ("mul.hi.u64 %d5, %d3, %d4;", |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64),
    ("mul.hi.s64 %d5, %d3, %d4;", |a, b, _| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64),
    ("div.u64 %d5, %d3, %d4;", |a, b, _| a.checked_div(b).unwrap_or(u64::MAX)),
    ("div.s64 %d5, %d3, %d4;", |a, b, _| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 }),
    ("rem.s64 %d5, %d3, %d4;", |a, b, _| if b == 0 { u64::MAX } else { (a as i64).wrapping_rem(b as i64) as u64 }),
    ("min.s64 %d5, %d3, %d4;", |a, b, _| (a as i64).min(b as i64) as u64),
    ("max.u64 %d5, %d3, %d4;", |a, b, _| a.max(b)),
    ("shl.b64 %d5, %d3, %r4;", |a, b, _| a.checked_shl(b as u32).unwrap_or(0)),
    ("shr.u64 %d5, %d3, %r4;", |a, b, _| a.checked_shr(b as u32).unwrap_or(0)),
    ("shr.s64 %d5, %d3, %r4;", |a, b, _| ((a as i64) >> (b as u32).min(63)) as u64),
    ("mul.wide.s32 %d5, %r3, %r4;", |a, b, _| (i64::from(a as i32) * i64::from(b as i32)) as u64),
    ("mul.wide.u32 %d5, %r3, %r4;", |a, b, _| (a & 0xFFFF_FFFF) * (b & 0xFFFF_FFFF)),
    ("shf.l.wrap.b32 %r5, %r3, %r4, %r6; cvt.u64.u32 %d5, %r5;", |a, b, c| {
        ((b << 32 | a & 0xFFFF_FFFF) << (c & 31)) >> 32
    }),
    ("prmt.b32 %r5, %r3, %r4, 0x5140; cvt.u64.u32 %d5, %r5;", |a, b, _| {
        a & 0xFF | (b & 0xFF) << 8 | (a >> 8 & 0xFF) << 16 | (b >> 8 & 0xFF) << 24
    }),
    ("clz.b64 %r5, %d3; cvt.u64.u32 %d5, %r5;", |a, _, _| a.leading_zeros().into()),
    ("popc.b64 %r5, %d3; cvt.u64.u32 %d5, %r5;", |a, _, _| a.count_ones().into()),
    ("brev.b64 %d5, %d3;", |a, _, _| a.reverse_bits()),
    ("add.cc.u64 %d5, %d3, %d4; addc.u64 %d5, 0, 0;", |a, b, _| a.overflowing_add(b).1.into()),
    ("sub.cc.u64 %d5, %d3, %d4; subc.u64 %d5, %d6, 0;", |a, b, c| c.wrapping_sub(u64::from(a < b))),
    ("setp.lt.s64 %p1, %d3, %d4; selp.b64 %d5, %d3, %d6, %p1;", |a, b, c| if (a as i64) < b as i64 { a } else { c }),
    ("cvt.s64.s32 %d5, %r3;", |a, _, _| i64::from(a as i32) as u64),
];

type HostDouble = fn(f64, f64, f64) -> f64;

/// Operations on doubles, for operands that are no NaNs.
const DOUBLES: &[(&str, HostDouble)] = &[
    ("add.rn.f64 %d5, %d3, %d4;", |a, b, _| a + b),
    ("mul.rn.f64 %d5, %d3, %d4;", |a, b, _| a * b),
    ("fma.rn.f64 %d5, %d3, %d4, %d6;", |a, b, c| a.mul_add(b, c)),
    ("div.rn.f64 %d5, %d3, %d4;", |a, b, _| a / b),
    ("sqrt.rn.f64 %d5, %d3;", |a, _, _| a.sqrt()),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn integers(operands in prop::collection::vec([number(), number(), number()], 1..64)) {
        for (text, host) in OPERATIONS {
            let found = results(text, &operands);
            for ([a, b, c], found) in operands.iter().zip(found) {
                prop_assert_eq!(found, host(*a, *b, *c), "{} of {:x} {:x} {:x}", text, a, b, c);
            }
        }
    }

    #[test]
    fn doubles(operands in prop::collection::vec([any::<f64>(), any::<f64>(), any::<f64>()], 1..64)) {
        let bits: Vec<[u64; 3]> = operands.iter().map(|values| values.map(f64::to_bits)).collect();
        for (text, host) in DOUBLES {
            for ([a, b, c], found) in operands.iter().zip(results(text, &bits)) {
                let expected = host(*a, *b, *c);
                let found = f64::from_bits(found);
                let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
                prop_assert!(same, "{} of {:e} {:e} {:e} gives {:e}, not {:e}", text, a, b, c, found, expected);
            }
        }
    }
}
