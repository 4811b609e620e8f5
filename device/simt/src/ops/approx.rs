//! The `.approx` (and `.full`) functions: not bit for bit those of a GPU, but within the bounds that the PTX ISA states.
//!
//! All are computed in double precision by short polynomials, which the compiler turns into vector code, and rounded once.
//! Zeros, infinities, NaNs and what is flushed are those of an H200.

use std::f64::consts::{LN_2, LOG2_E, TAU};
use std::marker::PhantomData;

use gridstride_ptx::{Instr, Type};

use super::exact::{Rounding, is_tiny};
use super::float::{Float, Ftz, Settled};
use super::modifiers::{Modifiers, wrong_type};
use super::shape::{self, Binary, Unary};
use super::{DecodeFn, Decoded, Reason, half, int};
use crate::decode::Decoder;
use crate::lane::{ExecFn, Level};

pub(super) const OPCODES: &[(&str, DecodeFn)] =
    &[("rsqrt", root), ("ex2", ex2), ("lg2", lg2), ("sin", sin), ("cos", cos), ("tanh", tanh)];

/// The polynomial of these coefficients, the constant one first.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    coefficients.into_iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// 1.5 × 2^52: a double of this size is a whole number, its lowest bits those of what was added.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// Rounded to a whole number, for magnitudes below 2^51.
#[inline(always)]
fn whole(x: f64) -> f64 {
    (x + WHOLE) - WHOLE
}

/// 2^x, to nine digits.
struct Ex2;
impl Unary<f64, f64> for Ex2 {
    #[inline(always)]
    fn apply(x: f64) -> f64 {
        // Beyond these the result is 0 or infinite in single precision anyway.
        let clamped = x.clamp(-1000.0, 1000.0);
        let n = whole(clamped);
        let f = (clamped - n) * LN_2;
        let power = polynomial(f, [1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0]);
        // n + 1023 as the exponent of a double: exact, since n is whole and small.
        let scale = f64::from_bits(((n + 1023.0 + 4_503_599_627_370_496.0).to_bits() & 0x7FF) << 52);
        let result = power * scale;
        if x.is_nan() { x } else { result }
    }
}

/// log2 x, to eleven digits.
struct Lg2;
impl Unary<f64, f64> for Lg2 {
    #[inline(always)]
    fn apply(x: f64) -> f64 {
        let bits = x.to_bits();
        // x = m × 2^e with m in 0.75..1.5.
        let e = (bits.wrapping_sub(0x3FE8_0000_0000_0000) >> 52) & 0xFFF;
        let m = f64::from_bits(bits.wrapping_sub(e << 52));
        let e = (e << 52) as i64 >> 52;
        let s = (m - 1.0) / (m + 1.0);
        let series = polynomial(s * s, [1.0, 1.0 / 3.0, 0.2, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 13.0]);
        let result = e as f64 + 2.0 * LOG2_E * s * series;
        let result = if x == f64::INFINITY { x } else { result };
        let result = if x == 0.0 { f64::NEG_INFINITY } else { result };
        if x < 0.0 || x.is_nan() { f64::NAN } else { result }
    }
}

/// Sine (`SHIFT` 0) and cosine (`SHIFT` 1), as the hardware has them: the argument is first rounded to turns in single
/// precision, and is 0 where that is subnormal. So large arguments are whole turns.
struct Sine<const SHIFT: i64>;
impl<const SHIFT: i64> Sine<SHIFT> {
    /// The function of so many turns.
    #[inline(always)]
    fn of_turns(turns: f64) -> f64 {
        let part = turns - whole(turns);
        let quarters = whole(part * 4.0);
        let r = (part - quarters * 0.25) * TAU;
        let s = r * r;
        let sine = r * polynomial(s, [1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0]);
        let cosine = polynomial(s, [1.0, -0.5, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0]);
        let quarter = (quarters + SHIFT as f64 + WHOLE).to_bits();
        let result = if quarter & 1 != 0 { cosine } else { sine };
        if quarter & 2 != 0 { -result } else { result }
    }
}
impl<const SHIFT: i64> Unary<f32, f32> for Sine<SHIFT> {
    #[inline(always)]
    fn apply(a: f32) -> f32 {
        let turns = (a * 0.159_154_94).flush();
        // Beyond 2^24 every float is a whole number.
        let folded = if turns.abs() < 16_777_216.0 { turns } else { 0.0 };
        let result = Self::of_turns(f64::from(folded)) as f32;
        let result = if SHIFT == 0 && folded == 0.0 { 0.0f32.copysign(a) } else { result };
        let result = if a.is_finite() { result } else { f32::NAN };
        result.settle([])
    }
}

