//! Video instructions (PTX ISA, "Scalar Video Instructions", "SIMD Video Instructions"): one, two or four integers of a
//! word. Compilers still emit them for `__vabsdiffu4` and its relatives; GPUs emulate them, and so does this: one scalar
//! function that knows every operation, selector and second operation.

use gridstride_ptx::{Instr, Operand, Type};

use super::modifiers::Modifiers;
use super::{DecodeFn, Decoded, Reason};
use crate::decode::Decoder;
use crate::lane::{Args, LANES, Lanes, Slot, Step};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[
    ("vadd", video),
    ("vsub", video),
    ("vabsdiff", video),
    ("vmin", video),
    ("vmax", video),
    ("vshl", video),
    ("vshr", video),
    ("vset", video),
    ("vmad", multiply),
    ("vadd2", video),
    ("vsub2", video),
    ("vavrg2", video),
    ("vabsdiff2", video),
    ("vmin2", video),
    ("vmax2", video),
    ("vset2", video),
    ("vadd4", video),
    ("vsub4", video),
    ("vavrg4", video),
    ("vabsdiff4", video),
    ("vmin4", video),
    ("vmax4", video),
    ("vset4", video),
];

const OPERATIONS: [&str; 8] = ["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg", "vshl", "vshr"];
const COMPARISONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];
const SECOND: [&str; 3] = ["add", "min", "max"];

/// What an instruction does, as an immediate.
#[derive(Debug, Clone, Copy, Default)]
struct Spec {
    /// In `OPERATIONS`, or behind them in `COMPARISONS`.
    op: u8,
    /// 1, 2 or 4 parts.
    parts: u8,
    signed: [bool; 2],
    signed_out: bool,
    sat: bool,
    /// Shift amounts wrap instead of being clamped.
    wrap: bool,
    /// In `SECOND`, from 1; 0 for none.
    second: u8,
    /// Results go to a part of `c`: what the selector picks.
    merge: bool,
    /// Parts that are picked from `a` and `b`, 4 bits each: of a pair, `b`'s come behind `a`'s.
    pick: [u16; 2],
    /// Parts of the destination that are written; for one part the selector itself.
    mask: u8,
}

impl Spec {
    fn packed(self) -> i64 {
        let flag = |bit: bool, at: u32| i64::from(bit) << at;
        i64::from(self.op)
            | i64::from(self.parts) << 4
            | flag(self.signed[0], 7)
            | flag(self.signed[1], 8)
            | flag(self.signed_out, 9)
            | flag(self.sat, 10)
            | flag(self.wrap, 11)
            | i64::from(self.second) << 12
            | flag(self.merge, 14)
            | i64::from(self.mask) << 15
            | i64::from(self.pick[0]) << 23
            | i64::from(self.pick[1]) << 39
    }

    fn of(imm: i64) -> Self {
        let flag = |at: u32| imm >> at & 1 != 0;
        Self {
            op: (imm & 15) as u8,
            parts: (imm >> 4 & 7) as u8,
            signed: [flag(7), flag(8)],
            signed_out: flag(9),
            sat: flag(10),
            wrap: flag(11),
            second: (imm >> 12 & 3) as u8,
            merge: flag(14),
            mask: (imm >> 15) as u8,
            pick: [(imm >> 23) as u16, (imm >> 39) as u16],
        }
    }

    /// One part's result, before it is cut or saturated.
    fn operate(self, a: i64, b: i64) -> i64 {
        match self.op {
            0 => a + b,
            1 => a - b,
            2 => (a - b).abs(),
            3 => a.min(b),
            4 => a.max(b),
            // Halves go away from zero.
            5 => (a + b + i64::from(a + b >= 0)) >> 1,
            6 | 7 => {
                let by = if self.wrap { b & 31 } else { b.min(32) };
                if self.op == 6 { a << by } else { a >> by }
            }
            8 => i64::from(a == b),
            9 => i64::from(a != b),
            10 => i64::from(a < b),
            11 => i64::from(a <= b),
            12 => i64::from(a > b),
            _ => i64::from(a >= b),
        }
    }

