//! What a kernel says of its launches, and whether one keeps to it.

use crate::error::LaunchError;
use crate::module::Function;
use crate::shape::{Dim3, Shape};

/// Dynamic shared memory that every device gives without being asked for more.
const SHARED_FOR_ALL: usize = 48 * 1024;

/// What a kernel says of its launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contract {
    /// Name of its entry point.
    pub entry: &'static str,
    /// Most threads a block, from `#[launch_bounds]`.
    pub max_threads: Option<u32>,
    /// The one size of block that it takes, from `#[block_size]`.
    pub block: Option<[u32; 3]>,
}

impl Contract {
    /// Checks a launch before the driver sees it, and says how many bytes of dynamic shared memory it has. `needed` is what
    /// the kernel's `#[dynamic_shared]` comes to for this launch.
    ///
    /// # Errors
    /// One for each rule, with the numbers.
    pub fn check<F: Function>(&self, function: &F, shape: Shape, needed: usize) -> Result<Shape, LaunchError> {
        let kernel = self.entry;
        let Shape { grid, block, .. } = shape;
        for (what, extent, most) in [("grid", grid, [0x7FFF_FFFF, 65535, 65535]), ("block", block, [1024, 1024, 64])] {
            for ((axis, count), most) in [("x", extent.x), ("y", extent.y), ("z", extent.z)].into_iter().zip(most) {
                if count == 0 || count > most {
                    return Err(LaunchError::Extent { kernel, what, axis, count, most });
                }
            }
        }
        if let Some(required) = self.block.map(Dim3::from).filter(|required| *required != block) {
            return Err(LaunchError::BlockSize { kernel, required, block });
        }
        let most = [self.max_threads, function.max_threads(), Some(1024)].into_iter().flatten().min().unwrap_or(1024);
        if block.volume() > u64::from(most) {
            return Err(LaunchError::BlockTooLarge { kernel, block, threads: block.volume(), most });
        }
        let given = shape.dynamic_shared;
        if given != 0 && given < needed {
            return Err(LaunchError::SharedTooSmall { kernel, needed, given });
        }
        let dynamic_shared = given.max(needed);
        if dynamic_shared > SHARED_FOR_ALL {
            function.allow_dynamic_shared(dynamic_shared).map_err(|source| LaunchError::SharedTooLarge {
                kernel,
                bytes: dynamic_shared,
                source: Box::new(source),
            })?;
        }
        Ok(Shape { dynamic_shared, ..shape })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::c_void;

    /// A kernel that takes up to 512 threads and 64 KiB.
    struct Fake;
    impl Function for Fake {
        type Stream = ();
        fn max_threads(&self) -> Option<u32> {
            Some(512)
        }
        fn allow_dynamic_shared(&self, bytes: usize) -> Result<(), LaunchError> {
            if bytes <= 65536 { Ok(()) } else { Err(LaunchError::Driver { what: "asking", source: "too much".into() }) }
        }
        unsafe fn launch(&self, _: &(), _: Shape, _: &mut [*mut c_void]) -> Result<(), LaunchError> {
            Ok(())
        }
    }

    fn check(contract: Contract, shape: Shape, needed: usize) -> Result<usize, String> {
        contract.check(&Fake, shape, needed).map(|shape| shape.dynamic_shared).map_err(|e| e.to_string())
    }

    #[test]
    fn every_rule_has_its_numbers() {
        let free = Contract { entry: "k", max_threads: None, block: None };
        let shape = |grid: [u32; 3], block: [u32; 3]| Shape::new(grid, block);
        assert_eq!(check(free, shape([1, 1, 1], [512, 1, 1]), 0), Ok(0));
        let says = |result: Result<usize, String>, words: &[&str]| {
            let message = result.unwrap_err();
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
        };
        says(check(free, shape([1, 0, 1], [1, 1, 1]), 0), &["`k`", "grid", "y", "0", "65535"]);
        says(check(free, shape([1, 1, 1], [1, 1, 65]), 0), &["block", "z", "65", "64"]);
        says(check(free, shape([1, 1, 1], [32, 17, 1]), 0), &["32x17", "544", "512"]);
        let bounded = Contract { max_threads: Some(256), ..free };
        says(check(bounded, shape([1, 1, 1], [257, 1, 1]), 0), &["257", "256"]);
        let fixed = Contract { block: Some([16, 16, 1]), ..free };
        assert_eq!(check(fixed, shape([9, 1, 1], [16, 16, 1]), 0), Ok(0));
        says(check(fixed, shape([1, 1, 1], [256, 1, 1]), 0), &["16x16", "256"]);
    }

    #[test]
    fn shared_memory_is_what_the_kernel_needs() {
        let free = Contract { entry: "k", max_threads: None, block: None };
        let shape = Shape::new(1, 32);
        assert_eq!(check(free, shape, 4096), Ok(4096));
        assert_eq!(check(free, shape.with_shared(8192), 4096), Ok(8192));
        assert_eq!(check(free, shape, 60_000), Ok(60_000));
        let small = check(free, shape.with_shared(100), 4096).unwrap_err();
        assert!(small.contains("4096") && small.contains("100"), "{small}");
        let large = check(free, shape, 70_000).unwrap_err();
        assert!(large.contains("70000"), "{large}");
    }
}
