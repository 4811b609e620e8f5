//! Launch shapes, shared memory, counters, and what a module that cannot run says.

use gridstride_simt::{Counters, LaunchConfig, LoadError};

mod rig;
use rig::{Rig, kernel, shape, with_functions};

/// Stores the coordinates of each thread at its place in the grid.
const COORDINATES: &str = "
    mov.u32 %r4, %tid.y; mov.u32 %r5, %tid.z; mov.u32 %r6, %ntid.y; mov.u32 %r7, %ntid.z;
    mov.u32 %r8, %ctaid.y; mov.u32 %r9, %ctaid.z; mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;
    // Position of the block, of the thread in it, and of the thread in the grid.
    mad.lo.u32 %r12, %r9, %r11, %r8;
    mad.lo.u32 %r12, %r12, %r10, %r2;
    mad.lo.u32 %r13, %r5, %r6, %r4;
    mad.lo.u32 %r13, %r13, %r3, %r1;
    mul.lo.u32 %r14, %r3, %r6;
    mul.lo.u32 %r14, %r14, %r7;
    mad.lo.u32 %r15, %r12, %r14, %r13;
    mul.wide.u32 %d3, %r15, 4;
    add.u64 %d0, %d1, %d3;
    // tid.x | tid.y | tid.z | ctaid.x | ctaid.y | ctaid.z
    shl.b32 %r4, %r4, 8; shl.b32 %r5, %r5, 12; shl.b32 %r2, %r2, 16; shl.b32 %r8, %r8, 20; shl.b32 %r9, %r9, 24;
    or.b32 %r16, %r1, %r4; or.b32 %r16, %r16, %r5; or.b32 %r16, %r16, %r2; or.b32 %r16, %r16, %r8;
    or.b32 %r16, %r16, %r9;
    st.global.u32 [%d0], %r16;
    ret;";

