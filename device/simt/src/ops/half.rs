//! Half precision (PTX ISA, "Half Precision Floating-Point Instructions"): `f16`, `bf16` and pairs of them.
//!
//! Every operation is done in `f64`, where sums and products of halves are exact or far finer than a half's last place, so
//! that rounding twice is rounding once. A NaN result is 0x7FFF. A pair is two halves side by side: a register of 32 pairs is
//! read as one of 64 halves.

use gridstride_ptx::{Instr, Operand, Type};

use super::modifiers::{Modifiers, wrong_type};
use super::shape::{Binary, Ternary};
use super::{Decoded, Reason, float};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, LANES, Lanes, Level, Slot, Step, multiversion};

/// A 16-bit float format.
pub(crate) trait Half: 'static {
    /// Magnitudes below this are subnormal.
    const NORMAL: u16;
    /// 1.0
    const ONE: u16;
    fn wide(bits: u16) -> f64;
    fn narrow(value: f64) -> u16;
}

/// Five bits of exponent, ten of mantissa.
pub(crate) struct F16;
/// Eight bits of exponent, seven of mantissa: the upper half of an `f32`.
pub(crate) struct BF16;

/// `f64` to a half: `bits` of mantissa, exponents biased by `bias`, rounded to nearest even without a branch.
#[inline(always)]
fn narrow(value: f64, mantissa: u32, bias: u64, infinity: u64, subnormal_step: f64) -> u16 {
    let sign = (value.to_bits() >> 48) as u16 & 0x8000;
    let magnitude = value.abs();
    let bits = magnitude.to_bits();
    let cut = 52 - mantissa;
    let even = bits >> cut & 1;
    let normal =
        (bits.wrapping_sub((1023 - bias) << 52).wrapping_add((1 << (cut - 1)) - 1 + even) >> cut).min(infinity);
    // Adding 2^52 steps of the subnormals leaves their number in the mantissa, rounded by the addition.
    let shift = subnormal_step * (1u64 << 52) as f64;
    let subnormal = (magnitude + shift).to_bits() - shift.to_bits();
    let smallest = subnormal_step * (1u64 << mantissa) as f64;
    let out = if magnitude < smallest { subnormal } else { normal } as u16 | sign;
    if value.is_nan() { 0x7FFF } else { out }
}

/// 2 to the power of `exponent`, a normal number.
const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

impl Half for F16 {
    const NORMAL: u16 = 0x0400;
    const ONE: u16 = 0x3C00;
    #[inline(always)]
    fn wide(bits: u16) -> f64 {
        // The exponent moved to where an f32 has it and then scaled: this makes normals of subnormals too.
        let magnitude = f32::from_bits(u32::from(bits & 0x7FFF) << 13) * f32::from_bits((127 + 112) << 23);
        let magnitude = if bits & 0x7C00 == 0x7C00 {
            f32::from_bits(0x7F80_0000 | u32::from(bits & 0x3FF) << 13)
        } else {
            magnitude
        };
        f64::from(f32::from_bits(magnitude.to_bits() | u32::from(bits & 0x8000) << 16))
    }
    #[inline(always)]
    fn narrow(value: f64) -> u16 {
        narrow(value, 10, 15, 0x7C00, const { power_of_two(-24) })
    }
}

impl Half for BF16 {
    const NORMAL: u16 = 0x0080;
    const ONE: u16 = 0x3F80;
    #[inline(always)]
    fn wide(bits: u16) -> f64 {
        f64::from(f32::from_bits(u32::from(bits) << 16))
    }
    #[inline(always)]
    fn narrow(value: f64) -> u16 {
        narrow(value, 7, 127, 0x7F80, const { power_of_two(-133) })
    }
}

/// What is done before and after the operation: bits of `Args::imm`.
pub(super) const FTZ: i64 = 1;
const SAT: i64 = 2;
const RELU: i64 = 4;
const XOR_SIGN: i64 = 8;

#[inline(always)]
fn is_nan<H: Half>(bits: u16) -> bool {
    // The exponent of both formats ends where the mantissa begins.
    bits & 0x7FFF > 0x7FFF & !(H::NORMAL - 1)
}

#[inline(always)]
pub(super) fn flush<H: Half>(bits: u16) -> u16 {
    if bits & 0x7FFF < H::NORMAL { bits & 0x8000 } else { bits }
}

