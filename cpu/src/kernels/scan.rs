//! `scan`, `scan_exclusive`: prefix sums; `compact`: what passes a test.
//!
//! Long arrays of floats hold small whole numbers, whose sums are exact in any order; see `reduce.rs`.

use super::expected::{Element, Expected, gamma};
use super::random::{collect, random};
use super::{Case, Kernel, Sizes};
use crate::Facts;
use crate::dtype::Dtype;
use crate::shape::LaunchShape;

/// Elements of a tile, `TILE` in `gpu/src/scan.rs`, and in `gpu/src/compact.rs`.
const TILE: u64 = 8192;
const TILE_OF_COMPACT: u64 = 4096;
/// Arrays up to here are of fractions.
const FRACTIONS: usize = 1 << 16;

/// A kernel of `gpu/src/scan.rs`.
pub(super) struct Scan {
    /// With the element itself, or up to it.
    pub(super) inclusive: bool,
}

impl Kernel for Scan {
    fn name(&self) -> &'static str {
        if self.inclusive { "scan" } else { "scan_exclusive" }
    }

    fn summary(&self) -> &'static str {
        if self.inclusive {
            "out[i] = x[0] + ... + x[i], in one pass"
        } else {
            "out[i] = x[0] + ... + x[i - 1], in one pass"
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::F32, Dtype::I32]
    }

    fn bytes(&self, dtype: Dtype, n: u64) -> u64 {
        n.saturating_mul(2 * dtype.bytes())
    }

    fn device_bytes(&self, dtype: Dtype, n: u64) -> u64 {
        self.bytes(dtype, n).saturating_add(8 * n.div_ceil(TILE) + 4)
    }

    fn iterations(&self, _dtype: Dtype, n: u64) -> u64 {
        n.div_ceil(16)
    }

    fn shape(&self, _dtype: Dtype, n: u64, facts: &Facts) -> LaunchShape {
        LaunchShape::resident(facts, 512 * n.div_ceil(TILE), 512, 2)
    }

    fn case(&self, dtype: Dtype, n: usize, seed: u64) -> Case {
        let inclusive = self.inclusive;
        if dtype == Dtype::I32 {
            let x = random::<i32>(seed, 0);
            let right = move || prefix(n, inclusive, 0, x, i32::wrapping_add);
            return self.finish(n, x, Expected::by(n, move |got| compare(got, &right(), |_| 0.0)));
        }
        let (x, expected) = floats(n, seed, inclusive);
        self.finish(n, x, expected)
    }
}

/// Inputs, and what should come out.
fn floats(n: usize, seed: u64, inclusive: bool) -> (impl Fn(usize) -> f32 + Copy + Sync, Expected<f32>) {
    let (fraction, bits) = (random::<f32>(seed, 0), random::<u32>(seed, 0));
    let fractions = n <= FRACTIONS;
    let x = move |i| if fractions { fraction(i) } else { (i64::from(bits(i)) % 201 - 100) as f32 };
    let right = move || prefix(n, inclusive, 0.0, move |i| f64::from(x(i)), |a, b| a + b);
    // Magnitudes are at most 1 and every partial sum is rounded once, in whatever order: at most as often as there are elements.
    let bound = move |i: usize| if fractions { gamma::<f32>(i as u64 + 1) * (i + 1) as f64 } else { 0.0 };
    (x, Expected::by(n, move |got: &[f32]| compare(got, &right(), bound)))
}

impl Scan {
    fn finish<T: Element>(&self, n: usize, x: impl Fn(usize) -> T + Sync + 'static, expected: Expected<T>) -> Case {
        let mut case = Case::new();
        let (input, out) = (case.input(n, x), case.output(expected));
        let (words, tickets) =
            (case.zeroed_each_time(8 * (n as u64).div_ceil(TILE) as usize), case.zeroed_each_time(4));
        case.launch([input.slice(), out.pointer(), words.pointer(), tickets.pointer()]);
        case
    }
}

fn prefix<R: Copy>(n: usize, inclusive: bool, zero: R, at: impl Fn(usize) -> R, plus: impl Fn(R, R) -> R) -> Vec<R> {
    let mut sum = zero;
    let step = |i| {
        let before = sum;
        sum = plus(sum, at(i));
        if inclusive { sum } else { before }
    };
    (0..n).map(step).collect()
}

fn compare<T: Element, R: Into<f64> + Copy>(
    got: &[T],
    right: &[R],
    bound: impl Fn(usize) -> f64,
) -> Result<(), String> {
    let near = |(i, (got, right)): (usize, (&T, &R))| (got.wide() - (*right).into()).abs() <= bound(i);
    // Not one that is off by more, but one that is not within: a NaN is neither.
    match got.iter().zip(right).enumerate().find(|pair| !near(*pair)) {
        None => Ok(()),
        Some((i, (got, right))) => Err(format!("out[{i}] is {got:?}, and {:e} is right", (*right).into())),
    }
}

/// How many elements are above 0.
fn passing_count(n: usize, seed: u64) -> Expected<u32> {
    let x = random::<f32>(seed, 0);
    Expected::by(1, move |got: &[u32]| {
        let right = collect(n, x).into_iter().filter(|x| *x > 0.0).count();
        if got[0] as usize == right { Ok(()) } else { Err(format!("the count is {}, and {right} is right", got[0])) }
    })
}