#[test]
fn every_thread_of_every_shape_runs_once() {
    let shapes = [
        ([1, 1, 1], [1, 1, 1]),
        ([1, 1, 1], [32, 1, 1]),
        ([2, 1, 1], [33, 1, 1]),
        ([7, 1, 1], [96, 1, 1]),
        ([2, 3, 4], [5, 3, 2]),
        ([3, 2, 1], [1, 7, 9]),
        ([1, 1, 5], [16, 8, 8]),
        ([15, 15, 15], [1, 1, 3]),
    ];
    let rig = Rig::new(2);
    for (grid, block) in shapes {
        let count = grid.iter().chain(&block).product::<u32>() as usize;
        let out = rig.words(&vec![0xFFFF_FFFF; count]);
        let config = LaunchConfig { grid, block, ..shape(1, 1) };
        let counters = rig.launch(&kernel(COORDINATES), config, &[out]).unwrap();
        let mut expected = Vec::new();
        let all = |shape: [u32; 3]| {
            let [nx, ny, nz] = shape;
            (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
        };
        for [bx, by, bz] in all(grid) {
            expected.extend(all(block).map(|[x, y, z]| x | y << 8 | z << 12 | bx << 16 | by << 20 | bz << 24));
        }
        assert_eq!(rig.read(out, count), expected, "{grid:?} {block:?}");
        let blocks = u64::from(grid.iter().product::<u32>());
        assert_eq!(counters.blocks, blocks);
        assert_eq!(counters.warps, blocks * u64::from(block.iter().product::<u32>().div_ceil(32)));
    }
}

#[test]
fn a_shape_that_no_device_has_is_a_fault() {
    let rig = Rig::new(1);
    for block in [[0, 1, 1], [1025, 1, 1], [u32::MAX, u32::MAX, u32::MAX], [1, 1, 65]] {
        let config = LaunchConfig { block, ..shape(1, 1) };
        assert!(rig.launch(&kernel("ret;"), config, &[0]).is_err(), "{block:?}");
    }
    let config = LaunchConfig { dynamic_shared: u32::MAX, ..shape(1, 1) };
    assert!(rig.launch(&kernel("ret;"), config, &[0]).is_err());
    // Parameters that are missing read as zero, and those that are too many are not looked at.
    assert!(rig.launch(&kernel("ret;"), shape(1, 1), &[]).is_ok());
    assert!(rig.launch(&kernel("ret;"), shape(1, 1), &[0; 100]).is_ok());
}

#[test]
fn dynamic_shared_memory_lies_behind_the_static_variables() {
    let variables = ".shared .align 4 .b8 fixed[20]; .extern .shared .align 64 .b8 open[];";
    let body = "
        mov.u32 %r4, open;
        mov.u32 %r5, %dynamic_smem_size;
        mov.u32 %r6, fixed;
        sub.u32 %r7, %r4, %r6;
        mad.lo.u32 %r8, %r1, 4, %r4;
        st.shared.u32 [%r8], %r1;
        ld.shared.u32 %r9, [open+12];
        mad.lo.u32 %r7, %r7, 1000, %r5;
        mad.lo.u32 %r7, %r7, 10, %r9;
        st.global.u32 [%d0], %r7;
        ret;";
    let rig = Rig::unchecked(1);
    let out = rig.words(&[0; 4]);
    let text = with_functions(variables, body);
    rig.launch(&text, LaunchConfig { dynamic_shared: 16, ..shape(1, 4) }, &[out]).unwrap();
    assert_eq!(rig.read(out, 1), [(64 * 1000 + 16) * 10 + 3]);
    let fault = rig.launch(&text, LaunchConfig { dynamic_shared: 12, ..shape(1, 4) }, &[out]).unwrap_err();
    assert_eq!(fault.thread, Some([3, 0, 0]));
}

#[test]
fn counters_are_exact_and_the_same_each_time() {
    // Each thread goes round t % 5 times.
    let body = "
        rem.u32 %r4, %r1, 5;
        mov.u32 %r5, 0;
        LOOP: setp.ge.u32 %p1, %r5, %r4;
        @%p1 bra END;
        add.u32 %r5, %r5, 1;
        bra.uni LOOP;
        END: st.global.u32 [%d0], %r5;
        ret;";
    let mut seen: Vec<Counters> = Vec::new();
    for cores in [1, 2, 3] {
        let rig = Rig::new(cores);
        let out = rig.words(&vec![0; 500 * 64]);
        seen.extend((0..3).map(|_| rig.launch(&kernel(body), shape(500, 64), &[out]).unwrap()));
    }
    let counters = seen[0];
    assert!(seen.iter().all(|other| *other == counters), "{seen:#?}");
    // 7 of the prologue, 2, 5 times 2 and 4 times 2 of the loop, 2 at the end.
    assert_eq!(counters.instructions, 1000 * (7 + 2 + 10 + 8 + 2));
    let rounds: u64 = (0..64).map(|t| t % 5).sum();
    assert_eq!(counters.lane_instructions, 500 * (64 * (7 + 2 + 2 + 2) + rounds * 4));
    assert_eq!((counters.blocks, counters.warps), (500, 1000));
    assert_eq!(counters.divergent_branches, 1000 * 4);
}

#[test]
fn an_instruction_that_is_not_known_is_named() {
    let rig = Rig::new(1);
    let error = rig.load(&kernel("frobnicate.b32 %r4, %r5;\n ret;")).unwrap_err();
    let LoadError::Unsupported { instruction, function, .. } = &error else { panic!("{error}") };
    assert_eq!((&**instruction, &**function), ("frobnicate.b32 %r4, %r5", "k"));
    let error = rig.load(&kernel("add.fancy.u32 %r4, %r5, 1;\n ret;")).unwrap_err();
    assert!(error.to_string().contains("`.fancy`"), "{error}");
    // Nothing stays allocated.
    assert_eq!(rig.memory.free_bytes(), 1 << 30);
}

#[test]
fn launches_from_many_threads_at_once() {
    let rig = Rig::new(2);
    let body = "ld.param.u64 %d3, [p1]; cvt.u32.u64 %r4, %d3; add.u32 %r4, %r4, %r0; st.global.u32 [%d0], %r4; ret;";
    std::thread::scope(|scope| {
        for number in 0..8u64 {
            let rig = &rig;
            scope.spawn(move || {
                for round in 0..20 {
                    let add = 1000 * number + round;
                    let expected: Vec<u32> = (0..1280).map(|t| t + add as u32).collect();
                    assert_eq!(rig.map(&kernel(body), 20, 64, &[add]), expected);
                }
            });
        }
    });
}
