//! What is said of a kernel that goes wrong.

use gridstride_simt::{Access, FaultKind};

mod rig;
use rig::{Rig, kernel, shape};

#[test]
fn out_of_bounds_names_the_thread_and_the_nearest_allocation() {
    let rig = Rig::new(2);
    let out = rig.words(&[0; 100]);
    let fault = rig.launch(&kernel("st.global.u32 [%d0], %r0;\n ret;"), shape(4, 32), &[out]).unwrap_err();
    assert_eq!((fault.block, fault.thread), ([3, 0, 0], Some([4, 0, 0])));
    let FaultKind::OutOfBounds { access: Access::Write, address, size: 4, nearest: Some(near), .. } = fault.kind else {
        panic!("{fault}")
    };
    assert_eq!((address, near.base, near.size), (out + 400, out, 400));
    let text = fault.to_string();
    assert!(text.contains("kernel `k`, block (3, 0, 0), thread (4, 0, 0)"), "{text}");
    assert!(text.contains("starts 0 bytes behind the end of the nearest allocation (400 bytes at"), "{text}");
    assert!(text.contains("`st.global.u32 [%d0], %r0`"), "{text}");
}

#[test]
fn the_earliest_block_is_reported_whoever_is_faster() {
    // Blocks 20 to 80 fault, the early ones late.
    let body = "
        setp.lt.u32 %p1, %r2, 20;
        @%p1 ret;
        mov.u32 %r4, %r2;
        LOOP: add.u32 %r4, %r4, 1;
        setp.lt.u32 %p2, %r4, 2000;
        @%p2 bra LOOP;
        trap;";
    for _ in 0..20 {
        let fault = Rig::new(3).launch(&kernel(body), shape(80, 32), &[0]).unwrap_err();
        assert_eq!((fault.block, &fault.kind), ([20, 0, 0], &FaultKind::Trap));
    }
}

#[test]
fn the_source_line_is_named_where_there_are_line_tables() {
    let text = kernel(".loc 1 12 3\n trap;") + "\n.file 1 \"src/kernels.rs\"\n";
    let fault = Rig::new(1).launch(&text, shape(1, 1), &[0]).unwrap_err();
    assert!(fault.to_string().contains("src/kernels.rs:12"), "{fault}");
}

#[test]
fn a_misaligned_access() {
    let rig = Rig::new(1);
    let out = rig.words(&[0; 4]);
    let fault = rig.launch(&kernel("ld.global.u32 %r4, [%d1+2];\n ret;"), shape(1, 1), &[out]).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Misaligned { needed: 4, .. }), "{fault}");
}
