//! Comparison (PTX ISA, "setp", "set").
//!
//! A predicate register is a mask, so a comparison of 32 lanes gives 32 bits at once. The plain comparisons, which every
//! loop has, are vector code of their own; all others first find less, equal and greater, and take from these what the
//! comparison's table names.

use gridstride_ptx::{Instr, Operand, Type};

use super::half::{BF16, F16, Half, flush};
use super::modifiers::{Modifiers, wrong_type};
use super::relations::{fast, pack};
use super::{DecodeFn, Decoded, Reason};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, LANES, Lanes, Slot, Step};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("setp", setp), ("set", set)];

// What a comparison is true of: bits of its table.
const LESS: i64 = 1;
const EQUAL: i64 = 2;
const GREATER: i64 = 4;
const UNORDERED: i64 = 8;

/// The tables, `lo` to `hs` last: those are of unsigned integers.
const TABLES: &[(&str, i64)] = &[
    ("eq", EQUAL),
    ("ne", LESS | GREATER),
    ("lt", LESS),
    ("le", LESS | EQUAL),
    ("gt", GREATER),
    ("ge", GREATER | EQUAL),
    ("equ", EQUAL | UNORDERED),
    ("neu", LESS | GREATER | UNORDERED),
    ("ltu", LESS | UNORDERED),
    ("leu", LESS | EQUAL | UNORDERED),
    ("gtu", GREATER | UNORDERED),
    ("geu", GREATER | EQUAL | UNORDERED),
    ("num", LESS | EQUAL | GREATER),
    ("nan", UNORDERED),
    ("lo", LESS),
    ("ls", LESS | EQUAL),
    ("hi", GREATER),
    ("hs", GREATER | EQUAL),
];

/// The table of a comparison of `ty`, if it has that comparison.
fn table(op: &str, ty: Type) -> Result<i64, Reason> {
    let at = TABLES.iter().position(|(name, _)| *name == op).ok_or("no comparison is named")?;
    let known = match ty {
        Type::Pred | Type::B128 => false,
        Type::B16 | Type::B32 | Type::B64 => at < 2,
        _ if ty.is_float() => at < 14,
        _ if ty.is_signed() => at < 6,
        _ => !(6..14).contains(&at),
    };
    if known { Ok(TABLES[at].1) } else { Err(format!("the comparison `.{op}` of `.{}`", ty.name())) }
}

// Further bits of `Args::imm`.
const AND: i64 = 1 << 4;
const OR: i64 = 2 << 4;
const XOR: i64 = 3 << 4;
const NEGATE_THIRD: i64 = 1 << 6;
const FTZ: i64 = 1 << 7;
/// The second destination is of the second half of a pair, not of the complement.
const PAIR: i64 = 1 << 8;
/// From here on: what `set` writes.
const SET_SHIFT: u32 = 9;

/// The lanes of which a table is true.
fn choose<T: PartialOrd + Copy>(a: [T; LANES], b: [T; LANES], table: i64) -> u32 {
    let mut answers = [false; LANES];
    for lane in 0..LANES {
        let (a, b) = (a[lane], b[lane]);
        let ordered = a <= b || a > b;
        answers[lane] = (a < b && table & LESS != 0)
            || (a == b && table & EQUAL != 0)
            || (a > b && table & GREATER != 0)
            || (!ordered && table & UNORDERED != 0);
    }
    pack(answers)
}

/// How operands are compared: one mask, or for pairs two.
trait Compare: 'static {
    /// # Safety
    /// The slots must be of registers of the type.
    unsafe fn compare(lanes: &Lanes<'_>, a: Slot, b: Slot, imm: i64) -> [u32; 2];
}

macro_rules! numbers {
    ($($t:ty)*) => {$(impl Compare for $t {
        unsafe fn compare(lanes: &Lanes<'_>, a: Slot, b: Slot, imm: i64) -> [u32; 2] {
            // SAFETY: by the caller.
            let mask = unsafe { choose(lanes.get::<$t>(a), lanes.get::<$t>(b), imm) };
            [mask, !mask]
        }
    })*};
}
numbers!(u16 u32 u64 i16 i32 i64 f64);

impl Compare for f32 {
    unsafe fn compare(lanes: &Lanes<'_>, a: Slot, b: Slot, imm: i64) -> [u32; 2] {
        // SAFETY: by the caller.
        let (a, b) = unsafe { (lanes.get::<f32>(a), lanes.get::<f32>(b)) };
        let flushed = |values: [f32; LANES]| {
            if imm & FTZ != 0 { values.map(super::float::Float::flush) } else { values }
        };
        let mask = choose(flushed(a), flushed(b), imm);
        [mask, !mask]
    }
}

