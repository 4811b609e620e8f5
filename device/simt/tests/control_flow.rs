//! Branches, loops and switches at which the lanes of a warp part.

mod rig;
use rig::{Rig, kernel, shape, with_functions};

#[test]
fn nested_ifs() {
    let body = "
        and.b32 %r4, %r0, 1;
        setp.eq.u32 %p1, %r4, 0;
        and.b32 %r5, %r0, 6;
        setp.lt.u32 %p2, %r5, 4;
        mov.u32 %r6, 0;
        @!%p1 bra ODD;
        @!%p2 bra EVEN_HIGH;
        add.u32 %r6, %r6, 1;
        bra.uni EVEN_END;
        EVEN_HIGH: add.u32 %r6, %r6, 2;
        EVEN_END: add.u32 %r6, %r6, 10;
        bra.uni END;
        ODD: @%p2 bra ODD_LOW;
        add.u32 %r6, %r6, 100;
        ODD_LOW: add.u32 %r6, %r6, 1000;
        END: add.u32 %r6, %r6, 10000;
        st.global.u32 [%d0], %r6;
        ret;";
    let expected = |t: u32| match (t.is_multiple_of(2), t & 6 < 4) {
        (true, true) => 10011,
        (true, false) => 10012,
        (false, true) => 11000,
        (false, false) => 11100,
    };
    assert_eq!(Rig::new(2).map(&kernel(body), 3, 45, &[]), (0..135).map(expected).collect::<Vec<_>>());
}

#[test]
fn a_bounds_check_on_the_way_does_not_keep_lanes_apart() {
    // As rustc writes it: each access has a way to a trap. The lanes meet behind the branch all the same.
    let body = "
        and.b32 %r4, %r1, 1;
        setp.eq.u32 %p1, %r4, 0;
        @%p1 bra EVEN;
        setp.gt.u32 %p2, %r1, 1000;
        @%p2 bra FAIL;
        mov.u32 %r5, 1;
        bra.uni END;
        EVEN: setp.gt.u32 %p2, %r1, 1001;
        @%p2 bra FAIL;
        mov.u32 %r5, 2;
        END: st.global.u32 [%d0], %r5;
        ret;
        FAIL: trap; exit;";
    let rig = Rig::new(1);
    let out = rig.words(&[0; 32]);
    let counters = rig.launch(&kernel(body), shape(1, 32), &[out]).unwrap();
    // 7 of the prologue, 3, 4 + 3, 2 of the end: each once.
    assert_eq!(counters.instructions, 7 + 3 + 4 + 3 + 2);
    assert_eq!(counters.lane_instructions, 32 * (7 + 3 + 2) + 16 * (4 + 3));
    assert_eq!(counters.divergent_branches, 1);
    assert_eq!(rig.read(out, 4), [2, 1, 2, 1]);
}

#[test]
fn loops_of_different_length_with_break_and_continue() {
    // for i in 0.. { if i > t { break } if i % 3 == 1 { continue } sum += i }
    let body = "
        mov.u32 %r4, 0;
        mov.u32 %r5, 0;
        LOOP: setp.gt.u32 %p1, %r4, %r0;
        @%p1 bra END;
        rem.u32 %r6, %r4, 3;
        setp.eq.u32 %p2, %r6, 1;
        @%p2 bra NEXT;
        add.u32 %r5, %r5, %r4;
        NEXT: add.u32 %r4, %r4, 1;
        bra.uni LOOP;
        END: st.global.u32 [%d0], %r5;
        ret;";
    let expected = |t: u32| (0..=t).filter(|i| i % 3 != 1).sum();
    assert_eq!(Rig::new(2).map(&kernel(body), 4, 50, &[]), (0..200).map(expected).collect::<Vec<u32>>());
}

