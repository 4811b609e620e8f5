//! Half precision (PTX ISA, "Half Precision Floating-Point Instructions"): `f16`, `bf16` and pairs of them.
//!
//! Every operation is done in `f64`, where sums and products of halves are exact or far finer than a half's last place, so
//! that rounding twice is rounding once. A NaN result is 0x7FFF. A pair is two halves side by side: a register of 32 pairs is
//! read as one of 64 halves.
//!
//! Here is what the instructions say (modifiers, types, operands); `format` has the two formats, `lanes` what runs.

mod format;
mod lanes;

use gridstride_ptx::{Instr, Operand, Type};

pub(super) use self::format::flush;
pub(crate) use self::format::{BF16, F16, Half};
pub(super) use self::lanes::FTZ;
use self::lanes::{
    ExactFma, NEGATE, RELU, SAT, XOR_SIGN, binary_exec, map_body, pair_binary_exec, pair_ternary_exec, sign_body,
    ternary_exec,
};
use super::modifiers::{Modifiers, wrong_type};
use super::shape::Binary;
use super::{Decoded, Reason, float};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, Level};

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