impl<H: Half> Compare for H {
    unsafe fn compare(lanes: &Lanes<'_>, a: Slot, b: Slot, imm: i64) -> [u32; 2] {
        let wide = |bits: u16| H::wide(if imm & FTZ != 0 { flush::<H>(bits) } else { bits });
        // SAFETY: by the caller; pairs are registers of 32 bits.
        unsafe {
            if imm & PAIR == 0 {
                let mask = choose(lanes.get::<u16>(a).map(wide), lanes.get::<u16>(b).map(wide), imm);
                return [mask, !mask];
            }
            let (a, b) = (lanes.get::<u32>(a), lanes.get::<u32>(b));
            [0, 16].map(|shift| {
                let half = |values: [u32; LANES]| values.map(|pair| wide((pair >> shift) as u16));
                choose(half(a), half(b), imm)
            })
        }
    }
}

/// `d|q = a OP b BOOL c, …`, and `set`.
unsafe fn general<C: Compare>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, q, a, b, c, _] = args.slots;
    let imm = args.imm;
    // SAFETY: the decoder gave registers of the type, predicates, and for `set` a destination as `imm` says.
    unsafe {
        let found = C::compare(lanes, a, b, imm);
        let third = lanes.get_pred(c) ^ if imm & NEGATE_THIRD != 0 { u32::MAX } else { 0 };
        let [first, second] = found.map(|mask| match imm & XOR {
            AND => mask & third,
            OR => mask | third,
            XOR => mask ^ third,
            _ => mask,
        });
        store(lanes, d, q, [first, second], imm >> SET_SHIFT);
    }
    Ok(())
}

// What `set` writes where the comparison holds, beside predicates (0).
const ONES_32: i64 = 1;
const ONE_F32: i64 = 2;
const ONES_16: i64 = 3;
const ONE_F16: i64 = 4;
const ONE_BF16: i64 = 5;
const PAIR_ONES: i64 = 6;
const PAIR_F16: i64 = 7;
const PAIR_BF16: i64 = 8;

unsafe fn store(lanes: &mut Lanes<'_>, d: Slot, q: Slot, masks: [u32; 2], what: i64) {
    let bit = |mask: u32, lane: usize| mask >> lane & 1;
    let [first, second] = masks;
    // SAFETY: `d` is of the width that `what` says, by the decoder; `q` is a predicate.
    unsafe {
        match what {
            ONES_32 | ONE_F32 => {
                let one = if what == ONES_32 { u32::MAX } else { 1.0f32.to_bits() };
                lanes.set(d, std::array::from_fn(|lane| bit(first, lane) * one));
            }
            ONES_16 | ONE_F16 | ONE_BF16 => {
                let one = [u16::MAX, F16::ONE, BF16::ONE][(what - ONES_16) as usize];
                lanes.set(d, std::array::from_fn(|lane| bit(first, lane) as u16 * one));
            }
            PAIR_ONES | PAIR_F16 | PAIR_BF16 => {
                let one = u32::from([u16::MAX, F16::ONE, BF16::ONE][(what - PAIR_ONES) as usize]);
                lanes.set(d, std::array::from_fn(|lane| (bit(first, lane) * one) | (bit(second, lane) * one) << 16));
            }
            _ => {
                lanes.set_pred(q, second);
                lanes.set_pred(d, first);
            }
        }
    }
}

fn slow(ty: Type) -> Result<ExecFn, Reason> {
    Ok(match ty {
        Type::B16 | Type::U16 => general::<u16>,
        Type::B32 | Type::U32 => general::<u32>,
        Type::B64 | Type::U64 => general::<u64>,
        Type::S16 => general::<i16>,
        Type::S32 => general::<i32>,
        Type::S64 => general::<i64>,
        Type::F32 => general::<f32>,
        Type::F64 => general::<f64>,
        Type::F16 | Type::F16x2 => general::<F16>,
        Type::BF16 | Type::BF16x2 => general::<BF16>,
        _ => return Err(wrong_type(ty)),
    })
}

/// A comparison as written: its operands, and `imm` without what `set` adds.
struct Comparison {
    op: String,
    ty: Type,
    imm: i64,
}

