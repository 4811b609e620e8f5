//! Variables of a module: initial contents, addresses in them, what the host sees, and when they go.

use gridstride_simt::{AllocKind, LoadError};

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
