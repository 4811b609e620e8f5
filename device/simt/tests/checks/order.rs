//! Programs whose accesses are ordered by fences, flags and locks: no races; and what they are without these.

use super::{checking, clean, findings};
use crate::rig::{kernel, shape, with_functions};

/// Each block leaves a word, the last one to come adds them up (the last-block reduction of CUDA's samples).
fn last_block(fence: &str, atomic: &str) -> String {
    with_functions(
        ".shared .align 4 .b8 last[4];",
        &format!(
            "ld.param.u64 %d3, [p1];
             ld.param.u64 %d4, [p2];
             mul.wide.u32 %d5, %r2, 4;
             add.s64 %d5, %d3, %d5;
             mov.u32 %r10, last;
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra wait;
             add.u32 %r4, %r2, 1;
             st.global.u32 [%d5], %r4;
             {fence}
             {atomic} %r5, [%d4], 1;
             st.shared.u32 [%r10], %r5;
             wait:
             bar.sync 0;
             ld.shared.u32 %r5, [%r10];
             mov.u32 %r6, %nctaid.x;
             sub.u32 %r7, %r6, 1;
             setp.ne.u32 %p2, %r5, %r7;
             @%p2 bra done;
             setp.ge.u32 %p3, %r1, %r6;
             @%p3 bra done;
             mul.wide.u32 %d6, %r1, 4;
             add.s64 %d6, %d3, %d6;
             ld.global.u32 %r8, [%d6];
             red.global.add.u32 [%d1], %r8;
             done: ret;"
        ),
    )
}

#[test]
fn a_last_block_reduction_is_ordered_by_its_fence() {
    let rig = checking();
    let run = |text: &str| {
        let (sum, partial, count) = (rig.words(&[0]), rig.words(&[0; 32]), rig.words(&[0]));
        let found = findings(&rig, text, shape(16, 64), &[sum, partial, count]);
        assert_eq!(rig.read(sum, 1), [136]);
        found
    };
    clean(&run(&last_block("membar.gl;", "atom.global.add.u32")));
    clean(&run(&last_block("fence.acq_rel.gpu;", "atom.relaxed.gpu.global.add.u32")));
    clean(&run(&last_block("", "atom.acq_rel.gpu.global.add.u32")));
    // The last block may put the counter back with a plain write: the others' atomics are part of what they released.
    let put_back = |text: String| {
        text.replace("@%p2 bra done;", "@%p2 bra done;\n setp.eq.u32 %p4, %r1, 0;\n @%p4 st.global.u32 [%d4], 0;")
    };
    clean(&run(&put_back(last_block("membar.gl;", "atom.global.add.u32"))));
    let late = last_block("membar.gl;\n st.global.u32 [%d5+64], 1;", "atom.global.add.u32");
    assert!(!run(&put_back(late)).is_empty());
    for broken in [
        last_block("", "atom.global.add.u32"),
        last_block("membar.cta;", "atom.global.add.u32"),
        last_block("membar.gl;", "atom.relaxed.cta.global.add.u32"),
    ] {
        assert!(run(&broken).iter().any(|finding| finding.to_string().starts_with("race in global")));
    }
}

/// Each block waits for the flag of the one before it, adds to its sum, and raises its own flag.
fn look_back(raise: &str, look: &str) -> String {
    kernel(&format!(
        "ld.param.u64 %d3, [p1];
         add.u32 %r9, %r2, 1;
         setp.eq.u32 %p1, %r2, 0;
         mov.u32 %r4, 0;
         mul.wide.u32 %d5, %r2, 4;
         add.s64 %d6, %d3, %d5;
         add.s64 %d7, %d1, %d5;
         @%p1 bra first;
         wait: {look}
         setp.eq.u32 %p2, %r5, 0;
         @%p2 bra wait;
         FENCE
         ld.global.u32 %r4, [%d7+-4];
         first:
         add.u32 %r4, %r4, %r9;
         st.global.u32 [%d7], %r4;
         {raise}
         ret;"
    ))
}

#[test]
fn a_look_back_scan_is_ordered_by_its_flags() {
    let rig = checking();
    let run = |text: &str| {
        let (sums, flags) = (rig.words(&[0; 50]), rig.words(&[0; 50]));
        let found = findings(&rig, text, shape(50, 1), &[sums, flags]);
        assert_eq!(rig.read(sums, 50)[49], 50 * 51 / 2);
        found
    };
    let acquire = "ld.acquire.gpu.global.u32 %r5, [%d6+-4];";
    let volatile = "ld.volatile.global.u32 %r5, [%d6+-4];";
    let release = "st.release.gpu.global.u32 [%d6], 1;";
    let fenced = "membar.gl;\n st.volatile.global.u32 [%d6], 1;";
    clean(&run(&look_back(release, acquire).replace("FENCE", "")));
    clean(&run(&look_back(fenced, volatile).replace("FENCE", "membar.gl;")));
    clean(&run(&look_back(fenced, acquire).replace("FENCE", "")));
    for (broken, fence) in [
        (look_back("st.volatile.global.u32 [%d6], 1;", acquire), ""),
        (look_back(release, volatile), ""),
        (look_back(release, acquire.replace("gpu", "cta").as_str()), ""),
    ] {
        let found = run(&broken.replace("FENCE", fence));
        let of_data = |text: &String| text.starts_with("race in global memory") && text.contains("`ld.global.u32 %r4");
        assert!(found.iter().map(ToString::to_string).any(|text| of_data(&text)));
    }
}

