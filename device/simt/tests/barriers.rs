//! Barriers of a block.

use gridstride_simt::FaultKind;

mod rig;
use rig::{Rig, kernel, shape, with_functions};

#[test]
fn a_tree_in_shared_memory_sums_a_block() {
    for threads in [32, 64, 256, 1024] {
        let body = "
            shl.b32 %r4, %r1, 2;
            mov.u32 %r5, sums;
            add.u32 %r6, %r5, %r4;
            st.shared.u32 [%r6], %r0;
            shr.u32 %r7, %r3, 1;
            LOOP: bar.sync 0;
            setp.ge.u32 %p1, %r1, %r7;
            @%p1 bra SKIP;
            shl.b32 %r8, %r7, 2;
            add.u32 %r9, %r6, %r8;
            ld.shared.u32 %r10, [%r9];
            ld.shared.u32 %r11, [%r6];
            add.u32 %r11, %r11, %r10;
            st.shared.u32 [%r6], %r11;
            SKIP: shr.u32 %r7, %r7, 1;
            setp.ne.u32 %p2, %r7, 0;
            @%p2 bra LOOP;
            bar.sync 0;
            ld.shared.u32 %r12, [sums];
            st.global.u32 [%d0], %r12;
            ret;";
        let text = with_functions(".shared .align 4 .b8 sums[4096];", body);
        let sum = |block: u32| (block * threads..(block + 1) * threads).sum::<u32>();
        let expected: Vec<u32> = (0..3 * threads).map(|t| sum(t / threads)).collect();
        assert_eq!(Rig::new(2).map(&text, 3, threads, &[]), expected);
    }
}

#[test]
fn lanes_that_have_exited_are_not_waited_for() {
    let body = "
        st.global.u32 [%d0], 7;
        setp.lt.u32 %p1, %r1, 40;
        @%p1 exit;
        bar.sync 0;
        st.global.u32 [%d0], 8;
        ret;";
    let expected = |t: u32| if t < 40 { 7 } else { 8 };
    assert_eq!(Rig::unchecked(1).map(&kernel(body), 1, 100, &[]), (0..100).map(expected).collect::<Vec<u32>>());
}

#[test]
fn reductions() {
    let body = "
        and.b32 %r4, %r1, 1;
        setp.eq.u32 %p1, %r4, 0;
        setp.lt.u32 %p2, %r1, 1000;
        bar.red.popc.u32 %r5, 1, %p1;
        bar.red.and.pred %p3, 1, %p2;
        bar.red.or.pred %p4, 1, !%p2;
        selp.u32 %r6, 1000, 0, %p3;
        selp.u32 %r7, 10000, 0, %p4;
        add.u32 %r5, %r5, %r6;
        add.u32 %r5, %r5, %r7;
        st.global.u32 [%d0], %r5;
        ret;";
    assert_eq!(Rig::new(1).map(&kernel(body), 1, 96, &[]), vec![1048; 96]);
}

#[test]
fn producers_arrive_and_consumers_wait() {
    let body = "
        shl.b32 %r4, %r1, 2;
        setp.ge.u32 %p1, %r1, 32;
        @%p1 bra CONSUME;
        mul.lo.u32 %r5, %r1, 3;
        mov.u32 %r6, cell;
        add.u32 %r6, %r6, %r4;
        st.shared.u32 [%r6], %r5;
        bar.arrive 3, 64;
        ret;
        CONSUME: bar.sync 3, 64;
        mov.u32 %r6, cell;
        add.u32 %r6, %r6, %r4;
        ld.shared.u32 %r7, [%r6+-128];
        st.global.u32 [%d0], %r7;
        ret;";
    let text = with_functions(".shared .align 4 .b8 cell[128];", body);
    assert_eq!(Rig::new(1).map(&text, 1, 64, &[])[32..], (0..32).map(|t| 3 * t).collect::<Vec<u32>>());
}

#[test]
fn a_barrier_that_not_all_can_reach_is_a_deadlock() {
    // Two warps wait at different barriers.
    let body = "
        setp.lt.u32 %p1, %r1, 32;
        @%p1 bra ONE;
        bar.sync 2;
        ret;
        ONE: bar.sync 1;
        ret;";
    let rig = Rig::new(1);
    let out = rig.words(&[0; 64]);
    let fault = rig.launch(&kernel(body), shape(1, 64), &[out]).unwrap_err();
    assert!(matches!(&fault.kind, FaultKind::Deadlock { .. }), "{fault}");
    let text = fault.to_string();
    assert!(text.contains("32 threads from (0, 0, 0) on wait at barrier 1"), "{text}");
    assert!(text.contains("32 threads from (32, 0, 0) on wait at barrier 2"), "{text}");
    assert!(text.contains("bar.sync"), "{text}");
}

#[test]
fn half_a_warp_at_a_barrier_is_a_deadlock_only_if_the_others_never_come() {
    // The other half comes to the same barrier by another way.
    let body = "
        setp.lt.u32 %p1, %r1, 16;
        @%p1 bra ONE;
        bar.sync 0;
        st.global.u32 [%d0], 1;
        ret;
        ONE: bar.sync 0;
        st.global.u32 [%d0], 2;
        ret;";
    assert_eq!(Rig::unchecked(1).map(&kernel(body), 1, 32, &[])[15..17], [2, 1]);
}