/// `compact` of `gpu/src/compact.rs`.
pub(super) struct Compact;

impl Kernel for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn summary(&self) -> &'static str {
        "out = the elements of x above 0, in their order, and their number, in one pass"
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::F32]
    }

    fn bytes(&self, _dtype: Dtype, n: u64) -> u64 {
        // Half of them pass.
        6 * n + 4
    }

    fn device_bytes(&self, _dtype: Dtype, n: u64) -> u64 {
        8 * n + 8 * n.div_ceil(TILE_OF_COMPACT) + 8
    }

    fn iterations(&self, _dtype: Dtype, n: u64) -> u64 {
        n.div_ceil(16)
    }

    fn outputs(&self, _n: u64) -> u64 {
        1
    }

    fn shape(&self, _dtype: Dtype, n: u64, facts: &Facts) -> LaunchShape {
        LaunchShape::resident(facts, 256 * n.div_ceil(TILE_OF_COMPACT), 256, 8)
    }

    fn case(&self, _dtype: Dtype, n: usize, seed: u64) -> Case {
        let x = random::<f32>(seed, 0);
        let passing = move || collect(n, x).into_iter().filter(|x| *x > 0.0);
        let mut case = Case::new();
        let input = case.input(n, x);
        let count = case.output(passing_count(n, seed));
        let out = case.output(Expected::by(n, move |got: &[f32]| {
            match got.iter().zip(passing()).position(|(got, right)| !got.same(right)) {
                None => Ok(()),
                Some(at) => Err(format!("out[{at}] is {:?}, and {:?} is right", got[at], passing().nth(at))),
            }
        }));
        let (words, tickets) =
            (case.zeroed_each_time(8 * (n as u64).div_ceil(TILE_OF_COMPACT) as usize), case.zeroed_each_time(4));
        case.launch([
            0.0_f32.into(),
            input.slice(),
            out.pointer(),
            count.pointer(),
            words.pointer(),
            tickets.pointer(),
        ]);
        case
    }
}

/// `scan_naive` of `gpu/src/scan.rs`: a launch for each doubling of the distance.
pub(super) struct ScanNaive;

impl Kernel for ScanNaive {
    fn name(&self) -> &'static str {
        "scan_naive"
    }

    fn summary(&self) -> &'static str {
        "out[i] = x[0] + ... + x[i], a launch for each doubling of the distance"
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::F32]
    }

    fn bytes(&self, dtype: Dtype, n: u64) -> u64 {
        Scan { inclusive: true }.bytes(dtype, n)
    }

    fn device_bytes(&self, dtype: Dtype, n: u64) -> u64 {
        n.saturating_mul(3 * dtype.bytes())
    }

    fn sizes(&self) -> Sizes {
        Sizes { compare: 1_000_000, full_cpu: 1_000_000, ..Sizes::STREAM }
    }

    fn case(&self, _dtype: Dtype, n: usize, seed: u64) -> Case {
        let (x, expected) = floats(n, seed, true);
        let mut case = Case::new();
        let (input, out, other) = (case.input(n, x), case.output(expected), case.scratch(4 * n));
        // The last step writes the output.
        let steps = n.max(2).next_power_of_two().ilog2();
        let mut from = input;
        for step in 0..steps {
            let to = if (steps - step) % 2 == 1 { out } else { other };
            // A scratch buffer's elements are bytes; this one's are numbers.
            case.launch([from.pointer(), n.into(), (1_usize << step).into(), to.pointer()]);
            from = to;
        }
        case
    }
}

/// `compact_naive` of `gpu/src/compact.rs`.
pub(super) struct CompactNaive;

impl Kernel for CompactNaive {
    fn name(&self) -> &'static str {
        "compact_naive"
    }

    fn summary(&self) -> &'static str {
        "out = the elements of x above 0, in any order, and their number, an atomic addition each"
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::F32]
    }

    fn bytes(&self, dtype: Dtype, n: u64) -> u64 {
        Compact.bytes(dtype, n)
    }

    fn device_bytes(&self, _dtype: Dtype, n: u64) -> u64 {
        8 * n + 4
    }

    fn outputs(&self, _n: u64) -> u64 {
        1
    }

    fn case(&self, _dtype: Dtype, n: usize, seed: u64) -> Case {
        let x = random::<f32>(seed, 0);
        let mut case = Case::new();
        let (input, count) = (case.input(n, x), case.output_zeroed_each_time(passing_count(n, seed)));
        let out = case.output(Expected::by(n, move |got: &[f32]| {
            let mut right: Vec<f32> = collect(n, x).into_iter().filter(|x| *x > 0.0).collect();
            let mut got = got[..right.len()].to_vec();
            right.sort_unstable_by(f32::total_cmp);
            got.sort_unstable_by(f32::total_cmp);
            match got.iter().zip(&right).position(|(got, right)| !got.same(*right)) {
                None => Ok(()),
                Some(at) => Err(format!("sorted, out[{at}] is {:?}, and {:?} is right", got[at], right[at])),
            }
        }));
        case.launch([0.0_f32.into(), input.slice(), out.pointer(), count.pointer()]);
        case
    }
}
