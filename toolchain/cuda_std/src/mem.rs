//! How much shared memory a block has.

use crate::gpu_only;

/// Bytes of shared memory that the launch asked for (`%dynamic_smem_size`).
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn dynamic_smem_size() -> u32 {
    let bytes;
    // SAFETY: reads a special register.
    unsafe {
        core::arch::asm!("mov.u32 {}, %dynamic_smem_size;", out(reg32) bytes, options(pure, nomem, nostack));
    }
    bytes
}

/// Bytes of shared memory that the block has, static and launch-sized, rounded up to what the hardware allocates
/// (`%total_smem_size`).
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn total_smem_size() -> u32 {
    let bytes;
    // SAFETY: reads a special register.
    unsafe { core::arch::asm!("mov.u32 {}, %total_smem_size;", out(reg32) bytes, options(pure, nomem, nostack)) };
    bytes
}
