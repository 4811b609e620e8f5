//! Comparison and selection (PTX ISA, "Comparison and Selection Instructions").
//!
//! A predicate register is a mask, so a comparison of 32 lanes gives 32 bits at once.

use std::marker::PhantomData;

use gridstride_ptx::{Instr, Operand, Type};
use half::{bf16, f16};

use super::modifiers::{Modifiers, wrong_type};
use super::{DecodeFn, Decoded, Reason};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, LANES, Lane, Lanes, Level, Slot, Step, multiversion};

pub(super) const OPCODES: &[(&str, DecodeFn)] =
    &[("setp", setp), ("set", set), ("selp", selp), ("slct", slct), ("testp", testp)];

/// A comparison of two `T`s.
pub(crate) trait Test<T> {
    fn test(a: T, b: T) -> bool;
}

macro_rules! tests {
    ($($name:ident: $($t:ty)*, |$a:ident, $b:ident| $body:expr;)*) => {$(
        pub(crate) struct $name;
        $(impl Test<$t> for $name {
            #[inline(always)]
            fn test($a: $t, $b: $t) -> bool { $body }
        })*
    )*};
}
tests! {
    Eq: u16 u32 u64 f32 f64, |a, b| a == b;
    Ne: u16 u32 u64, |a, b| a != b;
    Lt: u16 u32 u64 i16 i32 i64 f32 f64, |a, b| a < b;
    Le: u16 u32 u64 i16 i32 i64 f32 f64, |a, b| a <= b;
    Gt: u16 u32 u64 i16 i32 i64 f32 f64, |a, b| a > b;
    Ge: u16 u32 u64 i16 i32 i64 f32 f64, |a, b| a >= b;
    // Ordered: false where there is a NaN. Unordered (`u`): true there.
    NeOrdered: f32 f64, |a, b| a < b || a > b;
    EqU: f32 f64, |a, b| !(a < b || a > b);
    NeU: f32 f64, |a, b| a != b;
    LtU: f32 f64, |a, b| !(a >= b);
    LeU: f32 f64, |a, b| !(a > b);
    GtU: f32 f64, |a, b| !(a <= b);
    GeU: f32 f64, |a, b| !(a < b);
    Num: f32 f64, |a, b| !a.is_nan() && !b.is_nan();
    AnyNan: f32 f64, |a, b| a.is_nan() || b.is_nan();
}

/// Comparison of 16-bit floats through `f32`, which holds each of them exactly.
pub(crate) struct Half<H, O>(PhantomData<(H, O)>);
impl<O: Test<f32>> Test<u16> for Half<f16, O> {
    #[inline(always)]
    fn test(a: u16, b: u16) -> bool {
        O::test(f16::from_bits(a).to_f32(), f16::from_bits(b).to_f32())
    }
}
impl<O: Test<f32>> Test<u16> for Half<bf16, O> {
    #[inline(always)]
    fn test(a: u16, b: u16) -> bool {
        O::test(bf16::from_bits(a).to_f32(), bf16::from_bits(b).to_f32())
    }
}
/// Comparison with subnormals taken for zeros.
pub(crate) struct Ftz<O>(PhantomData<O>);
impl<O: Test<f32>> Test<f32> for Ftz<O> {
    #[inline(always)]
    fn test(a: f32, b: f32) -> bool {
        use super::float::Float;
        O::test(a.flush(), b.flush())
    }
}

/// How the result is combined with a third predicate: `imm` bits.
const COMBINE_AND: i64 = 1;
const COMBINE_OR: i64 = 2;
const COMBINE_XOR: i64 = 3;
const NEGATE_THIRD: i64 = 4;

#[inline(always)]
fn mask_of<T: Lane, O: Test<T>>(a: [T; LANES], b: [T; LANES]) -> u32 {
    let mut mask = 0u32;
    for lane in 0..LANES {
        mask |= u32::from(O::test(a[lane], b[lane])) << lane;
    }
    mask
}

/// `d = a OP b`
#[inline(always)]
unsafe fn setp_body<T: Lane, O: Test<T>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, ..] = args.slots;
    // SAFETY: the decoder gave registers of T's width and a predicate.
    unsafe {
        let mask = mask_of::<T, O>(lanes.get::<T>(a), lanes.get::<T>(b));
        lanes.set_pred(d, mask);
    }
    Ok(())
}
multiversion!(setp_exec<T: Lane, O: Test<T>> => setp_body);

