//! What is wrong is said with its name, its place and, where there is one, what was probably meant.

use gridstride_ptx::{BlockId, parse};

/// The message for a kernel with that body.
fn in_body(body: &str) -> String {
    let text = format!(".version 7.0\n.target sm_70\n.address_size 64\n.entry kernel(.param .u64 out) {{\n{body}\n}}");
    parse(&text).expect_err(body).to_string()
}

fn at_module(items: &str) -> String {
    parse(&format!(".version 7.0\n.target sm_70\n.address_size 64\n{items}")).expect_err(items).to_string()
}

#[track_caller]
fn says(found: &str, expected: &str) {
    assert!(found.contains(expected), "{found}\ndoes not say\n{expected}");
}

#[test]
fn shows_the_line_with_a_caret() {
    let found = in_body(".reg .b32 %r<3>;\n\tadd.s32 \t%r1, %r2, %r7;");
    let expected = "PTX line 6, column 21: `%r7` is not declared in `kernel`; `%r<3>` is\n \
                    6 | \tadd.s32 \t%r1, %r2, %r7;\n   | \t        \t          ^";
    assert_eq!(found, expected);
}

#[test]
fn names_that_mean_nothing() {
    says(&in_body("ld.param.u64 %x, [out];"), "`%x` is not declared in `kernel`");
    says(
        &in_body(".reg .b64 address; ld.param.u64 adress, [out];"),
        "`adress` is not declared in `kernel`; `address` is",
    );
    says(&in_body("bra LBB0_2; LBB0_1: ret;"), "the label `LBB0_2` is not defined in `kernel`; `LBB0_1` is");
    says(&in_body("{ inner: ret; } bra inner;"), "the label `inner` is not defined");
    says(&in_body(".reg .b32 r; brx.idx r, list;"), "`list` is not a list of `.branchtargets`");
    says(&in_body("call missing;"), "`missing` is not declared in `kernel`");
    says(&in_body(".reg .b32 r; mov.u32 r, %ctaidx;"), "`%ctaidx` is not declared");
    says(&in_body(".reg .b32 r; mov.u32 r, %tid.q;"), "`%tid` has no element `.q`");
    says(&in_body(".reg .b32 r; mov.u32 r, %laneid.x;"), "`%laneid` has no element `.x`");
    says(&at_module(".global .u64 p = generic(q);"), "`q` is not declared at module scope; `p` is");
    says(&at_module(".alias a, b;"), "`a` is not a declared function");
}

#[test]
fn names_that_are_taken() {
    says(&in_body(".reg .b32 a; .reg .f32 a;"), "`a` is already declared in this scope of `kernel`");
    says(&in_body(".reg .b32 %r<5>; .reg .b32 %r3;"), "`%r3` is already declared");
    says(&in_body(".reg .b32 %r3; .reg .b32 %r<5>;"), "`%r` is already declared");
    says(&in_body(".reg .u64 out;"), "`out` is already declared");
    says(&in_body("a: a: ret;"), "the label `a` is already defined in `kernel`");
    says(&at_module(".global .u32 a;\n.global .u32 a;"), "line 5, column 14: `a` is already defined on line 4");
    says(&at_module(".func f() { ret; }\n.func f() { ret; }"), "`f` is already defined on line 4");
    says(&at_module(".func f(); .global .u32 f;"), "`f` is already the name of a function");
    says(&at_module(".global .u32 f; .func f();"), "`f` is already the name of a variable");
    says(&at_module(".func f(); .entry f() { ret; }"), "`f` is a kernel here and a function on line 4");
    says(&at_module(".entry f(.param .u32 a, .param .u32 a) { ret; }"), "the parameter `a` is already declared");
}

#[test]
fn text_that_is_no_ptx() {
    says(&in_body("add.s32 1"), "expected `;`, found `}`");
    says(&in_body("ld.u32 [1 2];"), "expected `]`, found `2`");
    says(&in_body(".reg .b33 a;"), "expected a type such as `.b32`, found `.b33`");
    says(&in_body(".banana;"), "the directive `.banana` is not supported in a function");
    says(&in_body(".reg .b32 r; @r ret;"), "a guard is a predicate register, which `r` is not");
    says(&in_body("bra 5;"), "`bra` takes one label");
    says(&in_body("mov.u32 a, 12q;"), "`12q` is not a number of at most 64 bits");
    says(&in_body(".local .b8 a[];"), "the array `a` has no length");
    says(&in_body(".shared .u32 a = 3;"), "only a `.global` or `.const` variable");
    says(&at_module(".entry k() { ret;"), "the body of `k`, which opens here, is not closed");
    says(&at_module(".entry k() .blocksareclusters { ret; }"), "`.blocksareclusters` of a function is not supported");
    says(&at_module(".global .align 3 .u32 a;"), "an alignment is a power of two, not 3");
    says(&at_module(".global .u32 a[2] = {1, 2, 3};"), "the initialiser has 12 bytes, `a` has 8");
    says(&at_module(".global .u32 a[2][2] = {{1, 2, 3}};"), "a list in the initialiser of `a` has 12 bytes, its row 8");
    says(&at_module(".global .u8 a = 0f3F800000;"), "`0f3F800000` is no value of type `.u8`");
    says(&at_module(".global .u8 a; .global .u8 b = a;"), "an address does not fit a variable of type `.u8`");
    says(&at_module(".global .u8 a; .global .u8 b = 0xFFF(a);"), "the mask 0xfff does not cut a `.u8`");
    says(&at_module(".global .u64 a[0x7fffffffffffffff];"), "the size of `a` does not fit");
    says(&at_module(".texref t;"), "the directive `.texref` is not supported at module scope");
}

#[test]
fn depth_is_an_error_and_no_overflow() {
    says(&in_body(&"{".repeat(100_000)), "scopes nested less deeply");
    says(&in_body(&format!("mov.u32 a, {}", "(".repeat(100_000))), "an expression nested less deeply");
    says(&at_module(&format!(".global .u32 a = {}", "{".repeat(100_000))), "an initialiser nested less deeply");
    says(&at_module(&format!(".global .u32 a{};", "[1]".repeat(100_000))), "an array of fewer dimensions");
    says(&in_body(&format!(".reg .pred p; mov.u32 {}p;", "p|".repeat(100_000))), "expected `;`, found `|`");
}

#[test]
fn a_short_text_takes_little_memory() {
    let module = parse(
        ".version 7.0 .target sm_70 .global .b8 huge[0x4000000000000000] = {1};
         .entry k() { .reg .b32 %r<4000000000>; mov.u32 %r3999999999, 1; ret; }",
    );
    assert_eq!(module.unwrap().functions[0].regs.len(), 1);
    says(&at_module(".global .b8 a[2][0x1000000000] = {{1}, {2}};"), "this much space between values");
}

#[test]
fn a_call_that_does_not_return_ends_its_block() {
    let text = ".version 7.0 .target sm_70
        .func stop() .noreturn;
        .entry k() { .reg .pred p; setp.eq.u32 p, 0, 1;
            @p bra out; call stop; mov.u32 _, 1;
        out: @p call stop; call stop; }";
    let module = parse(text).unwrap();
    let kernel = module.function("k").unwrap();
    let edges: Vec<Vec<u32>> =
        kernel.blocks.iter().map(|block| block.successors.iter().map(|BlockId(id)| *id).collect()).collect();
    assert_eq!(edges, [vec![3, 1], vec![], vec![3], vec![4], vec![], vec![]]);
    assert_eq!(&*kernel.instrs.last().unwrap().opcode, "trap");
}