impl Comparison {
    fn of(words: &mut Modifiers<'_>, result: bool) -> Result<(Self, Type), Reason> {
        let op = words.take_map(|word| TABLES.iter().find(|(name, _)| *name == word).map(|(name, _)| *name));
        let op = op.ok_or("no comparison is named")?.to_owned();
        let combine = match words.take_any(&["and", "or", "xor"]) {
            Some("and") => AND,
            Some("or") => OR,
            Some(_) => XOR,
            None => 0,
        };
        let out = if result { words.ty()? } else { Type::Pred };
        let ty = words.ty()?;
        let may_flush = matches!(ty, Type::F32 | Type::F16 | Type::F16x2);
        let flush = if may_flush && words.take("ftz") { FTZ } else { 0 };
        let pair = if matches!(ty, Type::F16x2 | Type::BF16x2) { PAIR } else { 0 };
        let imm = table(&op, ty)? | combine | flush | pair;
        Ok((Self { op, ty, imm }, out))
    }

    /// The slots of `d, q, a, b, c`, for destinations that are known.
    fn args(&self, decoder: &mut Decoder<'_>, d: Slot, q: Slot, sources: &[Operand], set: i64) -> Result<Args, Reason> {
        let combined = self.imm & XOR != 0;
        let (a, b, third) = match sources {
            [a, b] if !combined => (a, b, None),
            [a, b, third] if combined => (a, b, Some(third)),
            _ => return Err(format!("{} operands expected", if combined { 4 } else { 3 })),
        };
        let (third, negate) = match third {
            None => (decoder.constant(0, Type::Pred), 0),
            Some(Operand::NotReg(reg)) => (decoder.src(&Operand::Reg(*reg), Type::Pred)?, NEGATE_THIRD),
            Some(other) => (decoder.src(other, Type::Pred)?, 0),
        };
        let slots = [d, q, decoder.src(a, self.ty)?, decoder.src(b, self.ty)?, third];
        Ok(Args::of(&slots, self.imm | negate | set << SET_SHIFT))
    }
}

/// `setp.OP[.BOOL][.ftz].TYPE p[|q], a, b[, {!}c]`
fn setp(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let (comparison, _) = Comparison::of(&mut words, false)?;
    words.done()?;
    let [out, sources @ ..] = &instr.operands[..] else { return Err("no operands".into()) };
    let (d, q) = match out {
        Operand::Pair(d, q) => (&**d, Some(&**q)),
        out => (out, None),
    };
    let d = decoder.dst(d, Type::Pred)?;
    if let ([a, b], None, 0) = (sources, q, comparison.imm & (XOR | FTZ | PAIR))
        && let Some(exec) = fast(&comparison.op, comparison.ty, decoder.level())
    {
        let slots = [d, decoder.src(a, comparison.ty)?, decoder.src(b, comparison.ty)?];
        return Ok(Decoded::Lane(exec, Args::of(&slots, 0)));
    }
    let q = match q {
        Some(q) => decoder.dst(q, Type::Pred)?,
        None => decoder.scratch(Type::Pred),
    };
    let args = comparison.args(decoder, d, q, sources, 0)?;
    Ok(Decoded::Lane(slow(comparison.ty)?, args))
}

/// `set.OP[.BOOL][.ftz].DTYPE.TYPE d, a, b[, {!}c]`
fn set(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let (comparison, out) = Comparison::of(&mut words, true)?;
    words.done()?;
    let pair = comparison.imm & PAIR != 0;
    let what = match (out, pair) {
        (Type::U32 | Type::S32, false) => ONES_32,
        (Type::F32, false) => ONE_F32,
        (Type::U16 | Type::S16, false) => ONES_16,
        (Type::F16, false) => ONE_F16,
        (Type::BF16, false) => ONE_BF16,
        (Type::U32 | Type::S32, true) => PAIR_ONES,
        (Type::F16x2, true) => PAIR_F16,
        (Type::BF16x2, true) => PAIR_BF16,
        _ => return Err(wrong_type(out)),
    };
    let [d, sources @ ..] = &instr.operands[..] else { return Err("no operands".into()) };
    let d = decoder.dst(d, out)?;
    let q = decoder.scratch(Type::Pred);
    let args = comparison.args(decoder, d, q, sources, what)?;
    Ok(Decoded::Lane(slow(comparison.ty)?, args))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relation_has_its_table() {
        let a = [f64::NAN; LANES];
        assert_eq!(choose(a, a, table("nan", Type::F64).unwrap()), u32::MAX);
        assert_eq!(choose(a, a, table("ne", Type::F64).unwrap()), 0);
        assert_eq!(choose([1.0; LANES], [1.0; LANES], table("geu", Type::F64).unwrap()), u32::MAX);
        assert!(table("lo", Type::S32).is_err());
        assert!(table("lt", Type::B32).is_err());
        assert!(table("equ", Type::U32).is_err());
    }
}
