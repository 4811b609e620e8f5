//! `libcuda.so.1` on the CPU device, for programs that load NVIDIA's driver library by its name.
//!
//! All of it is `gridstride-driver`, whose exported functions become those of this library. One thing is decided here:
//! whoever puts this library into the place of NVIDIA's wants the CPU device, GPU or not. `GRIDSTRIDE_DEVICE=gpu` or
//! `auto` hands the calls on to NVIDIA's library after all.

use gridstride_driver::{Choice, default_to};

/// The loader runs this before any function of the library can be called.
#[cfg(target_os = "linux")]
#[used]
// SAFETY: the section holds pointers to functions that take what C initialisers take, or nothing, and return nothing.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "other systems have no such section"))]
extern "C" fn at_load() {
    // Stores a number under a lock: nothing that needs what the runtime sets up before `main`.
    default_to(Choice::Cpu);
}
