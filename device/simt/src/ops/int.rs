//! Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions"); chains of carries are in `carry.rs`.
//!
//! `add`, `sub`, `mul`, `mad`, `neg`, `abs`, `min`, `max` and `div` are shared with floating point: their decode functions
//! send float types on to `float.rs`.

use gridstride_ptx::{Instr, Type};

use super::modifiers::{Modifiers, wrong_type};
use super::shape::{self, Binary, Ternary, Unary, op};
use super::{DecodeFn, Decoded, Reason, carry, float, packed};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, Level};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[
    ("add", add),
    ("sub", sub),
    ("mul", mul),
    ("mad", mad),
    ("mul24", mul24),
    ("mad24", mad24),
    ("div", div),
    ("rem", rem),
    ("neg", neg),
    ("abs", abs),
    ("min", min),
    ("max", max),
    ("sad", sad),
];

op!(binary Add: u16 u32 u64 => |a, b| a.wrapping_add(b));
op!(binary Sub: u16 u32 u64 => |a, b| a.wrapping_sub(b));
op!(binary AddSat: i32 => |a, b| a.saturating_add(b));
op!(binary SubSat: i32 => |a, b| a.saturating_sub(b));
op!(binary MulLo: u16 u32 u64 => |a, b| a.wrapping_mul(b));
op!(binary Min: i16 i32 i64 u16 u32 u64 => |a, b| a.min(b));
op!(binary Max: i16 i32 i64 u16 u32 u64 => |a, b| a.max(b));
op!(unary Neg: i16 i32 i64 => |a| a.wrapping_neg());
op!(unary Abs: i16 i32 i64 => |a| a.wrapping_abs());
op!(ternary MadLo: u16 u32 u64 => |a, b, c| a.wrapping_mul(b).wrapping_add(c));
/// The lower 32 bits of the product of 24-bit numbers, or (`HIGH`) bits 16 to 47.
struct Mul24<const HIGH: bool>;
struct Mad24<const HIGH: bool>;
macro_rules! mul24 {
    ($($t:ty, $w:ty;)*) => {$(
        impl<const HIGH: bool> Binary<$t, $t> for Mul24<HIGH> {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $t {
                let product = (a << 8 >> 8) as $w * (b << 8 >> 8) as $w;
                if HIGH { (product >> 16) as $t } else { product as $t }
            }
        }
        impl<const HIGH: bool> Ternary<$t, $t> for Mad24<HIGH> {
            #[inline(always)]
            fn apply(a: $t, b: $t, c: $t) -> $t { <Mul24<HIGH> as Binary<$t, $t>>::apply(a, b).wrapping_add(c) }
        }
    )*};
}
mul24! { u32, u64; i32, i64; }
// `mad24.hi.sat.s32` and `mad.hi.sat.s32`: the sum saturates.
op!(ternary Mad24HiSat: i32 => |a, b, c| <Mul24<true> as Binary<i32, i32>>::apply(a, b).saturating_add(c));
op!(ternary MadHiSat: i32 => |a, b, c| <MulHi as Binary<i32, i32>>::apply(a, b).saturating_add(c));
/// `|a - b| + c`
struct Sad;
macro_rules! sad {
    ($($t:ty)*) => {$(
        impl Ternary<$t, $t> for Sad {
            #[inline(always)]
            fn apply(a: $t, b: $t, c: $t) -> $t { a.max(b).wrapping_sub(a.min(b)).wrapping_add(c) }
        }
    )*};
}
sad!(i16 i32 i64 u16 u32 u64);
// Quotient and remainder of a division by zero are all ones, as measured on an H200.
op!(binary UDiv: u16 u32 u64 => |a, b| a.checked_div(b).unwrap_or(!0));
op!(binary URem: u16 u32 u64 => |a, b| a.checked_rem(b).unwrap_or(!0));
op!(binary SDiv: i16 i32 i64 => |a, b| if b == 0 { -1 } else { a.wrapping_div(b) });
op!(binary SRem: i16 i32 i64 => |a, b| if b == 0 { -1 } else { a.wrapping_rem(b) });