#[test]
fn a_loop_with_two_exits_and_an_inner_loop() {
    let body = "
        mov.u32 %r4, 0;
        mov.u32 %r5, 0;
        OUTER: mov.u32 %r6, 0;
        INNER: add.u32 %r5, %r5, 1;
        setp.gt.u32 %p1, %r5, 90;
        @%p1 bra EARLY;
        add.u32 %r6, %r6, 1;
        setp.lt.u32 %p2, %r6, %r1;
        @%p2 bra INNER;
        add.u32 %r4, %r4, 1;
        setp.lt.u32 %p3, %r4, 5;
        @%p3 bra OUTER;
        bra.uni END;
        EARLY: add.u32 %r5, %r5, 1000;
        END: st.global.u32 [%d0], %r5;
        ret;";
    let expected = |t: u32| {
        let steps = 5 * t.max(1);
        if steps > 90 { 1091 } else { steps }
    };
    assert_eq!(Rig::new(1).map(&kernel(body), 1, 64, &[]), (0..64).map(expected).collect::<Vec<u32>>());
}

#[test]
fn brx_parts_lanes_many_ways() {
    let body = "
        and.b32 %r4, %r0, 3;
        TABLE: .branchtargets ZERO, ONE, TWO, ONE;
        brx.idx %r4, TABLE;
        ZERO: mov.u32 %r5, 100; bra.uni END;
        ONE: mov.u32 %r5, 101; bra.uni END;
        TWO: mov.u32 %r5, 102;
        END: add.u32 %r5, %r5, %r4;
        st.global.u32 [%d0], %r5;
        ret;";
    let expected = |t: u32| [100, 102, 104, 104][t as usize % 4];
    assert_eq!(Rig::new(2).map(&kernel(body), 2, 40, &[]), (0..80).map(expected).collect::<Vec<u32>>());
}

#[test]
fn early_returns_and_guards() {
    let body = "
        st.global.u32 [%d0], 1;
        setp.lt.u32 %p1, %r1, 3;
        @%p1 ret;
        st.global.u32 [%d0], 2;
        setp.lt.u32 %p2, %r1, 5;
        @%p2 exit;
        setp.lt.u32 %p3, %r1, 7;
        @!%p3 st.global.u32 [%d0], 3;
        ret;";
    let expected = |t: u32| match t {
        0..3 => 1,
        3..7 => 2,
        _ => 3,
    };
    assert_eq!(Rig::new(1).map(&kernel(body), 1, 33, &[]), (0..33).map(expected).collect::<Vec<u32>>());
}

#[test]
fn lanes_meet_at_two_warp_barriers_on_two_ways() {
    // Each half stores, meets the other half at a barrier of its own, and reads what the other half stored.
    let body = "
        mad.lo.u32 %r4, %r1, 4, 0;
        mov.u32 %r5, cells;
        add.u32 %r6, %r5, %r4;
        xor.b32 %r7, %r4, 64;
        add.u32 %r7, %r5, %r7;
        setp.lt.u32 %p1, %r1, 16;
        @%p1 bra LOW;
        st.shared.u32 [%r6], %r1;
        bar.warp.sync 0xFFFFFFFF;
        ld.shared.u32 %r8, [%r7];
        bra.uni END;
        LOW: mul.lo.u32 %r9, %r1, 100;
        st.shared.u32 [%r6], %r9;
        bar.warp.sync 0xFFFFFFFF;
        ld.shared.u32 %r8, [%r7];
        END: st.global.u32 [%d0], %r8;
        ret;";
    let text = with_functions(".shared .align 4 .b8 cells[128];", body);
    let expected: Vec<u32> = (0..32).map(|t| if t < 16 { t + 16 } else { 100 * (t - 16) }).collect();
    assert_eq!(Rig::new(1).map(&text, 1, 32, &[]), expected);
}

#[test]
fn lanes_with_masks_of_their_own_do_not_wait_for_others() {
    // The lower half waits in a loop for what the upper half stores behind its own barrier.
    let body = "
        ld.param.u64 %d3, [p1];
        setp.lt.u32 %p1, %r1, 16;
        selp.b32 %r4, 0x0000FFFF, 0xFFFF0000, %p1;
        bar.warp.sync %r4;
        @!%p1 st.volatile.global.u32 [%d3], 9;
        WAIT: ld.volatile.global.u32 %r5, [%d3];
        setp.eq.u32 %p2, %r5, 0;
        @%p2 bra WAIT;
        st.global.u32 [%d0], %r5;
        ret;";
    let rig = Rig::new(1);
    let flag = rig.words(&[0]);
    assert_eq!(rig.map(&kernel(body), 1, 32, &[flag]), [9; 32]);
}
