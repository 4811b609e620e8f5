//! `histogram`: how often each of 256 values comes.

use super::expected::{Element, Expected};
use super::random::{each, random};
use super::{Case, Kernel};
use crate::Facts;
use crate::dtype::Dtype;
use crate::shape::LaunchShape;

/// The kernels of `gpu/src/histogram.rs`.
pub(super) struct Histogram {
    /// Counters in shared memory, or one a bin.
    pub(super) private: bool,
}

impl Kernel for Histogram {
    fn name(&self) -> &'static str {
        if self.private { "histogram" } else { "histogram_naive" }
    }

    fn summary(&self) -> &'static str {
        if self.private {
            "out[b] = how many elements are b in their lowest 8 bits, counted in shared memory"
        } else {
            "out[b] = how many elements are b, counted in memory"
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        if self.private { &[Dtype::U8, Dtype::U32] } else { &[Dtype::U8] }
    }

    fn bytes(&self, dtype: Dtype, n: u64) -> u64 {
        n.saturating_mul(dtype.bytes()) + 1024
    }

    fn device_bytes(&self, dtype: Dtype, n: u64) -> u64 {
        self.bytes(dtype, n) + 1028
    }

    fn iterations(&self, dtype: Dtype, n: u64) -> u64 {
        if self.private { n.div_ceil(16 / dtype.bytes()) } else { n }
    }

    fn outputs(&self, _n: u64) -> u64 {
        256
    }

    fn shape(&self, dtype: Dtype, n: u64, facts: &Facts) -> LaunchShape {
        // 32 KiB of shared memory a block and 48 registers a thread.
        let (block, each) = if facts.is_gpu() { (512, 2) } else { (256, 2) };
        LaunchShape::resident(facts, self.iterations(dtype, n), block, each)
    }

    fn case(&self, dtype: Dtype, n: usize, seed: u64) -> Case {
        match dtype {
            Dtype::U8 => self.of(n, random::<u8>(seed, 0), usize::from),
            _ => self.of(n, random::<u32>(seed, 0), |x| x as usize % 256),
        }
    }
}

impl Histogram {
    fn of<T: Element>(&self, n: usize, x: impl Fn(usize) -> T + Copy + Sync + 'static, bin: fn(T) -> usize) -> Case {
        let mut case = Case::new();
        let input = case.input(n, x);
        let expected = Expected::by(256, move |got: &[u32]| {
            let right = count(n, |i| bin(x(i)));
            match got.iter().zip(&right).position(|(got, right)| got != right) {
                None => Ok(()),
                Some(at) => Err(format!("out[{at}] is {}, and {} is right", got[at], right[at])),
            }
        });
        if self.private {
            let (totals, done, out) = (case.scratch(1024), case.scratch(4), case.output(expected));
            case.launch([input.slice(), totals.pointer(), done.pointer(), out.pointer()]);
        } else {
            let out = case.output_zeroed_each_time(expected);
            case.launch([input.slice(), out.pointer()]);
        }
        case
    }
}

fn count(n: usize, bin: impl Fn(usize) -> usize + Sync) -> Vec<u32> {
    const PART: usize = 1 << 22;
    // A part's counters are made where the part is counted.
    let parts = std::sync::Mutex::new(vec![0; 256]);
    let of_part = |part: usize| {
        let mut own = [0_u32; 256];
        (part * PART..((part + 1) * PART).min(n)).for_each(|i| own[bin(i)] += 1);
        let mut all = parts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.iter_mut().zip(own).for_each(|(all, own)| *all += own);
    };
    each(n.div_ceil(PART), of_part);
    parts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}
