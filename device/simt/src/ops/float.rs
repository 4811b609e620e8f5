//! Arithmetic of `f32` and `f64` (PTX ISA, "Floating Point Instructions"), exact but for `.approx`, which `approx.rs` has.
//!
//! Rounded to nearest, everything is vector code. Other roundings, and `.sat`, go through `f64` with the sign of what it
//! lost (`f32`) or through [`super::exact`] (`f64`).
//!
//! NaNs, as measured on an H200: an `f32` result is always 0x7FFFFFFF. An `f64` result is the operand that is a NaN, made
//! quiet, its sign kept even by `neg` and `abs`; of several the second wins, then the third, then the first (in a division
//! the first); a NaN made of numbers is 0xFFF8000000000000.

use std::marker::PhantomData;

use gridstride_ptx::{Instr, Type};

use super::exact::Rounding;
use super::modifiers::{Modifiers, wrong_type};
use super::shape::{self, Binary, Ternary, Unary};
use super::{DecodeFn, Decoded, Reason, approx, directed, half, int};
use crate::decode::Decoder;
use crate::lane::{Args, Lane, Level};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("fma", fma), ("sqrt", sqrt), ("rcp", rcp), ("copysign", copysign)];

/// What every float type can do to its own values.
pub(crate) trait Float: Lane {
    /// The NaN of a result that came of these operands, the one that counts most first; other results stay.
    fn settle<const N: usize>(self, operands: [Self; N]) -> Self;
    /// A zero of the same sign, if the value is subnormal.
    fn flush(self) -> Self;
}

impl Float for f32 {
    #[inline(always)]
    fn settle<const N: usize>(self, _: [Self; N]) -> Self {
        // By its bits: to the compiler one NaN is as good as another, and it may leave a float comparison's choice out.
        let bits = self.to_bits();
        Self::from_bits(if bits & 0x7FFF_FFFF > 0x7F80_0000 { 0x7FFF_FFFF } else { bits })
    }
    #[inline(always)]
    fn flush(self) -> Self {
        let magnitude = self.to_bits() & 0x7FFF_FFFF;
        if magnitude < 0x0080_0000 { Self::from_bits(self.to_bits() & 0x8000_0000) } else { self }
    }
}

impl Float for f64 {
    #[inline(always)]
    fn settle<const N: usize>(self, operands: [Self; N]) -> Self {
        // By their bits, as above.
        let is_nan = |bits: u64| bits & !(1 << 63) > 0x7FF0_0000_0000_0000;
        let mut nan = 0xFFF8_0000_0000_0000;
        for operand in operands.into_iter().rev().map(Self::to_bits) {
            nan = if is_nan(operand) { operand | 1 << 51 } else { nan };
        }
        let bits = self.to_bits();
        Self::from_bits(if is_nan(bits) { nan } else { bits })
    }
    #[inline(always)]
    fn flush(self) -> Self {
        self
    }
}

/// Clamped to 0..=1; a NaN and -0 become 0.
#[inline(always)]
pub(super) fn saturate(value: f32) -> f32 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// The operations as the machine has them; what their NaN is, [`Settled`] says.
pub(crate) struct Add;
pub(crate) struct Sub;
pub(crate) struct Mul;
pub(crate) struct Div;
pub(crate) struct Fma;
pub(crate) struct Sqrt;
pub(crate) struct Rcp;
/// A NaN gives way to a number, and -0 is below +0.
pub(crate) struct Min;
pub(crate) struct Max;
/// A NaN wins.
pub(crate) struct MinNan;
pub(crate) struct MaxNan;
/// Of the magnitudes.
pub(crate) struct Abs2<O>(PhantomData<O>);
struct Neg;
struct Abs;
struct CopySign;

