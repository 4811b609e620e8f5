//! Forward progress: whoever waits in a loop lets the one go on that is waited for.

use gridstride_simt::LaunchConfig;

mod rig;
use rig::{Rig, kernel, shape, with_functions};

/// Each thread takes the lock at `p1`, adds 1 to the plain counter behind it and gives the lock back.
const LOCK: &str = "
    ld.param.u64 %d3, [p1];
    AGAIN: atom.global.cas.b32 %r4, [%d3], 0, 1;
    setp.ne.u32 %p1, %r4, 0;
    @%p1 bra AGAIN;
    ld.volatile.global.u32 %r5, [%d3+4];
    add.u32 %r5, %r5, 1;
    st.volatile.global.u32 [%d3+4], %r5;
    membar.gl;
    atom.global.exch.b32 %r6, [%d3], 0;
    st.global.u32 [%d0], %r5;
    ret;";

#[test]
fn a_lock_among_the_lanes_of_a_warp_and_among_blocks() {
    for (blocks, threads) in [(1, 32), (1, 128), (8, 96), (40, 33)] {
        let rig = Rig::new(2);
        let lock = rig.words(&[0, 0]);
        let mut seen = rig.map(&kernel(LOCK), blocks, threads, &[lock]);
        assert_eq!(rig.read(lock, 2), [0, blocks * threads]);
        seen.sort_unstable();
        assert_eq!(seen, (1..=blocks * threads).collect::<Vec<_>>());
    }
}

#[test]
fn lanes_wait_for_a_later_lane_of_their_warp() {
    // Lane 31 sets the flag behind the branch at which all would meet.
    let body = "
        ld.param.u64 %d3, [p1];
        setp.eq.u32 %p1, %r1, 31;
        @%p1 bra SET;
        WAIT: ld.volatile.global.u32 %r4, [%d3];
        setp.eq.u32 %p2, %r4, 0;
        @%p2 bra WAIT;
        bra.uni END;
        SET: nop_free:
        st.volatile.global.u32 [%d3], 5;
        mov.u32 %r4, 6;
        END: st.global.u32 [%d0], %r4;
        ret;"
        .replace("nop_free:", "");
    let rig = Rig::new(1);
    let flag = rig.words(&[0]);
    let expected: Vec<u32> = (0..32).map(|t| if t == 31 { 6 } else { 5 }).collect();
    assert_eq!(rig.map(&kernel(&body), 1, 32, &[flag]), expected);
}

#[test]
fn a_plain_loop_that_waits_lets_others_go_on_too() {
    // No volatile: nothing says that this loop waits.
    let body = "
        ld.param.u64 %d3, [p1];
        setp.ge.u32 %p1, %r1, 32;
        @%p1 bra SET;
        WAIT: ld.global.u32 %r4, [%d3];
        setp.eq.u32 %p2, %r4, 0;
        @%p2 bra WAIT;
        st.global.u32 [%d0], %r4;
        ret;
        SET: st.global.u32 [%d3], 5;
        ret;";
    let rig = Rig::unchecked(1);
    let flag = rig.words(&[0]);
    assert_eq!(rig.map(&kernel(body), 1, 64, &[flag])[..32], [5; 32]);
}

#[test]
fn each_block_waits_for_the_one_before() {
    let body = "
        ld.param.u64 %d3, [p1];
        WAIT: ld.acquire.gpu.global.u32 %r4, [%d3];
        setp.ne.u32 %p1, %r4, %r2;
        @%p1 bra WAIT;
        st.global.u32 [%d0], %r4;
        bar.sync 0;
        setp.ne.u32 %p2, %r1, 0;
        @%p2 ret;
        add.u32 %r5, %r2, 1;
        st.release.gpu.global.u32 [%d3], %r5;
        ret;";
    for cores in [1, 2, 4] {
        let rig = Rig::new(cores);
        let turn = rig.words(&[0]);
        let expected: Vec<u32> = (0..100 * 64).map(|t| t / 64).collect();
        assert_eq!(rig.map(&kernel(body), 100, 64, &[turn]), expected);
    }
}

/// Every block counts itself, and waits until all have.
const GRID_BARRIER: &str = "
    ld.param.u64 %d3, [p1];
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra JOIN;
    atom.global.add.u32 %r4, [%d3], 1;
    mov.u32 %r5, %nctaid.x;
    WAIT: ld.volatile.global.u32 %r4, [%d3];
    setp.lt.u32 %p2, %r4, %r5;
    @%p2 bra WAIT;
    JOIN: bar.sync 0;
    ld.volatile.global.u32 %r4, [%d3];
    st.global.u32 [%d0], %r4;
    ret;";

#[test]
fn blocks_that_wait_for_later_blocks_are_resident_together() {
    for (cores, blocks, cooperative) in [(1, 16, false), (2, 50, false), (1, 200, true), (2, 300, true)] {
        let rig = Rig::new(cores);
        let (count, out) = (rig.words(&[0]), rig.words(&vec![0; blocks as usize * 40]));
        let config = LaunchConfig { cooperative, ..shape(blocks, 40) };
        rig.launch(&kernel(GRID_BARRIER), config, &[out, count]).unwrap();
        assert_eq!(rig.read(out, blocks as usize * 40), vec![blocks; blocks as usize * 40]);
    }
}

#[test]
fn a_fault_ends_the_blocks_that_wait_for_it() {
    let body = "
        ld.param.u64 %d3, [p1];
        setp.eq.u32 %p1, %r2, 5;
        @%p1 trap;
        WAIT: ld.volatile.global.u32 %r4, [%d3];
        setp.eq.u32 %p2, %r4, 0;
        @%p2 bra WAIT;
        ret;";
    let rig = Rig::new(2);
    let (out, flag) = (rig.words(&[0; 640]), rig.words(&[0]));
    let fault = rig.launch(&kernel(body), shape(20, 32), &[out, flag]).unwrap_err();
    assert_eq!(fault.block, [5, 0, 0]);
}

#[test]
fn a_lock_in_a_function_is_no_different() {
    let function = "
        .func take(.param .b64 lock) {
            .reg .pred %p; .reg .b32 %r; .reg .b64 %d;
            ld.param.u64 %d, [lock];
            AGAIN: atom.global.cas.b32 %r, [%d], 0, 1;
            setp.ne.u32 %p, %r, 0;
            @%p bra AGAIN;
            ret;
        }";
    let body = "
        ld.param.u64 %d3, [p1];
        { .param .b64 a; st.param.u64 [a], %d3; call take, (a); }
        ld.volatile.global.u32 %r5, [%d3+4];
        add.u32 %r5, %r5, 1;
        st.volatile.global.u32 [%d3+4], %r5;
        atom.global.exch.b32 %r6, [%d3], 0;
        ret;";
    let rig = Rig::new(2);
    let (out, lock) = (rig.words(&[0; 320]), rig.words(&[0, 0]));
    rig.launch(&with_functions(function, body), shape(5, 64), &[out, lock]).unwrap();
    assert_eq!(rig.read(lock, 2), [0, 320]);
}
