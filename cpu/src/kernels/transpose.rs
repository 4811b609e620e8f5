//! `transpose`: rows become columns.

use super::expected::Expected;
use super::random::random;
use super::rectangle::Rectangle;
use super::{Case, Kernel};
use crate::Facts;
use crate::dtype::Dtype;
use crate::shape::LaunchShape;

/// The kernels of `gpu/src/transpose.rs`.
pub(super) struct Transpose {
    /// Through shared memory, or straight.
    pub(super) tiled: bool,
}

impl Kernel for Transpose {
    fn name(&self) -> &'static str {
        if self.tiled { "transpose" } else { "transpose_naive" }
    }

    fn summary(&self) -> &'static str {
        if self.tiled {
            "out[column][row] = x[row][column], in squares through shared memory"
        } else {
            "out[column][row] = x[row][column], an element a thread"
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::F32]
    }

    fn bytes(&self, dtype: Dtype, n: u64) -> u64 {
        Rectangle::of(n).elements().saturating_mul(2 * dtype.bytes())
    }

    fn iterations(&self, _dtype: Dtype, n: u64) -> u64 {
        if self.tiled { n.div_ceil(16) } else { n }
    }

    fn outputs(&self, n: u64) -> u64 {
        Rectangle::of(n).elements()
    }

    fn extent(&self, n: u64) -> Option<String> {
        Some(Rectangle::of(n).to_string())
    }

    fn shape(&self, dtype: Dtype, n: u64, facts: &Facts) -> LaunchShape {
        if !self.tiled {
            return LaunchShape::full(facts, n, 2 * dtype.bytes());
        }
        // A block a square.
        let Rectangle { rows, columns } = Rectangle::of(n);
        LaunchShape::resident(facts, 256 * rows.div_ceil(64) * columns.div_ceil(64), 256, u32::MAX)
    }

    fn case(&self, _dtype: Dtype, n: usize, seed: u64) -> Case {
        let Rectangle { rows, columns } = Rectangle::of(n as u64);
        let (rows, columns) = (rows as usize, columns as usize);
        let x = random::<f32>(seed, 0);
        let mut case = Case::new();
        let input = case.input(rows * columns, x);
        let out = case.output(Expected::exactly(rows * columns, move |i| x(i % rows * columns + i / rows)));
        case.launch([input.slice(), columns.into(), out.pointer()]);
        case
    }
}
