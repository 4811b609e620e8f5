//! `matmul`: matrix product.
//!
//! Larger matrices hold whole numbers from -8 to 8: every partial sum over up to 2^18 of them is a whole number below 2^24, exact in
//! a float, and each element must be right in every bit.

use super::expected::{Expected, gamma};
use super::random::random;
use super::rectangle::Rectangle;
use super::{Case, Kernel, Sizes};
use crate::Facts;
use crate::dtype::Dtype;
use crate::shape::LaunchShape;

/// The kernels of `gpu/src/matmul.rs`.
pub(super) struct Matmul {
    /// In tiles, or an element a thread.
    pub(super) tiled: bool,
}

/// Sums over up to so many are of fractions.
const FRACTIONS: usize = 256;
/// Products that the host computes at most, to check elements spread over all of the output.
const CHECKED: usize = 1 << 31;

impl Kernel for Matmul {
    fn name(&self) -> &'static str {
        if self.tiled { "matmul" } else { "matmul_naive" }
    }

    fn summary(&self) -> &'static str {
        if self.tiled {
            "out = a b for matrices of n elements, in tiles through shared memory and registers"
        } else {
            "out = a b for matrices of n elements, an element a thread"
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::F32]
    }

    fn bytes(&self, dtype: Dtype, n: u64) -> u64 {
        let Rectangle { rows, columns } = Rectangle::of(n);
        (2 * rows * columns + columns * columns) * dtype.bytes()
    }

    fn operations(&self, _dtype: Dtype, n: u64) -> u64 {
        let Rectangle { rows, columns } = Rectangle::of(n);
        (2 * rows * columns).saturating_mul(columns)
    }

    fn outputs(&self, n: u64) -> u64 {
        Rectangle::of(n).elements()
    }

    fn extent(&self, n: u64) -> Option<String> {
        let Rectangle { rows, columns } = Rectangle::of(n);
        Some(format!("{rows} x {columns} x {columns}"))
    }

    fn sizes(&self) -> Sizes {
        Sizes { compare: 1 << 16, full: if self.tiled { 1 << 26 } else { 1 << 22 }, full_cpu: 1 << 16 }
    }

    fn most_threads(&self, facts: &Facts) -> u64 {
        // 128 registers of 65,536 a thread.
        if facts.is_gpu() && self.tiled { 512 } else { u64::from(facts.max_threads_per_block) }
    }

    fn shape(&self, _dtype: Dtype, n: u64, facts: &Facts) -> LaunchShape {
        // A block a tile, or a thread an element.
        let Rectangle { rows, columns } = Rectangle::of(n);
        let blocks = if self.tiled { rows.div_ceil(128) * columns.div_ceil(128) } else { n.div_ceil(256) };
        LaunchShape::resident(facts, 256 * blocks, 256, u32::MAX)
    }

    fn case(&self, _dtype: Dtype, n: usize, seed: u64) -> Case {
        let Rectangle { rows, columns } = Rectangle::of(n as u64);
        let (rows, columns) = (rows as usize, columns as usize);
        let of = move |stream: u64| {
            let (fraction, bits) = (random::<f32>(seed, stream), random::<u32>(seed, stream));
            move |i: usize| if columns <= FRACTIONS { fraction(i) } else { (bits(i) % 17) as f32 - 8.0 }
        };
        let (a, b) = (of(0), of(1));
        let mut case = Case::new();
        let (left, right) = (case.input(rows * columns, a), case.input(columns * columns, b));
        // Odd, so that the elements that are checked lie differently in each row and tile.
        let step = (rows * columns * columns).div_ceil(CHECKED) | 1;
        let out = case.output(Expected::<f32>::within(rows * columns, move |i| {
            if i % step != 0 {
                // Must at least be a number.
                return (0.0, f64::MAX);
            }
            let (mut sum, mut size) = (0.0, 0.0);
            for k in 0..columns {
                let product = f64::from(a(i / columns * columns + k)) * f64::from(b(k * columns + i % columns));
                sum += product;
                size += product.abs();
            }
            // One rounding for a product and its addition.
            (sum, if columns <= FRACTIONS { gamma::<f32>(columns as u64) * size } else { 0.0 })
        }));
        case.launch([left.slice(), right.slice(), columns.into(), out.pointer()]);
        case
    }
}