/// A result that is subnormal once it is rounded as if it were not is flushed, even where the rounding of subnormals would
/// make it normal (see [`super::exact::is_tiny`]). Only `f16` has `.ftz`.
#[inline(always)]
fn narrow_flushed<H: Half>(value: f64, imm: i64) -> u16 {
    let tiny = imm & FTZ != 0 && value.abs() < H::wide(H::NORMAL) * (1.0 - 1.0 / 4096.0);
    H::narrow(if tiny { value * 0.0 } else { value })
}

#[inline(always)]
fn before<H: Half, const N: usize>(mut values: [u16; N], imm: i64) -> [u16; N] {
    if imm & FTZ != 0 {
        for value in &mut values {
            *value = flush::<H>(*value);
        }
    }
    values
}

#[inline(always)]
fn after<H: Half, const N: usize>(mut values: [u16; N], imm: i64) -> [u16; N] {
    if imm & FTZ != 0 {
        for value in &mut values {
            *value = flush::<H>(*value);
        }
    }
    if imm & SAT != 0 {
        for value in &mut values {
            let clamped = if *value & 0x8000 != 0 { 0 } else { (*value).min(H::ONE) };
            *value = if is_nan::<H>(*value) { 0 } else { clamped };
        }
    }
    if imm & RELU != 0 {
        for value in &mut values {
            *value = if *value & 0x8000 != 0 { 0 } else { *value };
        }
    }
    values
}

/// Reads a register as `N` halves.
#[inline(always)]
unsafe fn halves<const N: usize>(lanes: &Lanes<'_>, slot: Slot) -> [u16; N] {
    // SAFETY: the decoder gave a register of `N` times 16 bits.
    unsafe { lanes.frame.add(slot.0 as usize).cast::<[u16; N]>().read() }
}

/// Stores the active lanes of `N` halves.
#[inline(always)]
unsafe fn set_halves<const N: usize>(lanes: &mut Lanes<'_>, slot: Slot, values: [u16; N]) {
    // SAFETY: the decoder gave a register of `N` times 16 bits; an array of halves is as long as it.
    unsafe {
        if N == LANES {
            lanes.set(slot, values.as_ptr().cast::<[u16; LANES]>().read());
        } else {
            lanes.set(slot, values.as_ptr().cast::<[u32; LANES]>().read_unaligned());
        }
    }
}

macro_rules! bodies {
    ($n:literal, $binary_body:ident $binary:ident, $ternary_body:ident $ternary:ident) => {
        #[inline(always)]
        unsafe fn $binary_body<H: Half, O: Binary<f64, f64>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
            let [d, a, b, ..] = args.slots;
            // SAFETY: the decoder gave registers of this width.
            unsafe {
                let a = before::<H, $n>(halves(lanes, a), args.imm);
                let b = before::<H, $n>(halves(lanes, b), args.imm);
                let mut out = [0u16; $n];
                for at in 0..$n {
                    out[at] = narrow_flushed::<H>(O::apply(H::wide(a[at]), H::wide(b[at])), args.imm);
                }
                if args.imm & XOR_SIGN != 0 {
                    for at in 0..$n {
                        let signed = out[at] & 0x7FFF | (a[at] ^ b[at]) & 0x8000;
                        out[at] = if is_nan::<H>(out[at]) { out[at] } else { signed };
                    }
                }
                set_halves(lanes, d, after::<H, $n>(out, args.imm));
            }
            Ok(())
        }
        multiversion!($binary<H: Half, O: Binary<f64, f64>> => $binary_body);

        #[inline(always)]
        unsafe fn $ternary_body<H: Half, O: Ternary<f64, f64>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
            let [d, a, b, c, ..] = args.slots;
            // SAFETY: the decoder gave registers of this width.
            unsafe {
                let a = before::<H, $n>(halves(lanes, a), args.imm);
                let b = before::<H, $n>(halves(lanes, b), args.imm);
                let c = before::<H, $n>(halves(lanes, c), args.imm);
                let mut out = [0u16; $n];
                for at in 0..$n {
                    let exact = O::apply(H::wide(a[at]), H::wide(b[at]), H::wide(c[at]));
                    out[at] = narrow_flushed::<H>(exact, args.imm);
                }
                set_halves(lanes, d, after::<H, $n>(out, args.imm));
            }
            Ok(())
        }
        multiversion!($ternary<H: Half, O: Ternary<f64, f64>> => $ternary_body);
    };
}
bodies!(32, binary_body binary_exec, ternary_body ternary_exec);
bodies!(64, pair_binary_body pair_binary_exec, pair_ternary_body pair_ternary_exec);

