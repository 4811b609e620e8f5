//! The errors of the mathematical functions, as the module `float` states them: `f32` against `f64`, `f64` against the C library's.

use cuda_std::{FloatExt, GpuFloat};

/// Units of the last place between a result and what it should be.
fn error_f32(got: f32, expected: f64) -> f64 {
    let rounded = expected as f32;
    if got.to_bits() == rounded.to_bits() || got.is_nan() && rounded.is_nan() || got == rounded {
        return 0.0;
    }
    if !got.is_finite() || !rounded.is_finite() {
        return f64::INFINITY;
    }
    let ulp = f64::from(rounded.abs().max(f32::MIN_POSITIVE));
    let ulp = 2f64.powi(ulp.log2().floor() as i32 - 23);
    (f64::from(got) - expected).abs() / ulp
}

fn error_f64(got: f64, expected: f64) -> f64 {
    if got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan() || got == expected {
        return 0.0;
    }
    if !got.is_finite() || !expected.is_finite() {
        return f64::INFINITY;
    }
    let ulp = expected.abs().next_up() - expected.abs();
    (got - expected).abs() / ulp
}

/// A name, the function in `f32` and in `f64`, `std`'s, and the error allowed.
type Row = (&'static str, fn(f32) -> f32, fn(f64) -> f64, fn(f64) -> f64, f64);

macro_rules! rows {
    ($($name:ident $allowed:literal;)*) => {
        [$((stringify!($name), GpuFloat::$name as fn(f32) -> f32, GpuFloat::$name as fn(f64) -> f64, f64::$name as fn(f64) -> f64, $allowed)),*]
    };
}

#[test]
fn errors_are_within_what_is_stated() {
    let rows: [Row; 26] = rows! {
        floor 0.0; ceil 0.0; round 0.0; trunc 0.0; fract 0.0; sqrt 0.5;
        exp 1.0; exp2 1.0; ln 1.0; log2 1.0; log10 1.0; cbrt 1.0; sin 1.0; cos 1.0; tan 1.0; asin 1.0; acos 1.0; atan 1.0;
        exp_m1 1.0; ln_1p 1.0; sinh 3.0; cosh 3.0; tanh 3.0; asinh 4.0; acosh 4.0; atanh 4.0;
    };
    let mut wrong = String::new();
    for (name, single, double, std, allowed) in rows {
        // `std`'s formula loses the digits of an argument near -1; the function is odd.
        let reference = |x: f64| if name == "atanh" { std(x.abs()).copysign(x) } else { std(x) };
        let (mut worst, mut at) = (0.0, 0.0);
        // Every 9973rd pattern of bits: signs, exponents and mantissas of all kinds, infinities and NaNs.
        for bits in (0..=u32::MAX).step_by(9973) {
            let x = f32::from_bits(bits);
            let error = error_f32(single(x), reference(f64::from(x)));
            if error > worst {
                (worst, at) = (error, f64::from(x));
            }
        }
        if worst > allowed {
            wrong += &format!("f32 {name}: {worst:.3} at {at:e}, {allowed} is stated\n");
        }
        let (mut worst, mut at) = (0.0, 0.0);
        for step in 0..200_000u64 {
            let x = f64::from_bits(step.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            // The sample is mostly far from 1; a second one is not.
            for x in [x, (x.to_bits() >> 11) as f64 / 2f64.powi(50) - 4.0] {
                let error = error_f64(double(x), reference(x));
                if error > worst {
                    (worst, at) = (error, x);
                }
            }
        }
        if worst > allowed + 1.0 {
            wrong += &format!("f64 {name}: {worst:.3} at {at:e}, {allowed} + 1 is stated\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn functions_of_two_operands() {
    let xs: Vec<f32> = (0..600u32).map(|i| f32::from_bits(i.wrapping_mul(0x0123_4567) ^ 0x3F80_0000)).collect();
    let mut worst = [0f64; 3];
    for &x in xs.iter().filter(|x| x.is_finite()) {
        for &y in xs.iter().filter(|y| y.is_finite()) {
            let (a, b) = (f64::from(x), f64::from(y));
            worst[0] = worst[0].max(error_f32(GpuFloat::powf(x, y), a.powf(b)));
            worst[1] = worst[1].max(error_f32(GpuFloat::atan2(x, y), a.atan2(b)));
            worst[2] = worst[2].max(error_f32(GpuFloat::hypot(x, y), a.hypot(b)));
            assert_eq!(GpuFloat::rem_euclid(x, y).to_bits(), x.rem_euclid(y).to_bits(), "{x:e} {y:e}");
            assert_eq!(GpuFloat::div_euclid(x, y).to_bits(), x.div_euclid(y).to_bits(), "{x:e} {y:e}");
        }
    }
    assert!(worst[0] <= 1.0 && worst[1] <= 2.0 && worst[2] <= 1.0, "powf, atan2, hypot: {worst:?}");
    assert_eq!(GpuFloat::log2(8.0f32), 3.0);
    assert_eq!(GpuFloat::log2(1e3f64), 1e3f64.log2());
    assert_eq!(GpuFloat::powi(1.5f64, -3), 1.0 / 3.375);
    assert_eq!(GpuFloat::powi(2f32, i32::MIN), 0.0);
}

#[test]
fn functions_that_std_has_not() {
    let close = |got: f64, expected: f64| {
        assert!((got - expected).abs() <= 4e-15 * expected.abs().max(1e-300), "{got:e}, not {expected:e}");
    };
    // Values of 30 digits from tables.
    close(0.5f64.error_function(), 0.520_499_877_813_046_5);
    close(3f64.complementary_error_function(), 2.209_049_699_858_544e-5);
    close(10f64.scaled_complementary_error_function(), 0.056_140_992_743_822_59);
    close(30f64.scaled_complementary_error_function(), 0.018_795_888_861_416_75);
    close(FloatExt::gamma(5f64), 24.0);
    close(1f64.j0(), 0.765_197_686_557_966_6);
    close(0.975f64.inv_norm_cdf(), 1.959_963_984_540_054);
    close(1.96f64.norm_cdf(), 0.975_002_104_851_779_5);
    close(27f64.rcbrt(), 1.0 / 3.0);
    // Inverses of each other, from the smallest probabilities on.
    for exponent in [1, 2, 10, 50, 100, 250] {
        let p = 10f64.powi(-exponent);
        let x = p.inv_complementary_error_function();
        assert!((x.complementary_error_function() / p - 1.0).abs() < 1e-11, "{p:e}");
        assert!((p.inv_norm_cdf().norm_cdf() / p - 1.0).abs() < 1e-11, "{p:e}");
    }
    for (x, s, c) in
        [(0.5, 1.0, 0.0), (1.0, 0.0, -1.0), (-0.5, -1.0, 0.0), (1e15, 0.0, 1.0), (2.25, 0.5f64.sqrt(), 0.5f64.sqrt())]
    {
        assert!((x.sinpi() - s).abs() < 1e-15 && (x.cospi() - c).abs() < 1e-15, "{x}");
    }
    assert_eq!([f32::NAN, -1.0, 0.25, 7.0].map(FloatExt::saturate), [0.0, 0.0, 0.25, 1.0]);
    assert_eq!(48f64.frexp(), (0.75, 6));
    assert_eq!((0.75f32.ldexp(6), 48f32.unbiased_exp()), (48.0, 5));
}
