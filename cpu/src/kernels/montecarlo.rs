//! `montecarlo`: points of the unit square within the quarter circle.

use super::expected::Expected;
use super::random::fold;
use super::{Case, Kernel, Sizes};
use crate::dtype::Dtype;

/// The kernels of `gpu/src/montecarlo.rs`.
pub(super) struct MonteCarlo {
    /// Hits of a warp added up before they are added to the total, or each by itself.
    pub(super) reduced: bool,
}

impl Kernel for MonteCarlo {
    fn name(&self) -> &'static str {
        if self.reduced { "montecarlo" } else { "montecarlo_naive" }
    }

    fn summary(&self) -> &'static str {
        if self.reduced {
            "out = how many of n random points of the unit square lie within the quarter circle; 4 out / n is nearly pi"
        } else {
            "the same count of the same points, an atomic addition a hit"
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::U32]
    }

    fn bytes(&self, _dtype: Dtype, _n: u64) -> u64 {
        8
    }

    fn operations(&self, _dtype: Dtype, n: u64) -> u64 {
        // Of a block of two points: ten rounds of two products of two words each, four exclusive ors and two sums.
        45 * n
    }

    fn iterations(&self, _dtype: Dtype, n: u64) -> u64 {
        n.div_ceil(2)
    }

    fn outputs(&self, _n: u64) -> u64 {
        1
    }

    fn sizes(&self) -> Sizes {
        Sizes { compare: 1_000_000, full: if self.reduced { 1 << 32 } else { 1 << 28 }, full_cpu: 1_000_000 }
    }

    fn case(&self, _dtype: Dtype, n: usize, seed: u64) -> Case {
        let mut case = Case::new();
        let seed = seed as u32;
        let hits = case.output_zeroed_each_time(Expected::by(1, move |got: &[u64]| {
            let right = hits(n, seed);
            if got[0] == right { Ok(()) } else { Err(format!("out[0] is {}, and {right} is right", got[0])) }
        }));
        case.launch([n.into(), seed.into(), hits.pointer()]);
        case
    }
}

fn hits(n: usize, seed: u32) -> u64 {
    let hit = |x: u32, y: u32| u64::from(u64::from(x >> 8).pow(2) + u64::from(y >> 8).pow(2) < 1 << 48);
    let points = |pair: usize| {
        let [x, y, z, w] = philox([pair as u32, (pair as u64 >> 32) as u32, 0, 0], [seed, 0]);
        hit(x, y) + if 2 * pair + 1 < n { hit(z, w) } else { 0 }
    };
    fold(n.div_ceil(2), 0, points, |a, b| a + b)
}

fn philox([mut a, mut b, mut c, mut d]: [u32; 4], [mut k, mut l]: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let (first, second) = (u64::from(a) * 0xD251_1F53, u64::from(c) * 0xCD9E_8D57);
        (a, b, c, d) = ((second >> 32) as u32 ^ b ^ k, second as u32, (first >> 32) as u32 ^ d ^ l, first as u32);
        (k, l) = (k.wrapping_add(0x9E37_79B9), l.wrapping_add(0xBB67_AE85));
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of the Random123 library for philox4x32-10.
    #[test]
    fn philox_is_philox() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn the_darts_give_pi() {
        let n = 1 << 20;
        let pi = 4.0 * hits(n, 7) as f64 / n as f64;
        // Six standard deviations.
        assert!((pi - std::f64::consts::PI).abs() < 6.0 * 1.642 / (n as f64).sqrt(), "{pi}");
    }
}
