//! The sentences under the figures: what was seen, why that is so, and which option changes it.
//!
//! Rules are silent where they do not apply; none speaks about a good launch. Each names where it comes from.

pub mod comparison;
pub mod launch;
pub mod profile;

/// Lanes of a shape's blocks that have no thread, and the lanes in all, a block.
fn idle_lanes(shape: gridstride_cpu::LaunchShape, warp: u64) -> (u64, u64) {
    let threads = shape.threads_per_block();
    let lanes = threads.div_ceil(warp) * warp;
    (lanes - threads, lanes)
}
