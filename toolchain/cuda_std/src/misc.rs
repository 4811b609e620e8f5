//! What fits nowhere else.

use crate::gpu_only;

/// The multiprocessor's cycle counter (`%clock64`; PTX ISA, "Special Registers").
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn clock() -> u64 {
    let cycles;
    // SAFETY: reads a special register.
    unsafe { core::arch::asm!("mov.u64 {}, %clock64;", out(reg64) cycles, options(nomem, nostack)) };
    cycles
}

/// Stops in a debugger, if one is attached (`brkpt`).
#[gpu_only]
#[inline(always)]
pub fn breakpoint() {
    // SAFETY: changes no state of the program.
    unsafe { core::arch::asm!("brkpt;", options(nostack)) };
}
