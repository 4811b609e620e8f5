//! The CUDA Driver API as `cust` and other clients link to it.
//!
//! Every exported `cu…` symbol goes to one back end, picked once a process: NVIDIA's driver, opened at run time, where
//! there is one with a device; else the CPU device. Beside the C symbols stands a small Rust interface for what the
//! Driver API has no words for: which back end was picked and why, and what the CPU device counted.
//!
//! ```text
//! api/      the exported functions, one file an area, each with what it does on the CPU device
//! cpu/      the state behind them: handles, contexts, streams, modules
//! native    NVIDIA's library        session   which of the two, and the Rust interface
//! entry     symbol -> back end      arg       C arguments -> Rust
//! ```

mod api;
mod arg;
mod cpu;
mod entry;
mod explain;
mod native;
mod result;
mod session;
mod types;

pub use gridstride_simt::{Banks, ByClass, Checks, Class, Counters, Finding, FindingKind, Party, Settings, Traffic};
pub use session::{
    Backend, Choice, Kind, OpenError, choose, count_memory, default_to, last_counters, last_error_detail, open,
    take_findings, watch,
};

/// Name and address of every Driver API function that this crate defines.
pub fn symbols() -> impl Iterator<Item = (&'static str, *const ())> {
    api::tables().iter().flat_map(|table| table.iter().map(|symbol| (symbol.name, symbol.address)))
}