/// Combines the comparison in scratch predicate `a` with a third predicate: `d|q = a BOOL c, !a BOOL c`.
unsafe fn combine(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, q, a, c, ..] = args.slots;
    // SAFETY: the decoder gave predicates.
    unsafe {
        let test = lanes.get_pred(a);
        let third = lanes.get_pred(c) ^ if args.imm & NEGATE_THIRD != 0 { u32::MAX } else { 0 };
        let apply = |test: u32| match args.imm & 3 {
            COMBINE_AND => test & third,
            COMBINE_OR => test | third,
            COMBINE_XOR => test ^ third,
            _ => test,
        };
        lanes.set_pred(q, apply(!test));
        lanes.set_pred(d, apply(test));
    }
    Ok(())
}

/// A comparison, then its combination: one instruction of the text is one lane function here.
#[inline(always)]
unsafe fn setp_combined_body<T: Lane, O: Test<T>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, q, a, b, c, scratch] = args.slots;
    // SAFETY: the decoder gave registers of T's width and predicates.
    unsafe {
        let mask = mask_of::<T, O>(lanes.get::<T>(a), lanes.get::<T>(b));
        lanes.set_pred(scratch, mask);
        combine(lanes, &Args::of(&[d, q, scratch, c], args.imm))
    }
}

/// The lane functions of a comparison. Only the plain one is compiled for every level: it is in every loop.
#[derive(Clone, Copy)]
struct Comparison {
    plain: ExecFn,
    combined: ExecFn,
    set_ones: ExecFn,
    set_one: ExecFn,
}

fn comparison<T: Lane, O: Test<T>>(level: Level) -> Comparison {
    Comparison {
        plain: setp_exec::<T, O>(level),
        combined: setp_combined_body::<T, O>,
        set_ones: set_body::<T, O, { u32::MAX }>,
        set_one: set_body::<T, O, 0x3F80_0000>,
    }
}

fn find(op: &str, ty: Type, ftz: bool, level: Level) -> Result<Comparison, Reason> {
    macro_rules! unsigned {
        ($t:ty, $s:ty) => {
            match op {
                "eq" => comparison::<$t, Eq>(level),
                "ne" => comparison::<$t, Ne>(level),
                "lt" | "lo" => comparison::<$s, Lt>(level),
                "le" | "ls" => comparison::<$s, Le>(level),
                "gt" | "hi" => comparison::<$s, Gt>(level),
                "ge" | "hs" => comparison::<$s, Ge>(level),
                _ => return Err(format!("the comparison `.{op}` of integers")),
            }
        };
    }
    macro_rules! float {
        ($t:ty, $wrap:ident) => {
            match op {
                "eq" => comparison::<$t, $wrap!(Eq)>(level),
                "ne" => comparison::<$t, $wrap!(NeOrdered)>(level),
                "lt" => comparison::<$t, $wrap!(Lt)>(level),
                "le" => comparison::<$t, $wrap!(Le)>(level),
                "gt" => comparison::<$t, $wrap!(Gt)>(level),
                "ge" => comparison::<$t, $wrap!(Ge)>(level),
                "equ" => comparison::<$t, $wrap!(EqU)>(level),
                "neu" => comparison::<$t, $wrap!(NeU)>(level),
                "ltu" => comparison::<$t, $wrap!(LtU)>(level),
                "leu" => comparison::<$t, $wrap!(LeU)>(level),
                "gtu" => comparison::<$t, $wrap!(GtU)>(level),
                "geu" => comparison::<$t, $wrap!(GeU)>(level),
                "num" => comparison::<$t, $wrap!(Num)>(level),
                "nan" => comparison::<$t, $wrap!(AnyNan)>(level),
                _ => return Err(format!("the comparison `.{op}` of floats")),
            }
        };
    }
    macro_rules! itself {
        ($o:ident) => {
            $o
        };
    }
    macro_rules! flushed { ($o:ident) => { Ftz<$o> }; }
    macro_rules! half { ($o:ident) => { Half<f16, $o> }; }
    macro_rules! brain { ($o:ident) => { Half<bf16, $o> }; }
    Ok(match ty {
        Type::B16 | Type::U16 => unsigned!(u16, u16),
        Type::B32 | Type::U32 => unsigned!(u32, u32),
        Type::B64 | Type::U64 => unsigned!(u64, u64),
        Type::S16 => unsigned!(u16, i16),
        Type::S32 => unsigned!(u32, i32),
        Type::S64 => unsigned!(u64, i64),
        Type::F32 if ftz => float!(f32, flushed),
        Type::F32 => float!(f32, itself),
        Type::F64 => float!(f64, itself),
        Type::F16 => float!(u16, half),
        Type::BF16 => float!(u16, brain),
        _ => return Err(wrong_type(ty)),
    })
}

