//! Races in shared and global memory, within a block and between warps.

use gridstride_simt::{Checks, FindingKind, Settings};

use super::{clean, findings, only, racing};
use crate::rig::{Rig, kernel, shape, with_functions};

const TILE: &str = ".shared .align 4 .b8 tile[4096];";

/// Every thread writes its word and reads its neighbour's, `between` in between.
fn neighbours(between: &str) -> String {
    with_functions(
        TILE,
        &format!(
            "mov.u32 %r4, tile;
             shl.b32 %r5, %r1, 2;
             add.u32 %r6, %r4, %r5;
             st.shared.u32 [%r6], %r1;
             {between}
             xor.b32 %r7, %r5, 128;
             add.u32 %r7, %r4, %r7;
             ld.shared.u32 %r8, [%r7];
             st.global.u32 [%d0], %r8;
             ret;"
        ),
    )
}

#[test]
fn a_missing_barrier_is_a_race_in_shared_memory() {
    let rig = racing();
    let out = rig.words(&[0; 64]);
    let text = only(&findings(&rig, &neighbours(""), shape(1, 64), &[out]));
    assert!(text.starts_with("race in shared memory at byte 128 (`tile` + 128): nothing orders"), "{text}");
    assert!(text.contains("write: block (0, 0, 0), thread (32, 0, 0), PTX line ") || text.contains("read: "), "{text}");
    assert!(text.contains("`st.shared.u32 [%r6], %r1`") && text.contains("`ld.shared.u32 %r8, [%r7]`"), "{text}");
    clean(&findings(&rig, &neighbours("bar.sync 0;"), shape(1, 64), &[out]));
    clean(&findings(&rig, &neighbours("barrier.sync 3, 64;"), shape(1, 64), &[out]));
}

#[test]
fn both_sides_are_named_with_their_source_lines() {
    let rig = racing();
    let out = rig.words(&[0; 64]);
    let body =
        neighbours("").replace("st.shared", ".loc 1 12 5\n st.shared").replace("ld.shared", ".loc 1 15 9\n ld.shared");
    let text = body.replace(".visible", ".file 1 \"src/tile.rs\"\n .visible");
    let found = findings(&rig, &text, shape(1, 64), &[out]);
    let [first, second] = &found[0].parties[..] else { panic!("{found:?}") };
    let lines: Vec<String> = [first, second]
        .iter()
        .map(|p| p.loc.as_ref().map(|loc| format!("{}:{}", loc.file, loc.line)).unwrap())
        .collect();
    assert_eq!(lines, ["src/tile.rs:15", "src/tile.rs:12"]);
    assert_eq!((&*first.what, &*second.what), ("read", "write"));
    assert!(found[0].times > 1);
}

#[test]
fn lanes_of_a_warp_need_a_barrier_of_the_warp() {
    let rig = racing();
    let out = rig.words(&[0; 32]);
    let pass = |between: &str| neighbours(between).replace("xor.b32 %r7, %r5, 128;", "xor.b32 %r7, %r5, 4;");
    assert!(only(&findings(&rig, &pass(""), shape(1, 32), &[out])).starts_with("race in shared"));
    clean(&findings(&rig, &pass("bar.warp.sync 0xffffffff;"), shape(1, 32), &[out]));
    // A shuffle orders no memory.
    let shuffle = "shfl.sync.idx.b32 %r9, %r1, 0, 31, 0xffffffff;";
    assert!(only(&findings(&rig, &pass(shuffle), shape(1, 32), &[out])).starts_with("race in shared"));
}

#[test]
fn part_of_a_warp_orders_only_itself() {
    let rig = racing();
    let out = rig.words(&[0; 32]);
    let body = |mask: &str| {
        neighbours(&format!("setp.gt.u32 %p1, %r1, 3;\n @%p1 bra done;\n bar.warp.sync {mask};"))
            .replace("xor.b32 %r7, %r5, 128;", "xor.b32 %r7, %r5, 4;")
            .replace("ret;", "done: ret;")
    };
    clean(&findings(&rig, &body("15"), shape(1, 32), &[out]));
    let two = body("%r10")
        .replace("bar.warp", "mov.u32 %r10, 3;\n setp.gt.u32 %p2, %r1, 1;\n @%p2 mov.u32 %r10, 12;\n bar.warp");
    clean(&findings(&rig, &two, shape(1, 32), &[out]));
    let crossed = two.replace("xor.b32 %r7, %r5, 4;", "xor.b32 %r7, %r5, 8;");
    assert!(only(&findings(&rig, &crossed, shape(1, 32), &[out])).starts_with("race in shared"));
}