/// The lane function of a binary operation.
fn binary_fn<O: Binary<f64, f64>>(ty: Type, level: Level) -> Result<ExecFn, Reason> {
    Ok(match ty {
        Type::F16 => binary_exec::<F16, O>(level),
        Type::BF16 => binary_exec::<BF16, O>(level),
        Type::F16x2 => pair_binary_exec::<F16, O>(level),
        Type::BF16x2 => pair_binary_exec::<BF16, O>(level),
        _ => return Err(wrong_type(ty)),
    })
}

/// The product in `f64` is exact. What the sum loses there is kept as an odd last bit, so that a sum beside the middle of two
/// halves is not taken for the middle.
struct ExactFma;
impl Ternary<f64, f64> for ExactFma {
    #[inline(always)]
    fn apply(a: f64, b: f64, c: f64) -> f64 {
        let (sum, lost) = super::directed::two_sum(a * b, c);
        let bits = sum.to_bits();
        let nudged = if (lost > 0.0) == (sum > 0.0) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
        let inexact = lost != 0.0 && !lost.is_nan();
        f64::from_bits(if inexact && bits & 1 == 0 { nudged } else { bits })
    }
}

/// Takes `.ftz`, which only `.f16` has.
fn take_ftz(words: &mut Modifiers<'_>, ty: Type) -> i64 {
    if matches!(ty, Type::F16 | Type::F16x2) && words.take("ftz") { FTZ } else { 0 }
}

fn flag(words: &mut Modifiers<'_>, word: &str, flag: i64) -> i64 {
    if words.take(word) { flag } else { 0 }
}

/// `add`, `sub`, `mul` with `.rn`, `.ftz`, `.sat`.
pub(super) fn arithmetic<O: Binary<f64, f64>>(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.take("rn");
    let mut imm = take_ftz(&mut words, ty);
    if matches!(ty, Type::F16 | Type::F16x2) {
        imm |= flag(&mut words, "sat", SAT);
    }
    words.done()?;
    let exec = binary_fn::<O>(ty, decoder.level())?;
    let [d, a, b] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, imm)))
}

/// `fma.rn` with `.ftz`, and `.sat` or `.relu`.
pub(super) fn fma(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if !words.take("rn") {
        return Err("`.rn` expected".into());
    }
    let mut imm = take_ftz(&mut words, ty);
    imm |= flag(&mut words, "relu", RELU);
    if imm & RELU == 0 && matches!(ty, Type::F16 | Type::F16x2) {
        imm |= flag(&mut words, "sat", SAT);
    }
    words.done()?;
    let level = decoder.level();
    let exec = match ty {
        Type::F16 => ternary_exec::<F16, ExactFma>(level),
        Type::BF16 => ternary_exec::<BF16, ExactFma>(level),
        Type::F16x2 => pair_ternary_exec::<F16, ExactFma>(level),
        Type::BF16x2 => pair_ternary_exec::<BF16, ExactFma>(level),
        _ => return Err(wrong_type(ty)),
    };
    let [d, a, b, c] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?, decoder.src(c, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, imm)))
}

/// `min` and `max` with `.ftz`, `.NaN` and `.xorsign.abs`; `O` is the plain one, `N` that which a NaN wins.
pub(super) fn extreme<O, N>(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason>
where
    O: Binary<f64, f64>,
    N: Binary<f64, f64>,
    float::Abs2<O>: Binary<f64, f64>,
    float::Abs2<N>: Binary<f64, f64>,
{
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let imm = take_ftz(&mut words, ty);
    let nan = words.take("NaN");
    let xor = words.take("xorsign");
    if xor && !words.take("abs") {
        return Err("`.xorsign` without `.abs`".into());
    }
    words.done()?;
    let level = decoder.level();
    let exec = match (nan, xor) {
        (false, false) => binary_fn::<O>(ty, level)?,
        (true, false) => binary_fn::<N>(ty, level)?,
        (false, true) => binary_fn::<float::Abs2<O>>(ty, Level::Baseline)?,
        (true, true) => binary_fn::<float::Abs2<N>>(ty, Level::Baseline)?,
    };
    let [d, a, b] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, imm | if xor { XOR_SIGN } else { 0 })))
}

