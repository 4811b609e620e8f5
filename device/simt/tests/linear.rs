//! Registers that are kept in their first lane: random programs, with and without.
//!
//! Where memory accesses are counted, everything runs as vector code; so the two must store the same words.

use std::fmt::Write;

use proptest::prelude::*;

mod rig;
use rig::{Rig, with_functions};

use gridstride_simt::LaunchConfig;

/// Registers of each width that programs compute with; the same registers start as something in a line.
const REGISTERS: usize = 6;

#[derive(Debug, Clone)]
struct Op {
    text: &'static str,
    out: usize,
    a: usize,
    b: usize,
    c: usize,
    constant: u64,
    /// Which operand is the constant: the last of two or three, or none.
    last_is_constant: bool,
    /// Runs under the predicate, or not at all.
    guard: Option<bool>,
}

/// `D`, `A`, `B`, `C` stand for 32-bit registers, `W`, `X`, `Y`, `Z` for 64-bit ones, `P` for a predicate; the last of `B`,
/// `C`, `Y`, `Z` may be a constant.
const TEXTS: &[&str] = &[
    "add.s32 D, A, B;",
    "add.u64 W, X, Y;",
    "sub.s32 D, A, B;",
    "sub.s64 W, X, Y;",
    "mul.lo.s32 D, A, B;",
    "mul.lo.u64 W, X, Y;",
    "mul.hi.u32 D, A, B;",
    "mul.hi.s64 W, X, Y;",
    "mul.wide.u32 W, A, B;",
    "mul.wide.s32 W, A, B;",
    "mad.lo.s32 D, A, B, C;",
    "mad.lo.u64 W, X, Y, Z;",
    "mad.wide.u32 W, A, B, Z;",
    "mad.wide.s32 W, A, B, Z;",
    "shl.b32 D, A, S;",
    "shl.b64 W, X, S;",
    "shr.u32 D, A, S;",
    "shr.s32 D, A, S;",
    "shr.u64 W, X, S;",
    "shr.s64 W, X, S;",
    "and.b32 D, A, M;",
    "and.b64 W, X, M;",
    "and.b32 D, A, B;",
    "or.b32 D, A, B;",
    "or.b64 W, X, Y;",
    "xor.b32 D, A, B;",
    "not.b64 W, X;",
    "min.s32 D, A, B;",
    "max.u64 W, X, Y;",
    "div.u32 D, A, B;",
    "rem.s64 W, X, Y;",
    "mov.b32 D, A;",
    "mov.b64 W, X;",
    "mov.u32 D, %tid.x;",
    "mov.u32 D, %tid.y;",
    "mov.u32 D, %laneid;",
    "cvt.u64.u32 W, A;",
    "cvt.s64.s32 W, A;",
    "cvt.u64.u32 W, %r12;",
    "cvt.s64.s32 W, %r12;",
    "mul.wide.u32 W, %r15, 12;",
    "mad.wide.s32 W, %r15, -3, Z;",
    "and.b32 D, %r12, 31;",
    "and.b32 D, %r15, 127;",
    "shr.u32 D, %r15, 7;",
    "shr.s32 D, %r12, 5;",
    "or.b32 D, %r12, S;",
    "cvt.u32.u64 D, X;",
    "setp.lt.u32 P, A, B;",
    "setp.ge.s32 P, A, B;",
    "setp.eq.s64 P, X, Y;",
    "setp.gt.u64 P, X, Y;",
    "setp.ne.u32 P, A, B;",
    "selp.b32 D, A, B, P;",
    "selp.b64 W, X, Y, P;",
    "not.pred P, P;",
    // Both ways at once for some lanes: they part and meet.
    "@P bra SKIP; add.u32 D, A, 3; SKIP:",
    "selp.b32 D, 5, 9, %p4; @P bra SKIP; setp.lt.u32 %p4, %r6, 9; SKIP:",
    "and.b64 %d10, X, 504; add.u64 %d11, %d9, %d10; ld.global.u64 W, [%d11];",
    "shl.b32 %r20, A, 2; and.b32 %r20, %r20, 252; cvt.u64.u32 %d10, %r20; add.u64 %d11, %d9, %d10; ld.global.u32 D, [%d11];",
    "and.b32 %r20, A, 124; mov.u32 %r21, tile; add.u32 %r20, %r20, %r21; st.shared.u32 [%r20], 7; ld.shared.u32 D, [%r20];",
    "bar.sync 0;",
    // Lanes part right behind a barrier, and change what was in line.
    "bar.sync 0; and.b32 %r22, %r1, 5; setp.eq.u32 %p5, %r22, 4; @%p5 bra ELSE; add.u32 D, A, 3; add.u64 W, X, 9; bra SKIP; ELSE: sub.u32 D, A, 7; SKIP:",
    // A result that may be in line.
    "{ .param .b64 p; call (p), get, (B); ld.param.b64 W, [p]; }",
    "{ .param .b64 p; call (p), get, (7); ld.param.b64 W, [p]; }",
];

