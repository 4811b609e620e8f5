//! Where a profiler is to begin and to stop. There is none that could; a GPU without one accepts the calls too.

use std::ffi::c_char;

use crate::arg::In;
use crate::cpu::current;
use crate::entry::driver_functions;
use crate::result::{CUresult, Result};
use crate::types::CEnum;

driver_functions! {
    /// Sets a profiler up.
    call cuProfilerInitialize(config: *const c_char, output: *const c_char, mode: CEnum) => initialise;
    /// Begins to profile.
    call cuProfilerStart() => start;
    /// Stops profiling.
    call cuProfilerStop() => stop;
}

fn initialise(_config: In<c_char>, _output: In<c_char>, _mode: CEnum) -> Result {
    Err(CUresult::NOT_SUPPORTED.because("cuProfilerInitialize: the profiler that it sets up is no longer"))
}

fn start() -> Result {
    current::context().map(drop)
}

fn stop() -> Result {
    current::context().map(drop)
}
