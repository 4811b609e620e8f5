//! Functions: parameters, results, recursion, addresses; and those of the device runtime.

use gridstride_simt::FaultKind;

mod rig;
use rig::{Rig, kernel, shape, with_functions};

#[test]
fn parameters_in_memory_and_in_registers() {
    let functions = "
        .func (.param .b32 out) weigh(.param .b32 a, .param .align 8 .b8 pair[16]) {
            .reg .b32 %r<4>; .reg .b64 %d<4>;
            ld.param.u32 %r1, [a];
            ld.param.u64 %d1, [pair];
            ld.param.u64 %d2, [pair+8];
            mad.lo.u64 %d1, %d1, 10, %d2;
            cvt.u32.u64 %r2, %d1;
            mad.lo.u32 %r1, %r1, 100, %r2;
            st.param.u32 [out], %r1;
            ret;
        }
        .func (.reg .b32 %out) twice(.reg .b32 %in) {
            add.u32 %out, %in, %in;
            ret;
        }";
    let body = "
        cvt.u64.u32 %d3, %r1;
        {
            .param .b32 a; .param .align 8 .b8 pair[16]; .param .b32 result;
            st.param.b32 [a], %r1;
            st.param.b64 [pair], %d3;
            st.param.b64 [pair+8], 7;
            call.uni (result), weigh, (a, pair);
            ld.param.b32 %r4, [result];
        }
        call (%r5), twice, (%r4);
        st.global.u32 [%d0], %r5;
        ret;";
    let expected: Vec<u32> = (0..40).map(|t| 2 * (110 * t + 7)).collect();
    assert_eq!(Rig::new(1).map(&with_functions(functions, body), 1, 40, &[]), expected);
}

/// `depth(n) = n == 0 ? 0 : 1 + depth(n - 1)`
const DEPTH: &str = "
    .func (.param .b32 out) depth(.param .b32 n) {
        .reg .pred %p; .reg .b32 %r<4>;
        ld.param.u32 %r1, [n];
        setp.eq.u32 %p, %r1, 0;
        @%p bra ZERO;
        sub.u32 %r2, %r1, 1;
        {
            .param .b32 m; .param .b32 got;
            st.param.b32 [m], %r2;
            call (got), depth, (m);
            ld.param.b32 %r3, [got];
        }
        add.u32 %r3, %r3, 1;
        st.param.b32 [out], %r3;
        ret;
        ZERO: st.param.b32 [out], 0;
        ret;
    }";

fn call_depth(argument: &str) -> String {
    let body = format!(
        "{argument}
        {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r4; call (b), depth, (a); ld.param.b32 %r5, [b]; }}
        st.global.u32 [%d0], %r5;
        ret;"
    );
    with_functions(DEPTH, &body)
}

#[test]
fn recursion_of_another_depth_in_each_lane() {
    let text = call_depth("xor.b32 %r4, %r1, 21;");
    assert_eq!(Rig::new(2).map(&text, 2, 50, &[]), (0..100).map(|t| (t % 50) ^ 21).collect::<Vec<u32>>());
}

#[test]
fn recursion_without_end_is_a_fault() {
    let rig = Rig::new(1);
    let out = rig.words(&[0; 32]);
    let fault = rig.launch(&call_depth("mov.u32 %r4, 100000000;"), shape(1, 32), &[out]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::StackOverflow);
}

const OPERATORS: &str = "
    .func (.param .b32 out) inc(.param .b32 a) {
        .reg .b32 %r; ld.param.b32 %r, [a]; add.u32 %r, %r, 1; st.param.b32 [out], %r; ret;
    }
    .func (.param .b32 out) dec(.param .b32 a) {
        .reg .b32 %r; ld.param.b32 %r, [a]; sub.u32 %r, %r, 1; st.param.b32 [out], %r; ret;
    }
    .func (.param .b32 out) neg(.param .b32 a) {
        .reg .b32 %r; ld.param.b32 %r, [a]; neg.s32 %r, %r; st.param.b32 [out], %r; ret;
    }
    .global .align 8 .u64 table[3] = {inc, dec, neg};";