fn line(at: usize, op: &Op) -> String {
    let guard = match op.guard {
        Some(false) if !op.text.contains(['@', ':', '{']) && !op.text.starts_with("bar") => "@%p1 ",
        Some(true) if !op.text.contains(['@', ':', '{']) && !op.text.starts_with("bar") => "@!%p1 ",
        _ => "",
    };
    let last = op.text.rfind(['B', 'C', 'Y', 'Z']).filter(|_| op.last_is_constant);
    let mut text = String::new();
    for (place, letter) in op.text.char_indices() {
        let alone = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
        let stands = alone(op.text[..place].chars().last()) && alone(op.text[place + 1..].chars().next());
        match letter {
            _ if !stands => text.push(letter),
            'B' | 'C' if last == Some(place) => write!(text, "{}", op.constant as u32 as i32).unwrap(),
            'Y' | 'Z' if last == Some(place) => write!(text, "{}", op.constant.cast_signed()).unwrap(),
            'D' => write!(text, "%r{}", 10 + op.out).unwrap(),
            'W' => write!(text, "%d{}", 20 + op.out).unwrap(),
            'A' => write!(text, "%r{}", 10 + op.a).unwrap(),
            'B' => write!(text, "%r{}", 10 + op.b).unwrap(),
            'C' => write!(text, "%r{}", 10 + op.c).unwrap(),
            'X' => write!(text, "%d{}", 20 + op.a).unwrap(),
            'Y' => write!(text, "%d{}", 20 + op.b).unwrap(),
            'Z' => write!(text, "%d{}", 20 + op.c).unwrap(),
            'P' => text.push_str("%p1"),
            'S' => write!(text, "{}", op.constant % 40).unwrap(),
            'M' => write!(text, "{}", (1u64 << (op.constant % 20)) - 1).unwrap(),
            _ => text.push(letter),
        }
    }
    // Several steps under one guard.
    let text = text.replace("SKIP", &format!("SKIP{at}")).replace("ELSE", &format!("ELSE{at}"));
    text.split_inclusive(';').map(|part| format!("{guard}{part}")).collect::<String>() + "\n"
}

/// A program: something in each register, then the operations in a loop, then all registers to memory.
/// `near` is where the lines of `%r12` and `%r15` begin: close to where they wrap, or to where their low bits do.
fn text(ops: &[Op], turns: u32, near: i32) -> String {
    let mut body = "
        .shared .align 16 .b8 tile[256];
        mov.u32 %r3, tile; mov.u32 %r4, 0;
        mad.lo.u32 %r5, %r1, 4, %r3;
        setp.lt.u32 %p2, %r1, 64;
        @%p2 st.shared.u32 [%r5], %r1;
        bar.sync 0;
        ld.param.u64 %d9, [p1]; ld.param.u64 %d8, [p2];
        mov.u32 %r10, %tid.x; mov.u32 %r11, %ctaid.x; add.u32 %r12, %r0, NEAR; mov.u32 %r13, 7; mov.u32 %r14, %ntid.x;
        mad.lo.u32 %r15, %r10, 4, NEAR;
        cvt.u64.u32 %d20, %r10; mov.u64 %d21, %d8; cvt.u64.u32 %d22, %r0; mul.wide.u32 %d23, %r0, 8; mov.u64 %d24, 1000;
        sub.u64 %d25, %d8, %d20;
        setp.lt.u32 %p1, %r11, 1; setp.gt.u32 %p4, %r11, 9;
        mov.u32 %r6, 0;
        LOOP:
    "
    .replace("NEAR", &near.to_string());
    for (at, op) in ops.iter().enumerate() {
        body += &line(at, op);
    }
    write!(body, "add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, {turns}; @%p3 bra LOOP;").unwrap();
    body += "ld.param.u64 %d1, [p0]; mad.lo.u32 %r7, %r2, %ntid.y, %tid.y; mad.lo.u32 %r7, %r7, %ntid.x, %tid.x;";
    write!(body, "mul.wide.u32 %d2, %r7, {}; add.u64 %d0, %d1, %d2;", 12 * REGISTERS + 4).unwrap();
    for at in 0..REGISTERS {
        let (place, high) = (12 * at, 12 * at + 8);
        write!(body, "st.global.u32 [%d0+{place}], %d{};", 20 + at).unwrap();
        write!(body, "shr.u64 %d3, %d{}, 32; st.global.u32 [%d0+{}], %d3;", 20 + at, place + 4).unwrap();
        write!(body, "st.global.u32 [%d0+{high}], %r{};", 10 + at).unwrap();
    }
    write!(body, "selp.b32 %r7, 1, 0, %p1; st.global.u32 [%d0+{}], %r7; ret;", 12 * REGISTERS).unwrap();
    with_functions(
        ".func (.param .b64 out) get(.reg .b32 %a) { .reg .b64 %b; cvt.s64.s32 %b, %a; st.param.b64 [out], %b; ret; }",
        &body,
    )
}

