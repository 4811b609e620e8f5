//! `softmax`, `layernorm`: each row of a matrix by itself.

use super::expected::{Expected, gamma};
use super::random::{collect, random};
use super::rectangle::Rectangle;
use super::{Case, Kernel};
use crate::Facts;
use crate::dtype::Dtype;
use crate::shape::LaunchShape;

/// A kernel of `gpu/src/rows.rs`.
pub(super) enum Rows {
    Softmax,
    /// A thread a row.
    SoftmaxNaive,
    LayerNorm,
}

/// What is known of a row: its maximum and the sum of the powers, or its mean and variance.
#[derive(Clone, Copy, Default)]
struct Known {
    first: f64,
    second: f64,
    /// Of the magnitudes, on average.
    size: f64,
}

impl Kernel for Rows {
    fn name(&self) -> &'static str {
        match self {
            Self::Softmax => "softmax",
            Self::SoftmaxNaive => "softmax_naive",
            Self::LayerNorm => "layernorm",
        }
    }

    fn summary(&self) -> &'static str {
        match self {
            Self::Softmax => "each row becomes e^(x - maximum) over the sum of those, a block a row",
            Self::SoftmaxNaive => "each row becomes e^(x - maximum) over the sum of those, a thread a row",
            Self::LayerNorm => "each row becomes (x - mean) / sqrt(variance + 10^-5), a block a row",
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::F32]
    }

    fn bytes(&self, dtype: Dtype, n: u64) -> u64 {
        Rectangle::of(n).elements().saturating_mul(2 * dtype.bytes())
    }

    fn iterations(&self, _dtype: Dtype, n: u64) -> u64 {
        if matches!(self, Self::SoftmaxNaive) { Rectangle::of(n).rows } else { n.div_ceil(4) }
    }

    fn outputs(&self, n: u64) -> u64 {
        Rectangle::of(n).elements()
    }

    fn extent(&self, n: u64) -> Option<String> {
        Some(Rectangle::of(n).to_string())
    }

    fn shape(&self, _dtype: Dtype, n: u64, facts: &Facts) -> LaunchShape {
        if matches!(self, Self::SoftmaxNaive) {
            return LaunchShape::full(facts, Rectangle::of(n).rows, 2 * 16);
        }
        // A block a row, of as many threads as keep it with up to 8 packs of 4 each, among the numbers that the kernel knows.
        let Rectangle { rows, columns } = Rectangle::of(n);
        let block = if columns > 4096 { 512 } else { 128 };
        LaunchShape::resident(facts, u64::from(block) * rows, block, u32::MAX)
    }

    fn case(&self, _dtype: Dtype, n: usize, seed: u64) -> Case {
        let Rectangle { rows, columns } = Rectangle::of(n as u64);
        let (rows, columns) = (rows as usize, columns as usize);
        let unit = random::<f32>(seed, 0);
        let x = move |i| 8.0 * unit(i);
        let wide = move |i| f64::from(x(i));
        let mut case = Case::new();
        let input = case.input(rows * columns, x);
        let softmax = !matches!(self, Self::LayerNorm);
        let know = move |row: usize| {
            let all = || (row * columns..(row + 1) * columns).map(wide);
            let mean = |sum: f64| sum / columns as f64;
            let size = mean(all().map(f64::abs).sum());
            if softmax {
                let most = all().fold(f64::NEG_INFINITY, f64::max);
                Known { first: most, second: all().map(|x| (x - most).exp()).sum(), size }
            } else {
                let middle = mean(all().sum());
                Known { first: middle, second: mean(all().map(|x| (x - middle).powi(2)).sum()), size }
            }
        };
        let at = move |known: &Vec<Known>, i: usize| {
            let known = known[i / columns];
            if softmax { softmax_of(wide(i), known, columns) } else { layernorm_of(wide(i), known, columns) }
        };
        let out = case.output(Expected::<f32>::within_prepared(rows * columns, move || collect(rows, know), at));
        case.launch([input.slice(), columns.into(), out.pointer()]);
        case
    }
}

/// The exponent is a difference and a product, rounded twice; its error is the power's, relatively, times ln 2 · log2(e) = 1.
/// `ex2.approx` adds 2^-22 (PTX ISA). The sum's terms are off by as much, and are positive: its additions, in whatever order, by
/// one unit each. The reciprocal is off by 2 units and the product by one.
fn softmax_of(x: f64, known: Known, columns: usize) -> (f64, f64) {
    let right = (x - known.first).exp() / known.second;
    let power = gamma::<f32>(3) * 16.0 + 2.0_f64.powi(-22);
    (right, right * (2.0 * power + gamma::<f32>(columns as u64 + 4)))
}

/// The mean is off by `m`, of the additions, the division and the product. The squares' mean about it is larger than the variance
/// by m², and off by one unit an addition and five more; the root takes half of that, and `rsqrt.approx` adds 2^-22.4 (PTX ISA).
fn layernorm_of(x: f64, known: Known, columns: usize) -> (f64, f64) {
    let variance = known.second + f64::from(1e-5_f32);
    let root = variance.sqrt();
    let right = (x - known.first) / root;
    let mean = gamma::<f32>(columns as u64 + 4) * known.size;
    let inverse = 0.5 * (gamma::<f32>(columns as u64 + 8) + mean * mean / variance) + 2.0_f64.powf(-22.4);
    (right, mean / root * (1.0 + inverse) + right.abs() * (inverse + gamma::<f32>(4)))
}
