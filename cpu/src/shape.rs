//! Launch shapes: blocks in the grid, threads in a block.

use std::fmt;
use std::str::FromStr;

use crate::device::Facts;

/// A launch configuration, `<<<grid, block>>>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct LaunchShape {
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads a block along x, y, z.
    pub block: [u32; 3],
}

/// A launch shape that the device does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A dimension is 0.
    #[error("the {what} is {}: every dimension is at least 1", triple(*.given))]
    Zero {
        /// Grid or block.
        what: &'static str,
        /// As given.
        given: [u32; 3],
    },
    /// A dimension is beyond the limit.
    #[error("the {what} is {}, and {device} takes at most {}", triple(*.given), triple(*.limit))]
    TooLarge {
        /// Grid or block.
        what: &'static str,
        /// As given.
        given: [u32; 3],
        /// The device's limit along each axis.
        limit: [u32; 3],
        /// Name of the device.
        device: String,
    },
    /// Too many threads in a block.
    #[error("a block of {} has {threads} threads, and {device} takes at most {limit}", triple(*.given))]
    TooManyThreads {
        /// As given.
        given: [u32; 3],
        /// Their product.
        threads: u64,
        /// The device's limit.
        limit: u32,
        /// Name of the device.
        device: String,
    },
}

impl LaunchShape {
    /// One-dimensional.
    #[must_use]
    pub fn linear(grid: u32, block: u32) -> Self {
        Self { grid: [grid, 1, 1], block: [block, 1, 1] }
    }

    /// One block of one thread.
    #[must_use]
    pub fn single_thread() -> Self {
        Self::linear(1, 1)
    }

    /// Blocks in all.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|n| u64::from(*n)).product()
    }

    /// Threads a block.
    #[must_use]
    pub fn threads_per_block(&self) -> u64 {
        self.block.iter().map(|n| u64::from(*n)).product()
    }

    /// Threads in all.
    #[must_use]
    pub fn threads(&self) -> u64 {
        self.blocks().saturating_mul(self.threads_per_block())
    }

    /// Checks the shape against a device.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn check(&self, facts: &Facts) -> Result<(), ShapeError> {
        let device = || facts.name.clone();
        for (what, given, limit) in [("grid", self.grid, facts.max_grid), ("block", self.block, facts.max_block)] {
            if given.contains(&0) {
                return Err(ShapeError::Zero { what, given });
            }
            // A block beyond the limit along an axis is more plainly one of too many threads.
            let total = what == "block" && self.threads_per_block() > u64::from(facts.max_threads_per_block);
            if !total && given.iter().zip(limit).any(|(given, limit)| *given > limit) {
                return Err(ShapeError::TooLarge { what, given, limit, device: device() });
            }
        }
        if self.threads_per_block() > u64::from(facts.max_threads_per_block) {
            return Err(ShapeError::TooManyThreads {
                given: self.block,
                threads: self.threads_per_block(),
                limit: facts.max_threads_per_block,
                device: device(),
            });
        }
        Ok(())
    }

    /// The grid that suits a device, for `iterations` of a grid-stride loop that moves `bytes` each.
    ///
    /// On a GPU, loops of 16-byte accesses get one iteration a thread: the hardware starts blocks as others end, and their
    /// loads overlap. Smaller accesses get 8 blocks of 256 threads a multiprocessor (2048 threads, all that one holds) and
    /// loop, because starting a block costs more than so few bytes are worth. Both were measured on an H200
    /// (docs/measurements.md). On the CPU device: 8 iterations a thread. A warp runs its iterations one after another, each a
    /// whole stride further on, and with 8 of them the pages that it touches are still in the core's TLB when the next warp
    /// of the block comes to them; with fewer, starting blocks costs more than their work.
    #[must_use]
    pub fn full(facts: &Facts, iterations: u64, bytes: u64) -> Self {
        const BLOCK: u32 = 256;
        let needed = iterations.div_ceil(u64::from(BLOCK)).max(1);
        let multiprocessors = u64::from(facts.multiprocessors);
        let blocks = match (facts.is_gpu(), bytes >= 2 * 16) {
            (true, true) => needed,
            (true, false) => needed.min(8 * multiprocessors),
            (false, _) => needed.div_ceil(8).max(needed.min(4 * multiprocessors)),
        };
        Self::linear(u32::try_from(blocks.min(u64::from(facts.max_grid[0]))).unwrap_or(u32::MAX), BLOCK)
    }

    /// `each` blocks of `block` threads for each multiprocessor, which are as many as it runs at a time, or fewer where
    /// `iterations` need fewer: for loops whose blocks have something to do at the end, which is better done by few. `u32::MAX` of
    /// them is as many as there is work for.
    #[must_use]
    pub fn resident(facts: &Facts, iterations: u64, block: u32, each: u32) -> Self {
        let needed = iterations.div_ceil(u64::from(block)).max(1);
        let blocks = needed.min(u64::from(facts.multiprocessors) * u64::from(each));
        Self::linear(u32::try_from(blocks.min(u64::from(facts.max_grid[0]))).unwrap_or(u32::MAX), block)
    }
}

