//! `vprintf`. Standard output is the process's own, so the kernel runs in a child process.

use std::process::Command;

mod rig;
use rig::{Rig, shape, with_functions};

const CHILD: &str = "GRIDSTRIDE_TEST_PRINTS";

#[test]
fn what_kernels_print_comes_out_in_the_order_of_the_blocks() {
    if std::env::var_os(CHILD).is_some() {
        return print();
    }
    let test = "what_kernels_print_comes_out_in_the_order_of_the_blocks";
    let child = Command::new(std::env::current_exe().unwrap());
    let output = { child }.args(["--exact", test, "--nocapture"]).env(CHILD, "1").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("thread")).collect();
    let expected: Vec<String> = (0..12).map(|block| format!("thread {} of 12: 2.50", block * 32)).collect();
    assert_eq!(lines, expected, "{text}");
}

fn print() {
    // "thread %d of %u: %.2f\n"
    let format = b"thread %d of %u: %.2f\n\0";
    let bytes: Vec<String> = format.iter().map(ToString::to_string).collect();
    let functions = format!(
        ".extern .func (.param .b32 out) vprintf(.param .b64 format, .param .b64 args);
         .global .align 1 .b8 text[{}] = {{{}}};",
        format.len(),
        bytes.join(", ")
    );
    let body = "
        .local .align 8 .b8 args[16];
        setp.ne.u32 %p1, %r1, 0;
        @%p1 ret;
        mov.u64 %d4, args;
        cvta.local.u64 %d5, %d4;
        st.local.u32 [%d4], %r0;
        st.local.u32 [%d4+4], 12;
        mov.u64 %d6, 0d4004000000000000;
        st.local.u64 [%d4+8], %d6;
        mov.u64 %d7, text;
        cvta.global.u64 %d7, %d7;
        { .param .b64 f; .param .b64 a; .param .b32 result;
          st.param.b64 [f], %d7; st.param.b64 [a], %d5;
          call.uni (result), vprintf, (f, a); }
        ret;";
    let rig = Rig::new(3);
    rig.launch(&with_functions(&functions, body), shape(12, 32), &[0]).unwrap_or_else(|fault| panic!("{fault}"));
}
