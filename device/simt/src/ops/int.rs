//! Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Arithmetic Instructions").
//!
//! `add`, `sub`, `mul`, `mad`, `neg`, `abs`, `min`, `max` and `div` are shared with floating point: their decode functions
//! send float types on to `float.rs`.

use gridstride_ptx::{Instr, Type};

use super::modifiers::{Modifiers, wrong_type};
use super::shape::{self, Binary, Ternary, Unary, op};
use super::{DecodeFn, Decoded, Reason, float};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, LANES, Lane, Lanes, Level, Step, multiversion};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[
    ("add", add),
    ("sub", sub),
    ("addc", add_with_carry),
    ("subc", add_with_carry),
    ("mul", mul),
    ("mad", mad),
    ("mul24", mul24),
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
op!(binary Mul24: u32 => |a, b| (a & 0xFF_FFFF).wrapping_mul(b & 0xFF_FFFF));
op!(binary SMul24: i32 => |a, b| (a << 8 >> 8).wrapping_mul(b << 8 >> 8));
op!(ternary Sad: u16 u32 u64 => |a, b, c| a.abs_diff(b).wrapping_add(c));
// Division by zero gives all ones, and the remainder gives the dividend, as the code that ptxas makes of them does.
op!(binary UDiv: u16 u32 u64 => |a, b| if b == 0 { !0 } else { a / b });
op!(binary URem: u16 u32 u64 => |a, b| if b == 0 { a } else { a % b });
op!(binary SDiv: i16 i32 i64 => |a, b| if b == 0 { -1 } else { a.wrapping_div(b) });
op!(binary SRem: i16 i32 i64 => |a, b| if b == 0 { a } else { a.wrapping_rem(b) });

/// The high half of a product.
struct MulHi;
/// The whole product.
struct MulWide;
/// High half plus a third operand; whole product plus a third operand.
struct MadHi;
struct MadWide;

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
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if ty.is_float() {
        return float::add(decoder, instr);
    }
    if words.take("cc") {
        words.done()?;
        return carrying(decoder, instr, ty, false, false);
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
        return carrying(decoder, instr, ty, true, false);
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
    words.done()?;
    let level = decoder.level();
    let (exec, out) = match (half, ty) {
        ("lo", Type::U16 | Type::S16) => (shape::ternary::<u16, u16, MadLo>(level), ty),
        ("lo", Type::U32 | Type::S32) => (shape::ternary::<u32, u32, MadLo>(level), ty),
        ("lo", Type::U64 | Type::S64) => (shape::ternary::<u64, u64, MadLo>(level), ty),
        ("hi", Type::U16) => (shape::ternary::<u16, u16, MadHi>(level), ty),
        ("hi", Type::S16) => (shape::ternary::<i16, i16, MadHi>(level), ty),
        ("hi", Type::U32) => (shape::ternary::<u32, u32, MadHi>(level), ty),
        ("hi", Type::S32) => (shape::ternary::<i32, i32, MadHi>(level), ty),
        ("hi", Type::U64) => (shape::ternary::<u64, u64, MadHi>(level), ty),
        ("hi", Type::S64) => (shape::ternary::<i64, i64, MadHi>(level), ty),
        ("wide", Type::U16) => (shape::ternary::<u16, u32, MadWide>(level), Type::U32),
        ("wide", Type::S16) => (shape::ternary::<i16, i32, MadWide>(level), Type::U32),
        ("wide", Type::U32) => (shape::ternary::<u32, u64, MadWide>(level), Type::U64),
        ("wide", Type::S32) => (shape::ternary::<i32, i64, MadWide>(level), Type::U64),
        _ => return Err(wrong_type(ty)),
    };
    let [d, a, b, c] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, out)?, decoder.src(a, ty)?, decoder.src(b, ty)?, decoder.src(c, out)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

fn mul24(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let low = words.take("lo");
    words.done()?;
    let exec = match ty {
        Type::U32 if low => shape::binary::<u32, u32, Mul24>(decoder.level()),
        Type::S32 if low => shape::binary::<i32, i32, SMul24>(decoder.level()),
        _ => return Err("only `.lo` of `.u32` and `.s32`".into()),
    };
    three(decoder, instr, ty, exec)
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
        Type::U16 => shape::ternary::<u16, u16, Sad>(decoder.level()),
        Type::U32 => shape::ternary::<u32, u32, Sad>(decoder.level()),
        Type::U64 => shape::ternary::<u64, u64, Sad>(decoder.level()),
        _ => return Err(wrong_type(ty)),
    };
    let [d, a, b, c] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?, decoder.src(c, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

/// Unsigned addition with a carry in and out.
trait Carrying: Lane {
    fn carrying(self, other: Self, carry: bool) -> (Self, bool);
    fn not(self) -> Self;
}
macro_rules! carrying {
    ($($t:ty)*) => {$(impl Carrying for $t {
        #[inline(always)]
        fn carrying(self, other: Self, carry: bool) -> (Self, bool) {
            let (sum, a) = self.overflowing_add(other);
            let (sum, b) = sum.overflowing_add(Self::from(carry));
            (sum, a | b)
        }
        #[inline(always)]
        fn not(self) -> Self { !self }
    })*};
}
carrying!(u32 u64);

/// Bits of `Args::imm` of the carrying operations.
const SUBTRACT: i64 = 1;
const CARRY_IN: i64 = 2;
const CARRY_OUT: i64 = 4;

/// `d = a ± b ± carry`. A subtraction adds the complement, with the carry as "no borrow"; PTX defines only what
/// `sub.cc`, `subc` chains give, which is the same.
#[inline(always)]
unsafe fn carrying_body<T: Carrying>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, carry, ..] = args.slots;
    // SAFETY: the decoder gave registers of T's width, and a predicate for the carry.
    unsafe {
        let (a, b, flags) = (lanes.get::<T>(a), lanes.get::<T>(b), lanes.get_pred(carry));
        let subtract = args.imm & SUBTRACT != 0;
        let mut out = [T::default(); LANES];
        let mut carries = 0;
        for lane in 0..LANES {
            let carry_in = if args.imm & CARRY_IN != 0 { flags >> lane & 1 != 0 } else { subtract };
            let other = if subtract { b[lane].not() } else { b[lane] };
            let (sum, carry_out) = a[lane].carrying(other, carry_in);
            out[lane] = sum;
            carries |= u32::from(carry_out) << lane;
        }
        lanes.set(d, out);
        if args.imm & CARRY_OUT != 0 {
            lanes.set_pred(carry, carries);
        }
    }
    Ok(())
}
multiversion!(carrying_sum<T: Carrying> => carrying_body);

fn add_with_carry(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let out = words.take("cc");
    words.done()?;
    let subtract = &*instr.opcode == "subc";
    carrying_chain(decoder, instr, ty, SUBTRACT * i64::from(subtract) | CARRY_IN | CARRY_OUT * i64::from(out))
}

fn carrying(d: &mut Decoder<'_>, instr: &Instr, ty: Type, subtract: bool, carry_in: bool) -> Result<Decoded, Reason> {
    let imm = SUBTRACT * i64::from(subtract) | CARRY_IN * i64::from(carry_in) | CARRY_OUT;
    carrying_chain(d, instr, ty, imm)
}

fn carrying_chain(decoder: &mut Decoder<'_>, instr: &Instr, ty: Type, imm: i64) -> Result<Decoded, Reason> {
    let exec = match ty {
        Type::U32 | Type::S32 => carrying_sum::<u32>(decoder.level()),
        Type::U64 | Type::S64 => carrying_sum::<u64>(decoder.level()),
        _ => return Err(wrong_type(ty)),
    };
    let [d, a, b] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?, decoder.carry()];
    Ok(Decoded::Lane(exec, Args::of(&slots, imm)))
}