const COMPARISONS: &[&str] = &[
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

/// `setp.OP[.BOOL][.ftz].TYPE p[|q], a, b[, {!}c]`
fn setp(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let op = words.take_any(COMPARISONS).ok_or("no comparison is named")?;
    let combine = combination(&mut words);
    let ftz = words.take("ftz");
    let ty = words.ty()?;
    words.done()?;
    let found = find(op, ty, ftz, decoder.level())?;
    let (out, a, b, third) = match (&instr.operands[..], combine) {
        ([out, a, b], 0) => (out, a, b, None),
        ([out, a, b, third], _) if combine != 0 => (out, a, b, Some(third)),
        _ => return Err("operands of a kind that does not belong here".into()),
    };
    let (a, b) = (decoder.src(a, ty)?, decoder.src(b, ty)?);
    let (d, q) = match out {
        Operand::Pair(d, q) => (decoder.dst(d, Type::Pred)?, Some(decoder.dst(q, Type::Pred)?)),
        out => (decoder.dst(out, Type::Pred)?, None),
    };
    if third.is_none() && q.is_none() {
        return Ok(Decoded::Lane(found.plain, Args::of(&[d, a, b], 0)));
    }
    let (third, imm) = third_predicate(decoder, third, combine)?;
    let scratch = decoder.test_scratch();
    let q = q.unwrap_or(decoder.scratch(Type::Pred));
    Ok(Decoded::Lane(found.combined, Args::of(&[d, q, a, b, third, scratch], imm)))
}

fn combination(words: &mut Modifiers<'_>) -> i64 {
    match words.take_any(&["and", "or", "xor"]) {
        Some("and") => COMBINE_AND,
        Some("or") => COMBINE_OR,
        Some(_) => COMBINE_XOR,
        None => 0,
    }
}

fn third_predicate(decoder: &mut Decoder<'_>, third: Option<&Operand>, combine: i64) -> Result<(Slot, i64), Reason> {
    match third {
        None => Ok((decoder.constant(0, Type::Pred), 0)),
        Some(Operand::NotReg(reg)) => Ok((decoder.src(&Operand::Reg(*reg), Type::Pred)?, combine | NEGATE_THIRD)),
        Some(other) => Ok((decoder.src(other, Type::Pred)?, combine)),
    }
}

/// `set`: `ONE` (all bits, or 1.0) where the comparison holds, else 0.
unsafe fn set_body<T: Lane, O: Test<T>, const ONE: u32>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, ..] = args.slots;
    // SAFETY: the decoder gave a 32-bit register and two of T's width.
    unsafe {
        let mask = mask_of::<T, O>(lanes.get::<T>(a), lanes.get::<T>(b));
        let mut out = [0u32; LANES];
        for lane in 0..LANES {
            out[lane] = if mask >> lane & 1 != 0 { ONE } else { 0 };
        }
        lanes.set(d, out);
    }
    Ok(())
}

/// `set.OP[.ftz].DTYPE.TYPE d, a, b` for 32-bit results.
fn set(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let op = words.take_any(COMPARISONS).ok_or("no comparison is named")?;
    let ftz = words.take("ftz");
    let (out, ty) = (words.ty()?, words.ty()?);
    words.done()?;
    let found = find(op, ty, ftz, decoder.level())?;
    let exec = match out {
        Type::U32 | Type::S32 => found.set_ones,
        Type::F32 => found.set_one,
        _ => return Err(wrong_type(out)),
    };
    let [d, a, b] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, out)?, decoder.src(a, ty)?, decoder.src(b, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

/// `d = p ? a : b`
#[inline(always)]
unsafe fn selp_body<T: Lane>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, p, ..] = args.slots;
    // SAFETY: the decoder gave registers of T's width and a predicate.
    unsafe {
        let (a, b, mask) = (lanes.get::<T>(a), lanes.get::<T>(b), lanes.get_pred(p) ^ args.imm as u32);
        let mut out = [T::default(); LANES];
        for lane in 0..LANES {
            out[lane] = if mask >> lane & 1 != 0 { a[lane] } else { b[lane] };
        }
        lanes.set(d, out);
    }
    Ok(())
}
multiversion!(selp_exec<T: Lane> => selp_body);

