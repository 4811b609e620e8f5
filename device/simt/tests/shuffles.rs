//! Warp-wide operations that wait for lanes.

mod rig;
use rig::{Rig, kernel};

#[test]
fn a_shuffle_waits_for_the_lanes_it_names() {
    // The halves of the warp come to the shuffle by ways of different length, and the lanes of the upper half one by one.
    let body = "
        setp.lt.u32 %p1, %r1, 16;
        @%p1 bra MEET;
        mov.u32 %r4, 0;
        SPIN: add.u32 %r4, %r4, 1;
        setp.lt.u32 %p2, %r4, %r1;
        @%p2 bra SPIN;
        MEET: shfl.sync.bfly.b32 %r5, %r1, 16, 31, 0xFFFFFFFF;
        st.global.u32 [%d0], %r5;
        ret;";
    assert_eq!(Rig::new(1).map(&kernel(body), 1, 32, &[]), (0..32).map(|t| t ^ 16).collect::<Vec<u32>>());
}
