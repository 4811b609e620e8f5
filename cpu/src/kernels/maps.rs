//! `fill`, `copy`, `saxpy`, `triad`, `gelu`: one output element from the input elements at the same place.

use super::expected::{Element, Expected, gamma};
use super::random::random;
use super::{Case, Kernel};
use crate::dtype::Dtype;

const FLOATS: &[Dtype] = &[Dtype::F32, Dtype::F64];
/// The factor of `saxpy` and `triad`: not a power of two, so that products are rounded.
const FACTOR: f32 = 2.7;

/// A kernel of `gpu/src/maps.rs`.
macro_rules! maps {
    ($($(#[doc = $doc:literal])* $kernel:ident = $name:literal, $dtypes:expr, $arrays:literal arrays, $f32:expr, $f64:expr;)*) => {$(
        $(#[doc = $doc])*
        pub(super) struct $kernel;

        impl Kernel for $kernel {
            fn name(&self) -> &'static str {
                $name
            }

            fn summary(&self) -> &'static str {
                concat!($($doc),*).trim()
            }

            fn dtypes(&self) -> &'static [Dtype] {
                $dtypes
            }

            fn bytes(&self, dtype: Dtype, n: u64) -> u64 {
                n.saturating_mul($arrays * dtype.bytes())
            }

            fn iterations(&self, dtype: Dtype, n: u64) -> u64 {
                // Of one input, four packs at a time.
                n.div_ceil(16 / dtype.bytes() * if $arrays == 2 { 4 } else { 1 })
            }

            fn case(&self, dtype: Dtype, n: usize, seed: u64) -> Case {
                if dtype == Dtype::F64 { $f64(n, seed) } else { $f32(n, seed) }
            }
        }
    )*};
}

maps! {
    /// out[i] = value
    Fill = "fill", FLOATS, 1 arrays, fill::<f32>, fill::<f64>;
    /// out[i] = x[i]
    Copy = "copy", FLOATS, 2 arrays, copy::<f32>, copy::<f64>;
    /// out[i] = factor * x[i] + y[i]
    Saxpy = "saxpy", FLOATS, 3 arrays,
        |n, seed| two(n, seed, FACTOR, |f: f32, x, y| f.mul_add(x, y)),
        |n, seed| two(n, seed, f64::from(FACTOR), |f: f64, x, y| f.mul_add(x, y));
    /// out[i] = x[i] + factor * y[i], as the STREAM benchmark has it
    Triad = "triad", FLOATS, 3 arrays,
        |n, seed| two(n, seed, FACTOR, |f: f32, x, y| f.mul_add(y, x)),
        |n, seed| two(n, seed, f64::from(FACTOR), |f: f64, x, y| f.mul_add(y, x));
    /// out[i] = x[i] * (1 + tanh(0.797885 * (x[i] + 0.044715 * x[i]^3))) / 2, the activation of transformers
    Gelu = "gelu", &[Dtype::F32], 2 arrays, gelu, gelu;
}

fn fill<T: Element>(n: usize, seed: u64) -> Case
where
    super::case::Argument: From<T>,
{
    let value = random::<T>(seed, 0)(0);
    let mut case = Case::new();
    let out = case.output(Expected::exactly(n, move |_| value));
    case.launch([value.into(), out.pointer(), n.into()]);
    case
}

fn copy<T: Element>(n: usize, seed: u64) -> Case {
    let x = random::<T>(seed, 0);
    let mut case = Case::new();
    let (input, out) = (case.input(n, x), case.output(Expected::exactly(n, x)));
    case.launch([input.slice(), out.pointer()]);
    case
}

/// A fused multiply-add, which is rounded once: equal in every bit.
fn two<T: Element>(n: usize, seed: u64, factor: T, f: impl Fn(T, T, T) -> T + Sync + 'static) -> Case
where
    super::case::Argument: From<T>,
{
    let (x, y) = (random::<T>(seed, 0), random::<T>(seed, 1));
    let mut case = Case::new();
    let (left, right) = (case.input(n, x), case.input(n, y));
    let out = case.output(Expected::exactly(n, move |i| f(factor, x(i), y(i))));
    case.launch([factor.into(), left.slice(), right.slice(), out.pointer()]);
    case
}

/// Inputs from -8 to 8: both tails, where the result is 0 or x, and the curve between.
fn gelu(n: usize, seed: u64) -> Case {
    let unit = random::<f32>(seed, 0);
    let x = move |i| 8.0 * unit(i);
    let mut case = Case::new();
    let input = case.input(n, x);
    let out = case.output(Expected::<f32>::within(n, move |i| gelu_of(f64::from(x(i)))));
    case.launch([input.slice(), out.pointer()]);
    case
}

/// The kernel computes `x - x / (1 + e)` with `e = 2^u` and `u` a polynomial of x. `u` is rounded four times and its magnitude
/// is below 2.31 |x| + 0.103 |x|^3; an error of `d` in `u` is one of `d ln 2` in `e`, relatively, and the quotient's error is
/// at most a quarter of that, as e / (1 + e)^2 <= 1/4. `ex2.approx` adds 2^-22 to it (PTX ISA), the division 2 units, and the
/// sum and the difference half a unit of something that is at most |x|.
fn gelu_of(x: f64) -> (f64, f64) {
    let inner = 0.797_884_560_802_865_4 * (x + 0.044_715 * x * x * x);
    let right = 0.5 * x * (1.0 + inner.tanh());
    let exponent = 2.31 * x.abs() + 0.103 * x.abs().powi(3);
    let power = gamma::<f32>(5) * exponent * std::f64::consts::LN_2 + 2.0_f64.powi(-22);
    (right, x.abs() * (power / 4.0 + gamma::<f32>(5)) + f64::from(f32::MIN_POSITIVE))
}
