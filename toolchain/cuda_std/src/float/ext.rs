//! The functions that CUDA has and `std` has not.

use super::gpu_float::GpuFloat;
use super::sealed::Sealed;

macro_rules! float_ext {
    ($($(#[doc = $doc:literal])+ $name:ident($($arg:ident: $ty:ty),*) -> $result:ty = |$me:ident| $single:expr, $double:expr;)*) => {
        /// Mathematical functions of `f32` and `f64` that neither `core` nor `std` has. They run on the host as well.
        pub trait FloatExt: Sized + Sealed {
            $($(#[doc = $doc])+ #[must_use] fn $name(self $(, $arg: $ty)*) -> $result;)*
        }

        impl FloatExt for f32 {
            $(#[inline] fn $name(self $(, $arg: $ty)*) -> $result { let $me = self; $single })*
        }

        impl FloatExt for f64 {
            $(#[inline] fn $name(self $(, $arg: $ty)*) -> $result { let $me = self; $double })*
        }
    };
}

float_ext! {
    #[doc = "`cos(πx)`, exact at multiples of a half."]
    cospi() -> Self = |x| sincospi(x.into()).1 as f32, sincospi(x).1;
    #[doc = "`sin(πx)`, exact at multiples of a half."]
    sinpi() -> Self = |x| sincospi(x.into()).0 as f32, sincospi(x).0;
    #[doc = "`sin(πx)` and `cos(πx)`."]
    sincospi() -> (Self, Self) = |x| { let (s, c) = sincospi(x.into()); (s as f32, c as f32) }, sincospi(x);
    #[doc = "The error function."]
    error_function() -> Self = |x| libm::erff(x), libm::erf(x);
    #[doc = "`1 - erf(x)`, accurate where that is small."]
    complementary_error_function() -> Self = |x| libm::erfcf(x), libm::erfc(x);
    #[doc = "The inverse of the complementary error function, for 0 to 2."]
    inv_complementary_error_function() -> Self = |x| erfcinv(x.into()) as f32, erfcinv(x);
    #[doc = "`exp(x²) erfc(x)`, where the two alone would overflow and vanish."]
    scaled_complementary_error_function() -> Self = |x| erfcx(x.into()) as f32, erfcx(x);
    #[doc = "The mantissa, of magnitude 0.5 to 1, and the exponent of 2 that it is multiplied by."]
    frexp() -> (Self, i32) = |x| libm::frexpf(x), libm::frexp(x);
    #[doc = "The exponent as an integer: `floor(log2(|x|))`."]
    unbiased_exp() -> i32 = |x| libm::ilogbf(x), libm::ilogb(x);
    #[doc = "Bessel function of the first kind, order 0."]
    j0() -> Self = |x| libm::j0f(x), libm::j0(x);
    #[doc = "Bessel function of the first kind, order 1."]
    j1() -> Self = |x| libm::j1f(x), libm::j1(x);
    #[doc = "Bessel function of the first kind, order `order`."]
    jn(order: i32) -> Self = |x| libm::jnf(order, x), libm::jn(order, x);
    #[doc = "`x * 2^exp`."]
    ldexp(exp: i32) -> Self = |x| libm::ldexpf(x, exp), libm::ldexp(x, exp);
    #[doc = "`ln(|Γ(x)|)`."]
    log_gamma() -> Self = |x| libm::lgammaf(x), libm::lgamma(x);
    #[doc = "`ln(1 + x)`, accurate near 0."]
    log1p() -> Self = |x| x.ln_1p(), x.ln_1p();
    #[doc = "The cumulative distribution of the standard normal."]
    norm_cdf() -> Self = |x| (0.5 * libm::erfc(-f64::from(x) * FRAC_1_SQRT_2)) as f32, 0.5 * libm::erfc(-x * FRAC_1_SQRT_2);
    #[doc = "The inverse of [`norm_cdf`](FloatExt::norm_cdf), for 0 to 1."]
    inv_norm_cdf() -> Self = |x| norm_inv(x.into()) as f32, norm_inv(x);
    #[doc = "`1 / cbrt(x)`."]
    rcbrt() -> Self = |x| (1.0 / libm::cbrt(x.into())) as f32, 1.0 / libm::cbrt(x);
    #[doc = "The value, brought to 0 to 1; NaN becomes 0, as CUDA has it."]
    saturate() -> Self = |x| if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 }, if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 };
    #[doc = "`x * 2^exp`."]
    scale_by_n(exp: i32) -> Self = |x| libm::scalbnf(x, exp), libm::scalbn(x, exp);
    #[doc = "`Γ(x)`."]
    gamma() -> Self = |x| libm::tgammaf(x), libm::tgamma(x);
    #[doc = "Bessel function of the second kind, order 0."]
    y0() -> Self = |x| libm::y0f(x), libm::y0(x);
    #[doc = "Bessel function of the second kind, order 1."]
    y1() -> Self = |x| libm::y1f(x), libm::y1(x);
    #[doc = "Bessel function of the second kind, order `order`."]
    yn(order: i32) -> Self = |x| libm::ynf(order, x), libm::yn(order, x);
}

use core::f64::consts::{FRAC_1_SQRT_2, PI};

/// Sine and cosine of `πx`: the quarter turn is taken off exactly.
fn sincospi(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    // Exact: the remainder of a division is, and so is the difference to the nearest half.
    let turn = x % 2.0;
    let halves = GpuFloat::round(2.0 * turn);
    let (s, c) = libm::sincos((turn - 0.5 * halves) * PI);
    let (s, c) = match halves as i32 & 3 {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    };
    // Zeros without a sign of their own, but for the sine of 0.
    (if s == 0.0 { f64::copysign(0.0, x) } else { s }, if c == 0.0 { 0.0 } else { c })
}

/// `exp(x²) erfc(x)`.
fn erfcx(x: f64) -> f64 {
    if x < 25.0 {
        // x² in two parts, of which the second is small: exp(a + b) is exp(a) + exp(a) b.
        let square = x * x;
        let rest = GpuFloat::mul_add(x, x, -square);
        let whole = libm::exp(square);
        return if whole.is_finite() { GpuFloat::mul_add(whole, rest, whole) * libm::erfc(x) } else { whole };
    }
    // Asymptotic; the next term is below 1e-17 here.
    let t = 1.0 / (2.0 * x * x);
    let series = 1.0 - t * (1.0 - 3.0 * t * (1.0 - 5.0 * t * (1.0 - 7.0 * t * (1.0 - 9.0 * t))));
    series / x * (1.0 / GpuFloat::sqrt(PI))
}

/// The `x` of which `erfc(x)` is `y`, to about 1e-15 of its size.
fn erfcinv(y: f64) -> f64 {
    if !(0.0..=2.0).contains(&y) {
        return f64::NAN;
    }
    if y == 0.0 || y == 2.0 {
        return if y == 0.0 { f64::INFINITY } else { f64::NEG_INFINITY };
    }
    // By symmetry from the small side, where erfc keeps its digits.
    let (small, sign) = if y <= 1.0 { (y, 1.0) } else { (2.0 - y, -1.0) };
    // A start to within a tenth or so, then Halley's steps, each of which makes three digits of one.
    let t = GpuFloat::sqrt(-2.0 * libm::log(small / 2.0));
    let mut x = (t - (2.30753 + t * 0.27061) / (1.0 + t * (0.99229 + t * 0.04481))) * FRAC_1_SQRT_2;
    for _ in 0..3 {
        // In terms of erfcx, so that nothing vanishes: (erfc(x) - y) exp(x²).
        let error = erfcx(x) - small * libm::exp(x * x);
        let slope = 2.0 / GpuFloat::sqrt(PI);
        if !error.is_finite() {
            break;
        }
        x += error / (slope - x * error);
    }
    sign * x
}

/// The `x` of which the normal distribution is `p`.
fn norm_inv(p: f64) -> f64 {
    -core::f64::consts::SQRT_2 * erfcinv(2.0 * p)
}