#[test]
fn each_lane_calls_its_own_function() {
    let body = "
        rem.u32 %r4, %r1, 3;
        mul.wide.u32 %d3, %r4, 8;
        mov.u64 %d4, table;
        add.u64 %d4, %d4, %d3;
        ld.global.u64 %d5, [%d4];
        { .param .b32 a; .param .b32 b;
          st.param.b32 [a], %r1;
          PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);
          call (b), %d5, (a), PROTO;
          ld.param.b32 %r5, [b]; }
        st.global.u32 [%d0], %r5;
        ret;";
    let expected = |t: u32| match t % 3 {
        0 => t + 1,
        1 => t - 1,
        _ => t.wrapping_neg(),
    };
    let text = with_functions(OPERATORS, body);
    assert_eq!(Rig::new(1).map(&text, 1, 64, &[]), (0..64).map(expected).collect::<Vec<u32>>());
}

#[test]
fn a_call_of_what_is_no_function_is_a_fault() {
    let body = "
        mov.u64 %d5, 4096;
        { .param .b32 a; .param .b32 b;
          st.param.b32 [a], %r1;
          PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);
          call (b), %d5, (a), PROTO; }
        ret;";
    let rig = Rig::new(1);
    let fault = rig.launch(&with_functions(OPERATORS, body), shape(1, 1), &[0]).unwrap_err();
    assert!(fault.to_string().contains("an indirect call to 0x1000"), "{fault}");
}

#[test]
fn an_assertion_names_what_failed() {
    let functions = r#"
        .extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
        .global .align 1 .b8 message[6] = {111, 104, 32, 110, 111, 0};
        .global .align 1 .b8 file[5] = {97, 46, 114, 115, 0};
        .global .align 1 .b8 function[2] = {102, 0};"#;
    let body = "
        setp.ne.u32 %p1, %r0, 37;
        @%p1 ret;
        { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
          mov.u64 %d3, message; cvta.global.u64 %d3, %d3; st.param.b64 [a], %d3;
          mov.u64 %d3, file; cvta.global.u64 %d3, %d3; st.param.b64 [b], %d3;
          st.param.b32 [c], 42;
          mov.u64 %d3, function; cvta.global.u64 %d3, %d3; st.param.b64 [d], %d3;
          st.param.b64 [e], 1;
          call.uni __assertfail, (a, b, c, d, e); }
        trap;";
    let rig = Rig::new(2);
    let fault = rig.launch(&with_functions(functions, body), shape(4, 32), &[0]).unwrap_err();
    let (message, file) = ("oh no".into(), "a.rs".into());
    assert_eq!(fault.kind, FaultKind::Assert { message, file, line: 42, function: "f".into() });
    assert_eq!((fault.block, fault.thread), ([1, 0, 0], Some([5, 0, 0])));
}

#[test]
fn the_device_heap() {
    let functions = "
        .extern .func (.param .b64 out) malloc(.param .b64 size);
        .extern .func free(.param .b64 at);";
    let body = "
        { .param .b64 a; .param .b64 b; st.param.b64 [a], 64; call (b), malloc, (a); ld.param.b64 %d3, [b]; }
        st.u32 [%d3+60], %r0;
        ld.u32 %r4, [%d3+60];
        st.global.u32 [%d0], %r4;
        { .param .b64 a; st.param.b64 [a], %d3; call free, (a); }
        ret;";
    let rig = Rig::new(2);
    assert_eq!(rig.map(&with_functions(functions, body), 4, 64, &[]), (0..256).collect::<Vec<u32>>());
    assert_eq!(rig.memory.free_bytes(), (1 << 30) - 1024);
}

#[test]
fn the_address_of_a_kernel_parameter() {
    let body = "
        mov.b64 %d3, p1;
        and.b32 %r4, %r1, 1;
        mul.wide.u32 %d4, %r4, 8;
        add.s64 %d4, %d3, %d4;
        ld.param.u64 %d5, [%d4];
        cvt.u32.u64 %r5, %d5;
        st.global.u32 [%d0], %r5;
        ret;";
    assert_eq!(Rig::new(1).map(&kernel(body), 1, 4, &[11, 22]), [11, 22, 11, 22]);
}