/// Every thread adds to a word under a lock.
fn lock(unlock: &str) -> String {
    kernel(&format!(
        "ld.param.u64 %d3, [p1];
         mov.u32 %r9, 0;
         again:
         atom.global.cas.b32 %r4, [%d3], 0, 1;
         setp.ne.u32 %p1, %r4, 0;
         @%p1 bra next;
         ld.global.u32 %r5, [%d1];
         add.u32 %r5, %r5, 1;
         st.global.u32 [%d1], %r5;
         {unlock}
         mov.u32 %r9, 1;
         next:
         setp.eq.u32 %p2, %r9, 0;
         @%p2 bra again;
         ret;"
    ))
}

#[test]
fn a_lock_orders_what_it_guards_if_it_is_given_back_behind_a_fence() {
    let rig = checking();
    let run = |unlock: &str| {
        let (sum, held) = (rig.words(&[0]), rig.words(&[0]));
        let found = findings(&rig, &lock(unlock), shape(3, 40), &[sum, held]);
        assert_eq!(rig.read(sum, 1), [120]);
        found
    };
    clean(&run("membar.gl;\n atom.global.exch.b32 %r6, [%d3], 0;"));
    clean(&run("atom.release.gpu.global.exch.b32 %r6, [%d3], 0;"));
    clean(&run("st.release.gpu.global.u32 [%d3], 0;"));
    assert!(!run("atom.global.exch.b32 %r6, [%d3], 0;").is_empty());
}

#[test]
fn a_producer_and_its_consumer_meet_at_two_named_barriers() {
    let rig = checking();
    // Warp 0 fills a buffer, warp 1 empties it; four times.
    let text = |give: &str, full: &str, empty: &str, back: &str| {
        with_functions(
            ".shared .align 4 .b8 buffer[128];",
            &format!(
                "mov.u32 %r4, buffer;
                 and.b32 %r5, %r1, 31;
                 shl.b32 %r6, %r5, 2;
                 add.u32 %r4, %r4, %r6;
                 xor.b32 %r7, %r6, 4;
                 mov.u32 %r8, buffer;
                 add.u32 %r7, %r8, %r7;
                 mov.u32 %r9, 0;
                 mov.u32 %r10, 0;
                 setp.gt.u32 %p1, %r1, 31;
                 @%p1 bra consume;
                 produce:
                 add.u32 %r11, %r5, %r9;
                 st.shared.u32 [%r4], %r11;
                 {give}
                 {empty}
                 add.u32 %r9, %r9, 1;
                 setp.lt.u32 %p2, %r9, 4;
                 @%p2 bra produce;
                 ret;
                 consume:
                 {full}
                 ld.shared.u32 %r11, [%r7];
                 add.u32 %r10, %r10, %r11;
                 {back}
                 add.u32 %r9, %r9, 1;
                 setp.lt.u32 %p2, %r9, 4;
                 @%p2 bra consume;
                 st.global.u32 [%d0], %r10;
                 ret;"
            ),
        )
    };
    let out = rig.words(&[0; 64]);
    clean(&findings(
        &rig,
        &text("bar.arrive 1, 64;", "bar.sync 1, 64;", "bar.sync 2, 64;", "bar.arrive 2, 64;"),
        shape(1, 64),
        &[out],
    ));
    let expected: Vec<u32> = (0..32u32).map(|lane| 4 * (lane ^ 1) + 6).collect();
    assert_eq!(rig.read(out, 64)[32..], expected);
    // The producer goes on without waiting for the buffer to be empty.
    let broken = text("bar.sync 1, 64;", "bar.sync 1, 64;", "", "");
    assert!(!findings(&rig, &broken, shape(1, 64), &[out]).is_empty());
}

#[test]
fn a_barrier_object_orders_those_who_arrive_before_those_who_wait() {
    let rig = checking();
    let out = rig.words(&[0; 64]);
    let text = |wait: &str| {
        with_functions(
            ".shared .align 8 .b8 phase[8];\n .shared .align 4 .b8 tile[256];",
            &format!(
                "mov.u32 %r10, tile;
                 shl.b32 %r5, %r1, 2;
                 add.u32 %r6, %r10, %r5;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared.b64 [phase], 64;
                 bar.sync 0;
                 st.shared.u32 [%r6], %r1;
                 mbarrier.arrive.shared.b64 %d5, [phase];
                 {wait}
                 xor.b32 %r7, %r5, 128;
                 add.u32 %r7, %r10, %r7;
                 ld.shared.u32 %r8, [%r7];
                 st.global.u32 [%d0], %r8;
                 ret;"
            ),
        )
        .replace(".target sm_70", ".target sm_80")
    };
    let wait = "again: mbarrier.test_wait.shared.b64 %p2, [phase], %d5;\n @!%p2 bra again;";
    clean(&findings(&rig, &text(wait), shape(1, 64), &[out]));
    assert_eq!(rig.read(out, 64)[..2], [32, 33]);
    assert!(
        findings(&rig, &text(""), shape(1, 64), &[out])
            .iter()
            .any(|found| found.to_string().starts_with("race in shared"))
    );
}
