//! Modules made of random bytes: valid PTX, in which every loop ends. The fuzz targets and the ordinary tests share it.
//!
//! An instruction is a line of `accepted.txt`: the forms that `ptxas` 13.0 takes for sm_90 and the CPU device is to run,
//! outside of tensor cores, bulk copies, clusters and textures.
#![allow(dead_code, reason = "each user takes its own part")]

/// One instruction form a line, over the registers that [`module`] declares.
pub const ACCEPTED: &str = include_str!("accepted.txt");

const REGISTERS: &str = ".reg .b8 %c<20>; .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<20>;
    .reg .f64 %g<20>; .reg .pred %p<20>; .reg .b128 %q<9>; .reg .b32 %n<40>;";

/// A kernel `k` with a parameter `p0`, an array of 256 bytes, around `body`.
pub fn kernel(body: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p0)\n{{\n{REGISTERS}\n.shared .align 16 .b8 s[256];\n\
         ld.param.u64 %d9, [p0];\nmov.u32 %r9, s;\n{body}\nret;\n}}\n"
    )
}

/// True for what would make a test wait.
fn sleeps(line: &str) -> bool {
    line.starts_with("nanosleep.u32 %r")
}

/// The kernel that `bytes` stand for.
pub fn module(bytes: &[u8]) -> String {
    let forms: Vec<&str> = ACCEPTED.lines().filter(|line| !sleeps(line)).collect();
    let mut bytes = bytes.iter().copied();
    let mut next = || usize::from(bytes.next().unwrap_or(0));
    let mut body = String::new();
    // Registers with something in them, different in each lane.
    body.push_str("mov.u32 %r1, %tid.x;\n");
    for at in 2..8 {
        let seed = next() << 16 | next() << 8 | next();
        body.push_str(&format!("mad.lo.u32 %r{at}, %r1, {}, {seed};\n", 0x9E37_79B9u32 >> at));
        body.push_str(&format!(
            "mov.b64 %d{at}, {{%r{at}, %r1}}; mov.b32 %f{at}, %r{at}; cvt.u16.u32 %h{at}, %r{at};\n"
        ));
        body.push_str(&format!("mov.b64 %g{at}, %d{at}; setp.gt.u32 %p{at}, %r{at}, {};\n", u32::MAX / 3));
    }
    let length = 1 + next() % 32;
    let mut loops = Vec::new();
    for at in 0..length {
        match next() % 16 {
            0 if loops.len() < 3 => {
                loops.push(at);
                body.push_str(&format!("mov.u32 %n{at}, 0;\nloop{at}:\n"));
            }
            1 if !loops.is_empty() => close(&mut body, loops.pop(), next()),
            2 => body.push_str(&format!("@%p{} bra after{at};\n", 1 + next() % 7)),
            _ => {}
        }
        let form = forms[(next() << 8 | next()) % forms.len()];
        let guard = match next() % 8 {
            0 => "@%p2 ",
            1 => "@!%p3 ",
            _ => "",
        };
        body.push_str(&format!("{guard}{form}\nafter{at}:\n"));
        // What addresses are read from is kept, mostly.
        if next() % 8 != 0 {
            body.push_str("ld.param.u64 %d9, [p0]; mov.u32 %r9, s;\n");
        }
    }
    while let Some(at) = loops.pop() {
        close(&mut body, Some(at), next());
    }
    kernel(&body)
}

/// Goes back to the head of a loop, a few times at most.
fn close(body: &mut String, head: Option<usize>, times: usize) {
    let Some(at) = head else { return };
    let times = 1 + times % 4;
    body.push_str(&format!("add.u32 %n{at}, %n{at}, 1; setp.lt.u32 %p19, %n{at}, {times}; @%p19 bra loop{at};\n"));
}
