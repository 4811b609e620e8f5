//! The lane functions: registers of 32 or 64 halves in, `f64` arithmetic, halves out, with `.ftz`, `.sat`, `.relu` and
//! `.xorsign` around it.

use super::format::{Half, flush, is_nan};
use crate::lane::{Args, LANES, Lanes, Slot, Step, multiversion};
use crate::ops::shape::{Binary, Ternary, Unary};

/// What is done before and after the operation: bits of `Args::imm`.
pub(in crate::ops) const FTZ: i64 = 1;
pub(super) const SAT: i64 = 2;
pub(super) const RELU: i64 = 4;
pub(super) const XOR_SIGN: i64 = 8;

/// A result that is subnormal once it is rounded as if it were not is flushed, even where the rounding of subnormals would
/// make it normal (see [`crate::ops::exact::is_tiny`]). Only `f16` has `.ftz`.
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

/// The product in `f64` is exact. What the sum loses there is kept as an odd last bit, so that a sum beside the middle of two
/// halves is not taken for the middle.
pub(super) struct ExactFma;
impl Ternary<f64, f64> for ExactFma {
    #[inline(always)]
    fn apply(a: f64, b: f64, c: f64) -> f64 {
        let (sum, lost) = crate::ops::directed::two_sum(a * b, c);
        let bits = sum.to_bits();
        let nudged = if (lost > 0.0) == (sum > 0.0) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
        let inexact = lost != 0.0 && !lost.is_nan();
        f64::from_bits(if inexact && bits & 1 == 0 { nudged } else { bits })
    }
}

/// Bits of `Args::imm` of [`sign_body`], beside [`FTZ`].
pub(super) const NEGATE: i64 = 2;

/// `neg` and `abs`: the sign bit, and the canonical NaN.
pub(super) unsafe fn sign_body<H: Half, const N: usize>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
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

/// An approximate function of each half, in double precision: `f` for `.f16`, `.f16x2`, `.bf16`, `.bf16x2`.
pub(super) unsafe fn map_body<H: Half, F: Unary<f64, f64>, const N: usize>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, ..] = args.slots;
    // SAFETY: the decoder gave registers of `N` times 16 bits.
    unsafe {
        let values = before::<H, N>(halves(lanes, a), args.imm);
        let out = values.map(|value| H::narrow(F::apply(H::wide(value))));
        set_halves(lanes, d, after::<H, N>(out, args.imm & FTZ));
    }
    Ok(())
}
