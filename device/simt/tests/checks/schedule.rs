//! Orders that a seed determines, and results that depend on them.

use gridstride_simt::{FindingKind, Settings};

use super::{clean, findings, only};
use crate::rig::{Rig, kernel, shape};

/// Every thread takes the next number and leaves its own name there.
const TICKETS: &str = "ld.param.u64 %d3, [p1];
    atom.global.add.u32 %r4, [%d3], 1;
    mul.wide.u32 %d4, %r4, 4;
    add.s64 %d4, %d1, %d4;
    st.global.u32 [%d4], %r0;
    ret;";

fn tickets(cores: usize, seed: Option<u64>) -> Vec<u32> {
    let rig = Rig::unchecked(cores);
    rig.device.watch(Settings { schedule_seed: seed, ..Settings::default() });
    let (out, counter) = (rig.words(&[0; 960]), rig.words(&[0]));
    rig.launch(&kernel(TICKETS), shape(10, 96), &[out, counter]).unwrap();
    rig.read(out, 960)
}

#[test]
fn the_same_seed_gives_the_same_order_on_any_number_of_cores() {
    let first = tickets(1, Some(1));
    assert_eq!(first, tickets(4, Some(1)));
    assert_ne!(first, tickets(1, Some(2)));
    assert_ne!(first, tickets(1, None));
    let mut sorted = first;
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..960));
}

#[test]
fn blocks_that_wait_for_earlier_ones_finish_in_any_order() {
    let chain = kernel(
        "setp.eq.u32 %p1, %r2, 0;
         @%p1 bra go;
         wait: ld.acquire.gpu.global.u32 %r5, [%d0+-4];
         setp.eq.u32 %p2, %r5, 0;
         @%p2 bra wait;
         go: st.release.gpu.global.u32 [%d0], 1;
         ret;",
    );
    for seed in 0..5 {
        let rig = Rig::unchecked(2);
        rig.device.watch(Settings { schedule_seed: Some(seed), ..Settings::default() });
        let out = rig.words(&[0; 100]);
        rig.launch(&chain, shape(100, 1), &[out]).unwrap();
        assert_eq!(rig.read(out, 100), [1; 100]);
    }
}

#[test]
fn results_that_depend_on_the_order_are_found() {
    let rig = Rig::unchecked(2);
    rig.device.watch(Settings { schedules: 4, ..Settings::default() });
    let (out, counter) = (rig.words(&[0; 960]), rig.words(&[0]));
    let found = findings(&rig, &kernel(TICKETS), shape(10, 96), &[out, counter]);
    let text = only(&found);
    assert!(text.starts_with("the result depends on the order of warps and blocks: with seeds 0 and "), "{text}");
    let FindingKind::OrderDependent { allocation, .. } = found[0].kind else { panic!("{text}") };
    assert_eq!((allocation.base, allocation.size), (out, 3840));
    // Every order began with the memory as it was.
    assert_eq!(rig.read(counter, 1), [960]);
    clean(&findings(&rig, &kernel("red.global.add.u32 [%d0], 1;\n ret;"), shape(10, 96), &[out]));
}
