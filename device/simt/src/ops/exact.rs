//! Exact values and their rounding: arithmetic in integers for what the machine's floating point does not offer.
//!
//! A finite result is a sign, a mantissa of up to 128 bits, a power of two, and whether something is left below. It is
//! rounded once, by any of the four roundings, to any of the formats. Slow beside vector code, and simple enough to trust.

/// How a result that is not exact is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// `.rn`: to nearest, ties to even.
    Nearest,
    /// `.rz`: toward zero.
    Zero,
    /// `.rm`: down.
    Down,
    /// `.rp`: up.
    Up,
}

impl Rounding {
    /// The rounding of a modifier.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "rn" => Self::Nearest,
            "rz" => Self::Zero,
            "rm" => Self::Down,
            "rp" => Self::Up,
            _ => return None,
        })
    }

    /// As a number, for `Args::imm`.
    pub(crate) fn number(self) -> i64 {
        self as i64
    }

    /// The inverse of [`Rounding::number`]; other bits of `imm` are ignored.
    pub(crate) fn of(imm: i64) -> Self {
        [Self::Nearest, Self::Zero, Self::Down, Self::Up][imm as usize & 3]
    }
}

/// True if an `f32` result is below the smallest normal number once it is rounded to 24 bits, whatever its exponent: this is
/// what `.ftz` flushes, as measured on an H200. `lost` has the sign of the exact result minus `wide`.
#[inline(always)]
pub(crate) fn is_tiny(wide: f64, lost: f64, rounding: Rounding) -> bool {
    const SMALLEST: f64 = f32::MIN_POSITIVE as f64;
    const PLACE: f64 = SMALLEST * (0.5 / (1u64 << 23) as f64);
    let outward = match rounding {
        Rounding::Nearest | Rounding::Zero => false,
        Rounding::Down => wide < 0.0,
        Rounding::Up => wide > 0.0,
    };
    // From the limit on, rounding reaches the smallest normal number: but outward only what is beyond it.
    let limit = match rounding {
        Rounding::Nearest => SMALLEST - PLACE / 2.0,
        _ if outward => SMALLEST - PLACE,
        _ => SMALLEST,
    };
    let beyond = wide.abs() - limit;
    let lost = if wide < 0.0 { -lost } else { lost };
    beyond < 0.0 || (beyond == 0.0 && (lost < 0.0 || (outward && lost == 0.0)))
}

/// A binary floating-point format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits of the mantissa that are stored.
    mantissa: u32,
    /// Bits of the exponent.
    exponent: u32,
}

pub(crate) const F16: Format = Format { mantissa: 10, exponent: 5 };
pub(crate) const BF16: Format = Format { mantissa: 7, exponent: 8 };
pub(crate) const F32: Format = Format { mantissa: 23, exponent: 8 };
pub(crate) const F64: Format = Format { mantissa: 52, exponent: 11 };

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.mantissa
    }

    fn sign(self, negative: bool) -> u64 {
        u64::from(negative) << (self.mantissa + self.exponent)
    }
}

/// `± mantissa × 2^exponent`, and a little more than that (less than one) in the mantissa's place if `sticky`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exact {
    pub(crate) negative: bool,
    pub(crate) mantissa: u128,
    pub(crate) exponent: i32,
    pub(crate) sticky: bool,
}

impl Exact {
    /// A finite number.
    pub(crate) fn of(value: f64) -> Self {
        let bits = value.to_bits();
        let (field, fraction) = ((bits >> 52 & 0x7FF) as i32, bits & ((1 << 52) - 1));
        let mantissa = if field == 0 { fraction } else { fraction | 1 << 52 };
        Self {
            negative: value.is_sign_negative(),
            mantissa: mantissa.into(),
            exponent: field.max(1) - 1075,
            sticky: false,
        }
    }

    /// A whole number.
    pub(crate) fn whole(value: i128) -> Self {
        Self { negative: value < 0, mantissa: value.unsigned_abs(), exponent: 0, sticky: false }
    }

    fn is_zero(self) -> bool {
        self.mantissa == 0 && !self.sticky
    }

    /// The bit just above the highest one, as a power of two.
    fn top(self) -> i32 {
        self.exponent + 128 - self.mantissa.leading_zeros() as i32
    }