/// `8` or `8x4x1`, as short as it goes.
fn triple(n: [u32; 3]) -> String {
    match n {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x}x{y}"),
        [x, y, z] => format!("{x}x{y}x{z}"),
    }
}

impl fmt::Display for LaunchShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("<<<{}, {}>>>", triple(self.grid), triple(self.block)))
    }
}

/// A text that is not a grid or block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a size: expected a number, or two or three with `x` or `,` between them, such as 256 or 16x16")]
pub struct ParseShapeError(String);

/// One dimension triple of a launch shape, as people write it: `256`, `16x16`, `8,8,4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions(pub [u32; 3]);

impl FromStr for Dimensions {
    type Err = ParseShapeError;

    fn from_str(text: &str) -> Result<Self, ParseShapeError> {
        let wrong = || ParseShapeError(text.to_owned());
        let mut found = [1; 3];
        let parts: Vec<&str> = text.split(['x', ',']).collect();
        if parts.len() > 3 {
            return Err(wrong());
        }
        for (place, part) in found.iter_mut().zip(parts) {
            *place = part.trim().replace('_', "").parse().map_err(|_| wrong())?;
        }
        Ok(Self(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_facts;

    #[test]
    fn shapes_beyond_the_device_are_named() {
        let facts = test_facts();
        let message = |shape: LaunchShape| shape.check(&facts).unwrap_err().to_string();
        assert!(message(LaunchShape::linear(0, 1)).contains("grid is 0"));
        assert!(message(LaunchShape::linear(1, 2000)).contains("2000 threads"));
        assert!(message(LaunchShape { grid: [1, 70_000, 1], block: [1; 3] }).contains("1x70000"));
        assert!(message(LaunchShape { grid: [1; 3], block: [1, 1, 65] }).contains("block is 1x1x65"));
        assert!(LaunchShape::linear(1, 1024).check(&facts).is_ok());
    }

    #[test]
    fn dimensions_as_people_write_them() {
        assert_eq!("256".parse(), Ok(Dimensions([256, 1, 1])));
        assert_eq!("16x8".parse(), Ok(Dimensions([16, 8, 1])));
        assert_eq!("8, 8, 4".parse(), Ok(Dimensions([8, 8, 4])));
        for wrong in ["", "x", "-1", "1x2x3x4", "1.5", "99999999999"] {
            assert!(wrong.parse::<Dimensions>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_full_grid_covers_the_work_or_fills_the_cores() {
        let cpu = test_facts();
        assert_eq!(LaunchShape::full(&cpu, 10_000_000, 12), LaunchShape::linear(4883, 256));
        assert_eq!(LaunchShape::full(&cpu, 0, 48), LaunchShape::linear(1, 256));
        assert_eq!(LaunchShape::full(&cpu, 1500, 48), LaunchShape::linear(6, 256));
        let gpu = Facts { kind: crate::Kind::Gpu, ..cpu };
        assert_eq!(LaunchShape::full(&gpu, 2_500_000, 48), LaunchShape::linear(9766, 256));
        assert_eq!(LaunchShape::full(&gpu, 10_000_000, 12), LaunchShape::linear(16, 256));
    }

    proptest::proptest! {
        #[test]
        fn the_full_grid_is_one_that_the_device_takes(
            iterations: u64, bytes in 0..128_u64, multiprocessors in 1..1000_u32, gpu: bool,
        ) {
            let kind = if gpu { crate::Kind::Gpu } else { crate::Kind::Cpu };
            let facts = Facts { kind, multiprocessors, ..test_facts() };
            let shape = LaunchShape::full(&facts, iterations, bytes);
            proptest::prop_assert_eq!(shape.check(&facts), Ok(()));
        }

        #[test]
        fn any_text_is_a_size_or_a_message(text: String) {
            let _ = text.parse::<Dimensions>();
        }
    }
}
