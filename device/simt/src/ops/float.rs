//! Floating-point arithmetic (PTX ISA, "Floating Point Instructions" and "Half Precision Floating Point Instructions").
//!
//! Rounded to nearest even, with `.ftz` and `.sat`. A NaN that an `.f32` instruction makes is the canonical one of NVIDIA's
//! GPUs, 0x7FFFFFFF. The `.approx` forms are computed in double precision and rounded, which is within the bounds that the
//! PTX ISA states for them.

use std::marker::PhantomData;

use gridstride_ptx::{Instr, Type};
use half::{bf16, f16};

use super::modifiers::{Modifiers, wrong_type};
use super::shape::{self, Binary, Ternary, Unary};
use super::{DecodeFn, Decoded, Reason, int};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, Lane, Level};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[
    ("fma", fma),
    ("sqrt", sqrt),
    ("rcp", rcp),
    ("rsqrt", rsqrt),
    ("copysign", copysign),
    ("ex2", ex2),
    ("lg2", lg2),
    ("sin", sin),
    ("cos", cos),
    ("tanh", tanh),
];

/// What every float type can do to its own values.
pub(crate) trait Float: Lane {
    /// The canonical NaN, if the value is one.
    fn canonical(self) -> Self;
    /// A zero of the same sign, if the value is subnormal.
    fn flush(self) -> Self;
    /// Clamped to 0..=1; a NaN becomes 0.
    fn saturate(self) -> Self;
}

impl Float for f32 {
    #[inline(always)]
    fn canonical(self) -> Self {
        if self.is_nan() { Self::from_bits(0x7FFF_FFFF) } else { self }
    }
    #[inline(always)]
    fn flush(self) -> Self {
        let magnitude = self.to_bits() & 0x7FFF_FFFF;
        if magnitude < 0x0080_0000 { Self::from_bits(self.to_bits() & 0x8000_0000) } else { self }
    }
    #[inline(always)]
    fn saturate(self) -> Self {
        // `max` first: it drops a NaN, and makes -0 of nothing that is not 0 already.
        if self > 0.0 { self.min(1.0) } else { 0.0 }
    }
}

impl Float for f64 {
    #[inline(always)]
    fn canonical(self) -> Self {
        self
    }
    #[inline(always)]
    fn flush(self) -> Self {
        self
    }
    #[inline(always)]
    fn saturate(self) -> Self {
        if self > 0.0 { self.min(1.0) } else { 0.0 }
    }
}

/// The plain operations.
pub(crate) struct Add;
pub(crate) struct Sub;
pub(crate) struct Mul;
pub(crate) struct Div;
pub(crate) struct Fma;
pub(crate) struct Min;
pub(crate) struct Max;
pub(crate) struct MinNan;
pub(crate) struct MaxNan;
pub(crate) struct Neg;
pub(crate) struct Abs;
pub(crate) struct Sqrt;
pub(crate) struct CopySign;