fn op() -> impl Strategy<Value = Op> {
    let constant = prop_oneof![
        0..70u64,
        Just(u64::MAX),
        Just(1 << 31),
        Just((1 << 32) - 40),
        Just(1 << 33),
        (0..64u32).prop_map(|bit| 1 << bit),
        any::<u64>(),
    ];
    let registers = (0..REGISTERS, 0..REGISTERS, 0..REGISTERS, 0..REGISTERS);
    let guard = prop_oneof![4 => Just(None), 1 => any::<bool>().prop_map(Some)];
    (0..TEXTS.len(), registers, constant, any::<bool>(), guard).prop_map(
        |(text, (out, a, b, c), constant, last_is_constant, guard)| Op {
            text: TEXTS[text],
            out,
            a,
            b,
            c,
            constant,
            last_is_constant,
            guard,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn first_lanes_speak_for_all_or_step_aside(
        ops in proptest::collection::vec(op(), 1..14),
        turns in 1..4u32,
        shape in 0..6usize,
        number in any::<u64>(),
        near in prop_oneof![-200..200i32, i32::MAX - 200..i32::MAX, i32::MIN..i32::MIN + 200],
    ) {
        let block = [[64, 1, 1], [48, 1, 1], [16, 4, 1], [32, 3, 1], [1, 1, 1], [7, 5, 2]][shape];
        let text = text(&ops, turns, near);
        let rig = Rig::unchecked(1);
        let table = rig.words(&(0..256u32).map(|n| n.wrapping_mul(0x9E37_79B9)).collect::<Vec<_>>());
        let threads = 3 * block.iter().product::<u32>() as usize;
        let words = threads * (3 * REGISTERS + 1);
        let run = |count_memory| {
            let out = rig.words(&vec![0xDEAD_BEEF; words]);
            let config = LaunchConfig { grid: [3, 1, 1], block, dynamic_shared: 0, cooperative: false, count_memory };
            let counters = rig.launch(&text, config, &[out, table, number]).map_err(|fault| fault.kind.to_string())?;
            Ok::<_, String>((rig.read(out, words), counters.instructions, counters.lane_instructions))
        };
        prop_assert_eq!(run(false), run(true), "{}", text);
    }
}

/// Lanes that part right behind a barrier, where linear code goes on without a pause: both sides are vector code from there.
#[test]
fn lanes_part_behind_a_barrier() {
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\
        .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<6>;\n\
        ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n\
        setp.ge.u32 %p1, %r1, 5;\n\
        bar.sync 0;\n\
        @%p1 bra ELSE;\n\
        st.global.u32 [%rd3], 1;\n\
        ret;\n\
        ELSE: st.global.u32 [%rd3], 2;\n\
        ret;\n}\n";
    let rig = Rig::new(1);
    let out = rig.words(&[0; 32]);
    let config =
        LaunchConfig { grid: [1; 3], block: [32, 1, 1], dynamic_shared: 0, cooperative: false, count_memory: false };
    rig.launch(text, config, &[out]).unwrap();
    let right: Vec<u32> = (0..32).map(|lane| if lane < 5 { 1 } else { 2 }).collect();
    assert_eq!(rig.read(out, 32), right);
}
