//! What the rules say of launches as people have asked about them, and that they say nothing of good ones.

use super::*;
use crate::findings::sample;

fn launch(facts: &Facts, grid: u32, block: u32, n: u64) -> Launch<'_> {
    let shape = LaunchShape::linear(grid, block);
    Launch { facts, shape, n: Some(n), over: Loop::GridStride, signature: None, kernel: None }
}

/// The rules that speak, and what they say.
fn spoken(launch: &Launch<'_>) -> (Vec<&'static str>, String) {
    let said: Vec<_> = Rule::ALL.iter().filter_map(|rule| Some((rule.name(), rule.sentence(launch)?))).collect();
    let text = said.iter().map(|(_, sentence)| sentence.as_str()).collect::<Vec<_>>().join("\n");
    (said.into_iter().map(|(name, _)| name).collect(), text)
}

#[test]
fn nothing_is_said_of_a_good_launch() {
    let (gpu, cpu) = (sample::gpu().facts, sample::cpu().facts);
    let kernel = KernelFacts {
        registers: 28,
        static_shared: 0,
        local_bytes: 0,
        max_threads: 1024,
        blocks_per_multiprocessor: Some(8),
    };
    for (facts, grid, block, n) in [
        (&gpu, 9766, 256, 2_500_000_u64),
        (&gpu, 1056, 256, 10_000_000),
        (&gpu, 132, 1024, 10_000_000),
        (&gpu, 1, 32, 32),
        (&gpu, 1, 128, 100),
        (&cpu, 1221, 256, 2_500_000),
        (&cpu, 2, 256, 10_000_000),
    ] {
        for over in [Loop::GridStride, Loop::Unknown] {
            let kernel = facts.is_gpu().then_some(kernel);
            let launch = Launch { over, kernel, ..launch(facts, grid, block, n) };
            assert_eq!(spoken(&launch), (vec![], String::new()), "<<<{grid}, {block}>>> for {n}");
        }
    }
    for n in [1, 31, 1000, 10_000_000, 1 << 28] {
        for facts in [&gpu, &cpu] {
            let shape = LaunchShape::full(facts, n, 48);
            let launch = Launch { shape, ..launch(facts, 1, 1, n) };
            assert_eq!(spoken(&launch).0, Vec::<&str>::new(), "{shape} for {n}");
        }
    }
}

#[test]
fn one_thread_is_named() {
    let gpu = sample::gpu().facts;
    let (rules, text) = spoken(&launch(&gpu, 1, 1, 10_000_000));
    assert_eq!(rules, ["one-thread"]);
    assert_eq!(
        text,
        "A single thread does 10,000,000 iterations one after another: 31 of the 32 lanes of its warp do nothing, and 131 of 132 \
         multiprocessors have no block. A full grid is <<<39063, 256>>>."
    );
    assert_eq!(spoken(&launch(&gpu, 1, 1, 1)).0, Vec::<&str>::new());
}

#[test]
fn one_block_and_odd_blocks_are_named() {
    let gpu = sample::gpu().facts;
    assert_eq!(spoken(&launch(&gpu, 1, 256, 10_000_000)).0, ["few-blocks"]);
    let (rules, text) = spoken(&launch(&gpu, 500, 33, 10_000_000));
    assert_eq!(rules, ["partial-warps"]);
    assert!(text.contains("31 of those 64 lanes have no thread") && text.contains("--block 64"), "{text}");
    let column =
        Launch { shape: LaunchShape { grid: [1000, 1, 1], block: [1, 256, 1] }, ..launch(&gpu, 1, 1, 1 << 20) };
    assert_eq!(spoken(&column).0, ["thin-along-x"]);
}

#[test]
fn launches_that_do_not_happen_are_named() {
    let gpu = sample::gpu().facts;
    let (rules, text) = spoken(&launch(&gpu, 0, 256, 100));
    assert_eq!(rules, ["refused"]);
    assert!(text.contains("the grid is 0") && text.contains("div_ceil"), "{text}");
    let (rules, text) = spoken(&launch(&gpu, 256, 9766, 2_500_000));
    assert_eq!(rules, ["refused", "swapped"]);
    assert!(text.contains("takes at most 1024") && text.contains("<<<9766, 256>>>"), "{text}");
    assert_eq!(spoken(&launch(&gpu, 1, 2000, 2000)).0, ["refused"]);
}

#[test]
fn what_is_left_over_is_named() {
    let gpu = sample::gpu().facts;
    let (rules, text) = spoken(&Launch { over: Loop::None, ..launch(&gpu, 200, 256, 100_000) });
    assert_eq!(rules, ["uncovered"]);
    assert!(text.contains("elements 51,200 to 99,999") && text.contains("--grid 391"), "{text}");
    let (rules, text) = spoken(&launch(&gpu, 9766, 256, 100));
    assert_eq!(rules, ["surplus-blocks"]);
    assert!(text.starts_with("9,765 of 9,766 blocks"), "{text}");
    assert_eq!(spoken(&launch(&gpu, 4, 64, 0)).0, ["no-work"]);
    let wide = Launch { over: Loop::Unknown, ..launch(&gpu, 9766, 256, 3_000_000_000) };
    assert_eq!(spoken(&wide).0, ["index-width"]);
}

#[test]
fn waves_and_occupancy_need_a_kernel_and_a_gpu() {
    let (gpu, cpu) = (sample::gpu().facts, sample::cpu().facts);
    let kernel = |blocks| {
        let blocks_per_multiprocessor = Some(blocks);
        Some(KernelFacts {
            registers: 128,
            static_shared: 40_000,
            local_bytes: 0,
            max_threads: 1024,
            blocks_per_multiprocessor,
        })
    };
    let uneven = Launch { kernel: kernel(2), ..launch(&gpu, 265, 1024, 1 << 28) };
    let (rules, text) = spoken(&uneven);
    assert_eq!(rules, ["last-wave"]);
    assert!(text.contains("264 blocks run at a time, and 265 take 2 waves, of which the last has 1: 50.2 %"), "{text}");
    let (rules, text) = spoken(&Launch { kernel: kernel(1), ..launch(&gpu, 1320, 128, 1 << 28) });
    assert_eq!(rules, ["occupancy"]);
    assert!(text.contains("128 of the 2,048 threads") && text.contains("6.25 %"), "{text}");
    let (rules, text) = spoken(&launch(&cpu, 3, 256, 10_000_000));
    assert_eq!(rules, ["last-wave"]);
    assert!(text.contains("75.0 %"), "{text}");
}

#[test]
fn every_rule_has_a_name_and_a_source_of_its_own() {
    let names: std::collections::BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(names.len(), Rule::ALL.len());
    assert!(Rule::ALL.iter().all(|rule| !rule.source().is_empty()));
}

#[test]
fn the_guide_has_a_row_for_every_rule() {
    let page = include_str!("../../docs/guide/rules.md");
    for rule in Rule::ALL {
        assert_eq!(page.matches(&format!("| `{}` |", rule.name())).count(), 1, "{}", rule.name());
    }
}