macro_rules! plain {
    ($($t:ty)*) => {$(
        impl Binary<$t, $t> for Add { #[inline(always)] fn apply(a: $t, b: $t) -> $t { a + b } }
        impl Binary<$t, $t> for Sub { #[inline(always)] fn apply(a: $t, b: $t) -> $t { a - b } }
        impl Binary<$t, $t> for Mul { #[inline(always)] fn apply(a: $t, b: $t) -> $t { a * b } }
        impl Binary<$t, $t> for Div { #[inline(always)] fn apply(a: $t, b: $t) -> $t { a / b } }
        impl Ternary<$t, $t> for Fma { #[inline(always)] fn apply(a: $t, b: $t, c: $t) -> $t { a.mul_add(b, c) } }
        impl Unary<$t, $t> for Sqrt { #[inline(always)] fn apply(a: $t) -> $t { a.sqrt() } }
        impl Unary<$t, $t> for Rcp { #[inline(always)] fn apply(a: $t) -> $t { 1.0 / a } }
        impl Binary<$t, $t> for Min {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $t {
                if a < b || (a == b && a.is_sign_negative()) || b.is_nan() { a } else { b }
            }
        }
        impl Binary<$t, $t> for Max {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $t {
                if a > b || (a == b && a.is_sign_positive()) || b.is_nan() { a } else { b }
            }
        }
        impl Binary<$t, $t> for MinNan {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $t { if a.is_nan() { a } else if b.is_nan() { b } else { Min::apply(a, b) } }
        }
        impl Binary<$t, $t> for MaxNan {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $t { if a.is_nan() { a } else if b.is_nan() { b } else { Max::apply(a, b) } }
        }
        impl<O: Binary<$t, $t>> Binary<$t, $t> for Abs2<O> {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $t { O::apply(a.abs(), b.abs()) }
        }
        impl Unary<$t, $t> for Neg { #[inline(always)] fn apply(a: $t) -> $t { -a } }
        impl Unary<$t, $t> for Abs { #[inline(always)] fn apply(a: $t) -> $t { a.abs() } }
        // PTX: the sign of the first operand, the magnitude of the second; a NaN is no special case.
        impl Binary<$t, $t> for CopySign { #[inline(always)] fn apply(a: $t, b: $t) -> $t { b.copysign(a) } }
    )*};
}
plain!(f32 f64);

/// `O` with the NaN of an NVIDIA GPU. `FIRST`: of two NaNs the first wins.
pub(crate) struct Settled<O, const FIRST: bool = false>(PhantomData<O>);

impl<T: Float, O: Unary<T, T>> Unary<T, T> for Settled<O> {
    #[inline(always)]
    fn apply(a: T) -> T {
        O::apply(a).settle([a])
    }
}
impl<T: Float, O: Binary<T, T>, const FIRST: bool> Binary<T, T> for Settled<O, FIRST> {
    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        O::apply(a, b).settle(if FIRST { [a, b] } else { [b, a] })
    }
}
impl<T: Float, O: Ternary<T, T>> Ternary<T, T> for Settled<O> {
    #[inline(always)]
    fn apply(a: T, b: T, c: T) -> T {
        O::apply(a, b, c).settle([b, c, a])
    }
}

/// `O` with subnormal operands and results flushed to zero.
pub(crate) struct Ftz<O>(PhantomData<O>);

impl<T: Float, O: Unary<T, T>> Unary<T, T> for Ftz<O> {
    #[inline(always)]
    fn apply(a: T) -> T {
        O::apply(a.flush()).flush()
    }
}
impl<T: Float, O: Binary<T, T>> Binary<T, T> for Ftz<O> {
    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        O::apply(a.flush(), b.flush()).flush()
    }
}
/// `O` of the magnitudes, with the signs' exclusive or.
struct XorSign<O>(PhantomData<O>);
impl<O: Binary<f32, f32>> Binary<f32, f32> for XorSign<O> {
    #[inline(always)]
    fn apply(a: f32, b: f32) -> f32 {
        O::apply(a.abs(), b.abs()).copysign(f32::from_bits(a.to_bits() ^ b.to_bits()))
    }
}

/// What the modifiers of a float instruction ask for.
pub(super) struct Form {
    pub(super) ty: Type,
    pub(super) rounding: Rounding,
    pub(super) ftz: bool,
    pub(super) sat: bool,
}

impl Form {
    /// Reads rounding, `.ftz`, `.sat` and the type. `rounded`: a rounding must be named.
    pub(super) fn of(instr: &Instr, rounded: bool, may_saturate: bool) -> Result<Self, Reason> {
        let mut words = Modifiers::of(instr);
        let ty = words.ty()?;
        let rounding = words.take_map(Rounding::from_name);
        let rounding = match rounding {
            None if rounded => return Err("none of `.rn`, `.rz`, `.rm` and `.rp`".into()),
            found => found.unwrap_or(Rounding::Nearest),
        };
        let single = ty == Type::F32;
        let ftz = single && words.take("ftz");
        let sat = single && may_saturate && words.take("sat");
        words.done()?;
        Ok(Self { ty, rounding, ftz, sat })
    }

    /// True if the vector code, to nearest and not saturated, does it.
    pub(super) fn plain(&self) -> bool {
        self.rounding == Rounding::Nearest && !self.sat
    }
}

/// True for a type of `half.rs`.
fn is_half(instr: &Instr) -> bool {
    instr.modifiers.iter().any(|word| matches!(&**word, "f16" | "f16x2" | "bf16" | "bf16x2"))
}

/// An operation with the vector code `O` and the general one `G`.
fn binary<O, G>(decoder: &mut Decoder<'_>, instr: &Instr, rounded: bool) -> Result<Decoded, Reason>
where
    O: Binary<f32, f32> + Binary<f64, f64>,
    G: directed::Operation,
{
    let form = Form::of(instr, rounded, !rounded)?;
    let level = decoder.level();
    let exec = match (form.ty, form.plain(), form.ftz) {
        (Type::F32, true, false) => shape::binary::<f32, f32, O>(level),
        (Type::F64, true, _) => shape::binary::<f64, f64, O>(level),
        _ => {
            let [d, a, b] = decoder.operands(instr)?;
            return directed::decode::<G>(decoder, &form, d, [a, b, b]);
        }
    };
    int::three(decoder, instr, form.ty, exec)
}

pub(super) fn add(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if is_half(instr) {
        return half::arithmetic::<Add>(decoder, instr);
    }
    binary::<Settled<Add>, directed::Add>(decoder, instr, false)
}

pub(super) fn sub(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if is_half(instr) {
        return half::arithmetic::<Sub>(decoder, instr);
    }
    binary::<Settled<Sub>, directed::Sub>(decoder, instr, false)
}

pub(super) fn mul(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if is_half(instr) {
        return half::arithmetic::<Mul>(decoder, instr);
    }
    binary::<Settled<Mul>, directed::Mul>(decoder, instr, false)
}

/// `fma`, and `mad` of floats, which on every GPU since sm_20 is the same.
pub(super) fn fma(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if is_half(instr) {
        return half::fma(decoder, instr);
    }
    let mut form = Form::of(instr, true, true)?;
    form.sat &= form.ty == Type::F32;
    let level = decoder.level();
    let exec = match (form.ty, form.plain(), form.ftz) {
        (Type::F32, true, false) => shape::ternary::<f32, f32, Settled<Fma>>(level),
        (Type::F64, true, _) => shape::ternary::<f64, f64, Settled<Fma>>(level),
        _ => {
            let [d, a, b, c] = decoder.operands(instr)?;
            return directed::decode::<directed::Fma>(decoder, &form, d, [a, b, c]);
        }
    };
    let [d, a, b, c] = decoder.operands(instr)?;
    let ty = form.ty;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?, decoder.src(c, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

fn is_approximate(instr: &Instr) -> bool {
    instr.modifiers.iter().any(|word| matches!(&**word, "approx" | "full"))
}

pub(super) fn div(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if is_approximate(instr) {
        return approx::div(decoder, instr);
    }
    binary::<Settled<Div, true>, directed::Div>(decoder, instr, true)
}

/// `rcp` and `sqrt`.
fn unary<O, G>(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason>
where
    O: Unary<f32, f32> + Unary<f64, f64>,
    G: directed::Operation,
{
    if is_approximate(instr) {
        return approx::root(decoder, instr);
    }
    let form = Form::of(instr, true, false)?;
    let level = decoder.level();
    let exec = match (form.ty, form.plain(), form.ftz) {
        (Type::F32, true, false) => shape::unary::<f32, f32, O>(level),
        (Type::F64, true, _) => shape::unary::<f64, f64, O>(level),
        _ => {
            let [d, a] = decoder.operands(instr)?;
            return directed::decode::<G>(decoder, &form, d, [a, a, a]);
        }
    };
    int::two(decoder, instr, form.ty, exec)
}

fn sqrt(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    unary::<Settled<Sqrt>, directed::Sqrt>(decoder, instr)
}

fn rcp(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    unary::<Settled<Rcp>, directed::Rcp>(decoder, instr)
}

pub(super) fn min(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if is_half(instr) {
        return half::extreme::<Min, MinNan>(decoder, instr);
    }
    extreme::<Min, MinNan>(decoder, instr)
}

pub(super) fn max(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if is_half(instr) {
        return half::extreme::<Max, MaxNan>(decoder, instr);
    }
    extreme::<Max, MaxNan>(decoder, instr)
}

fn extreme<O, N>(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason>
where
    O: Binary<f32, f32> + Binary<f64, f64>,
    N: Binary<f32, f32>,
{
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let single = ty == Type::F32;
    let (ftz, nan, xor) = (single && words.take("ftz"), single && words.take("NaN"), single && words.take("xorsign"));
    if xor && !words.take("abs") {
        return Err("`.xorsign` without `.abs`".into());
    }
    words.done()?;
    let (level, cold) = (decoder.level(), Level::Baseline);
    let exec = match (ty, ftz, nan, xor) {
        (Type::F32, false, false, false) => shape::binary::<f32, f32, Settled<O>>(level),
        (Type::F32, true, false, false) => shape::binary::<f32, f32, Ftz<Settled<O>>>(level),
        (Type::F32, false, true, false) => shape::binary::<f32, f32, Settled<N>>(level),
        (Type::F32, true, true, false) => shape::binary::<f32, f32, Ftz<Settled<N>>>(cold),
        (Type::F32, false, false, true) => shape::binary::<f32, f32, Settled<XorSign<O>>>(cold),
        (Type::F32, true, false, true) => shape::binary::<f32, f32, Ftz<Settled<XorSign<O>>>>(cold),
        (Type::F32, false, true, true) => shape::binary::<f32, f32, Settled<XorSign<N>>>(cold),
        (Type::F32, true, true, true) => shape::binary::<f32, f32, Ftz<Settled<XorSign<N>>>>(cold),
        (Type::F64, ..) => shape::binary::<f64, f64, Settled<O>>(level),
        _ => return Err(wrong_type(ty)),
    };
    int::three(decoder, instr, ty, exec)
}

fn sign<O>(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason>
where
    O: Unary<f32, f32> + Unary<f64, f64>,
{
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let ftz = ty == Type::F32 && words.take("ftz");
    words.done()?;
    let level = decoder.level();
    let exec = match (ty, ftz) {
        (Type::F32, false) => shape::unary::<f32, f32, Settled<O>>(level),
        (Type::F32, true) => shape::unary::<f32, f32, Ftz<Settled<O>>>(level),
        (Type::F64, _) => shape::unary::<f64, f64, Settled<O>>(level),
        _ => return Err(wrong_type(ty)),
    };
    int::two(decoder, instr, ty, exec)
}

pub(super) fn neg(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if is_half(instr) {
        return half::sign(decoder, instr, true);
    }
    sign::<Neg>(decoder, instr)
}

pub(super) fn abs(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if is_half(instr) {
        return half::sign(decoder, instr, false);
    }
    sign::<Abs>(decoder, instr)
}

fn copysign(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let exec = match ty {
        Type::F32 => shape::binary::<f32, f32, CopySign>(Level::Baseline),
        Type::F64 => shape::binary::<f64, f64, CopySign>(Level::Baseline),
        _ => return Err(wrong_type(ty)),
    };
    int::three(decoder, instr, ty, exec)
}
