//! Every form that compilers were seen to write (`forms.txt`: opcode and modifiers, one a line) can be read.

use gridstride_ptx::parse;

/// An instruction of that form with operands of the usual shape. The reader asks nothing of types and counts.
fn instruction(form: &str) -> String {
    let opcode = form.split('.').next().unwrap();
    let vector = if form.contains(".v4.") { "{%r1, %r2, %r3, %r4}" } else { "{%r1, %r2}" };
    let data = if form.contains(".v2.") || form.contains(".v4.") { vector } else { "%r1" };
    match opcode {
        "bra" => format!("@%p1 {form} next;"),
        "brx" => format!("table: .branchtargets next, next; {form} %r1, table;"),
        "call" => format!("{form} (%r1), callee, (%r2, 3);"),
        "ret" | "exit" | "trap" | "membar" | "fence" => format!("{form};"),
        "ld" => format!("{form} {data}, [%rd1+8];"),
        "st" => format!("{form} [%rd1+-8], {data};"),
        "atom" => format!("{form} %r1, [%rd1], %r2, 7;"),
        "setp" => format!("{form} %p1|%p2, %r1, 0f3F800000, !%p2;"),
        "shfl" | "match" => format!("{form} %r1|%p1, %r2, 1, 31, -1;"),
        "bar" => format!("{form} 0, 128;"),
        _ => format!("@!%p1 {form} %r1, %r2, 0x10, %r3;"),
    }
}

#[test]
fn reads_every_form() {
    let mut read = 0;
    for form in include_str!("forms.txt").lines() {
        let body = instruction(form);
        let text = format!(
            ".version 8.0 .target sm_90 .address_size 64\n\
             .func (.reg .b32 %o) callee (.reg .b32 %i, .reg .b32 %j) {{ mov.b32 %o, %i; ret; }}\n\
             .entry k() {{ .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n {body}\nnext: ret; }}"
        );
        let module = parse(&text).unwrap_or_else(|error| panic!("{form}: {error}"));
        let kernel = module.function("k").unwrap();
        assert!(module.instr_text(kernel, 0).contains(form), "{form}: {}", module.instr_text(kernel, 0));
        assert_eq!(kernel.instrs.last().unwrap().opcode.as_ref(), "ret");
        read += 1;
    }
    assert!(read > 290);
}
