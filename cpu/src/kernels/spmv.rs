//! `spmv`: sparse matrix times vector.

use super::expected::{Expected, gamma};
use super::random::{collect, random};
use super::{Case, Kernel, Sizes};
use crate::dtype::Dtype;

/// The kernels of `gpu/src/spmv.rs`.
pub(super) struct Spmv {
    /// 8 lanes a row, or a thread.
    pub(super) group: bool,
}

/// Row lengths go 0 to 32 in a scrambled order and begin again; their sum over that period.
const PERIOD: usize = 33;
const OF_PERIOD: usize = PERIOD * (PERIOD - 1) / 2;

/// Stored elements before `row`.
fn start(row: usize) -> usize {
    row / PERIOD * OF_PERIOD + (0..row % PERIOD).map(|k| k * 13 % PERIOD).sum::<usize>()
}

/// A matrix of `n` rows and columns whose elements lie within 2048 of the diagonal, as those of meshes do.
fn column(n: usize, row: usize, bits: u32) -> usize {
    (row + n.max(2048) + bits as usize % 4096 - 2048) % n
}

impl Kernel for Spmv {
    fn name(&self) -> &'static str {
        if self.group { "spmv" } else { "spmv_scalar" }
    }

    fn summary(&self) -> &'static str {
        if self.group {
            "out = A x for a sparse matrix of n rows (CSR) with 0 to 32 elements each, 8 lanes a row"
        } else {
            "out = A x for the same sparse matrix, a thread a row"
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::F32]
    }

    fn bytes(&self, _dtype: Dtype, n: u64) -> u64 {
        8 * start(n as usize) as u64 + 12 * n + 4
    }

    fn iterations(&self, _dtype: Dtype, n: u64) -> u64 {
        if self.group { 8 * n } else { n }
    }

    fn sizes(&self) -> Sizes {
        Sizes { compare: 1_000_000, full: 1 << 24, full_cpu: 1_000_000 }
    }

    fn case(&self, _dtype: Dtype, n: usize, seed: u64) -> Case {
        let (value, x, bits) = (random::<f32>(seed, 0), random::<f32>(seed, 1), random::<u32>(seed, 2));
        let stored = start(n);
        let mut case = Case::new();
        let starts = case.input(n + 1, |row| start(row) as u32);
        let columns = case.input_from(stored, move || {
            let rows = collect(n, |row| (start(row)..start(row + 1)).len() as u32);
            let each = rows.iter().enumerate().flat_map(|(row, len)| std::iter::repeat_n(row, *len as usize));
            each.enumerate().map(|(at, row)| column(n, row, bits(at)) as u32).collect()
        });
        let values = case.input(stored, value);
        let vector = case.input(n, x);
        let out = case.output(Expected::<f32>::within(n, move |row| {
            let (mut sum, mut size) = (0.0, 0.0);
            for at in start(row)..start(row + 1) {
                let product = f64::from(value(at)) * f64::from(x(column(n, row, bits(at))));
                sum += product;
                size += product.abs();
            }
            // A product and its addition are rounded once; the parts of 8 lanes take 3 more additions.
            (sum, gamma::<f32>(PERIOD as u64 + 3) * size)
        }));
        case.launch([starts.slice(), columns.slice(), values.slice(), vector.slice(), out.pointer()]);
        case
    }
}
