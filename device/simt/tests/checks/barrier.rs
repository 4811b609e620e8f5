//! Barriers that not all threads reach, and threads that wait for ever.

use gridstride_simt::FaultKind;

use super::{checking, clean, fault, findings, only};
use crate::rig::{kernel, shape};

#[test]
fn a_barrier_that_some_threads_leave_out_is_reported_with_who_came() {
    let rig = checking();
    let body = |guard: &str| kernel(&format!("setp.gt.u32 %p1, %r1, 95;\n {guard}\n bar.sync 0;\n done: ret;"));
    let text = only(&findings(&rig, &body("@%p1 bra done;"), shape(2, 128), &[0]));
    assert!(text.starts_with("barrier 0 was reached by 96 threads of the block; 32 had exited without it"), "{text}");
    assert!(text.contains("96 threads came here: block (0, 0, 0), thread (0, 0, 0), PTX line "), "{text}");
    clean(&findings(&rig, &body(""), shape(2, 128), &[0]));
}

#[test]
fn a_barrier_reached_by_different_instructions_is_reported_with_both() {
    let rig = checking();
    let body = |first: &str, second: &str| {
        kernel(&format!(
            "setp.gt.u32 %p1, %r1, 31;\n @%p1 bra other;\n {first}\n bra done;\n other:\n {second}\n done: ret;"
        ))
    };
    let text = only(&findings(&rig, &body("bar.sync 0;", "bar.sync 0;"), shape(1, 128), &[0]));
    assert!(text.starts_with("threads of one block met at barrier 0 by different instructions"), "{text}");
    assert!(text.contains("32 threads came here") && text.contains("96 threads came here"), "{text}");
    // With a number of threads each, these are two barriers.
    clean(&findings(&rig, &body("bar.sync 1, 32;", "bar.sync 2, 96;"), shape(1, 128), &[0]));
}

#[test]
fn threads_at_two_barriers_are_a_deadlock_that_names_them() {
    let rig = checking();
    let body = kernel(
        "setp.gt.u32 %p1, %r1, 31;\n @%p1 bra other;\n bar.sync 1;\n bra done;\n other: bar.sync 2;\n done: ret;",
    );
    let fault = fault(&rig, &body, shape(1, 64), &[0]);
    let FaultKind::Deadlock { detail } = &fault.kind else { panic!("{fault}") };
    assert!(detail.contains("32 threads from (0, 0, 0) on wait at barrier 1"), "{detail}");
    assert!(detail.contains("32 threads from (32, 0, 0) on wait at barrier 2"), "{detail}");
}

#[test]
fn a_loop_that_waits_for_nothing_is_a_deadlock() {
    let rig = checking();
    let flag = rig.words(&[0]);
    let spin = kernel("wait: ld.volatile.global.u32 %r4, [%d1];\n setp.eq.u32 %p1, %r4, 0;\n @%p1 bra wait;\n ret;");
    let stuck = fault(&rig, &spin, shape(3, 40), &[flag]);
    let FaultKind::Deadlock { detail } = &stuck.kind else { panic!("{stuck}") };
    assert!(detail.contains("in a loop that nothing ends"), "{detail}");
    // Half of the threads wait for a barrier, the others for a flag that those would set behind it.
    let mixed = kernel(
        "setp.gt.u32 %p2, %r1, 31;
         @%p2 bra wait;
         bar.sync 0;
         st.volatile.global.u32 [%d1], 1;
         ret;
         wait: ld.volatile.global.u32 %r4, [%d1];
         setp.eq.u32 %p1, %r4, 0;
         @%p1 bra wait;
         bar.sync 0;
         ret;",
    );
    let stuck = fault(&rig, &mixed, shape(1, 64), &[flag]);
    let FaultKind::Deadlock { detail } = &stuck.kind else { panic!("{stuck}") };
    assert!(detail.contains("at barrier 0") && detail.contains("in a loop that nothing ends"), "{detail}");
}

#[test]
fn a_lane_that_its_own_mask_leaves_out_is_reported() {
    let rig = checking();
    let body = |mask: &str| kernel(&format!("shfl.sync.idx.b32 %r4, %r1, 0, 31, {mask};\n ret;"));
    let text = only(&findings(&rig, &body("0x0000ffff"), shape(1, 32), &[0]));
    assert!(
        text.starts_with("the mask 0x0000ffff leaves out a lane that executes") && text.contains("thread (16, 0, 0)"),
        "{text}"
    );
    clean(&findings(&rig, &body("0xffffffff"), shape(1, 32), &[0]));
}