/// The high half of a product.
pub(super) struct MulHi;
/// The whole product.
pub(super) struct MulWide;
/// High half plus a third operand; whole product plus a third operand.
struct MadHi;
pub(super) struct MadWide;

macro_rules! wide {
    ($($t:ty, $w:ty, $bits:literal;)*) => {$(
        impl Binary<$t, $t> for MulHi {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $t { ((a as $w * b as $w) >> $bits) as $t }
        }
        impl Ternary<$t, $t> for MadHi {
            #[inline(always)]
            fn apply(a: $t, b: $t, c: $t) -> $t { <MulHi as Binary<$t, $t>>::apply(a, b).wrapping_add(c) }
        }
    )*};
}
wide! { u16, u32, 16; u32, u64, 32; u64, u128, 64; i16, i32, 16; i32, i64, 32; i64, i128, 64; }

macro_rules! widening {
    ($($t:ty, $w:ty;)*) => {$(
        impl Binary<$t, $w> for MulWide {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $w { a as $w * b as $w }
        }
        impl Ternary<$t, $w> for MadWide {
            #[inline(always)]
            fn apply(a: $t, b: $t, c: $w) -> $w { (a as $w * b as $w).wrapping_add(c) }
        }
    )*};
}
widening! { u16, u32; u32, u64; i16, i32; i32, i64; }

/// The lane function of a binary operation whose result does not depend on the sign.
fn by_width<O>(ty: Type, level: Level) -> Result<ExecFn, Reason>
where
    O: Binary<u16, u16> + Binary<u32, u32> + Binary<u64, u64>,
{
    match ty {
        Type::U16 | Type::S16 | Type::B16 => Ok(shape::binary::<u16, u16, O>(level)),
        Type::U32 | Type::S32 | Type::B32 => Ok(shape::binary::<u32, u32, O>(level)),
        Type::U64 | Type::S64 | Type::B64 => Ok(shape::binary::<u64, u64, O>(level)),
        _ => Err(wrong_type(ty)),
    }
}

/// The lane function of a binary operation by width and sign; `U` runs the unsigned types, `S` the signed ones.
fn by_sign<U, S>(ty: Type, level: Level) -> Result<ExecFn, Reason>
where
    U: Binary<u16, u16> + Binary<u32, u32> + Binary<u64, u64>,
    S: Binary<i16, i16> + Binary<i32, i32> + Binary<i64, i64>,
{
    match ty {
        Type::S16 => Ok(shape::binary::<i16, i16, S>(level)),
        Type::S32 => Ok(shape::binary::<i32, i32, S>(level)),
        Type::S64 => Ok(shape::binary::<i64, i64, S>(level)),
        _ => by_width::<U>(ty, level),
    }
}

