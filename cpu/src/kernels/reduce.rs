//! `sum`, `min`, `max`, `dot`: one number from an array or two.
//!
//! Sums of many floats have an error bound that says nothing, so long arrays hold small whole numbers: every partial sum, in
//! whatever order, is then a whole number below 2^24, exact in a float, and the result must be right in every bit.

use super::expected::{Element, Expected, gamma};
use super::random::{fold, random};
use super::{Case, Kernel};
use crate::Facts;
use crate::dtype::Dtype;
use crate::shape::LaunchShape;

/// Blocks that have room for their part, `PARTS` in `gpu/src/reduce.rs`.
const PARTS: usize = 4096;

/// Arrays up to here are of fractions.
const FRACTIONS: usize = 1 << 16;

/// A kernel of `gpu/src/reduce.rs`.
pub(super) enum Reduce {
    Sum,
    /// With an atomic addition an element.
    SumNaive,
    Min,
    Max,
    Dot,
}

impl Kernel for Reduce {
    fn name(&self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::SumNaive => "sum_naive",
            Self::Min => "min",
            Self::Max => "max",
            Self::Dot => "dot",
        }
    }

    fn summary(&self) -> &'static str {
        match self {
            Self::Sum => "out = x[0] + x[1] + ..., in one pass",
            Self::SumNaive => "out = x[0] + x[1] + ..., an atomic addition an element",
            Self::Min => "out = the least of x, in one pass",
            Self::Max => "out = the greatest of x, in one pass",
            Self::Dot => "out = x[0] * y[0] + x[1] * y[1] + ..., in one pass",
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        match self {
            Self::SumNaive => &[Dtype::F32],
            Self::Dot => &[Dtype::F32, Dtype::F64],
            _ => &[Dtype::F32, Dtype::F64, Dtype::I32],
        }
    }

    fn bytes(&self, dtype: Dtype, n: u64) -> u64 {
        n.saturating_mul(dtype.bytes() * if matches!(self, Self::Dot) { 2 } else { 1 })
    }

    fn device_bytes(&self, dtype: Dtype, n: u64) -> u64 {
        self.bytes(dtype, n).saturating_add(dtype.bytes() * PARTS as u64)
    }

    fn iterations(&self, dtype: Dtype, n: u64) -> u64 {
        if matches!(self, Self::SumNaive) { n } else { n.div_ceil(16 / dtype.bytes()) }
    }

    fn outputs(&self, _n: u64) -> u64 {
        1
    }

    fn shape(&self, dtype: Dtype, n: u64, facts: &Facts) -> LaunchShape {
        // 4 packs an iteration; up to 64 registers a thread, of which a multiprocessor has 65,536.
        LaunchShape::resident(facts, self.iterations(dtype, n).div_ceil(4), 256, 4)
    }

    fn case(&self, dtype: Dtype, n: usize, seed: u64) -> Case {
        match dtype {
            Dtype::F64 => self.floats::<f64>(n, seed, |x| x as f64),
            Dtype::I32 => self.integers(n, seed),
            _ => self.floats::<f32>(n, seed, |x| x as f32),
        }
    }
}

impl Reduce {
    fn integers(&self, n: usize, seed: u64) -> Case {
        let x = random::<i32>(seed, 0);
        let of_part: fn(i32, i32) -> i32 = match self {
            Self::Min => i32::min,
            Self::Max => i32::max,
            _ => i32::wrapping_add,
        };
        let identity = match self {
            Self::Min => i32::MAX,
            Self::Max => i32::MIN,
            _ => 0,
        };
        let right = move || fold(n, identity, x, of_part);
        let mut case = Case::new();
        let inputs = [case.input(n, x)];
        finish(case, &inputs, Expected::by(1, move |got: &[i32]| exact(got[0], right())))
    }

    fn floats<T: Element>(&self, n: usize, seed: u64, whole: fn(i64) -> T) -> Case {
        let fractions = n <= FRACTIONS;
        let of = move |stream: u64, most: i64| {
            let (fraction, bits) = (random::<T>(seed, stream), random::<u32>(seed, stream));
            move |i: usize| if fractions { fraction(i) } else { whole(i64::from(bits(i)) % (2 * most + 1) - most) }
        };
        let mut case = Case::new();
        match self {
            Self::Min | Self::Max => {
                let (x, sign) = (random::<T>(seed, 0), if matches!(self, Self::Min) { 1.0 } else { -1.0 });
                let right = move || fold(n, f64::INFINITY, move |i| sign * x(i).wide(), f64::min) * sign;
                let inputs = [case.input(n, x)];
                finish(case, &inputs, Expected::<T>::by(1, move |got| near(got[0], right(), 0.0)))
            }
            Self::Sum | Self::SumNaive => {
                // Up to 100 each: 2^28 of them add up to 6 million at six standard deviations.
                let x = of(0, 100);
                let (input, right) = (case.input(n, x), total::<T>(n, fractions, move |i| x(i).wide()));
                if matches!(self, Self::Sum) {
                    return finish(case, &[input], right);
                }
                let out = case.output_zeroed_each_time(right);
                case.launch([input.slice(), out.pointer()]);
                case
            }
            Self::Dot => {
                let (x, y) = (of(0, 10), of(1, 10));
                let inputs = [case.input(n, x), case.input(n, y)];
                finish(case, &inputs, total::<T>(n, fractions, move |i| x(i).wide() * y(i).wide()))
            }
        }
    }
}

/// The sum of `term(i)`: exact for whole numbers, and else off by at most one rounding for each addition, in any order.
fn total<T: Element>(n: usize, fractions: bool, term: impl Fn(usize) -> f64 + Copy + Sync + 'static) -> Expected<T> {
    Expected::by(1, move |got: &[T]| {
        let (sum, size) = (fold(n, 0.0, term, |a, b| a + b), fold(n, 0.0, move |i| term(i).abs(), |a, b| a + b));
        // Twice for f64, whose reference is rounded as often.
        let bound = if fractions { 2.0 * gamma::<T>(n as u64) * size } else { 0.0 };
        near(got[0], sum, bound)
    })
}

fn exact<T: Element>(got: T, right: T) -> Result<(), String> {
    if got.same(right) { Ok(()) } else { Err(format!("out[0] is {got:?}, and {right:?} is right")) }
}

fn near<T: Element>(got: T, right: f64, bound: f64) -> Result<(), String> {
    let near = got.wide() == right || (got.wide() - right).abs() <= bound;
    if near { Ok(()) } else { Err(format!("out[0] is {got:?}, and {right:e} is right, give or take {bound:.1e}")) }
}

fn finish<T: Element>(mut case: Case, inputs: &[super::case::Buffer], expected: Expected<T>) -> Case {
    let (parts, done) = (case.scratch(PARTS * size_of::<T>()), case.scratch(4));
    let out = case.output(expected);
    let inputs = inputs.iter().map(|input| input.slice());
    case.launch(inputs.chain([parts.pointer(), done.pointer(), out.pointer()]).collect::<Vec<_>>());
    case
}
