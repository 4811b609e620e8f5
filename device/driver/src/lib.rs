//! The CUDA Driver API as `cust` and other clients link to it.
//!
//! Every exported `cu…` symbol goes to one back end, picked once a process: NVIDIA's driver, opened at run time, where
//! there is one with a device; else the CPU device. Beside the C symbols stands a small Rust interface for what the
//! Driver API has no words for: which back end was picked and why, and what the CPU device counted.

mod session;

pub use gridstride_simt::Counters;
pub use session::{Backend, Choice, Kind, OpenError, choose, count_memory, last_counters, last_error_detail, open};
