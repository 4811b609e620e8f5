//! Bounds and lifetimes: always checked, and what more is said of them.

use gridstride_simt::{AllocKind, FaultKind};

use super::{checking, fault};
use crate::rig::{Rig, kernel, shape, with_functions};

#[test]
fn distances_are_named_in_every_space() {
    let rig = Rig::unchecked(1);
    let out = rig.words(&[0; 8]);
    let shared =
        |at: u32| with_functions(".shared .align 8 .b8 tile[64];", &format!("st.shared.u64 [tile+{at}], 1;\n ret;"));
    let text = fault(&rig, &shared(72), shape(1, 1), &[out]).to_string();
    assert!(
        text.contains(
            "out of bounds of shared memory, of which there are 64 bytes: it starts 8 bytes behind their end"
        ),
        "{text}"
    );
    rig.launch(&shared(56), shape(1, 1), &[out]).unwrap();
    let local = |at: u32| {
        kernel(&format!("mov.u64 %d3, stack;\n ld.local.u32 %r4, [%d3+{at}];\n ret;"))
            .replace(".reg .pred", ".local .align 4 .b8 stack[32];\n .reg .pred")
    };
    let text = fault(&rig, &local(100), shape(1, 1), &[out]).to_string();
    assert!(
        text.contains("out of bounds of local memory, of which there are 32 bytes: it starts 68 bytes behind"),
        "{text}"
    );
    let global = |at: i32| kernel(&format!("ld.global.u32 %r4, [%d1+{at}];\n ret;"));
    let text = fault(&rig, &global(36), shape(1, 1), &[out]).to_string();
    assert!(text.contains("it starts 4 bytes behind the end of the nearest allocation (32 bytes at "), "{text}");
    let text = fault(&rig, &global(-8), shape(1, 1), &[out]).to_string();
    assert!(text.contains("it starts 8 bytes before the nearest allocation (32 bytes at "), "{text}");
}

/// Allocates 16 bytes on the device heap, uses them, frees them, and then does `after`.
fn heap(after: &str) -> String {
    with_functions(
        ".extern .func (.param .b64 p) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);",
        &format!(
            "{{ .param .b64 n; .param .b64 p; st.param.b64 [n], 16; call (p), malloc, (n); ld.param.b64 %d5, [p]; }}
             st.global.u32 [%d5], 3;
             ld.global.u32 %r5, [%d5];
             {{ .param .b64 q; st.param.b64 [q], %d5; call free, (q); }}
             {after}
             ret;"
        ),
    )
}

#[test]
fn heap_memory_is_gone_when_it_is_freed() {
    for rig in [Rig::unchecked(2), checking()] {
        let out = rig.words(&[0; 8]);
        rig.launch(&heap(""), shape(2, 40), &[out]).unwrap();
        let late = fault(&rig, &heap("ld.global.u32 %r5, [%d5];"), shape(1, 1), &[out]);
        assert!(matches!(late.kind, FaultKind::UseAfterFree { .. }), "{late}");
        assert!(late.to_string().contains("is in memory that has been freed (16 bytes at "), "{late}");
        let again = "{ .param .b64 q; st.param.b64 [q], %d5; call free, (q); }";
        let twice = fault(&rig, &heap(again), shape(1, 1), &[out]);
        assert!(matches!(twice.kind, FaultKind::InvalidFree { freed: Some(_), .. }), "{twice}");
        assert!(twice.to_string().starts_with("double free: "), "{twice}");
        let inside =
            fault(&rig, &heap("{ .param .b64 q; st.param.b64 [q], 64; call free, (q); }"), shape(1, 1), &[out]);
        assert!(inside.to_string().starts_with("free of 0x40, which is not the start of an allocation"), "{inside}");
    }
}

#[test]
fn freed_memory_is_not_given_out_again_at_once() {
    let rig = checking();
    let read = kernel("ld.global.u32 %r4, [%d1+4];\n ret;");
    let stale = rig.words(&[1; 64]);
    rig.memory.free(stale).unwrap();
    let others: Vec<u64> = (0..20).map(|_| rig.memory.alloc(256, AllocKind::Device).unwrap()).collect();
    assert!(!others.contains(&stale));
    let late = fault(&rig, &read, shape(1, 1), &[stale]);
    assert!(matches!(late.kind, FaultKind::UseAfterFree { .. }), "{late}");
}
