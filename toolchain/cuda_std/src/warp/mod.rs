//! What the 32 lanes of a warp do together (PTX ISA, "Parallel Synchronization and Communication Instructions").
//!
//! `mask` is the set of lanes that take part, one bit each. All of these are `unsafe` for one reason: every lane of `mask` that
//! has not exited must come to the same call with the same `mask`, and the calling lane must be one of them. Otherwise the
//! warp hangs or the results are undefined.
//!
//! They are LLVM's intrinsics, not inline PTX: only those are marked convergent, which is what keeps the compiler from
//! copying or moving them into a branch that some of the lanes do not take.

mod reduce;
mod shuffle;
mod vote;

use crate::gpu_only;

pub use reduce::*;
pub use shuffle::*;
pub use vote::*;

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.activemask"]
    fn active_mask() -> u32;
}

/// This thread's lane, 0 to 31 (`%laneid`).
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn lane_id() -> u32 {
    let lane: u32;
    // SAFETY: reads a special register, which is below 32.
    unsafe {
        core::arch::asm!("mov.u32 {}, %laneid;", out(reg32) lane, options(pure, nomem, nostack));
        core::hint::assert_unchecked(lane < 32);
    }
    lane
}

/// The lanes that execute this instruction together, one bit each. A snapshot, not a promise: do not synchronise on it.
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn activemask() -> u32 {
    // SAFETY: reads machine state.
    unsafe { active_mask() }
}

/// Waits until every lane of `mask` is here, and makes their writes visible to each other (`bar.warp.sync`).
///
/// # Safety
/// The calling lane must be in `mask`, and every lane of `mask` that has not exited must come to this call.
#[gpu_only]
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: by the caller.
    unsafe { bar_warp_sync(mask) }
}
