//! JSON: one object a verb, with what all of them share. Documented in docs/json-schema.md.

use std::time::Duration;

use gridstride_cpu::{Facts, Samples};
use serde::Serialize;

/// Version of the schema; raised when a field changes its meaning or goes.
pub const SCHEMA: u32 = 1;

/// A value with a line end behind it.
#[must_use]
pub fn print(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("plain numbers and texts") + "\n"
}

/// A device.
#[derive(Debug, Serialize)]
pub struct Device<'a> {
    name: &'a str,
    kind: &'static str,
    multiprocessors: u32,
    warp_size: u32,
    memory_bytes: u64,
    compute_capability: String,
    driver: String,
    no_gpu: Option<&'a str>,
}

impl<'a> From<&'a Facts> for Device<'a> {
    fn from(facts: &'a Facts) -> Self {
        Self {
            name: &facts.name,
            kind: facts.kind_name(),
            multiprocessors: facts.multiprocessors,
            warp_size: facts.warp_size,
            memory_bytes: facts.memory_bytes,
            compute_capability: format!("{}.{}", facts.capability.0, facts.capability.1),
            driver: driver(facts),
            no_gpu: facts.no_gpu.as_deref(),
        }
    }
}

/// Samples of a time.
#[derive(Debug, Serialize)]
pub struct Times {
    median: u64,
    min: u64,
    max: u64,
    samples: Vec<u64>,
}

impl From<&Samples> for Times {
    fn from(samples: &Samples) -> Self {
        let all = samples.all().iter().copied().map(ns).collect();
        Self { median: ns(samples.median()), min: ns(samples.min()), max: ns(samples.max()), samples: all }
    }
}

/// What was used.
#[derive(Debug, Serialize)]
pub struct Versions {
    gridstride: &'static str,
    ptx: String,
    /// FNV-1a of the PTX text: the same kernels, or others.
    ptx_hash: String,
    driver: String,
}

impl Versions {
    /// The versions behind a result of kernels from `ptx` on a device.
    #[must_use]
    pub fn new(ptx: &str, facts: &Facts) -> Self {
        Self {
            gridstride: env!("CARGO_PKG_VERSION"),
            ptx: super::ptx_version(ptx).to_owned(),
            ptx_hash: format!("{:016x}", hash(ptx)),
            driver: driver(facts),
        }
    }
}

/// FNV-1a in 64 bits: tells texts apart that differ by accident, which is all that is asked of it here.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn driver(facts: &Facts) -> String {
    format!("{}.{}", facts.driver.0, facts.driver.1)
}

/// Whole nanoseconds.
#[must_use]
pub fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
