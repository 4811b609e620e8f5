//! Variables of a module: initial contents, addresses in them, what the host sees, and when they go.

use gridstride_simt::{Access, AllocKind, FaultKind, LoadError};

mod rig;
use rig::{Rig, shape, with_functions};

const VARIABLES: &str = "
    .visible .global .align 4 .u32 numbers[4] = {10, 20, 30};
    .visible .const .align 4 .b32 scale = 3;
    .global .align 8 .u64 pointers[2] = {numbers, numbers+8};
    .global .align 4 .u32 count;";

const BODY: &str = "
    and.b32 %r4, %r1, 1;
    mul.wide.u32 %d3, %r4, 8;
    mov.u64 %d4, pointers;
    add.u64 %d4, %d4, %d3;
    ld.global.u64 %d5, [%d4];
    ld.global.u32 %r5, [%d5];
    ld.const.u32 %r6, [scale];
    mul.lo.u32 %r5, %r5, %r6;
    atom.global.add.u32 %r7, [count], 1;
    st.global.u32 [%d0], %r5;
    ret;";

#[test]
fn initial_contents_addresses_and_the_host() {
    let rig = Rig::new(2);
    let program = rig.load(&with_functions(VARIABLES, BODY)).unwrap();
    let (numbers, bytes) = program.variable("numbers").unwrap();
    assert_eq!((rig.read(numbers, 4), bytes), (vec![10, 20, 30, 0], 16));
    assert_eq!(rig.memory.find(numbers + 15).unwrap().kind, AllocKind::ModuleGlobal);
    let (scale, _) = program.variable("scale").unwrap();
    rig.memory.write(scale, &5u32.to_le_bytes()).unwrap();
    assert_eq!(program.variable("nothing"), None);

    let out = rig.words(&[0; 96]);
    for _ in 0..2 {
        rig.device.launch(&program, 0, &shape(3, 32), &out.to_le_bytes()).unwrap();
    }
    assert_eq!(rig.read(out, 4), [50, 150, 50, 150]);
    // Variables keep their contents from one launch to the next.
    let (count, _) = program.variable("count").unwrap();
    assert_eq!(rig.read(count, 1), [192]);

    rig.memory.free(out).unwrap();
    drop(program);
    assert_eq!(rig.memory.free_bytes(), rig.memory.capacity());
}

#[test]
fn what_is_known_of_a_kernel() {
    let text = ".version 7.0 .target sm_70 .address_size 64
        .shared .align 16 .b8 tile[1000];
        .shared .align 16 .b8 other[5000];
        .entry k(.param .u8 a, .param .u64 b, .param .align 4 .b8 c[12], .param .u16 d) .maxntid 64, 2, 1 {
            .reg .b32 %r;
            .local .align 4 .b8 mine[40];
            ld.shared.u32 %r, [tile];
            st.local.u32 [mine], %r;
            ret;
        }";
    let rig = Rig::new(1);
    let program = rig.load(text).unwrap();
    let info = &program.kernels()[program.kernel("k").unwrap()];
    assert_eq!(info.params.iter().map(|p| (p.offset, p.size)).collect::<Vec<_>>(), [(0, 1), (8, 8), (16, 12), (28, 2)]);
    // Only the variables that the kernel names take room.
    assert_eq!((info.param_bytes, info.static_shared, info.local_bytes, info.max_threads), (30, 1000, 48, 128));
}

#[test]
fn what_nobody_defines_is_an_error_where_it_is_used() {
    let rig = Rig::new(1);
    let text = with_functions(".extern .global .align 4 .u32 absent;", "ld.global.u32 %r4, [absent];\n ret;");
    let is_absent = |error: &LoadError| matches!(error, LoadError::Undefined { line: 4, symbol } if symbol == "absent");
    assert!(is_absent(&rig.load(&text).unwrap_err()));
    let text = with_functions(".extern .func absent();", "call absent;\n ret;");
    assert!(is_absent(&rig.load(&text).unwrap_err()));
    // Declared and not used: nothing is missing.
    assert!(rig.load(&with_functions(".extern .func absent();", "ret;")).is_ok());
    assert_eq!(rig.memory.free_bytes(), rig.memory.capacity());
}

/// Two constants that kernels read; `array` is for the host and the test to write.
const CONSTANTS: &str = "
    .visible .const .align 8 .b32 factor[64] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
        7, 7, 7, 7, 7, 7, 7, 7, 7};
    .visible .global .align 8 .b32 array[64];";