    fn fit(self, value: i64, bits: u32) -> i64 {
        let (low, high) =
            if self.signed_out { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        if self.sat { value.clamp(low, high) } else { extend(value as u32, bits, self.signed_out) }
    }

    fn run(self, words: [u32; 2], c: u32) -> u32 {
        if self.parts == 1 { self.single(words, c) } else { self.parts(words, c) }
    }

    fn single(self, words: [u32; 2], c: u32) -> u32 {
        let [a, b] = [0, 1].map(|at| select(words[at], self.pick[at] as u8, self.signed[at]));
        let value = self.operate(a, b);
        let value = if self.op >= 8 { value } else { self.fit(value, 32) };
        if self.merge {
            let (at, bits) = part(self.mask);
            let field = u32::MAX >> (32 - bits) << at;
            let value = if self.sat && self.op < 8 { self.fit(value, bits) } else { value };
            return c & !field | (value as u32) << at & field;
        }
        let signed = self.signed_out && self.op < 8;
        second(self.second, value as u32, c, signed)
    }

    fn parts(self, words: [u32; 2], c: u32) -> u32 {
        let bits = 32 / u32::from(self.parts);
        let both = u64::from(words[0]) | u64::from(words[1]) << 32;
        let mut out = c;
        for part in (0..u32::from(self.parts)).filter(|part| self.mask >> part & 1 != 0) {
            let [a, b] = [0, 1].map(|at| {
                let from = u32::from(self.pick[at] >> (4 * part) & 15);
                extend((both >> (from * bits)) as u32, bits, self.signed[at])
            });
            let value = self.operate(a, b);
            if self.second != 0 {
                // Signed parts are added up as they are, with no bit lost, unless they saturate.
                let whole = self.op >= 8 || (self.signed_out && !self.sat);
                let value = if whole { value } else { self.fit(value, bits) };
                out = out.wrapping_add(value as u32);
            } else {
                let field = (u32::MAX >> (32 - bits)) << (part * bits);
                let value = if self.op >= 8 { value } else { self.fit(value, bits) };
                out = out & !field | (value as u32) << (part * bits) & field;
            }
        }
        out
    }
}

/// The lowest `bits` of a word as a number.
fn extend(word: u32, bits: u32, signed: bool) -> i64 {
    let high = word << (32 - bits);
    if signed { i64::from(high.cast_signed() >> (32 - bits)) } else { i64::from(high >> (32 - bits)) }
}

/// Where a selector's part is: its first bit, its bits. 0 to 3 are bytes, 4 and 5 halves, 6 is all.
fn part(selector: u8) -> (u32, u32) {
    match selector {
        0..=3 => (8 * u32::from(selector), 8),
        4 | 5 => (16 * u32::from(selector - 4), 16),
        _ => (0, 32),
    }
}

fn select(word: u32, selector: u8, signed: bool) -> i64 {
    let (at, bits) = part(selector);
    extend(word >> at, bits, signed)
}

/// The second operation, with `c`.
fn second(op: u8, value: u32, c: u32, signed: bool) -> u32 {
    let (a, b) = (value.cast_signed(), c.cast_signed());
    match (op, signed) {
        (0, _) => value,
        (1, _) => value.wrapping_add(c),
        (2, true) => a.min(b).cast_unsigned(),
        (2, false) => value.min(c),
        (_, true) => a.max(b).cast_unsigned(),
        (_, false) => value.max(c),
    }
}

unsafe fn exec(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, c, ..] = args.slots;
    let spec = Spec::of(args.imm);
    // SAFETY: the decoder gave 32-bit registers.
    unsafe {
        let (a, b, c) = (lanes.get::<u32>(a), lanes.get::<u32>(b), lanes.get::<u32>(c));
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = spec.run([a[lane], b[lane]], c[lane]);
        }
        lanes.set(d, out);
    }
    Ok(())
}

