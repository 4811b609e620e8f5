//! Which thread this is, how many there are, and where they wait for each other.
//!
//! All indices are `u32`, counted from 0. The ranges named are those of every GPU so far (CUDA C++ Programming Guide,
//! "Compute Capabilities"); the compiler may rely on them.

mod stride;
mod sync;

use glam::{UVec2, UVec3};

use crate::gpu_only;

pub use stride::{GridStride, grid_stride, grid_stride_range};
pub use sync::*;

macro_rules! special {
    ($(#[doc = $doc:literal] $name:ident = $intrinsic:ident in $range:expr;)*) => {$(
        #[doc = $doc]
        #[gpu_only]
        #[inline(always)]
        #[must_use]
        pub fn $name() -> u32 {
            // SAFETY: reads a special register; no launch gives it a value outside of the range.
            unsafe {
                let value = core::arch::nvptx::$intrinsic();
                core::hint::assert_unchecked($range.contains(&value));
                value
            }
        }
    )*};
}

special! {
    #[doc = "Thread index in its block along x, below 1024 (`%tid.x`)."]
    thread_idx_x = _thread_idx_x in (0..1024u32);
    #[doc = "Thread index in its block along y, below 1024 (`%tid.y`)."]
    thread_idx_y = _thread_idx_y in (0..1024u32);
    #[doc = "Thread index in its block along z, below 64 (`%tid.z`)."]
    thread_idx_z = _thread_idx_z in (0..64u32);
    #[doc = "Block index in the grid along x, below 2^31 - 1 (`%ctaid.x`)."]
    block_idx_x = _block_idx_x in (0..0x7FFF_FFFFu32);
    #[doc = "Block index in the grid along y, below 65535 (`%ctaid.y`)."]
    block_idx_y = _block_idx_y in (0..65535u32);
    #[doc = "Block index in the grid along z, below 65535 (`%ctaid.z`)."]
    block_idx_z = _block_idx_z in (0..65535u32);
    #[doc = "Threads a block along x, 1 to 1024 (`%ntid.x`)."]
    block_dim_x = _block_dim_x in (1..=1024u32);
    #[doc = "Threads a block along y, 1 to 1024 (`%ntid.y`)."]
    block_dim_y = _block_dim_y in (1..=1024u32);
    #[doc = "Threads a block along z, 1 to 64 (`%ntid.z`)."]
    block_dim_z = _block_dim_z in (1..=64u32);
    #[doc = "Blocks in the grid along x, 1 to 2^31 - 1 (`%nctaid.x`)."]
    grid_dim_x = _grid_dim_x in (1..=0x7FFF_FFFFu32);
    #[doc = "Blocks in the grid along y, 1 to 65535 (`%nctaid.y`)."]
    grid_dim_y = _grid_dim_y in (1..=65535u32);
    #[doc = "Blocks in the grid along z, 1 to 65535 (`%nctaid.z`)."]
    grid_dim_z = _grid_dim_z in (1..=65535u32);
}

/// Thread index in its block.
#[inline(always)]
#[must_use]
pub fn thread_idx() -> UVec3 {
    UVec3::new(thread_idx_x(), thread_idx_y(), thread_idx_z())
}

/// Block index in the grid.
#[inline(always)]
#[must_use]
pub fn block_idx() -> UVec3 {
    UVec3::new(block_idx_x(), block_idx_y(), block_idx_z())
}

/// Threads a block along each axis.
#[inline(always)]
#[must_use]
pub fn block_dim() -> UVec3 {
    UVec3::new(block_dim_x(), block_dim_y(), block_dim_z())
}

/// Blocks in the grid along each axis.
#[inline(always)]
#[must_use]
pub fn grid_dim() -> UVec3 {
    UVec3::new(grid_dim_x(), grid_dim_y(), grid_dim_z())
}

/// A number of its own for every thread of the launch, x fastest, blocks outermost. Wraps past 2^32 threads.
#[inline(always)]
#[must_use]
pub fn index() -> u32 {
    let (block, grid, dim, thread) = (block_idx(), grid_dim(), block_dim(), thread_idx());
    let block = block.x.wrapping_add(grid.x.wrapping_mul(block.y.wrapping_add(grid.y.wrapping_mul(block.z))));
    let thread = thread.x + dim.x * (thread.y + dim.y * thread.z);
    block.wrapping_mul(dim.x * dim.y * dim.z).wrapping_add(thread)
}

/// Index along x over the whole grid. Wraps past 2^32 threads; [`grid_stride`] does not.
#[inline(always)]
#[must_use]
pub fn index_1d() -> u32 {
    block_idx_x().wrapping_mul(block_dim_x()).wrapping_add(thread_idx_x())
}

/// Index along x and y over the whole grid.
#[inline(always)]
#[must_use]
pub fn index_2d() -> UVec2 {
    UVec2::new(index_1d(), block_idx_y().wrapping_mul(block_dim_y()).wrapping_add(thread_idx_y()))
}

/// Index along x, y and z over the whole grid.
#[inline(always)]
#[must_use]
pub fn index_3d() -> UVec3 {
    let xy = index_2d();
    UVec3::new(xy.x, xy.y, block_idx_z().wrapping_mul(block_dim_z()).wrapping_add(thread_idx_z()))
}

/// True for one thread of the launch: the first of the first block.
#[inline(always)]
#[must_use]
pub fn first() -> bool {
    block_idx() == UVec3::ZERO && thread_idx() == UVec3::ZERO
}

/// Lanes a warp: 32 on every GPU so far (`WARP_SZ`).
#[inline(always)]
#[must_use]
pub fn warp_size() -> u32 {
    32
}
