//! `nbody`: gravity between all pairs.

use super::expected::{Expected, gamma};
use super::random::random;
use super::{Case, Kernel, Sizes};
use crate::dtype::Dtype;
use crate::shape::LaunchShape;

/// The kernels of `gpu/src/nbody.rs`.
pub(super) struct Nbody {
    /// Through shared memory, or straight from memory.
    pub(super) tiled: bool,
}

/// Bodies whose acceleration is checked, where there are more: each takes the host as many steps as there are bodies.
const CHECKED: usize = 4096;

impl Kernel for Nbody {
    fn name(&self) -> &'static str {
        if self.tiled { "nbody" } else { "nbody_simple" }
    }

    fn summary(&self) -> &'static str {
        if self.tiled {
            "out[i] = acceleration of body i by all n bodies, which pass through shared memory"
        } else {
            "out[i] = acceleration of body i by all n bodies, read from memory by every thread"
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::F32]
    }

    fn bytes(&self, _dtype: Dtype, n: u64) -> u64 {
        32 * n
    }

    fn operations(&self, _dtype: Dtype, n: u64) -> u64 {
        n.saturating_mul(n).saturating_mul(20)
    }

    fn outputs(&self, n: u64) -> u64 {
        4 * n
    }

    fn sizes(&self) -> Sizes {
        Sizes { compare: 4096, full: 1 << 17, full_cpu: 4096 }
    }

    fn shape(&self, _dtype: Dtype, n: u64, _facts: &crate::Facts) -> LaunchShape {
        // A thread a body.
        LaunchShape::linear(u32::try_from(n.div_ceil(128).max(1)).unwrap_or(u32::MAX >> 1), 128)
    }

    fn case(&self, _dtype: Dtype, n: usize, seed: u64) -> Case {
        let unit = random::<f32>(seed, 0);
        // x, y, z from -1 to 1, and a mass from 0 to 1.
        let at = move |k: usize| if k % 4 == 3 { unit(k).abs() } else { unit(k) };
        let mut case = Case::new();
        let bodies = case.input_packed(4 * n, 4, at);
        let step = n.div_ceil(CHECKED).max(1);
        let out = case.output(Expected::<f32>::within(4 * n, move |k| {
            // A body that is not checked must at least have a finite acceleration.
            if (k / 4) % step != 0 { (0.0, f64::MAX) } else { acceleration(n, k / 4, k % 4, at) }
        }));
        case.launch([bodies.slice(), out.pointer()]);
        case
    }
}

/// Along one axis, with a bound on the error. A term is off by: the difference, once; the square, a sum of positive terms, 4 more,
/// of which the root keeps half, thrice; 2^-22.4 of the reciprocal root itself (PTX ISA, rsqrt.approx), thrice; three products.
fn acceleration(n: usize, i: usize, axis: usize, at: impl Fn(usize) -> f32) -> (f64, f64) {
    if axis == 3 {
        return (0.0, 0.0);
    }
    let wide = |k: usize| f64::from(at(k));
    let (mut sum, mut size) = (0.0, 0.0);
    for j in 0..n {
        let d = [0, 1, 2].map(|axis| wide(4 * j + axis) - wide(4 * i + axis));
        let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + f64::from(1e-4_f32);
        let term = wide(4 * j + 3) * d[axis] / (square * square.sqrt());
        sum += term;
        size += term.abs();
    }
    let term = gamma::<f32>(1 + 6 * 3 + 4) + 3.0 * 2.0_f64.powf(-22.4);
    (sum, size * (term + gamma::<f32>(n as u64)))
}