/// A selector of one part: `.b0` to `.b3`, `.h0`, `.h1`.
fn selector(word: &str) -> Result<u8, Reason> {
    ["b0", "b1", "b2", "b3", "h0", "h1"]
        .iter()
        .position(|name| *name == word)
        .map(|at| at as u8)
        .ok_or_else(|| format!("the selector `.{word}`"))
}

/// Parts picked by `.h10`, `.b3210` and the like, 4 bits each, the lowest part's first.
fn picks(word: &str, parts: u8) -> Result<u16, Reason> {
    let wrong = || format!("the selector `.{word}`");
    let digits = word.strip_prefix(if parts == 2 { 'h' } else { 'b' }).ok_or_else(wrong)?;
    let digit = |c: char| c.to_digit(8).filter(|digit| *digit < 2 * u32::from(parts));
    let found: Option<Vec<u32>> = digits.chars().map(digit).collect();
    let found = found.filter(|found| found.len() == parts as usize).ok_or_else(wrong)?;
    Ok(found.iter().fold(0, |all, digit| all << 4 | *digit as u16))
}

/// The parts of a destination that `.h1`, `.b20` and the like name.
fn mask(word: &str, parts: u8) -> Result<u8, Reason> {
    let wrong = || format!("the mask `.{word}`");
    let digits = word.strip_prefix(if parts == 2 { 'h' } else { 'b' }).ok_or_else(wrong)?;
    let digit = |c: char| c.to_digit(4).filter(|digit| *digit < u32::from(parts));
    digits.chars().try_fold(0, |mask, c| Some(mask | 1 << digit(c)?)).filter(|mask| *mask != 0).ok_or_else(wrong)
}

/// A source and its selector.
fn source<'i>(decoder: &mut Decoder<'_>, operand: &'i Operand) -> Result<(Slot, Option<&'i str>), Reason> {
    match operand {
        Operand::Element(reg, word) => Ok((decoder.src(&Operand::Reg(*reg), Type::B32)?, Some(word))),
        operand => Ok((decoder.src(operand, Type::B32)?, None)),
    }
}

fn signedness(ty: Type) -> Result<bool, Reason> {
    match ty {
        Type::U32 => Ok(false),
        Type::S32 => Ok(true),
        _ => Err(super::modifiers::wrong_type(ty)),
    }
}

/// `vadd.dtype.atype.btype{.sat}{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}` and its relatives of two and four parts.
fn video(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let (name, parts) = match instr.opcode.split_at(instr.opcode.len() - 1) {
        (name, "2") => (name, 2),
        (name, "4") => (name, 4),
        _ => (&*instr.opcode, 1),
    };
    let mut spec = Spec { parts, ..Spec::default() };
    if name == "vset" {
        spec.signed = [signedness(words.ty()?)?, signedness(words.ty()?)?];
        let compare = words.take_map(|word| COMPARISONS.iter().position(|name| *name == word));
        spec.op = 8 + compare.ok_or("no comparison")? as u8;
    } else {
        spec.signed_out = signedness(words.ty()?)?;
        spec.signed = [signedness(words.ty()?)?, signedness(words.ty()?)?];
        spec.op = OPERATIONS.iter().position(|known| *known == name).ok_or("the opcode is not known")? as u8;
    }
    spec.sat = words.take("sat");
    if spec.op == 6 || spec.op == 7 {
        spec.wrap = words.take_any(&["clamp", "wrap"]).ok_or("neither `.clamp` nor `.wrap`")? == "wrap";
    }
    let seconds = if parts == 1 { &SECOND[..] } else { &SECOND[..1] };
    spec.second = words.take_map(|word| seconds.iter().position(|name| *name == word)).map_or(0, |at| at as u8 + 1);
    words.done()?;
    let (d, a, b, c) = match &instr.operands[..] {
        [d, a, b] if parts == 1 && spec.second == 0 => (d, a, b, None),
        [d, a, b, c] => (d, a, b, Some(c)),
        _ => return Err("another number of operands expected".into()),
    };
    let ((a, a_word), (b, b_word)) = (source(decoder, a)?, source(decoder, b)?);
    let (d, d_word) = match d {
        Operand::Element(reg, word) => (decoder.dst(&Operand::Reg(*reg), Type::B32)?, Some(&**word)),
        d => (decoder.dst(d, Type::B32)?, None),
    };
    if parts == 1 {
        spec.pick = [a_word, b_word]
            .map(|word| word.map_or(Ok(6), selector).map(u16::from))
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?
            .try_into()
            .expect("two");
        spec.merge = d_word.is_some();
        spec.mask = d_word.map_or(Ok(6), selector)?;
        if spec.merge != (c.is_some() && spec.second == 0) {
            return Err("a third source goes with a selector of the destination or a second operation".into());
        }
    } else {
        let own = if parts == 2 { ["h10", "h32"] } else { ["b3210", "b7654"] };
        spec.pick = [picks(a_word.unwrap_or(own[0]), parts)?, picks(b_word.unwrap_or(own[1]), parts)?];
        spec.mask = d_word.map_or(Ok((1 << parts) - 1), |word| mask(word, parts))?;
    }
    let c = c.map_or(Ok(a), |c| decoder.src(c, Type::B32))?;
    Ok(Decoded::Lane(exec, Args::of(&[d, a, b, c], spec.packed())))
}

