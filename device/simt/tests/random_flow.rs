//! Random control flow, against the same program run thread by thread.

use std::fmt::Write;

use proptest::prelude::*;

mod rig;
use gridstride_simt::{Checks, Class, Counters, LaunchConfig, Settings};
use rig::{Rig, kernel, shape};

/// One block: `x = x * factor + term`, then on to another block by what `x` is.
#[derive(Debug, Clone)]
struct Block {
    factor: u32,
    term: u32,
    end: End,
}

#[derive(Debug, Clone)]
enum End {
    Jump(usize),
    /// By a bit of `x`.
    Branch(u32, usize, usize),
    /// By two bits of `x`.
    Switch(u32, [usize; 4]),
    /// Returns if a bit of `x` is set.
    Return(u32, usize),
}

/// Blocks that a thread runs at most.
const STEPS: u32 = 60;

fn run(blocks: &[Block], start: u32) -> u32 {
    let (mut x, mut at) = (start, 0);
    for _ in 0..STEPS {
        let block = &blocks[at];
        x = x.wrapping_mul(block.factor).wrapping_add(block.term);
        let bits = |from: u32, mask: u32| (x >> from & mask) as usize;
        at = match block.end {
            End::Jump(to) => to,
            End::Branch(bit, taken, next) => [next, taken][bits(bit, 1)],
            End::Switch(bit, targets) => targets[bits(bit, 3)],
            End::Return(bit, next) if bits(bit, 1) == 0 => next,
            End::Return(..) => return x,
        };
    }
    x
}

fn text(blocks: &[Block]) -> String {
    let mut body = "mov.u32 %r4, %r0; mov.u32 %r5, 0;\n".to_owned();
    for (at, block) in blocks.iter().enumerate() {
        let Block { factor, term, end } = block;
        write!(body, "B{at}: setp.ge.u32 %p1, %r5, {STEPS}; @%p1 bra END; add.u32 %r5, %r5, 1;").unwrap();
        write!(body, "mad.lo.u32 %r4, %r4, {factor}, {term};").unwrap();
        let bits = |bit: &u32, mask| format!("shr.u32 %r6, %r4, {bit}; and.b32 %r6, %r6, {mask};");
        let test = "setp.ne.u32 %p2, %r6, 0;";
        match end {
            End::Jump(to) => writeln!(body, "bra B{to};"),
            End::Branch(bit, taken, next) => writeln!(body, "{} {test} @%p2 bra B{taken}; bra B{next};", bits(bit, 1)),
            End::Switch(bit, [a, b, c, d]) => {
                writeln!(body, "{} T{at}: .branchtargets B{a}, B{b}, B{c}, B{d}; brx.idx %r6, T{at};", bits(bit, 3))
            }
            End::Return(bit, next) => {
                writeln!(body, "{} {test} @%p2 st.global.u32 [%d0], %r4; @%p2 ret; bra B{next};", bits(bit, 1))
            }
        }
        .unwrap();
    }
    body + "END: st.global.u32 [%d0], %r4; ret;"
}

fn program() -> impl Strategy<Value = Vec<Block>> {
    (2..12usize).prop_flat_map(|count| {
        let end = prop_oneof![
            1 => (0..count).prop_map(End::Jump),
            5 => (0..32u32, 0..count, 0..count).prop_map(|(bit, a, b)| End::Branch(bit, a, b)),
            1 => (0..31u32, [0..count, 0..count, 0..count, 0..count]).prop_map(|(bit, to)| End::Switch(bit, to)),
            1 => (0..32u32, 0..count).prop_map(|(bit, to)| End::Return(bit, to)),
        ];
        let block = (any::<u32>(), any::<u32>(), end).prop_map(|(factor, term, end)| {
            // An odd factor keeps the lanes' values apart.
            Block { factor: factor | 1, term, end }
        });
        proptest::collection::vec(block, count)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lanes_that_part_and_meet_compute_what_threads_do(blocks in program(), threads in 1..80u32) {
        let found = Rig::new(1).map(&kernel(&text(&blocks)), 2, threads, &[]);
        let expected: Vec<u32> = (0..2 * threads).map(|start| run(&blocks, start)).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn launches_that_are_watched_do_and_count_the_same(blocks in program(), threads in 1..80u32, seed in any::<u64>()) {
        let text = kernel(&text(&blocks));
        let run = |settings: Settings, count_memory| {
            let rig = Rig::unchecked(1);
            rig.device.watch(settings);
            let words = 2 * threads as usize;
            let out = rig.words(&vec![0xDEAD_BEEF; words]);
            let counters = rig.launch(&text, LaunchConfig { count_memory, ..shape(2, threads) }, &[out]).unwrap();
            let Counters { blocks, warps, instructions, lane_instructions, divergent_branches, .. } = counters;
            let counts = [blocks, warps, instructions, lane_instructions, divergent_branches];
            let classes = Class::ALL.map(|class| counters.classes.issued(class)).iter().sum::<u64>();
            (rig.read(out, words), counts, classes)
        };
        let plain = run(Settings::default(), false);
        let counted = run(Settings { checks: Checks::ALL, ..Settings::default() }, true);
        prop_assert_eq!((&counted.0, counted.1), (&plain.0, plain.1));
        prop_assert_eq!(counted.2, counted.1[2]);
        let shuffled = run(Settings { schedule_seed: Some(seed), ..Settings::default() }, true);
        // Lanes that part may meet elsewhere, or later, when they run in another order; all do what they did.
        prop_assert_eq!((shuffled.0, shuffled.1[3]), (plain.0, plain.1[3]));
    }
}