#[test]
fn blocks_that_write_the_same_word_race_in_global_memory() {
    let rig = racing();
    let out = rig.words(&[0; 64]);
    let body = |value: &str| kernel(&format!("st.global.u32 [%d1], {value};\n ret;"));
    let found = findings(&rig, &body("%r2"), shape(4, 1), &[out]);
    let text = only(&found);
    assert!(text.starts_with(&format!("race in global memory at {out:#x}: nothing orders")), "{text}");
    assert_eq!((found[0].parties[0].block, found[0].parties[1].block), ([0, 0, 0], [1, 0, 0]));
    // The same value, flagged apart.
    let same = only(&findings(&rig, &body("7"), shape(4, 1), &[out]));
    assert!(same.contains("between two writes of the same value"), "{same}");
    clean(&findings(&rig, &kernel("st.global.u32 [%d0], 7;\n ret;"), shape(4, 16), &[out]));
}

#[test]
fn lanes_that_write_the_same_word_in_one_instruction_race() {
    let rig = racing();
    let out = rig.words(&[0; 64]);
    let body = |value: &str| kernel(&format!("st.global.u32 [%d1], {value};\n ret;"));
    let text = only(&findings(&rig, &body("%r1"), shape(1, 32), &[out]));
    assert!(text.starts_with("race in global memory"), "{text}");
    let same = only(&findings(&rig, &body("7"), shape(1, 32), &[out]));
    assert!(same.contains("same value"), "{same}");
}

#[test]
fn bytes_of_a_word_belong_to_different_threads() {
    let rig = racing();
    let out = rig.words(&[0; 64]);
    let body = "cvt.u64.u32 %d3, %r0;\n add.s64 %d4, %d1, %d3;\n st.global.u8 [%d4], %r0;\n ret;";
    clean(&findings(&rig, &kernel(body), shape(2, 64), &[out]));
    let halves =
        body.replace("u8", "u16").replace("%r0;\n add", "%r0;\n shr.u64 %d3, %d3, 1;\n shl.b64 %d3, %d3, 1;\n add");
    assert!(only(&findings(&rig, &kernel(&halves), shape(2, 64), &[out])).starts_with("race in global"));
}

#[test]
fn atomics_race_only_with_plain_accesses() {
    let rig = racing();
    let out = rig.words(&[0; 64]);
    let sum = |last: &str| kernel(&format!("red.global.add.u32 [%d1], 1;\n {last}\n ret;"));
    clean(&findings(&rig, &sum(""), shape(8, 64), &[out]));
    let text = only(&findings(&rig, &sum("ld.global.u32 %r5, [%d1];"), shape(8, 64), &[out]));
    assert!(text.contains("atomic: ") && text.contains("read: "), "{text}");
    clean(&findings(&rig, &sum("ld.relaxed.gpu.global.u32 %r5, [%d1];"), shape(8, 64), &[out]));
    clean(&findings(&rig, &sum("ld.volatile.global.u32 %r5, [%d1];"), shape(8, 64), &[out]));
    // For the block only: not towards other blocks.
    let narrow = sum("").replace("red.global", "red.relaxed.cta.global");
    let text = only(&findings(&rig, &narrow, shape(8, 64), &[out]));
    assert!(text.contains("for its own block only"), "{text}");
    clean(&findings(&rig, &narrow, shape(1, 64), &[out]));
}

#[test]
fn a_histogram_in_shared_memory_needs_its_two_barriers() {
    let rig = racing();
    let out = rig.words(&[0; 8]);
    let body = |first: &str, second: &str| {
        with_functions(
            TILE,
            &format!(
                "mov.u32 %r4, tile;
                 setp.gt.u32 %p1, %r1, 7;
                 shl.b32 %r5, %r1, 2;
                 add.u32 %r6, %r4, %r5;
                 @!%p1 st.shared.u32 [%r6], 0;
                 {first}
                 and.b32 %r7, %r5, 28;
                 add.u32 %r7, %r4, %r7;
                 red.shared.add.u32 [%r7], 1;
                 {second}
                 @%p1 bra done;
                 ld.shared.u32 %r8, [%r6];
                 mul.wide.u32 %d3, %r1, 4;
                 add.s64 %d3, %d1, %d3;
                 red.global.add.u32 [%d3], %r8;
                 done: ret;"
            ),
        )
    };
    let sync = "bar.sync 0;";
    clean(&findings(&rig, &body(sync, sync), shape(3, 96), &[out]));
    assert_eq!(rig.read(out, 8), [36; 8]);
    assert!(!findings(&rig, &body("", sync), shape(3, 96), &[out]).is_empty());
    assert!(only(&findings(&rig, &body(sync, ""), shape(3, 96), &[out])).contains("atomic: "));
}

#[test]
fn checks_that_are_off_find_nothing() {
    let rig = Rig::unchecked(2);
    let out = rig.words(&[0; 64]);
    let text = kernel("st.global.u32 [%d1], %r2;\n ret;");
    clean(&findings(&rig, &text, shape(4, 1), &[out]));
    rig.device.watch(Settings { checks: "init,sync".parse().unwrap(), ..Settings::default() });
    clean(&findings(&rig, &text, shape(4, 1), &[out]));
    rig.device.watch(Settings { checks: Checks { race: true, ..Checks::default() }, ..Settings::default() });
    let found = findings(&rig, &text, shape(4, 1), &[out]);
    assert!(matches!(found[0].kind, FindingKind::Race { .. }));
}