/// `d, a, b` of one type.
pub(super) fn three(decoder: &mut Decoder<'_>, instr: &Instr, ty: Type, exec: ExecFn) -> Result<Decoded, Reason> {
    let [d, a, b] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

/// `d, a` of one type.
pub(super) fn two(decoder: &mut Decoder<'_>, instr: &Instr, ty: Type, exec: ExecFn) -> Result<Decoded, Reason> {
    let [d, a] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

fn add(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if packed::is_packed(instr) {
        return packed::arithmetic(decoder, instr);
    }
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if ty.is_float() {
        return float::add(decoder, instr);
    }
    if words.take("cc") {
        words.done()?;
        return carry::sum(decoder, instr, ty);
    }
    let exec = match (words.take("sat"), ty) {
        (true, Type::S32) => shape::binary::<i32, i32, AddSat>(decoder.level()),
        (true, _) => return Err("`.sat` for a type other than `.s32`".into()),
        (false, _) => by_width::<Add>(ty, decoder.level())?,
    };
    words.done()?;
    three(decoder, instr, ty, exec)
}

fn sub(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if ty.is_float() {
        return float::sub(decoder, instr);
    }
    if words.take("cc") {
        words.done()?;
        return carry::sum(decoder, instr, ty);
    }
    let exec = match (words.take("sat"), ty) {
        (true, Type::S32) => shape::binary::<i32, i32, SubSat>(decoder.level()),
        (true, _) => return Err("`.sat` for a type other than `.s32`".into()),
        (false, _) => by_width::<Sub>(ty, decoder.level())?,
    };
    words.done()?;
    three(decoder, instr, ty, exec)
}

fn mul(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if ty.is_float() {
        return float::mul(decoder, instr);
    }
    let half = words.take_any(&["lo", "hi", "wide"]).ok_or("none of `.lo`, `.hi` and `.wide`")?;
    words.done()?;
    let level = decoder.level();
    match half {
        "lo" => three(decoder, instr, ty, by_width::<MulLo>(ty, level)?),
        "hi" => three(decoder, instr, ty, by_sign::<MulHi, MulHi>(ty, level)?),
        _ => {
            let [d, a, b] = decoder.operands(instr)?;
            let (exec, out) = match ty {
                Type::U16 => (shape::binary::<u16, u32, MulWide>(level), Type::U32),
                Type::S16 => (shape::binary::<i16, i32, MulWide>(level), Type::U32),
                Type::U32 => (shape::binary::<u32, u64, MulWide>(level), Type::U64),
                Type::S32 => (shape::binary::<i32, i64, MulWide>(level), Type::U64),
                _ => return Err(wrong_type(ty)),
            };
            let slots = [decoder.dst(d, out)?, decoder.src(a, ty)?, decoder.src(b, ty)?];
            Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
        }
    }
}

fn mad(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if ty.is_float() {
        return float::fma(decoder, instr);
    }
    let half = words.take_any(&["lo", "hi", "wide"]).ok_or("none of `.lo`, `.hi` and `.wide`")?;
    if half != "wide" && words.take("cc") {
        words.done()?;
        return carry::product(decoder, instr);
    }
    let sat = half == "hi" && ty == Type::S32 && words.take("sat");
    words.done()?;
    let level = decoder.level();
    let (exec, out) = match (half, ty) {
        ("lo", Type::U16 | Type::S16) => (shape::ternary::<u16, u16, MadLo>(level), ty),
        ("lo", Type::U32 | Type::S32) => (shape::ternary::<u32, u32, MadLo>(level), ty),
        ("lo", Type::U64 | Type::S64) => (shape::ternary::<u64, u64, MadLo>(level), ty),
        ("hi", Type::U16) => (shape::ternary::<u16, u16, MadHi>(level), ty),
        ("hi", Type::S16) => (shape::ternary::<i16, i16, MadHi>(level), ty),
        ("hi", Type::U32) => (shape::ternary::<u32, u32, MadHi>(level), ty),
        ("hi", Type::S32) if sat => (shape::ternary::<i32, i32, MadHiSat>(Level::Baseline), ty),
        ("hi", Type::S32) => (shape::ternary::<i32, i32, MadHi>(level), ty),
        ("hi", Type::U64) => (shape::ternary::<u64, u64, MadHi>(level), ty),
        ("hi", Type::S64) => (shape::ternary::<i64, i64, MadHi>(level), ty),
        ("wide", Type::U16) => (shape::ternary::<u16, u32, MadWide>(level), Type::U32),
        ("wide", Type::S16) => (shape::ternary::<i16, i32, MadWide>(level), Type::U32),
        ("wide", Type::U32) => (shape::ternary::<u32, u64, MadWide>(level), Type::U64),
        ("wide", Type::S32) => (shape::ternary::<i32, i64, MadWide>(level), Type::U64),
        _ => return Err(wrong_type(ty)),
    };
    four(decoder, instr, [out, ty, ty, out], exec)
}

fn mul24(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let half = words.take_any(&["lo", "hi"]).ok_or("neither `.lo` nor `.hi`")?;
    words.done()?;
    let exec = match (ty, half) {
        (Type::U32, "lo") => shape::binary::<u32, u32, Mul24<false>>(decoder.level()),
        (Type::S32, "lo") => shape::binary::<i32, i32, Mul24<false>>(decoder.level()),
        (Type::U32, _) => shape::binary::<u32, u32, Mul24<true>>(Level::Baseline),
        (Type::S32, _) => shape::binary::<i32, i32, Mul24<true>>(Level::Baseline),
        _ => return Err(wrong_type(ty)),
    };
    three(decoder, instr, ty, exec)
}

fn mad24(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let half = words.take_any(&["lo", "hi"]).ok_or("neither `.lo` nor `.hi`")?;
    let sat = half == "hi" && ty == Type::S32 && words.take("sat");
    words.done()?;
    let exec = match (ty, half) {
        (Type::U32, "lo") => shape::ternary::<u32, u32, Mad24<false>>(decoder.level()),
        (Type::S32, "lo") => shape::ternary::<i32, i32, Mad24<false>>(decoder.level()),
        (Type::U32, _) => shape::ternary::<u32, u32, Mad24<true>>(Level::Baseline),
        (Type::S32, _) if sat => shape::ternary::<i32, i32, Mad24HiSat>(Level::Baseline),
        (Type::S32, _) => shape::ternary::<i32, i32, Mad24<true>>(Level::Baseline),
        _ => return Err(wrong_type(ty)),
    };
    four(decoder, instr, [ty; 4], exec)
}

/// `d, a, b, c` of these types.
pub(super) fn four(d: &mut Decoder<'_>, instr: &Instr, types: [Type; 4], exec: ExecFn) -> Result<Decoded, Reason> {
    let [out, a, b, c] = d.operands(instr)?;
    let slots = [d.dst(out, types[0])?, d.src(a, types[1])?, d.src(b, types[2])?, d.src(c, types[3])?];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

fn div(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if ty.is_float() {
        return float::div(decoder, instr);
    }
    words.done()?;
    let exec = by_sign::<UDiv, SDiv>(ty, decoder.level())?;
    three(decoder, instr, ty, exec)
}

fn rem(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let exec = by_sign::<URem, SRem>(ty, decoder.level())?;
    three(decoder, instr, ty, exec)
}

fn signed<O>(ty: Type, level: Level) -> Result<ExecFn, Reason>
where
    O: Unary<i16, i16> + Unary<i32, i32> + Unary<i64, i64>,
{
    match ty {
        Type::S16 => Ok(shape::unary::<i16, i16, O>(level)),
        Type::S32 => Ok(shape::unary::<i32, i32, O>(level)),
        Type::S64 => Ok(shape::unary::<i64, i64, O>(level)),
        _ => Err(wrong_type(ty)),
    }
}

fn neg(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if ty.is_float() {
        return float::neg(decoder, instr);
    }
    words.done()?;
    let exec = signed::<Neg>(ty, decoder.level())?;
    two(decoder, instr, ty, exec)
}

fn abs(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if ty.is_float() {
        return float::abs(decoder, instr);
    }
    words.done()?;
    let exec = signed::<Abs>(ty, decoder.level())?;
    two(decoder, instr, ty, exec)
}

fn min(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if packed::is_packed(instr) {
        return packed::arithmetic(decoder, instr);
    }
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if ty.is_float() {
        return float::min(decoder, instr);
    }
    words.done()?;
    let exec = by_sign::<Min, Min>(ty, decoder.level())?;
    three(decoder, instr, ty, exec)
}

fn max(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if packed::is_packed(instr) {
        return packed::arithmetic(decoder, instr);
    }
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if ty.is_float() {
        return float::max(decoder, instr);
    }
    words.done()?;
    let exec = by_sign::<Max, Max>(ty, decoder.level())?;
    three(decoder, instr, ty, exec)
}

fn sad(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let exec = match ty {
        Type::U16 => shape::ternary::<u16, u16, Sad>(Level::Baseline),
        Type::U32 => shape::ternary::<u32, u32, Sad>(decoder.level()),
        Type::U64 => shape::ternary::<u64, u64, Sad>(Level::Baseline),
        Type::S16 => shape::ternary::<i16, i16, Sad>(Level::Baseline),
        Type::S32 => shape::ternary::<i32, i32, Sad>(decoder.level()),
        Type::S64 => shape::ternary::<i64, i64, Sad>(Level::Baseline),
        _ => return Err(wrong_type(ty)),
    };
    four(decoder, instr, [ty; 4], exec)
}
