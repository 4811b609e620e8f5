//! Loads, stores, address spaces, copies and what is counted of them, as kernels write them.

use gridstride_simt::{AllocKind, FaultKind, LaunchConfig};

mod rig;
use rig::{Rig, kernel, shape, with_functions};

#[test]
fn all_ways_to_write_a_load_and_a_store() {
    let loads = [
        "ld.global.u32",
        "ld.global.b32",
        "ld.weak.global.u32",
        "ld.volatile.global.u32",
        "ld.relaxed.gpu.global.u32",
        "ld.acquire.sys.global.b32",
        "ld.mmio.relaxed.sys.global.u32",
        "ld.global.nc.b32",
        "ldu.global.u32",
        "ld.global.ca.u32",
        "ld.global.cg.u32",
        "ld.global.cs.u32",
        "ld.global.lu.u32",
        "ld.global.cv.u32",
        "ld.global.nc.L1::no_allocate.L2::128B.u32",
        "ld.global.L1::evict_last.s32",
        "ld.b32",
        "ld.volatile.u32",
    ];
    let stores = [
        "st.global.u32",
        "st.global.wb.b32",
        "st.global.cg.u32",
        "st.global.cs.u32",
        "st.global.wt.u32",
        "st.volatile.global.u32",
        "st.relaxed.gpu.global.u32",
        "st.release.sys.global.b32",
        "st.b32",
        "st.global.L1::no_allocate.u32",
        "st.weak.global.u32",
    ];
    for (load, store) in loads.iter().map(|load| (*load, stores[0])).chain(stores.map(|store| (loads[0], store))) {
        let text = kernel(&format!("{load} %r4, [%d0];\n add.u32 %r4, %r4, 1;\n {store} [%d0], %r4;\n ret;"));
        assert_eq!(Rig::new(1).map(&text, 1, 40, &[]), [0xDEAD_BEF0; 40], "{load} {store}");
    }
    for wrong in [
        "ld.release.gpu.global.u32 %r4, [%d0];",
        "st.acquire.gpu.global.u32 [%d0], %r4;",
        "ld.gpu.global.u32 %r4, [%d0];",
        "ld.global.xx.u32 %r4, [%d0];",
        "ld.global.v2.u32 %r4, [%d0];",
        "ld.global.u64 %r4, [%d0];",
        "st.const.u32 [%d0], %r4;",
    ] {
        assert!(Rig::new(1).load(&kernel(&format!("{wrong}\n ret;"))).is_err(), "{wrong}");
    }
}

#[test]
fn vectors_constants_sinks_and_registers_of_other_widths() {
    let rig = Rig::new(1);
    let input = rig.words(&(0..128).map(|at| at * 3).collect::<Vec<_>>());
    let text = kernel(
        "ld.param.u64 %d3, [p1];
         mul.wide.u32 %d4, %r1, 16;
         add.s64 %d3, %d3, %d4;
         ld.global.v4.u32 {%r4, _, %r5, %d5}, [%d3];
         cvt.u32.u64 %r6, %d5;
         add.u32 %r7, %r4, %r5;
         add.u32 %r7, %r7, %r6;
         ld.global.v2.s8 {%r8, %r9}, [%d3];
         st.global.v4.u32 [%d3], {%r7, %r8, 5, %r9};
         st.global.u32 [%d0], %r7;
         ret;",
    );
    let out = rig.map(&text, 1, 32, &[input]);
    let memory = rig.read(input, 128);
    for thread in 0..32u32 {
        let first = 12 * thread;
        let sum = first + (first + 6) + (first + 9);
        assert_eq!(out[thread as usize], sum);
        let bytes = first.to_le_bytes();
        let signed = |byte: u8| i32::from(byte as i8) as u32;
        assert_eq!(memory[4 * thread as usize..][..4], [sum, signed(bytes[0]), 5, signed(bytes[1])]);
    }
}

