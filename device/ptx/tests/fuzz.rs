//! No text makes the reader panic: random bytes, random tokens, and real modules cut, mixed and damaged.

use gridstride_ptx::parse;
use proptest::prelude::*;

const HAND: &str = include_str!("modules/handwritten.ptx");
const NVRTC: &str = include_str!("modules/nvrtc_lines.ptx");
const RUSTC: &str = include_str!("modules/rustc_wide.ptx");

/// Reads and, where that succeeds, prints; only a panic fails.
fn survive(text: &str) {
    match parse(text) {
        Err(error) => drop(error.to_string()),
        Ok(module) => {
            for function in &module.functions {
                (0..function.instrs.len()).for_each(|at| drop(module.instr_text(function, at)));
            }
        }
    }
}

#[test]
fn every_prefix() {
    (0..HAND.len()).for_each(|end| survive(&HAND[..end]));
}

#[test]
fn every_line_left_out() {
    let lines: Vec<&str> = HAND.lines().collect();
    for without in 0..lines.len() {
        let rest: Vec<&str> =
            lines.iter().enumerate().filter(|(at, _)| *at != without).map(|(_, line)| *line).collect();
        survive(&rest.join("\n"));
    }
}

fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        HAND.split_inclusive(|c: char| !c.is_alphanumeric() && c != '%' && c != '.').collect::<Vec<_>>(),
    )
}

proptest! {
    #[test]
    fn random_text(text in "\\PC*") {
        survive(&text);
        survive(&format!(".version 7.0 .target sm_70 .address_size 64 .entry k() {{ {text} }}"));
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        survive(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_tokens(tokens in prop::collection::vec(token(), 0..300), inside in any::<bool>()) {
        let soup = tokens.concat();
        let head = ".version 8.0 .target sm_90\n.global .u32 later;";
        survive(&if inside { format!("{head} .entry every() {{ {soup}") } else { format!("{head} {soup}") });
    }

    #[test]
    fn damaged_modules(
        module in prop::sample::select(vec![HAND, NVRTC, RUSTC]),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), token()), 1..6),
    ) {
        let mut text = module.to_owned();
        for (from, length, new) in damage {
            let start = from.index(text.len());
            let end = (start + length.index(12)).min(text.len());
            let boundary = |mut at: usize, text: &str| { while !text.is_char_boundary(at) { at -= 1; } at };
            let range = boundary(start, &text)..boundary(end, &text);
            text.replace_range(range, new);
        }
        survive(&text);
    }
}
