//! The two 16-bit formats: what they are in `f64`, and the way back.

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

#[inline(always)]
pub(super) fn is_nan<H: Half>(bits: u16) -> bool {
    // The exponent of both formats ends where the mantissa begins.
    bits & 0x7FFF > 0x7FFF & !(H::NORMAL - 1)
}

#[inline(always)]
pub(in crate::ops) fn flush<H: Half>(bits: u16) -> u16 {
    if bits & 0x7FFF < H::NORMAL { bits & 0x8000 } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::exact::{self, Exact, Rounding};

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