#[test]
fn constant_memory_is_read_by_every_kind_of_address_and_written_by_none() {
    // After loads that found the constant, in a row, at one place, and one lane's alone.
    let read = "
        mov.u64 %d3, factor;
        cvta.const.u64 %d4, %d3;
        mul.wide.u32 %d5, %r1, 4;
        add.u64 %d6, %d4, %d5;
        ld.u32 %r4, [%d6];
        ld.const.u32 %r5, [factor];
        ld.u32 %r6, [%d4];
        add.u32 %r7, %r5, %r6;
        add.u32 %r7, %r7, %r4;
        mov.u64 %d8, array;
        cvta.global.u64 %d8, %d8;
        setp.eq.u32 %p1, %r1, 1;
        selp.u64 %d7, %d4, %d8, %p1;";
    let rig = Rig::new(1);
    let out = rig.map(&with_functions(CONSTANTS, &format!("{read} st.global.u32 [%d0], %r7;\n ret;")), 1, 32, &[]);
    assert_eq!(out, [21; 32]);

    let ways = [
        ("a row", "st.u32 [%d6], %r7;", 0),
        ("one place", "st.u32 [%d4], %r7;", 0),
        ("global", "st.global.u32 [%d6], %r7;", 0),
        ("one lane", "setp.eq.u32 %p2, %r1, 3;\n @%p2 st.u32 [%d6], %r7;", 3),
        ("one of several lanes", "st.u32 [%d7], %r7;", 1),
        ("a vector", "st.v2.u32 [%d4], {%r7, %r7};", 0),
        ("volatile", "st.volatile.u32 [%d6], %r7;", 0),
        ("release", "st.release.gpu.u32 [%d6], %r7;", 0),
        ("atom", "atom.add.u32 %r8, [%d6], 1;", 0),
        ("red", "red.global.max.u32 [%d6], 9;", 0),
    ];
    for (way, store, thread) in ways {
        for before in [read, &read.replace("ld.u32 %r4, [%d6]", "mov.u32 %r4, 0")] {
            let rig = Rig::new(1);
            let program = rig.load(&with_functions(CONSTANTS, &format!("{before}\n{store}\n ret;"))).unwrap();
            let array = rig.words(&[0; 32]);
            let fault = rig.device.launch(&program, 0, &shape(1, 32), &array.to_le_bytes()).unwrap_err();
            let (factor, bytes) = program.variable("factor").unwrap();
            let FaultKind::ReadOnly { access, allocation, .. } = &fault.kind else { panic!("{way}: {fault}") };
            let atomic = way == "atom" || way == "red";
            assert_eq!(*access, if atomic { Access::Atomic } else { Access::Write }, "{way}");
            assert_eq!((allocation.base, allocation.size), (factor, bytes), "{way}");
            assert_eq!(fault.thread, Some([thread, 0, 0]), "{way}");
            assert!(
                fault.to_string().contains("is in constant memory (a `.const` variable of 256 bytes at"),
                "{fault}"
            );
            // Nothing has been written.
            assert_eq!(rig.read(factor, 33), [7; 33], "{way}");
        }
    }
}

#[test]
fn variables_declared_in_a_function() {
    // One of each function's own, though they share a name; what one launch leaves, the next finds.
    let functions = "
        .func (.reg .b32 out) other() {
            .global .align 4 .b32 count = 1000;
            .const .align 4 .b32 step = 3;
            .reg .b32 %r<4>;
            ld.const.u32 %r1, [step];
            atom.global.add.u32 %r2, [count], %r1;
            mov.b32 out, %r2;
            ret;
        }";
    let body = "
        .global .align 4 .u32 count[2] = {5, 6};
        .global .align 8 .u64 to[1] = {count+4};
        .const .align 2 .b8 few[3] = {1, 2};
        .const .align 4 .f32 half = 0f3F000000;
        .reg .f32 %f;
        ld.global.u64 %d3, [to];
        ld.global.u32 %r4, [%d3];
        ld.const.u8 %r5, [few+1];
        ld.const.f32 %f, [half];
        cvt.rni.u32.f32 %r6, %f;
        mov.b32 %r7, %f;
        shr.u32 %r7, %r7, 24;
        add.u32 %r8, %r4, %r5;
        add.u32 %r8, %r8, %r7;
        call (%r9), other, ();
        add.u32 %r8, %r8, %r9;
        st.global.u32 [%d0], %r8;
        ret;";
    let rig = Rig::new(1);
    let program = rig.load(&with_functions(functions, body)).unwrap();
    let out = rig.words(&[0]);
    for launch in 0..3 {
        rig.device.launch(&program, 0, &shape(1, 1), &out.to_le_bytes()).unwrap();
        assert_eq!(rig.read(out, 1), [6 + 2 + 0x3F + 1000 + 3 * launch]);
    }
    rig.memory.free(out).unwrap();
    drop(program);
    assert_eq!(rig.memory.free_bytes(), rig.memory.capacity());
}

#[test]
fn an_alias_is_called_by_either_name_and_by_address() {
    let functions = "
        .func (.reg .b32 out) twice(.reg .b32 in) {
            add.u32 out, in, in;
            ret;
        }
        .func (.reg .b32 out) again(.reg .b32 in);
        .alias again, twice;
        .global .align 8 .u64 table[2] = {again, twice};";
    let body = "
        call (%r4), again, (%r1);
        call (%r5), twice, (%r4);
        mov.u64 %d3, again;
        ld.global.u64 %d4, [table];
        mov.u64 %d5, twice;
        setp.eq.u64 %p1, %d3, %d4;
        setp.eq.and.u64 %p1, %d3, %d5, %p1;
        PROTO: .callprototype (.reg .b32 _) _ (.reg .b32 _);
        call (%r6), %d4, (%r5), PROTO;
        selp.u32 %r6, %r6, 0, %p1;
        st.global.u32 [%d0], %r6;
        ret;";
    let out = Rig::new(1).map(&with_functions(functions, body), 1, 40, &[]);
    assert_eq!(out, (0..40).map(|thread| 8 * thread).collect::<Vec<u32>>());
}
