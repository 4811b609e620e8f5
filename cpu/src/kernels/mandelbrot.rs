//! `mandelbrot`: steps until a point of the plane leaves.

use std::sync::OnceLock;

use super::expected::Expected;
use super::rectangle::Rectangle;
use super::{Case, Kernel, Sizes};
use crate::dtype::Dtype;

/// Steps at most.
const MOST: u32 = 256;

/// The kernels of `gpu/src/mandelbrot.rs`.
pub(super) struct Mandelbrot {
    /// Neighbours in a warp are neighbours in the picture, or far apart.
    pub(super) strided: bool,
}

impl Kernel for Mandelbrot {
    fn name(&self) -> &'static str {
        if self.strided { "mandelbrot" } else { "mandelbrot_naive" }
    }

    fn summary(&self) -> &'static str {
        if self.strided {
            "out[y][x] = steps of z = z^2 + c that stay within 2, up to 256, one pixel a thread"
        } else {
            "the same picture, each thread with a piece of it"
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::F32]
    }

    fn bytes(&self, _dtype: Dtype, n: u64) -> u64 {
        4 * Rectangle::of(n).elements()
    }

    fn operations(&self, _dtype: Dtype, n: u64) -> u64 {
        // 7 a step; the steps of a pixel on average, from a view of 128 x 128.
        static STEPS: OnceLock<f64> = OnceLock::new();
        let view = Rectangle { rows: 128, columns: 128 };
        let all = || (0..view.elements() as usize).map(|i| u64::from(steps(view, i))).sum::<u64>();
        let each = *STEPS.get_or_init(|| all() as f64 / view.elements() as f64);
        (7.0 * each * Rectangle::of(n).elements() as f64) as u64
    }

    fn outputs(&self, n: u64) -> u64 {
        Rectangle::of(n).elements()
    }

    fn extent(&self, n: u64) -> Option<String> {
        Some(Rectangle::of(n).to_string())
    }

    fn sizes(&self) -> Sizes {
        Sizes { compare: 1 << 18, full: 1 << 28, full_cpu: 1 << 18 }
    }

    fn case(&self, _dtype: Dtype, n: usize, _seed: u64) -> Case {
        let view = Rectangle::of(n as u64);
        let mut case = Case::new();
        let out = case.output(Expected::exactly(view.elements() as usize, move |i| steps(view, i)));
        case.launch([out.pointer(), (view.columns as u32).into(), (view.rows as u32).into(), MOST.into()]);
        case
    }
}

/// The kernel's arithmetic, rounding for rounding.
fn steps(view: Rectangle, i: usize) -> u32 {
    let (across, down) = (2.5 / view.columns as f32, 2.5 / view.rows as f32);
    let (column, row) = (i as u64 % view.columns, i as u64 / view.columns);
    let (cx, cy) = ((column as f32).mul_add(across, -2.0), (row as f32).mul_add(down, -1.25));
    let (mut x, mut y) = (0.0_f32, 0.0_f32);
    for step in 0..MOST {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > 4.0 {
            return step;
        }
        y = (2.0 * x).mul_add(y, cy);
        x = xx - yy + cx;
    }
    MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_stays_and_the_corner_goes() {
        let view = Rectangle { rows: 100, columns: 100 };
        // c = 0 is at 80 % of the width and half of the height; c = -2 - 1.25i leaves at once.
        assert_eq!(steps(view, 50 * 100 + 80), MOST);
        assert_eq!(steps(view, 0), 1);
    }
}