struct Tanh;
impl Unary<f64, f64> for Tanh {
    #[inline(always)]
    fn apply(x: f64) -> f64 {
        let s = x * x;
        let small = x * polynomial(s, [1.0, -1.0 / 3.0, 2.0 / 15.0, -17.0 / 315.0]);
        let power = Ex2::apply(2.0 * LOG2_E * x.abs());
        let large = (1.0 - 2.0 / (power + 1.0)).copysign(x);
        if x.abs() < 0.125 { small } else { large }
    }
}

struct Rsqrt;
impl Unary<f64, f64> for Rsqrt {
    #[inline(always)]
    fn apply(x: f64) -> f64 {
        1.0 / x.sqrt()
    }
}
struct Sqrt;
impl Unary<f64, f64> for Sqrt {
    #[inline(always)]
    fn apply(x: f64) -> f64 {
        x.sqrt()
    }
}
struct Rcp;
impl Unary<f64, f64> for Rcp {
    #[inline(always)]
    fn apply(x: f64) -> f64 {
        1.0 / x
    }
}

/// A function of doubles for single precision.
struct Single<F>(PhantomData<F>);
impl<F: Unary<f64, f64>> Unary<f32, f32> for Single<F> {
    #[inline(always)]
    fn apply(a: f32) -> f32 {
        (F::apply(f64::from(a)) as f32).settle([])
    }
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`: subnormals are flushed, the lower half of the operand
/// does not count, and that of the result is 0.
struct UpperHalf<F>(PhantomData<F>);
impl<F: Unary<f64, f64>> Unary<f64, f64> for UpperHalf<F> {
    #[inline(always)]
    fn apply(a: f64) -> f64 {
        let flush = |x: f64| if x.is_subnormal() { 0.0f64.copysign(x) } else { x };
        let is_nan = |bits: u64| bits & !(1 << 63) > 0x7FF0_0000_0000_0000;
        let upper = if is_nan(a.to_bits()) { a } else { f64::from_bits(a.to_bits() & !0xFFFF_FFFF) };
        let bits = flush(F::apply(flush(upper))).to_bits();
        f64::from_bits(if is_nan(bits) { 0x7FFF_FFFF_0000_0000 } else { (bits + 0x8000_0000) & !0xFFFF_FFFF })
    }
}

/// `O`, a quotient, with `.ftz`.
struct FlushedQuotient<O>(PhantomData<O>);
impl<O: Binary<f32, f32>> Binary<f32, f32> for FlushedQuotient<O> {
    #[inline(always)]
    fn apply(a: f32, b: f32) -> f32 {
        let (a, b) = (a.flush(), b.flush());
        let quotient = O::apply(a, b);
        let tiny = is_tiny(f64::from(a) / f64::from(b), 0.0, Rounding::Nearest);
        if tiny { 0.0f32.copysign(quotient) } else { quotient }
    }
}

fn single<F: Unary<f64, f64>>(ftz: bool, level: Level) -> ExecFn {
    if ftz { shape::unary::<f32, f32, Ftz<Single<F>>>(level) } else { shape::unary::<f32, f32, Single<F>>(level) }
}

/// `rcp.approx`, `sqrt.approx`, `rsqrt.approx`.
pub(super) fn root(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if !words.take("approx") {
        return Err("`.approx` expected".into());
    }
    let ftz = words.take("ftz");
    words.done()?;
    let level = decoder.level();
    let exec = match (&*instr.opcode, ty, ftz) {
        ("rcp", Type::F32, _) => single::<Rcp>(ftz, level),
        ("sqrt", Type::F32, _) => single::<Sqrt>(ftz, level),
        ("rsqrt", Type::F32, _) => single::<Rsqrt>(ftz, level),
        ("rcp", Type::F64, true) => shape::unary::<f64, f64, UpperHalf<Rcp>>(Level::Baseline),
        ("rsqrt", Type::F64, true) => shape::unary::<f64, f64, UpperHalf<Rsqrt>>(Level::Baseline),
        ("rsqrt", Type::F64, false) => shape::unary::<f64, f64, Settled<Rsqrt>>(Level::Baseline),
        _ => return Err(wrong_type(ty)),
    };
    int::two(decoder, instr, ty, exec)
}

/// `div.approx`: by way of the reciprocal, which is 0 for divisors beyond 2^126.
struct DivApprox;
impl Binary<f32, f32> for DivApprox {
    #[inline(always)]
    fn apply(a: f32, b: f32) -> f32 {
        const LARGE: f32 = f32::from_bits(0x7E80_0000);
        let b = if b.abs() > LARGE { f32::INFINITY.copysign(b) } else { b };
        a / b
    }
}
/// `div.full`: the same, with operands scaled so that the whole range is served.
struct DivFull;
impl Binary<f32, f32> for DivFull {
    #[inline(always)]
    fn apply(a: f32, b: f32) -> f32 {
        a / b
    }
}

/// `div.approx` and `div.full`.
pub(super) fn div(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let approx = words.take_any(&["approx", "full"]) == Some("approx");
    let ftz = words.take("ftz");
    words.done()?;
    let level = decoder.level();
    let exec = match (ty, approx, ftz) {
        (Type::F32, true, false) => shape::binary::<f32, f32, Settled<DivApprox>>(level),
        (Type::F32, true, true) => shape::binary::<f32, f32, FlushedQuotient<Settled<DivApprox>>>(level),
        (Type::F32, false, false) => shape::binary::<f32, f32, Settled<DivFull>>(level),
        (Type::F32, false, true) => shape::binary::<f32, f32, FlushedQuotient<Settled<DivFull>>>(level),
        _ => return Err(wrong_type(ty)),
    };
    int::three(decoder, instr, ty, exec)
}

/// A function of one operand, of `f32` or, where `halves` says so, of half precision.
fn function<F: Unary<f64, f64>>(decoder: &mut Decoder<'_>, instr: &Instr, halves: bool) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    if !words.take("approx") {
        return Err("`.approx` expected".into());
    }
    let ftz = words.take("ftz");
    words.done()?;
    match ty {
        Type::F32 => {
            let exec = single::<F>(ftz, decoder.level());
            int::two(decoder, instr, ty, exec)
        }
        _ if halves => {
            let [d, a] = decoder.operands(instr)?;
            half::map::<F>(decoder, d, a, ty, ftz)
        }
        _ => Err(wrong_type(ty)),
    }
}

fn ex2(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    function::<Ex2>(decoder, instr, true)
}

fn lg2(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    function::<Lg2>(decoder, instr, false)
}

fn turning<F: Unary<f32, f32>>(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let (approx, ftz) = (words.take("approx"), words.take("ftz"));
    words.done()?;
    if !approx || ty != Type::F32 {
        return Err("`.approx` of `.f32` expected".into());
    }
    let level = decoder.level();
    let exec = if ftz { shape::unary::<f32, f32, Ftz<F>>(level) } else { shape::unary::<f32, f32, F>(level) };
    int::two(decoder, instr, ty, exec)
}

fn sin(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    turning::<Sine<0>>(decoder, instr)
}

fn cos(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    turning::<Sine<1>>(decoder, instr)
}

fn tanh(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    function::<Tanh>(decoder, instr, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, bound: f64, at: f64) {
        assert!((found - expected).abs() <= bound, "at {at}: {found} for {expected}");
    }

    #[test]
    fn functions_keep_their_bounds() {
        for step in -20_000..=20_000 {
            let x = f64::from(step) * 0.00091;
            close(Ex2::apply(x) / x.exp2(), 1.0, 1e-8, x);
            close(Sine::<0>::of_turns(x), (x * TAU).sin(), 3e-6, x);
            close(Sine::<1>::of_turns(x), (x * TAU).cos(), 3e-6, x);
            close(Tanh::apply(x), x.tanh(), 2e-8 * x.tanh().abs(), x);
            let y = x.exp2();
            close(Lg2::apply(y), x, 1e-11, y);
        }
        assert_eq!(Lg2::apply(0.0), f64::NEG_INFINITY);
        assert_eq!(Lg2::apply(f64::from(f32::from_bits(1))), -149.0);
        assert!(Lg2::apply(-1.0).is_nan());
        assert_eq!(Ex2::apply(f64::INFINITY) as f32, f32::INFINITY);
        assert_eq!(Ex2::apply(f64::NEG_INFINITY) as f32, 0.0);
        assert_eq!(Ex2::apply(-149.0) as f32, f32::from_bits(1));
    }
}