/// Bits of `Args::imm` of [`sign_body`], beside [`FTZ`].
const NEGATE: i64 = 2;

/// `neg` and `abs`: the sign bit, and the canonical NaN.
unsafe fn sign_body<H: Half, const N: usize>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, ..] = args.slots;
    // SAFETY: the decoder gave registers of `N` times 16 bits.
    unsafe {
        let mut values = before::<H, N>(halves(lanes, a), args.imm);
        for value in &mut values {
            let out = if args.imm & NEGATE != 0 { *value ^ 0x8000 } else { *value & 0x7FFF };
            *value = if is_nan::<H>(*value) { 0x7FFF } else { out };
        }
        set_halves(lanes, d, values);
    }
    Ok(())
}

/// `neg` (or `abs`) with `.ftz`.
pub(super) fn sign(decoder: &mut Decoder<'_>, instr: &Instr, negate: bool) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let imm = take_ftz(&mut words, ty) | if negate { NEGATE } else { 0 };
    words.done()?;
    let exec: ExecFn = match ty {
        Type::F16 => sign_body::<F16, 32>,
        Type::BF16 => sign_body::<BF16, 32>,
        Type::F16x2 => sign_body::<F16, 64>,
        Type::BF16x2 => sign_body::<BF16, 64>,
        _ => return Err(wrong_type(ty)),
    };
    let [d, a] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, imm)))
}

/// An approximate function of each half, in double precision: `f` for `.f16`, `.f16x2`, `.bf16`, `.bf16x2`.
pub(super) unsafe fn map_body<H: Half, F: super::shape::Unary<f64, f64>, const N: usize>(
    lanes: &mut Lanes<'_>,
    args: &Args,
) -> Step {
    let [d, a, ..] = args.slots;
    // SAFETY: the decoder gave registers of `N` times 16 bits.
    unsafe {
        let values = before::<H, N>(halves(lanes, a), args.imm);
        let out = values.map(|value| H::narrow(F::apply(H::wide(value))));
        set_halves(lanes, d, after::<H, N>(out, args.imm & FTZ));
    }
    Ok(())
}

/// `d, a` of an approximate function of half precision.
pub(super) fn map<F>(
    decoder: &mut Decoder<'_>,
    d: &Operand,
    a: &Operand,
    ty: Type,
    ftz: bool,
) -> Result<Decoded, Reason>
where
    F: super::shape::Unary<f64, f64>,
{
    let exec: ExecFn = match ty {
        Type::F16 => map_body::<F16, F, 32>,
        Type::BF16 => map_body::<BF16, F, 32>,
        Type::F16x2 => map_body::<F16, F, 64>,
        Type::BF16x2 => map_body::<BF16, F, 64>,
        _ => return Err(wrong_type(ty)),
    };
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, if ftz { FTZ } else { 0 })))
}

#[cfg(test)]
mod tests {
    use super::super::exact::{self, Exact, Rounding};
    use super::*;

    #[test]
    fn every_half_survives() {
        for bits in 0..=u16::MAX {
            let canonical = |nan: bool| if nan { 0x7FFF } else { bits };
            assert_eq!(F16::narrow(F16::wide(bits)), canonical(is_nan::<F16>(bits)), "{bits:x}");
            assert_eq!(BF16::narrow(BF16::wide(bits)), canonical(is_nan::<BF16>(bits)), "{bits:x}");
        }
    }

    #[test]
    fn narrowing_agrees_with_exact_rounding() {
        let mut bits = 0x3333_3333_3333_3333u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Exponents from below the subnormals of f16 to beyond its largest, and places near ties.
            let exponent = 1023 - 28 + (bits >> 40) % 46;
            let mantissa = if bits & 1 << 33 != 0 { bits & 0xF_FC00_0000_0001 } else { bits & ((1 << 52) - 1) };
            let value = f64::from_bits(exponent << 52 | mantissa);
            let exact = Exact::of(value);
            assert_eq!(u64::from(F16::narrow(value)), exact.round(exact::F16, Rounding::Nearest), "{value}");
            assert_eq!(u64::from(BF16::narrow(value)), exact.round(exact::BF16, Rounding::Nearest), "{value}");
            let tiny = value * power_of_two(-125);
            assert_eq!(u64::from(BF16::narrow(tiny)), Exact::of(tiny).round(exact::BF16, Rounding::Nearest), "{tiny}");
        }
    }
}
