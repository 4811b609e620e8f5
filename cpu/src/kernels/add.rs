//! `add`: `out[i] = a[i] + b[i]`. Integers wrap.

use super::expected::{Element, Expected};
use super::random::random;
use super::{Case, Kernel};
use crate::dtype::Dtype;

/// The kernels of `gpu/src/add.rs`.
pub(super) struct Add {
    /// 16 bytes at a time, or one element.
    pub(super) vector: bool,
}

impl Kernel for Add {
    fn name(&self) -> &'static str {
        if self.vector { "add" } else { "add_scalar" }
    }

    fn summary(&self) -> &'static str {
        if self.vector {
            "out[i] = a[i] + b[i], 16 bytes at a time"
        } else {
            "out[i] = a[i] + b[i], one element at a time"
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::F32, Dtype::F64, Dtype::I32]
    }

    fn bytes(&self, dtype: Dtype, n: u64) -> u64 {
        n.saturating_mul(3 * dtype.bytes())
    }

    fn iterations(&self, dtype: Dtype, n: u64) -> u64 {
        if self.vector { n.div_ceil(16 / dtype.bytes()) } else { n }
    }

    fn case(&self, dtype: Dtype, n: usize, seed: u64) -> Case {
        // A sum is rounded once, as the host rounds it: equal in every bit.
        match dtype {
            Dtype::F64 => sum(n, seed, |a: f64, b| a + b),
            Dtype::I32 => sum(n, seed, i32::wrapping_add),
            _ => sum(n, seed, |a: f32, b| a + b),
        }
    }
}

fn sum<T: Element>(n: usize, seed: u64, sum: impl Fn(T, T) -> T + Sync + 'static) -> Case {
    let (a, b) = (random::<T>(seed, 0), random::<T>(seed, 1));
    let mut case = Case::new();
    let (left, right) = (case.input(n, a), case.input(n, b));
    let out = case.output(Expected::exactly(n, move |i| sum(a(i), b(i))));
    case.launch([left.slice(), right.slice(), out.pointer()]);
    case
}
