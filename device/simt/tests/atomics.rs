//! Atomic operations: every operation, in every space, and from all cores at once.

mod rig;
use rig::{Rig, kernel, shape, with_functions};

/// What 32 lanes of one warp leave in a word that starts as `start`, when lane `l` does `op` with `l + 1`; and what each got.
fn words(op: &str, ty: &str, start: u32) -> (u32, Vec<u32>) {
    let rig = Rig::new(1);
    let at = rig.words(&[start]);
    let text = kernel(&format!(
        "ld.param.u64 %d3, [p1];
         add.u32 %r5, %r1, 1;
         atom.global.{op}.{ty} %r4, [%d3], %r5;
         st.global.u32 [%d0], %r4;
         ret;"
    ));
    let old = rig.map(&text, 1, 32, &[at]);
    (rig.read(at, 1)[0], old)
}

/// What an atomic makes of the old value and its operand.
type Model = fn(u32, u32) -> u32;

#[test]
fn integers_lane_by_lane() {
    let models: [(&str, &str, Model); 12] = [
        ("add", "u32", u32::wrapping_add),
        ("add", "s32", u32::wrapping_add),
        ("min", "u32", u32::min),
        ("max", "u32", u32::max),
        ("min", "s32", |a, b| (a as i32).min(b as i32) as u32),
        ("max", "s32", |a, b| (a as i32).max(b as i32) as u32),
        ("inc", "u32", |a, b| if a >= b { 0 } else { a + 1 }),
        ("dec", "u32", |a, b| if a == 0 || a > b { b } else { a - 1 }),
        ("and", "b32", |a, b| a & b),
        ("or", "b32", |a, b| a | b),
        ("xor", "b32", |a, b| a ^ b),
        ("exch", "b32", |_, b| b),
    ];
    for (op, ty, model) in models {
        for start in [0, 7, 0xFFFF_FFFF, 0x8000_0000] {
            let (last, old) = words(op, ty, start);
            let mut value = start;
            for (lane, old) in old.into_iter().enumerate() {
                assert_eq!(old, value, "{op}.{ty} from {start:#x}, lane {lane}");
                value = model(value, lane as u32 + 1);
            }
            assert_eq!(last, value, "{op}.{ty} from {start:#x}");
        }
    }
}

#[test]
fn all_cores_at_once_lose_nothing() {
    let rig = Rig::new(4);
    let at = rig.words(&[0; 8]);
    let text = kernel(
        "ld.param.u64 %d3, [p1];
         red.global.add.u32 [%d3], 1;
         mov.b64 %d4, 0x100000001;
         atom.relaxed.gpu.global.add.u64 %d5, [%d3+8], %d4;
         mov.f32 %f1, 0f3F800000;
         red.global.add.f32 [%d3+16], %f1;
         atom.acq_rel.sys.max.u32 %r4, [%d3+20], %r0;
         AGAIN: ld.volatile.global.u32 %r5, [%d3+24];
         add.u32 %r6, %r5, 1;
         atom.global.cas.b32 %r7, [%d3+24], %r5, %r6;
         setp.ne.u32 %p1, %r7, %r5;
         @%p1 bra AGAIN;
         ret;",
    )
    .replace(".reg .b64", ".reg .f32 %f<4>; .reg .b64");
    let (blocks, threads) = (200, 64);
    rig.launch(&text, shape(blocks, threads), &[0, at]).unwrap_or_else(|fault| panic!("{fault}"));
    let all = blocks * threads;
    assert_eq!(rig.read(at, 7), [all, 0, all, all, (all as f32).to_bits(), all - 1, all]);
}

#[test]
fn shared_memory_and_generic_addresses() {
    let text = with_functions(
        ".shared .align 8 .b8 room[64];",
        "mov.u64 %d4, room;
         cvta.shared.u64 %d5, %d4;
         mov.u32 %r4, 0;
         st.shared.u32 [room], %r4;
         bar.sync 0;
         atom.shared.add.u32 %r5, [room], 2;
         atom.add.u32 %r5, [%d5], 1;
         bar.sync 0;
         ld.u32 %r6, [%d5];
         st.global.u32 [%d0], %r6;
         ret;",
    );
    assert_eq!(Rig::unchecked(2).map(&text, 3, 64, &[]), [192; 192]);
}

#[test]
fn wide_half_and_double() {
    let rig = Rig::new(1);
    let at = rig.words(&[0, 0, 0, 0, 0x3C00_3C00, 0x3F80, 0, 0]);
    let text = kernel(
        "ld.param.u64 %d3, [p1];
         mov.f64 %f1, 0d3FF8000000000000;
         red.global.add.f64 [%d3], %f1;
         cvt.u64.u32 %d4, %r1;
         atom.global.max.s64 %d5, [%d3+8], %d4;
         mov.b32 %r4, 0x3C004000;
         atom.global.add.noftz.f16x2 %r5, [%d3+16], %r4;
         mov.b16 %h1, 0x3F80;
         atom.global.add.noftz.bf16 %h2, [%d3+20], %h1;
         mov.b16 %h3, 0;
         mov.b16 %h4, 9;
         atom.global.cas.b16 %h2, [%d3+22], %h3, %h4;
         ret;",
    )
    .replace(".reg .b64", ".reg .f64 %f<4>; .reg .b16 %h<8>; .reg .b64");
    rig.launch(&text, shape(1, 4), &[0, at]).unwrap_or_else(|fault| panic!("{fault}"));
    let words = rig.read(at, 6);
    assert_eq!(u64::from(words[0]) | u64::from(words[1]) << 32, 6f64.to_bits());
    assert_eq!((words[2], words[3]), (3, 0));
    // 1 + 4 * 1 = 5 and 1 + 4 * 2 = 9 in half precision; 1 + 4 = 5 in bf16 and 9 above it.
    assert_eq!((words[4], words[5]), (0x4500_4880, 0x0009_40A0));
}

#[test]
fn what_is_not_an_atomic_operation_is_refused() {
    for body in [
        "red.global.exch.b32 [%d0], %r1;",
        "atom.global.add.b32 %r4, [%d0], %r1;",
        "atom.const.add.u32 %r4, [%d0], 1;",
        "atom.global.add.f16x2 %r4, [%d0], %r4;",
    ] {
        assert!(Rig::new(1).load(&kernel(&format!("{body}\n ret;"))).is_err(), "{body}");
    }
}

#[test]
fn atomics_are_counted_by_lane_and_faults_are_found() {
    let rig = Rig::new(1);
    let at = rig.words(&[0; 4]);
    let body = "ld.param.u64 %d3, [p1];\n setp.lt.u32 %p1, %r1, 5;\n @%p1 red.global.add.u32 [%d3], 1;\n ret;";
    let counters = rig.launch(&kernel(body), shape(1, 32), &[0, at]).unwrap();
    assert_eq!((counters.atomics, rig.read(at, 1)[0]), (5, 5));
    for address in [at + 2, at + 16, at - 4] {
        assert!(rig.launch(&kernel(body), shape(1, 32), &[0, address]).is_err());
    }
}