    pub(crate) fn mul(self, other: Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            mantissa: self.mantissa * other.mantissa,
            exponent: self.exponent + other.exponent,
            sticky: false,
        }
    }

    /// The sum; `rounding` decides the sign of a zero that two signs make.
    pub(crate) fn add(self, other: Self, rounding: Rounding) -> Self {
        let (big, small) = match (self.is_zero(), other.is_zero()) {
            (true, true) => {
                let negative = if self.negative == other.negative { self.negative } else { rounding == Rounding::Down };
                return Self { negative, ..self };
            }
            (true, false) => return other,
            (false, true) => return self,
            (false, false) if self.top() >= other.top() => (self, other),
            (false, false) => (other, self),
        };
        // One bit of room for the carry; what the smaller one loses to the right is the sticky part.
        let up = big.mantissa.leading_zeros() - 1;
        let (mantissa, exponent) = (big.mantissa << up, big.exponent - up as i32);
        let shift = small.exponent - exponent;
        let (aligned, sticky) = match shift {
            0.. => (small.mantissa << shift, false),
            -127..0 => (small.mantissa >> -shift, small.mantissa << (128 + shift) != 0),
            _ => (0, true),
        };
        if big.negative == small.negative {
            return Self { negative: big.negative, mantissa: mantissa + aligned, exponent, sticky };
        }
        if mantissa == aligned && !sticky {
            return Self { negative: rounding == Rounding::Down, mantissa: 0, exponent: 0, sticky: false };
        }
        if mantissa < aligned {
            // Only where both have the same top bit, and then nothing was lost.
            return Self { negative: small.negative, mantissa: aligned - mantissa, exponent, sticky };
        }
        Self { negative: big.negative, mantissa: mantissa - aligned - u128::from(sticky), exponent, sticky }
    }

    /// The quotient by a number that is not 0.
    pub(crate) fn div(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        if self.mantissa == 0 {
            return Self { negative, ..self };
        }
        let up = self.mantissa.leading_zeros();
        let dividend = self.mantissa << up;
        Self {
            negative,
            mantissa: dividend / other.mantissa,
            exponent: self.exponent - up as i32 - other.exponent,
            sticky: !dividend.is_multiple_of(other.mantissa),
        }
    }

    /// The root of a number that is not negative.
    pub(crate) fn sqrt(self) -> Self {
        if self.mantissa == 0 {
            return self;
        }
        let up = self.mantissa.leading_zeros();
        let up = if (self.exponent - up as i32) % 2 == 0 { up } else { up - 1 };
        let square = self.mantissa << up;
        let root = square.isqrt();
        let exponent = (self.exponent - up as i32) / 2;
        Self { negative: false, mantissa: root, exponent, sticky: root * root != square }
    }

    /// The bits of the value in a format.
    pub(crate) fn round(self, format: Format, rounding: Rounding) -> u64 {
        let sign = format.sign(self.negative);
        if self.is_zero() {
            return sign;
        }
        // The last place of the result: that of a full mantissa, but not below that of the subnormals.
        let least = 1 - format.bias() - format.mantissa as i32;
        let last = (self.top() - 1 - format.mantissa as i32).max(least);
        let down = last - self.exponent;
        let (kept, half, rest) = match down {
            ..=0 => ((self.mantissa << -down) as u64, false, self.sticky),
            1..=128 => {
                let kept = if down == 128 { 0 } else { (self.mantissa >> down) as u64 };
                let half = self.mantissa >> (down - 1) & 1 != 0;
                (kept, half, self.sticky || self.mantissa & ((1 << (down - 1)) - 1) != 0)
            }
            _ => (0, false, true),
        };
        let up = match rounding {
            Rounding::Nearest => half && (rest || kept & 1 != 0),
            Rounding::Zero => false,
            Rounding::Down => self.negative && (half || rest),
            Rounding::Up => !self.negative && (half || rest),
        };
        // The hidden bit of a normal number counts its exponent up by one, a carry likewise.
        let bits = ((last - least) as u64) << format.mantissa;
        let bits = bits + kept + u64::from(up);
        if bits < format.infinity() {
            return sign | bits;
        }
        let toward_zero = match rounding {
            Rounding::Nearest => false,
            Rounding::Zero => true,
            Rounding::Down => !self.negative,
            Rounding::Up => self.negative,
        };
        sign | (format.infinity() - u64::from(toward_zero))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(value: Exact) -> f64 {
        f64::from_bits(value.round(F64, Rounding::Nearest))
    }

    #[test]
    fn agrees_with_the_machine_to_nearest() {
        let edges = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            5e-324,
            -5e-324,
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::MIN,
            1.0 / 3.0,
            1e300,
            1e-300,
            3.0,
        ];
        for a in edges {
            for b in edges {
                let (x, y) = (Exact::of(a), Exact::of(b));
                assert_eq!(nearest(x.add(y, Rounding::Nearest)).to_bits(), (a + b).to_bits(), "{a} + {b}");
                assert_eq!(nearest(x.mul(y)).to_bits(), (a * b).to_bits(), "{a} * {b}");
                if b != 0.0 {
                    assert_eq!(nearest(x.div(y)).to_bits(), (a / b).to_bits(), "{a} / {b}");
                }
                for c in edges {
                    let sum = x.mul(y).add(Exact::of(c), Rounding::Nearest);
                    assert_eq!(nearest(sum).to_bits(), a.mul_add(b, c).to_bits(), "{a} * {b} + {c}");
                }
            }
            if a >= 0.0 {
                assert_eq!(nearest(Exact::of(a).sqrt()).to_bits(), a.sqrt().to_bits(), "root of {a}");
            }
            assert_eq!(Exact::of(a).round(F32, Rounding::Nearest) as u32, (a as f32).to_bits());
        }
    }

    #[test]
    fn directed_roundings_enclose() {
        let third = Exact::of(1.0).div(Exact::of(3.0));
        let [zero, down, up] = [Rounding::Zero, Rounding::Down, Rounding::Up].map(|r| third.round(F32, r));
        assert_eq!((zero, down, up), (0x3EAA_AAAA, 0x3EAA_AAAA, 0x3EAA_AAAB));
        let huge = Exact::of(f64::MAX).add(Exact::of(f64::MAX), Rounding::Zero);
        assert_eq!(f64::from_bits(huge.round(F64, Rounding::Down)), f64::MAX);
        let tiny = Exact::of(5e-324).mul(Exact::of(5e-324));
        assert_eq!(tiny.round(F64, Rounding::Up), 1);
        assert_eq!(tiny.round(F64, Rounding::Zero), 0);
    }
}