macro_rules! plain {
    ($($t:ty)*) => {$(
        impl Binary<$t, $t> for Add { #[inline(always)] fn apply(a: $t, b: $t) -> $t { (a + b).canonical() } }
        impl Binary<$t, $t> for Sub { #[inline(always)] fn apply(a: $t, b: $t) -> $t { (a - b).canonical() } }
        impl Binary<$t, $t> for Mul { #[inline(always)] fn apply(a: $t, b: $t) -> $t { (a * b).canonical() } }
        impl Binary<$t, $t> for Div { #[inline(always)] fn apply(a: $t, b: $t) -> $t { (a / b).canonical() } }
        impl Ternary<$t, $t> for Fma { #[inline(always)] fn apply(a: $t, b: $t, c: $t) -> $t { a.mul_add(b, c).canonical() } }
        impl Unary<$t, $t> for Sqrt { #[inline(always)] fn apply(a: $t) -> $t { a.sqrt().canonical() } }
        impl Binary<$t, $t> for MinNan {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $t { if a.is_nan() || b.is_nan() { <$t>::NAN.canonical() } else { <Min as Binary<$t, $t>>::apply(a, b) } }
        }
        impl Binary<$t, $t> for MaxNan {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $t { if a.is_nan() || b.is_nan() { <$t>::NAN.canonical() } else { <Max as Binary<$t, $t>>::apply(a, b) } }
        }
        // A NaN gives way to a number, and -0 is below +0.
        impl Binary<$t, $t> for Min {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $t {
                let smaller = if a < b || (a == b && a.is_sign_negative()) || b.is_nan() { a } else { b };
                smaller.canonical()
            }
        }
        impl Binary<$t, $t> for Max {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $t {
                let larger = if a > b || (a == b && a.is_sign_positive()) || b.is_nan() { a } else { b };
                larger.canonical()
            }
        }
        impl Unary<$t, $t> for Neg { #[inline(always)] fn apply(a: $t) -> $t { -a } }
        impl Unary<$t, $t> for Abs { #[inline(always)] fn apply(a: $t) -> $t { a.abs() } }
        // PTX: the sign of the first operand, the magnitude of the second.
        impl Binary<$t, $t> for CopySign { #[inline(always)] fn apply(a: $t, b: $t) -> $t { b.copysign(a) } }
    )*};
}
plain!(f32 f64);

/// Operations in double precision for `f32`, rounded once.
macro_rules! through_f64 {
    ($($name:ident |$a:ident| $body:expr;)*) => {$(
        pub(crate) struct $name;
        impl Unary<f32, f32> for $name {
            #[inline(always)]
            fn apply(a: f32) -> f32 { let $a = f64::from(a); (($body) as f32).canonical() }
        }
        impl Unary<f64, f64> for $name {
            #[inline(always)]
            fn apply($a: f64) -> f64 { $body }
        }
    )*};
}
through_f64! {
    Rcp |a| 1.0 / a;
    Rsqrt |a| 1.0 / a.sqrt();
    Ex2 |a| a.exp2();
    Lg2 |a| a.log2();
    Sin |a| a.sin();
    Cos |a| a.cos();
    Tanh |a| a.tanh();
}

/// `O` with subnormal operands and results flushed to zero.
pub(crate) struct Ftz<O>(PhantomData<O>);
/// `O` with results clamped to 0..=1.
pub(crate) struct Sat<O>(PhantomData<O>);

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
impl<T: Float, O: Ternary<T, T>> Ternary<T, T> for Ftz<O> {
    #[inline(always)]
    fn apply(a: T, b: T, c: T) -> T {
        O::apply(a.flush(), b.flush(), c.flush()).flush()
    }
}
impl<T: Float, O: Binary<T, T>> Binary<T, T> for Sat<O> {
    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        O::apply(a, b).saturate()
    }
}
impl<T: Float, O: Ternary<T, T>> Ternary<T, T> for Sat<O> {
    #[inline(always)]
    fn apply(a: T, b: T, c: T) -> T {
        O::apply(a, b, c).saturate()
    }
}

/// Half precision: the operation in `f64`, which is exact or rounds far below the last place of a half, then one rounding.
pub(crate) struct Half<H, O>(PhantomData<(H, O)>);
/// Two halves in a word.
pub(crate) struct Packed<H, O>(PhantomData<(H, O)>);

/// A 16-bit float as its bits.
pub(crate) trait HalfBits {
    fn wide(bits: u16) -> f64;
    fn narrow(value: f64) -> u16;
}
impl HalfBits for f16 {
    #[inline(always)]
    fn wide(bits: u16) -> f64 {
        Self::from_bits(bits).to_f64()
    }
    #[inline(always)]
    fn narrow(value: f64) -> u16 {
        if value.is_nan() { 0x7FFF } else { Self::from_f64(value).to_bits() }
    }
}
impl HalfBits for bf16 {
    #[inline(always)]
    fn wide(bits: u16) -> f64 {
        Self::from_bits(bits).to_f64()
    }
    #[inline(always)]
    fn narrow(value: f64) -> u16 {
        if value.is_nan() { 0x7FFF } else { Self::from_f64(value).to_bits() }
    }
}

impl<H: HalfBits, O: Unary<f64, f64>> Unary<u16, u16> for Half<H, O> {
    #[inline(always)]
    fn apply(a: u16) -> u16 {
        H::narrow(O::apply(H::wide(a)))
    }
}
impl<H: HalfBits, O: Binary<f64, f64>> Binary<u16, u16> for Half<H, O> {
    #[inline(always)]
    fn apply(a: u16, b: u16) -> u16 {
        H::narrow(O::apply(H::wide(a), H::wide(b)))
    }
}
impl<H: HalfBits, O: Ternary<f64, f64>> Ternary<u16, u16> for Half<H, O> {
    #[inline(always)]
    fn apply(a: u16, b: u16, c: u16) -> u16 {
        H::narrow(O::apply(H::wide(a), H::wide(b), H::wide(c)))
    }
}

#[inline(always)]
fn pair(low: u16, high: u16) -> u32 {
    u32::from(high) << 16 | u32::from(low)
}
impl<H: HalfBits, O: Unary<f64, f64>> Unary<u32, u32> for Packed<H, O> {
    #[inline(always)]
    fn apply(a: u32) -> u32 {
        pair(Half::<H, O>::apply(a as u16), Half::<H, O>::apply((a >> 16) as u16))
    }
}
impl<H: HalfBits, O: Binary<f64, f64>> Binary<u32, u32> for Packed<H, O> {
    #[inline(always)]
    fn apply(a: u32, b: u32) -> u32 {
        let half = <Half<H, O> as Binary<u16, u16>>::apply;
        pair(half(a as u16, b as u16), half((a >> 16) as u16, (b >> 16) as u16))
    }
}
impl<H: HalfBits, O: Ternary<f64, f64>> Ternary<u32, u32> for Packed<H, O> {
    #[inline(always)]
    fn apply(a: u32, b: u32, c: u32) -> u32 {
        let half = <Half<H, O> as Ternary<u16, u16>>::apply;
        pair(half(a as u16, b as u16, c as u16), half((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16))
    }
}

/// What the modifiers of a float instruction ask for.
struct Form {
    ty: Type,
    ftz: bool,
    sat: bool,
}

/// Reads `.rn`, `.ftz`, `.sat` and the type. Other roundings are not executed, and say so.
fn form(instr: &Instr, also: &[&str]) -> Result<Form, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let (ftz, sat) = (words.take("ftz"), words.take("sat"));
    words.take("rn");
    while words.take_any(also).is_some() {}
    if let Some(rounding) = words.take_any(&["rz", "rm", "rp", "rna"]) {
        return Err(format!("the rounding `.{rounding}`"));
    }
    words.done()?;
    Ok(Form { ty, ftz, sat })
}

fn binary<O>(decoder: &mut Decoder<'_>, instr: &Instr, also: &[&str]) -> Result<Decoded, Reason>
where
    O: Binary<f32, f32> + Binary<f64, f64>,
{
    let Form { ty, ftz, sat } = form(instr, also)?;
    let level = decoder.level();
    let exec = match (ty, ftz, sat) {
        (Type::F32, false, false) => shape::binary::<f32, f32, O>(level),
        (Type::F32, true, false) => shape::binary::<f32, f32, Ftz<O>>(level),
        (Type::F32, false, true) => shape::binary::<f32, f32, Sat<O>>(level),
        (Type::F32, true, true) => shape::binary::<f32, f32, Sat<Ftz<O>>>(level),
        (Type::F64, false, false) => shape::binary::<f64, f64, O>(level),
        // Double precision has its own rate on every GPU and no vector path worth three copies of half precision.
        (Type::F16, _, false) if !ftz => shape::binary::<u16, u16, Half<f16, O>>(Level::Baseline),
        (Type::F16x2, _, false) if !ftz => shape::binary::<u32, u32, Packed<f16, O>>(Level::Baseline),
        (Type::BF16, false, false) => shape::binary::<u16, u16, Half<bf16, O>>(Level::Baseline),
        (Type::BF16x2, false, false) => shape::binary::<u32, u32, Packed<bf16, O>>(Level::Baseline),
        _ => return Err(wrong_type(ty)),
    };
    int::three(decoder, instr, ty, exec)
}

pub(super) fn add(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    binary::<Add>(decoder, instr, &[])
}

pub(super) fn sub(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    binary::<Sub>(decoder, instr, &[])
}

pub(super) fn mul(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    binary::<Mul>(decoder, instr, &[])
}

pub(super) fn div(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    binary::<Div>(decoder, instr, &["approx", "full"])
}

pub(super) fn min(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if instr.modifiers.iter().any(|m| &**m == "NaN") {
        return binary::<MinNan>(decoder, instr, &["NaN"]);
    }
    binary::<Min>(decoder, instr, &[])
}

pub(super) fn max(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    if instr.modifiers.iter().any(|m| &**m == "NaN") {
        return binary::<MaxNan>(decoder, instr, &["NaN"]);
    }
    binary::<Max>(decoder, instr, &[])
}

fn copysign(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    binary::<CopySign>(decoder, instr, &[])
}

pub(super) fn fma(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let Form { ty, ftz, sat } = form(instr, &[])?;
    let level = decoder.level();
    let exec = match (ty, ftz, sat) {
        (Type::F32, false, false) => shape::ternary::<f32, f32, Fma>(level),
        (Type::F32, true, false) => shape::ternary::<f32, f32, Ftz<Fma>>(level),
        (Type::F32, false, true) => shape::ternary::<f32, f32, Sat<Fma>>(level),
        (Type::F32, true, true) => shape::ternary::<f32, f32, Sat<Ftz<Fma>>>(level),
        (Type::F64, false, false) => shape::ternary::<f64, f64, Fma>(level),
        (Type::F16, false, false) => shape::ternary::<u16, u16, Half<f16, Fma>>(Level::Baseline),
        (Type::F16x2, false, false) => shape::ternary::<u32, u32, Packed<f16, Fma>>(Level::Baseline),
        (Type::BF16, false, false) => shape::ternary::<u16, u16, Half<bf16, Fma>>(Level::Baseline),
        (Type::BF16x2, false, false) => shape::ternary::<u32, u32, Packed<bf16, Fma>>(Level::Baseline),
        _ => return Err(wrong_type(ty)),
    };
    let [d, a, b, c] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?, decoder.src(c, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

/// The lane function of a unary operation; `wide` says whether vector code pays.
fn unary<O>(decoder: &mut Decoder<'_>, instr: &Instr, also: &[&str], wide: bool) -> Result<Decoded, Reason>
where
    O: Unary<f32, f32> + Unary<f64, f64>,
{
    let Form { ty, ftz, sat } = form(instr, also)?;
    let level = if wide { decoder.level() } else { Level::Baseline };
    let exec: ExecFn = match (ty, ftz, sat) {
        (Type::F32, false, false) => shape::unary::<f32, f32, O>(level),
        (Type::F32, true, false) => shape::unary::<f32, f32, Ftz<O>>(level),
        (Type::F64, _, false) => shape::unary::<f64, f64, O>(level),
        (Type::F16, false, false) => shape::unary::<u16, u16, Half<f16, O>>(Level::Baseline),
        (Type::F16x2, false, false) => shape::unary::<u32, u32, Packed<f16, O>>(Level::Baseline),
        (Type::BF16, _, false) => shape::unary::<u16, u16, Half<bf16, O>>(Level::Baseline),
        (Type::BF16x2, _, false) => shape::unary::<u32, u32, Packed<bf16, O>>(Level::Baseline),
        _ => return Err(wrong_type(ty)),
    };
    int::two(decoder, instr, ty, exec)
}

pub(super) fn neg(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    unary::<Neg>(decoder, instr, &[], true)
}

pub(super) fn abs(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    unary::<Abs>(decoder, instr, &[], true)
}

fn sqrt(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    unary::<Sqrt>(decoder, instr, &["approx"], true)
}

fn rcp(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    unary::<Rcp>(decoder, instr, &["approx"], true)
}

fn rsqrt(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    unary::<Rsqrt>(decoder, instr, &["approx"], true)
}

fn ex2(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    unary::<Ex2>(decoder, instr, &["approx"], false)
}

fn lg2(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    unary::<Lg2>(decoder, instr, &["approx"], false)
}

fn sin(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    unary::<Sin>(decoder, instr, &["approx"], false)
}

fn cos(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    unary::<Cos>(decoder, instr, &["approx"], false)
}

fn tanh(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    unary::<Tanh>(decoder, instr, &["approx"], false)
}
