//! The mathematical functions on the CPU device: the same bits as on the host, where `tests/floats.rs` measures their errors.

use cuda_std::{FloatExt, GpuFloat};

use crate::launch::{Params, Rig};

macro_rules! all_of {
    ($t:ident) => {{
        let all: [fn($t) -> $t; 39] = [
            GpuFloat::floor,
            GpuFloat::ceil,
            GpuFloat::round,
            GpuFloat::trunc,
            GpuFloat::fract,
            GpuFloat::sqrt,
            GpuFloat::exp,
            GpuFloat::exp2,
            GpuFloat::ln,
            GpuFloat::log2,
            GpuFloat::log10,
            GpuFloat::cbrt,
            GpuFloat::sin,
            GpuFloat::cos,
            GpuFloat::tan,
            GpuFloat::asin,
            GpuFloat::acos,
            GpuFloat::atan,
            GpuFloat::exp_m1,
            GpuFloat::ln_1p,
            GpuFloat::sinh,
            GpuFloat::cosh,
            GpuFloat::tanh,
            GpuFloat::asinh,
            GpuFloat::acosh,
            GpuFloat::atanh,
            FloatExt::sinpi,
            FloatExt::cospi,
            FloatExt::error_function,
            FloatExt::complementary_error_function,
            FloatExt::inv_norm_cdf,
            FloatExt::norm_cdf,
            FloatExt::rcbrt,
            FloatExt::saturate,
            FloatExt::gamma,
            FloatExt::log_gamma,
            FloatExt::scaled_complementary_error_function,
            FloatExt::j0,
            FloatExt::y1,
        ];
        all
    }};
}

/// Values of every size and both signs, and the special ones.
fn samples() -> Vec<f64> {
    let mut all = vec![0.0, -0.0, 1.0, -1.0, 0.5, -2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for exponent in (-140..=120).step_by(4) {
        all.extend([1.37, -1.91].map(|m| m * 2f64.powi(exponent)));
    }
    all.extend((-40..40).map(|i| f64::from(i) * 0.37));
    all
}

#[test]
fn the_gpu_computes_what_the_host_does() {
    let rig = Rig::new();
    let singles: Vec<f32> = samples().into_iter().map(|x| x as f32).collect();
    let doubles = samples();
    let x = rig.words(&singles.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
    let y = rig.bytes(&doubles.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
    let n = singles.len();
    let out = rig.bytes(&vec![0xEE; 8 * n]);
    let params = |which: usize, x: u64| {
        let params = Params::default().add(4, (which as u32).to_le_bytes());
        [x, n as u64, out, n as u64].into_iter().fold(params, |params, word| params.add(8, word.to_le_bytes())).0
    };
    for (which, f) in all_of!(f32).into_iter().enumerate() {
        rig.try_launch("floats_f32", [1; 3], [64, 1, 1], &params(which, x)).unwrap_or_else(|fault| panic!("{fault}"));
        for (x, got) in singles.iter().zip(rig.read_words(out, n)) {
            let (got, expected) = (f32::from_bits(got), f(*x));
            let same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
            assert!(same, "f32 function {which} of {x:e}: {got:e} on the device, {expected:e} on the host");
        }
    }
    for (which, f) in all_of!(f64).into_iter().enumerate() {
        rig.try_launch("floats_f64", [1; 3], [64, 1, 1], &params(which, y)).unwrap_or_else(|fault| panic!("{fault}"));
        for (x, got) in doubles.iter().zip(rig.read(out, n).into_iter().map(f64::from_le_bytes)) {
            let expected = f(*x);
            let same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
            assert!(same, "f64 function {which} of {x:e}: {got:e} on the device, {expected:e} on the host");
        }
    }
}

#[test]
fn fast_forms_are_close() {
    let rig = Rig::new();
    let xs: Vec<f32> = (1..300).map(|i| i as f32 * 0.01).collect();
    let n = xs.len();
    let x = rig.words(&xs.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
    let out = rig.words(&vec![0; 12 * n]);
    rig.launch("floats_fast", [1; 3], [64, 1, 1], &[x, n as u64, out, n as u64]);
    for (x, got) in xs.iter().zip(rig.read_words(out, 12 * n).as_chunks::<12>().0) {
        let x = f64::from(*x);
        let expected = [
            x.exp2(),
            x.log2(),
            1.0 / x.sqrt(),
            x.sqrt(),
            1.0 / x,
            x.sin(),
            x.cos(),
            x / 3.0,
            x.exp(),
            x.ln(),
            x.powf(1.5),
            x.tanh(),
        ];
        for (which, (got, expected)) in got.iter().zip(expected).enumerate() {
            let got = f64::from(f32::from_bits(*got));
            assert!((got - expected).abs() <= 2e-6 * expected.abs().max(1.0), "{which} of {x}: {got}, not {expected}");
        }
    }
}