#[test]
fn spaces_as_values() {
    let text = with_functions(
        ".shared .align 4 .b8 room[128];
         .global .align 4 .u32 word = 77;
         .const .align 4 .u32 fixed[2] = {5, 6};",
        ".local .align 4 .b8 own[16];
         mov.u64 %d3, room;
         cvta.shared.u64 %d4, %d3;
         mov.u64 %d5, own;
         cvta.local.u64 %d6, %d5;
         mov.u64 %d7, word;
         cvta.global.u64 %d8, %d7;
         isspacep.shared %p1, %d4;
         isspacep.local %p2, %d6;
         isspacep.global %p3, %d8;
         isspacep.shared %p4, %d8;
         isspacep.global %p5, %d6;
         selp.u32 %r4, 1, 0, %p1;
         @%p2 add.u32 %r4, %r4, 2;
         @%p3 add.u32 %r4, %r4, 4;
         @%p4 add.u32 %r4, %r4, 100;
         @%p5 add.u32 %r4, %r4, 100;
         cvta.to.shared.u64 %d9, %d4;
         shl.b32 %r5, %r1, 2;
         cvt.u64.u32 %d10, %r5;
         add.s64 %d9, %d9, %d10;
         st.shared.u32 [%d9], %r1;
         add.s64 %d4, %d4, %d10;
         ld.u32 %r6, [%d4];
         add.u32 %r4, %r4, %r6;
         st.u32 [%d6+8], %r1;
         ld.local.u32 %r7, [own+8];
         add.u32 %r4, %r4, %r7;
         ld.u32 %r8, [%d8];
         add.u32 %r4, %r4, %r8;
         ld.const.u32 %r9, [fixed+4];
         add.u32 %r4, %r4, %r9;
         st.global.u32 [%d0], %r4;
         ret;",
    );
    let expected: Vec<u32> = (0..32).map(|thread| 7 + 2 * thread + 77 + 6).collect();
    assert_eq!(Rig::new(1).map(&text, 1, 32, &[]), expected);
}

#[test]
fn asynchronous_copies_fences_and_hints() {
    let rig = Rig::new(1);
    let input = rig.words(&(1..=128).collect::<Vec<_>>());
    let text = with_functions(
        ".shared .align 16 .b8 room[512];",
        "ld.param.u64 %d3, [p1];
         mov.u64 %d4, room;
         mul.wide.u32 %d5, %r1, 16;
         add.s64 %d3, %d3, %d5;
         add.s64 %d4, %d4, %d5;
         prefetch.global.L2 [%d3];
         cp.async.cg.shared.global [%d4], [%d3], 16;
         cp.async.commit_group;
         cp.async.wait_group 0;
         setp.ge.u32 %p1, %r1, 16;
         mov.u32 %r9, 2;
         @%p1 cp.async.ca.shared.global [%d4], [%d3], 8, %r9;
         cp.async.wait_all;
         fence.acq_rel.gpu; fence.sc.sys; membar.gl; membar.cta; fence.proxy.async;
         ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%d4];
         mad.lo.u32 %r4, %r5, 1000, %r4;
         st.global.u32 [%d0], %r4;
         ret;",
    );
    let expected: Vec<u32> =
        (0..32u32).map(|t| if t < 16 { 1000 * (4 * t + 2) + 4 * t + 1 } else { 4 * t + 1 }).collect();
    assert_eq!(rig.map(&text, 1, 32, &[input]), expected);
}

#[test]
fn requests_sectors_bytes_and_bank_conflicts() {
    let rig = Rig::new(2);
    let input = rig.words(&vec![0; 1 << 16]);
    let run = |body: &str| {
        let text = kernel(&format!("ld.param.u64 %d3, [p1];\n {body}\n ret;"));
        let config = LaunchConfig { count_memory: true, dynamic_shared: 8192, ..shape(4, 64) };
        rig.launch(&text, config, &[0, input]).unwrap_or_else(|fault| panic!("{fault}"))
    };
    let strided = |stride: u32| {
        run(&format!("mul.wide.u32 %d4, %r0, {};\n add.s64 %d3, %d3, %d4;\n ld.global.u32 %r4, [%d3];", 4 * stride))
    };
    for (stride, sectors) in [(1, 4), (2, 8), (4, 16), (8, 32), (32, 32)] {
        let counters = strided(stride);
        assert_eq!(
            (counters.global_requests, counters.global_sectors, counters.global_bytes),
            (8, 8 * sectors, 8 * 128)
        );
        assert_eq!(counters.sectors_per_request(), Some(sectors as f64));
    }
    let wide =
        run("mul.wide.u32 %d4, %r0, 16;\n add.s64 %d3, %d3, %d4;\n ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d3];");
    assert_eq!((wide.global_requests, wide.global_sectors, wide.global_bytes), (8, 128, 4096));
    for (stride, conflicts) in [(1, 0), (2, 1), (32, 31), (33, 0)] {
        let counters =
            run(&format!("mul.lo.u32 %r4, %r1, {};\n and.b32 %r4, %r4, 8191;\n st.shared.u32 [%r4], %r1;", 4 * stride));
        assert_eq!((counters.shared_requests, counters.global_requests), (8, 0));
        assert_eq!(counters.bank_conflicts, 8 * conflicts, "stride {stride}");
    }
    let uncounted = rig.launch(&kernel("ld.global.u32 %r4, [%d0];\n ret;"), shape(4, 64), &[input]).unwrap();
    assert_eq!(uncounted.global_requests, 0);
}

