//! What the 32 lanes of a warp do together (PTX ISA, "Parallel Synchronization and Communication Instructions").

use crate::gpu_only;

/// This thread's lane, 0 to 31 (`%laneid`).
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn lane_id() -> u32 {
    let lane;
    // SAFETY: reads a special register.
    unsafe { core::arch::asm!("mov.u32 {}, %laneid;", out(reg32) lane, options(pure, nomem, nostack)) };
    lane
}

/// The lanes that execute this instruction together, one bit each. A snapshot, not a promise: do not synchronise on it.
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn activemask() -> u32 {
    let mask;
    // SAFETY: reads machine state.
    unsafe { core::arch::asm!("activemask.b32 {};", out(reg32) mask, options(nomem, nostack)) };
    mask
}

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
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
