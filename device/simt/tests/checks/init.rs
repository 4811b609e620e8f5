//! Reads of memory that nothing wrote.

use gridstride_simt::AllocKind;

use super::{checking, clean, findings, only};
use crate::rig::{kernel, shape, with_functions};

#[test]
fn device_memory_is_unwritten_until_something_writes_it() {
    let rig = checking();
    let out = rig.words(&[0; 64]);
    let text = kernel(
        "ld.param.u64 %d3, [p1];\n mul.wide.u32 %d4, %r0, 4;\n add.s64 %d3, %d3, %d4;\n ld.global.u32 %r4, [%d3];\n st.global.u32 [%d0], %r4;\n ret;",
    );
    let raw = rig.memory.alloc(256, AllocKind::Device).unwrap();
    let found = only(&findings(&rig, &text, shape(1, 64), &[out, raw]));
    assert!(
        found.starts_with(&format!(
            "read of 4 bytes that nothing wrote, in global memory at {raw:#x} (byte 0 of the 256 bytes"
        )),
        "{found}"
    );
    assert!(found.contains("and 63 more like it"), "{found}");
    // A part of it.
    rig.memory.fill(raw, &[1], 200).unwrap();
    let found = only(&findings(&rig, &text, shape(1, 64), &[out, raw]));
    assert!(found.contains("(byte 200 of") && found.contains("thread (50, 0, 0)"), "{found}");
    // A copy from memory that was not written is none either.
    let copy = rig.memory.alloc(256, AllocKind::Device).unwrap();
    rig.memory.copy(copy, raw, 256).unwrap();
    assert!(only(&findings(&rig, &text, shape(1, 64), &[out, copy])).contains("(byte 200 of"));
    rig.memory.write(raw + 200, &[0; 56]).unwrap();
    clean(&findings(&rig, &text, shape(1, 64), &[out, raw]));
    rig.memory.copy(copy, raw, 256).unwrap();
    clean(&findings(&rig, &text, shape(1, 64), &[out, copy]));
}

#[test]
fn what_an_earlier_kernel_wrote_is_written() {
    let rig = checking();
    let raw = rig.memory.alloc(256, AllocKind::Device).unwrap();
    let out = rig.words(&[0; 64]);
    let sum = kernel("red.global.add.u32 [%d0], 1;\n ret;");
    assert!(only(&findings(&rig, &sum, shape(1, 64), &[raw])).starts_with("read of 4 bytes that nothing wrote"));
    let raw = rig.memory.alloc(256, AllocKind::Device).unwrap();
    clean(&findings(&rig, &kernel("st.global.u32 [%d0], 0;\n ret;"), shape(1, 64), &[raw]));
    clean(&findings(&rig, &sum, shape(1, 64), &[raw]));
    clean(&findings(&rig, &sum, shape(1, 64), &[out]));
}

#[test]
fn shared_and_local_memory_start_unwritten_in_every_block_and_thread() {
    let rig = checking();
    let out = rig.words(&[0; 128]);
    let shared = |store: &str| {
        with_functions(
            ".shared .align 4 .b8 tile[256];",
            &format!(
                "mov.u32 %r4, tile;\n shl.b32 %r5, %r1, 2;\n add.u32 %r4, %r4, %r5;\n {store}\n ld.shared.u32 %r6, [%r4];\n st.global.u32 [%d0], %r6;\n ret;"
            ),
        )
    };
    clean(&findings(&rig, &shared("st.shared.u32 [%r4], 1;"), shape(2, 64), &[out]));
    let found =
        only(&findings(&rig, &shared("setp.eq.u32 %p1, %r2, 0;\n @%p1 st.shared.u32 [%r4], 1;"), shape(2, 64), &[out]));
    assert!(
        found.starts_with("read of 4 bytes that nothing wrote, in shared memory at byte 0")
            && found.contains("block (1, 0, 0)"),
        "{found}"
    );
    let local = |store: &str| {
        let body =
            format!("mov.u64 %d3, stack;\n {store}\n ld.local.u32 %r6, [%d3+4];\n st.global.u32 [%d0], %r6;\n ret;");
        kernel(&body).replace(".reg .pred", ".local .align 4 .b8 stack[16];\n .reg .pred")
    };
    clean(&findings(
        &rig,
        &local("st.local.u64 [%d3], %d3;").replace(".align 4 .b8 stack", ".align 8 .b8 stack"),
        shape(2, 64),
        &[out],
    ));
    let found = only(&findings(&rig, &local("st.local.u32 [%d3], %r1;"), shape(2, 64), &[out]));
    assert!(found.contains("in local memory at byte 4"), "{found}");
}

#[test]
fn arguments_and_results_of_calls_are_written() {
    let rig = checking();
    let out = rig.words(&[0; 64]);
    let text = with_functions(
        ".func (.param .b32 r) twice(.param .align 8 .b8 a[16])
         { .reg .b32 %a<4>; ld.param.u32 %a1, [a]; ld.param.u32 %a2, [a+8]; add.u32 %a3, %a1, %a2; st.param.b32 [r], %a3; ret; }",
        "{ .param .align 8 .b8 s[16]; .param .b32 q;
           st.param.u32 [s], %r1; st.param.u32 [s+8], 2;
           call (q), twice, (s);
           ld.param.b32 %r5, [q]; }
         st.global.u32 [%d0], %r5; ret;",
    );
    clean(&findings(&rig, &text, shape(1, 64), &[out]));
    assert_eq!(rig.read(out, 2), [2, 3]);
    let forgotten = text.replace("st.param.u32 [s+8], 2;", "");
    assert!(only(&findings(&rig, &forgotten, shape(1, 64), &[out])).contains("`ld.param.u32 %a2, [a+8]`"));
}

#[test]
fn the_device_heap_starts_unwritten() {
    let rig = checking();
    let out = rig.words(&[0; 4]);
    let heap = |store: &str| {
        with_functions(
            ".extern .func (.param .b64 p) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);",
            &format!("{{ .param .b64 n; .param .b64 p; st.param.b64 [n], 16; call (p), malloc, (n); ld.param.b64 %d5, [p]; }}
             {store}
             ld.u32 %r5, [%d5+4];
             st.global.u32 [%d0], %r5;
             {{ .param .b64 q; st.param.b64 [q], %d5; call free, (q); }}
             ret;"),
        )
    };
    clean(&findings(&rig, &heap("st.u32 [%d5+4], 3;"), shape(1, 4), &[out]));
    assert!(only(&findings(&rig, &heap(""), shape(1, 4), &[out])).contains("(byte 4 of the 16 bytes at"));
}