/// `vmad.dtype.atype.btype{.po}{.sat}{.shr7,.shr15} d, a{.asel}, b{.bsel}, c`. Slots: d, a, b, c.
fn multiply(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let signed_out = signedness(words.ty()?)?;
    let signed = [signedness(words.ty()?)?, signedness(words.ty()?)?];
    let (plus_one, sat) = (words.take("po"), words.take("sat"));
    let shift = match words.take_any(&["shr7", "shr15"]) {
        None => 0,
        Some("shr7") => 7,
        Some(_) => 15,
    };
    words.done()?;
    let [d, a, b, c] = decoder.operands(instr)?;
    let ((a, a_word), (b, b_word)) = (source(decoder, a)?, source(decoder, b)?);
    let pick = |word: Option<&str>| word.map_or(Ok(6), selector).map(i64::from);
    let (pick_a, pick_b) = (pick(a_word)?, pick(b_word)?);
    let slots = [decoder.dst(d, Type::B32)?, a, b, decoder.src(c, Type::B32)?];
    let flag = |bit: bool, at: u32| i64::from(bit) << at;
    let imm = pick_a
        | pick_b << 4
        | shift << 8
        | flag(signed[0], 16)
        | flag(signed[1], 17)
        | flag(signed_out, 18)
        | flag(sat, 19)
        | flag(plus_one, 20);
    Ok(Decoded::Lane(multiply_exec, Args::of(&slots, imm)))
}

unsafe fn multiply_exec(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, c, ..] = args.slots;
    let imm = args.imm;
    let flag = |at: u32| imm >> at & 1 != 0;
    let shift = (imm >> 8 & 0xFF) as u32;
    // SAFETY: the decoder gave 32-bit registers.
    unsafe {
        let (a, b, c) = (lanes.get::<u32>(a), lanes.get::<u32>(b), lanes.get::<u32>(c));
        let mut out = [0; LANES];
        // The sum is signed if a factor is, or the result.
        let any_signed = flag(16) || flag(17) || flag(18);
        for lane in 0..LANES {
            let product = i128::from(select(a[lane], (imm & 15) as u8, flag(16)))
                * i128::from(select(b[lane], (imm >> 4 & 15) as u8, flag(17)));
            let addend = extend(c[lane], 32, any_signed);
            let sum = (product + i128::from(addend) + i128::from(flag(20))) >> shift;
            let (low, high) = if flag(18) { (i32::MIN.into(), i32::MAX.into()) } else { (0, u32::MAX.into()) };
            out[lane] = if flag(19) { sum.clamp(low, high) } else { sum } as u32;
        }
        lanes.set(d, out);
    }
    Ok(())
}
