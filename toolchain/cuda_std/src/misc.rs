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

/// Counts one of the events 0 to 7 for a profiler (`pmevent`). Give the number as a constant: it is part of the instruction.
///
/// # Panics
/// Where `counter` is above 7.
#[gpu_only]
#[inline(always)]
pub fn profiler_counter(counter: u32) {
    macro_rules! one_of {
        ($($number:literal)*) => {
            match counter {
                // SAFETY: changes no state of the program.
                $($number => unsafe { core::arch::asm!(concat!("pmevent ", $number, ";"), options(nostack)) },)*
                _ => panic!("profilers count the events 0 to 7"),
            }
        };
    }
    one_of!(0 1 2 3 4 5 6 7);
}