#[test]
fn kernels_reach_nothing_that_is_not_theirs() {
    let rig = Rig::unchecked(2);
    let body =
        "ld.param.u64 %d3, [p1];\n ld.param.u64 %d4, [p2];\n add.s64 %d3, %d3, %d4;\n ld.global.u8 %r4, [%d3];\n ret;";
    let all: Vec<u64> = (0..8).map(|_| rig.memory.alloc(1000, AllocKind::Device).unwrap()).collect();
    for base in &all {
        assert!(rig.launch(&kernel(body), shape(1, 33), &[0, *base, 999]).is_ok());
        for offset in [1000, 1001, 1023, 1024, u64::MAX, u64::MAX - 511, 1 << 40, 1 << 63] {
            let inside = all.iter().any(|other| base.wrapping_add(offset).wrapping_sub(*other) < 1000);
            let result = rig.launch(&kernel(body), shape(1, 33), &[0, *base, offset]);
            assert_eq!(result.is_ok(), inside, "{offset:#x}");
        }
    }
    rig.memory.free(all[3]).unwrap();
    let fault = rig.launch(&kernel(body), shape(1, 1), &[0, all[3], 10]).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::UseAfterFree { .. }), "{fault}");
    assert!(fault.to_string().contains("has been freed (1000 bytes at"), "{fault}");
}

#[test]
fn memory_of_the_device_heap_is_memory() {
    let text = with_functions(
        ".extern .func (.param .b64 out) malloc(.param .b64 bytes);
         .extern .func free(.param .b64 at);",
        "{ .param .b64 bytes; .param .b64 out; st.param.b64 [bytes], 64; call (out), malloc, (bytes); ld.param.b64 %d3, [out]; }
         st.u32 [%d3+60], %r0;
         ld.u32 %r4, [%d3+60];
         st.global.u32 [%d0], %r4;
         { .param .b64 at; st.param.b64 [at], %d3; call free, (at); }
         ret;",
    );
    assert_eq!(Rig::new(2).map(&text, 4, 64, &[]), (0..256).collect::<Vec<_>>());
}

#[test]
fn freeing_while_a_launch_runs_is_safe() {
    let rig = Rig::new(2);
    let flag = rig.words(&[0]);
    let data = rig.words(&vec![7; 1 << 16]);
    let text = kernel(
        "ld.param.u64 %d3, [p1];
         ld.param.u64 %d4, [p2];
         WAIT: ld.acquire.gpu.global.u32 %r4, [%d3];
         setp.eq.u32 %p1, %r4, 0;
         @%p1 bra WAIT;
         ld.global.u32 %r5, [%d4];
         ret;",
    );
    std::thread::scope(|scope| {
        let launch = scope.spawn(|| rig.launch(&text, shape(8, 32), &[0, flag, data]));
        std::thread::sleep(std::time::Duration::from_millis(50));
        rig.memory.free(data).unwrap();
        let reused: Vec<u64> = (0..16).map(|_| rig.memory.alloc(1 << 18, AllocKind::Device).unwrap()).collect();
        assert!(!reused.contains(&data));
        rig.memory.write(flag, &[1, 0, 0, 0]).unwrap();
        launch.join().unwrap().unwrap_or_else(|fault| panic!("{fault}"));
    });
}
