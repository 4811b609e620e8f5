//! Barriers and fences (PTX ISA, "bar", "membar/fence", "nanosleep").

use crate::gpu_only;

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.barrier0.popc"]
    fn barrier_popc(predicate: u32) -> u32;
    #[link_name = "llvm.nvvm.barrier0.and"]
    fn barrier_and(predicate: u32) -> u32;
    #[link_name = "llvm.nvvm.barrier0.or"]
    fn barrier_or(predicate: u32) -> u32;
    #[link_name = "llvm.nvvm.membar.gl"]
    fn membar_gl();
    #[link_name = "llvm.nvvm.membar.sys"]
    fn membar_sys();
    #[link_name = "llvm.nvvm.membar.cta"]
    fn membar_cta();
    #[link_name = "llvm.nvvm.nanosleep"]
    fn sleep(nanos: u32);
}

/// Waits until every thread of the block is here, and makes their writes visible to each other (`bar.sync 0`).
///
/// Every thread of the block that has not exited must come to the same call; otherwise the block hangs, or the result is
/// undefined.
#[gpu_only]
#[inline(always)]
pub fn sync_threads() {
    // SAFETY: a barrier touches no memory of the caller's; where not every thread comes, the launch fails or hangs.
    unsafe { core::arch::nvptx::_syncthreads() }
}

/// [`sync_threads`], and the number of threads whose `predicate` is not 0.
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn sync_threads_count(predicate: u32) -> u32 {
    // SAFETY: as for `sync_threads`.
    unsafe { barrier_popc(predicate) }
}

/// [`sync_threads`], and not 0 if no thread's `predicate` is 0.
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn sync_threads_and(predicate: u32) -> u32 {
    // SAFETY: as for `sync_threads`.
    unsafe { barrier_and(predicate) }
}

/// [`sync_threads`], and not 0 if any thread's `predicate` is not 0.
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn sync_threads_or(predicate: u32) -> u32 {
    // SAFETY: as for `sync_threads`.
    unsafe { barrier_or(predicate) }
}

/// Orders this thread's memory accesses for the whole grid (`membar.gl`). Another name of [`device_fence`].
#[gpu_only]
#[inline(always)]
pub fn grid_fence() {
    // SAFETY: a fence only orders.
    unsafe { membar_gl() }
}

/// Orders this thread's memory accesses for the block (`membar.cta`).
#[gpu_only]
#[inline(always)]
pub fn block_fence() {
    // SAFETY: a fence only orders.
    unsafe { membar_cta() }
}

/// Orders this thread's memory accesses for the device (`membar.gl`).
#[gpu_only]
#[inline(always)]
pub fn device_fence() {
    // SAFETY: a fence only orders.
    unsafe { membar_gl() }
}

/// Orders this thread's memory accesses for the device, its peers and the host (`membar.sys`).
#[gpu_only]
#[inline(always)]
pub fn system_fence() {
    // SAFETY: a fence only orders.
    unsafe { membar_sys() }
}

/// Sleeps for about `nanos` nanoseconds, between 0 and twice that (`nanosleep`).
#[gpu_only]
#[inline(always)]
pub fn nanosleep(nanos: u32) {
    // SAFETY: only waits.
    unsafe { sleep(nanos) }
}