fn by_size(ty: Type, level: Level) -> Result<ExecFn, Reason> {
    match ty.bytes() {
        2 => Ok(selp_exec::<u16>(level)),
        4 => Ok(selp_exec::<u32>(level)),
        8 => Ok(selp_exec::<u64>(level)),
        _ => Err(wrong_type(ty)),
    }
}

fn selp(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let exec = by_size(ty, decoder.level())?;
    let [d, a, b, p] = decoder.operands(instr)?;
    let (p, flip) = match p {
        Operand::NotReg(reg) => (decoder.src(&Operand::Reg(*reg), Type::Pred)?, -1),
        p => (decoder.src(p, Type::Pred)?, 0),
    };
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?, p];
    Ok(Decoded::Lane(exec, Args::of(&slots, flip)))
}

/// `d = c >= 0 ? a : b`, with `c` a signed integer or a float (where -0 counts as 0 and a NaN chooses `b`).
#[inline(always)]
unsafe fn slct_body<T: Lane, C: Lane + PartialOrd>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, c, ..] = args.slots;
    // SAFETY: the decoder gave registers of these widths.
    unsafe {
        let (a, b, c) = (lanes.get::<T>(a), lanes.get::<T>(b), lanes.get::<C>(c));
        let mut out = [T::default(); LANES];
        for lane in 0..LANES {
            out[lane] = if c[lane] >= C::default() { a[lane] } else { b[lane] };
        }
        lanes.set(d, out);
    }
    Ok(())
}

fn slct(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    words.take("ftz");
    let (ty, by) = (words.ty()?, words.ty()?);
    words.done()?;
    let exec: ExecFn = match (ty.bytes(), by) {
        (2, Type::S32) => slct_body::<u16, i32>,
        (4, Type::S32) => slct_body::<u32, i32>,
        (8, Type::S32) => slct_body::<u64, i32>,
        (2, Type::F32) => slct_body::<u16, f32>,
        (4, Type::F32) => slct_body::<u32, f32>,
        (8, Type::F32) => slct_body::<u64, f32>,
        _ => return Err(wrong_type(by)),
    };
    let [d, a, b, c] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?, decoder.src(c, by)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

/// Properties of a single float, as comparisons of it with itself.
macro_rules! properties {
    ($($name:ident |$a:ident| $body:expr;)*) => {$(
        struct $name;
        impl Test<f32> for $name { #[inline(always)] fn test($a: f32, _: f32) -> bool { $body } }
        impl Test<f64> for $name { #[inline(always)] fn test($a: f64, _: f64) -> bool { $body } }
    )*};
}
properties! {
    Finite |a| a.is_finite();
    Infinite |a| a.is_infinite();
    Number |a| !a.is_nan();
    NotANumber |a| a.is_nan();
    Normal |a| a.is_normal();
    Subnormal |a| a.is_subnormal();
}

fn testp(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let properties = ["finite", "infinite", "number", "notanumber", "normal", "subnormal"];
    let property = words.take_any(&properties).ok_or("no property is named")?;
    let ty = words.ty()?;
    words.done()?;
    macro_rules! of {
        ($t:ty) => {
            match property {
                "finite" => setp_exec::<$t, Finite>(Level::Baseline),
                "infinite" => setp_exec::<$t, Infinite>(Level::Baseline),
                "number" => setp_exec::<$t, Number>(Level::Baseline),
                "notanumber" => setp_exec::<$t, NotANumber>(Level::Baseline),
                "normal" => setp_exec::<$t, Normal>(Level::Baseline),
                _ => setp_exec::<$t, Subnormal>(Level::Baseline),
            }
        };
    }
    let exec = match ty {
        Type::F32 => of!(f32),
        Type::F64 => of!(f64),
        _ => return Err(wrong_type(ty)),
    };
    let [p, a] = decoder.operands(instr)?;
    let (p, a) = (decoder.dst(p, Type::Pred)?, decoder.src(a, ty)?);
    Ok(Decoded::Lane(exec, Args::of(&[p, a, a], 0)))
}
