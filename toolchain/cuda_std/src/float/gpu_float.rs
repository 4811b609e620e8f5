//! The functions that `std` has as methods of floats.

use super::exact;
use super::sealed::Sealed;

macro_rules! gpu_float {
    ($($(#[doc = $doc:literal])+ $name:ident($($arg:ident: $ty:ty),*) -> $result:ty = |$me:ident| $single:expr, $double:expr;)*) => {
        /// The mathematical functions of `f32` and `f64` that `core` has no methods for. See [`float`](crate::float) for their
        /// errors.
        pub trait GpuFloat: Copy + PartialOrd + Sealed {
            $($(#[doc = $doc])+ #[must_use] fn $name(self $(, $arg: $ty)*) -> $result;)*
        }

        impl GpuFloat for f32 {
            $(#[inline] fn $name(self $(, $arg: $ty)*) -> $result { let $me = self; $single })*
        }

        impl GpuFloat for f64 {
            $(#[inline] fn $name(self $(, $arg: $ty)*) -> $result { let $me = self; $double })*
        }
    };
}

gpu_float! {
    #[doc = "The largest integer that is not above."]
    floor() -> Self = |x| exact::single::floor(x), exact::double::floor(x);
    #[doc = "The smallest integer that is not below."]
    ceil() -> Self = |x| exact::single::ceil(x), exact::double::ceil(x);
    #[doc = "The nearest integer; halves go away from 0."]
    round() -> Self = |x| exact::single::round(x), exact::double::round(x);
    #[doc = "The integer part."]
    trunc() -> Self = |x| exact::single::trunc(x), exact::double::trunc(x);
    #[doc = "The fractional part, with the sign of the value."]
    fract() -> Self = |x| x - exact::single::trunc(x), x - exact::double::trunc(x);
    #[doc = "The magnitude."]
    abs() -> Self = |x| f32::abs(x), f64::abs(x);
    #[doc = "1 with the sign of the value, or NaN."]
    signum() -> Self = |x| f32::signum(x), f64::signum(x);
    #[doc = "The magnitude of this, with the sign of the other."]
    copysign(sign: Self) -> Self = |x| f32::copysign(x, sign), f64::copysign(x, sign);
    #[doc = "`self * a + b`, rounded once (`fma.rn`)."]
    mul_add(a: Self, b: Self) -> Self = |x| exact::single::mul_add(x, a, b), exact::double::mul_add(x, a, b);
    #[doc = "The quotient that belongs to [`rem_euclid`](GpuFloat::rem_euclid)."]
    div_euclid(rhs: Self) -> Self = |x| {
        let q = exact::single::trunc(x / rhs);
        if x % rhs < 0.0 { if rhs > 0.0 { q - 1.0 } else { q + 1.0 } } else { q }
    }, {
        let q = exact::double::trunc(x / rhs);
        if x % rhs < 0.0 { if rhs > 0.0 { q - 1.0 } else { q + 1.0 } } else { q }
    };
    #[doc = "The remainder that is not negative."]
    rem_euclid(rhs: Self) -> Self = |x| {
        let r = x % rhs;
        if r < 0.0 { r + f32::abs(rhs) } else { r }
    }, {
        let r = x % rhs;
        if r < 0.0 { r + f64::abs(rhs) } else { r }
    };
    #[doc = "To an integer power, by repeated squaring: up to about `log2(n)` roundings."]
    powi(n: i32) -> Self = |x| powi(x, n, 1.0), powi(x, n, 1.0);
    #[doc = "To a power."]
    powf(n: Self) -> Self = |x| libm::powf(x, n), libm::pow(x, n);
    #[doc = "Square root (`sqrt.rn`)."]
    sqrt() -> Self = |x| exact::single::sqrt(x), exact::double::sqrt(x);
    #[doc = "e to the power of this."]
    exp() -> Self = |x| libm::expf(x), libm::exp(x);
    #[doc = "2 to the power of this."]
    exp2() -> Self = |x| libm::exp2f(x), libm::exp2(x);
    #[doc = "Natural logarithm."]
    ln() -> Self = |x| libm::logf(x), libm::log(x);
    #[doc = "Logarithm to a base, as a quotient of two logarithms."]
    log(base: Self) -> Self = |x| libm::logf(x) / libm::logf(base), libm::log(x) / libm::log(base);
    #[doc = "Logarithm to base 2."]
    log2() -> Self = |x| libm::log2f(x), libm::log2(x);
    #[doc = "Logarithm to base 10."]
    log10() -> Self = |x| libm::log10f(x), libm::log10(x);
    #[doc = "Cube root."]
    cbrt() -> Self = |x| libm::cbrtf(x), libm::cbrt(x);
    #[doc = "Length of the hypotenuse, without overflow on the way."]
    hypot(other: Self) -> Self = |x| libm::hypotf(x, other), libm::hypot(x, other);
    #[doc = "Sine of an angle in radians."]
    sin() -> Self = |x| libm::sinf(x), libm::sin(x);
    #[doc = "Cosine of an angle in radians."]
    cos() -> Self = |x| libm::cosf(x), libm::cos(x);
    #[doc = "Tangent of an angle in radians."]
    tan() -> Self = |x| libm::tanf(x), libm::tan(x);
    #[doc = "Arc sine in radians; NaN outside of -1 to 1."]
    asin() -> Self = |x| libm::asinf(x), libm::asin(x);
    #[doc = "Arc cosine in radians; NaN outside of -1 to 1."]
    acos() -> Self = |x| libm::acosf(x), libm::acos(x);
    #[doc = "Arc tangent in radians."]
    atan() -> Self = |x| libm::atanf(x), libm::atan(x);
    #[doc = "The angle of the point (`other`, `self`) in radians."]
    atan2(other: Self) -> Self = |x| libm::atan2f(x, other), libm::atan2(x, other);
    #[doc = "Sine and cosine."]
    sin_cos() -> (Self, Self) = |x| libm::sincosf(x), libm::sincos(x);
    #[doc = "`exp(x) - 1`, accurate near 0."]
    exp_m1() -> Self = |x| libm::expm1f(x), libm::expm1(x);
    #[doc = "`ln(1 + x)`, accurate near 0."]
    ln_1p() -> Self = |x| libm::log1pf(x), libm::log1p(x);
    #[doc = "Hyperbolic sine."]
    sinh() -> Self = |x| libm::sinhf(x), libm::sinh(x);
    #[doc = "Hyperbolic cosine."]
    cosh() -> Self = |x| libm::coshf(x), libm::cosh(x);
    #[doc = "Hyperbolic tangent."]
    tanh() -> Self = |x| libm::tanhf(x), libm::tanh(x);
    #[doc = "Inverse hyperbolic sine."]
    asinh() -> Self = |x| libm::asinhf(x), libm::asinh(x);
    #[doc = "Inverse hyperbolic cosine; NaN below 1."]
    acosh() -> Self = |x| if x < 1.0 { f32::NAN } else { libm::acoshf(x) }, if x < 1.0 { f64::NAN } else { libm::acosh(x) };
    #[doc = "Inverse hyperbolic tangent; NaN outside of -1 to 1."]
    atanh() -> Self = |x| libm::atanhf(x), libm::atanh(x);
}

/// `base` to the power of `n`; `one` is 1 of the type.
#[inline]
fn powi<T: Copy + core::ops::Mul<Output = T> + core::ops::Div<Output = T>>(base: T, n: i32, one: T) -> T {
    let (mut base, mut left, mut result) = (base, n.unsigned_abs(), one);
    while left > 0 {
        if left & 1 == 1 {
            result = result * base;
        }
        base = base * base;
        left >>= 1;
    }
    if n < 0 { one / result } else { result }
}
