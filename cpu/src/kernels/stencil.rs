//! `stencil`: heat spreading over a plate, several steps.

use super::expected::Expected;
use super::random::{collect, random};
use super::rectangle::Rectangle;
use super::{Case, Kernel};
use crate::dtype::Dtype;

/// Steps, each a launch; an even number, so that the last one writes the output.
const STEPS: usize = 4;
/// How far a point moves towards its neighbours.
const RATE: f32 = 0.2;

/// The kernels of `gpu/src/stencil.rs`.
pub(super) struct Stencil {
    /// Pieces of four by four points a thread, or a point.
    pub(super) pieces: bool,
}

impl Kernel for Stencil {
    fn name(&self) -> &'static str {
        if self.pieces { "stencil" } else { "stencil_naive" }
    }

    fn summary(&self) -> &'static str {
        if self.pieces {
            "four steps of heat spreading over a plate: each point and its four neighbours, a launch a step"
        } else {
            "the same four steps, a thread a point"
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        &[Dtype::F32]
    }

    fn bytes(&self, dtype: Dtype, n: u64) -> u64 {
        Rectangle::of(n).elements().saturating_mul(STEPS as u64 * 2 * dtype.bytes())
    }

    fn device_bytes(&self, dtype: Dtype, n: u64) -> u64 {
        n.saturating_mul(3 * dtype.bytes())
    }

    fn iterations(&self, _dtype: Dtype, n: u64) -> u64 {
        if self.pieces { n.div_ceil(16) } else { n }
    }

    fn outputs(&self, n: u64) -> u64 {
        Rectangle::of(n).elements()
    }

    fn extent(&self, n: u64) -> Option<String> {
        Some(format!("{}, {STEPS} steps", Rectangle::of(n)))
    }

    fn case(&self, _dtype: Dtype, n: usize, seed: u64) -> Case {
        let plate = Rectangle::of(n as u64);
        let (n, columns) = (plate.elements() as usize, plate.columns as usize);
        let x = random::<f32>(seed, 0);
        let mut case = Case::new();
        let input = case.input(n, x);
        // Rounding for rounding what the kernel does: equal in every bit.
        let out = case.output(Expected::prepared(
            n,
            move || (0..STEPS).fold(collect(n, x), |plate, _| collect(n, |i| step(&plate, columns, i))),
            |right: &Vec<f32>, i, got: f32| {
                (got.to_bits() != right[i].to_bits()).then(|| format!("{:?} is right", right[i]))
            },
        ));
        let other = case.scratch(4 * n);
        let mut from = input;
        for step in 0..STEPS {
            let to = if step % 2 == 0 { other } else { out };
            // A scratch buffer's elements are bytes; this one's are points.
            let slice = [from.pointer(), n.into()];
            case.launch([&[RATE.into()], &slice[..], &[columns.into(), to.pointer()]].concat());
            from = to;
        }
        case
    }
}

fn step(x: &[f32], columns: usize, i: usize) -> f32 {
    let (rows, row, column) = (x.len() / columns, i / columns, i % columns);
    if row == 0 || row + 1 == rows || column == 0 || column + 1 == columns {
        return x[i];
    }
    let around = (x[i - 1] + x[i + 1]) + (x[i - columns] + x[i + columns]);
    RATE.mul_add((-4.0_f32).mul_add(x[i], around), x[i])
}
