//! Occupancy: a core runs one block at a time, so a block that fits at all has a multiprocessor to itself.

use std::sync::atomic::Ordering;

use crate::arg::Out;
use crate::cpu::module::Function;
use crate::cpu::{cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CUfunction, CUoccupancyB2DSize};

driver_functions! {
    /// Blocks of a kernel that a multiprocessor runs at a time.
    call cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut i32,
        function: CUfunction,
        block_size: i32,
        dynamic_shared: usize,
    ) => max_active_blocks;
    /// Blocks of a kernel that a multiprocessor runs at a time.
    call cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut i32,
        function: CUfunction,
        block_size: i32,
        dynamic_shared: usize,
        flags: u32,
    ) => max_active_blocks_with_flags;
    /// A block size that fills the device, and the fewest blocks that do.
    call cuOccupancyMaxPotentialBlockSize(
        min_grid: *mut i32,
        block_size: *mut i32,
        function: CUfunction,
        shared_of_block: CUoccupancyB2DSize,
        dynamic_shared: usize,
        limit: i32,
    ) => max_potential_block_size;
    /// A block size that fills the device, and the fewest blocks that do.
    call cuOccupancyMaxPotentialBlockSizeWithFlags(
        min_grid: *mut i32,
        block_size: *mut i32,
        function: CUfunction,
        shared_of_block: CUoccupancyB2DSize,
        dynamic_shared: usize,
        limit: i32,
        flags: u32,
    ) => max_potential_block_size_with_flags;
    /// Dynamic shared memory that is left for each of a number of blocks.
    call cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize,
        function: CUfunction,
        blocks: i32,
        block_size: i32,
    ) => available_dynamic_shared;
}

fn fits(function: &Function, block_size: u32, dynamic_shared: usize) -> bool {
    block_size <= function.info().max_threads
        && dynamic_shared <= function.max_dynamic_shared.load(Ordering::Relaxed) as usize
}

fn max_active_blocks(blocks: Out<i32>, function: CUfunction, block_size: i32, dynamic_shared: usize) -> Result {
    blocks.wanted()?;
    let function = current::function(function)?;
    match u32::try_from(block_size) {
        Ok(size) if size > 0 => blocks.set(i32::from(fits(&function, size, dynamic_shared))),
        _ => fail(CUresult::INVALID_VALUE),
    }
}

fn max_active_blocks_with_flags(
    blocks: Out<i32>,
    function: CUfunction,
    block_size: i32,
    dynamic_shared: usize,
    flags: u32,
) -> Result {
    // CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE is about a cache.
    if flags & !1 != 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    max_active_blocks(blocks, function, block_size, dynamic_shared)
}

fn max_potential_block_size(
    min_grid: Out<i32>,
    block_size: Out<i32>,
    function: CUfunction,
    shared_of_block: CUoccupancyB2DSize,
    dynamic_shared: usize,
    limit: i32,
) -> Result {
    min_grid.wanted()?;
    block_size.wanted()?;
    let function = current::function(function)?;
    let facts = cpu()?.device.facts();
    let kernel_limit = i32::try_from(function.info().max_threads).unwrap_or(i32::MAX);
    let largest = if limit > 0 { kernel_limit.min(limit) } else { kernel_limit };
    let warp = i32::try_from(facts.warp_size).unwrap_or(32);
    // From the largest down, in whole warps where there is room for one.
    let mut size = if largest >= warp { largest / warp * warp } else { largest };
    while size > 0 {
        let shared = match shared_of_block {
            // SAFETY: the caller's function, made to be called with a block size.
            Some(shared_of_block) => unsafe { shared_of_block(size) },
            None => dynamic_shared,
        };
        if fits(&function, size.unsigned_abs(), shared) {
            block_size.set(size)?;
            return min_grid.set(i32::try_from(facts.multiprocessors).unwrap_or(i32::MAX));
        }
        size -= warp;
    }
    Err(CUresult::INVALID_VALUE.because("no block size leaves enough shared memory"))
}

fn max_potential_block_size_with_flags(
    min_grid: Out<i32>,
    block_size: Out<i32>,
    function: CUfunction,
    shared_of_block: CUoccupancyB2DSize,
    dynamic_shared: usize,
    limit: i32,
    flags: u32,
) -> Result {
    if flags & !1 != 0 {
        return fail(CUresult::INVALID_VALUE);
    }
    max_potential_block_size(min_grid, block_size, function, shared_of_block, dynamic_shared, limit)
}

fn available_dynamic_shared(bytes: Out<usize>, function: CUfunction, blocks: i32, block_size: i32) -> Result {
    bytes.wanted()?;
    let function = current::function(function)?;
    if blocks != 1 {
        return Err(CUresult::INVALID_VALUE
            .because(format!("{blocks} blocks a multiprocessor: a core of the CPU device runs one at a time")));
    }
    match u32::try_from(block_size) {
        Ok(size) if size > 0 && fits(&function, size, 0) => {
            bytes.set(function.max_dynamic_shared.load(Ordering::Relaxed) as usize)
        }
        _ => fail(CUresult::INVALID_VALUE),
    }
}
