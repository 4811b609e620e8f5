//! JSON: one object, documented in docs/json-schema.md.

use std::time::Duration;

use gridstride_cpu::{Comparison, Counters, Facts, Measured, Samples};
use serde::Serialize;

use super::Report;

pub(super) struct Json;

/// Version of the schema; raised when a field changes its meaning or goes.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Device<'a> {
    name: &'a str,
    kind: &'static str,
    multiprocessors: u32,
    warp_size: u32,
    memory_bytes: u64,
    compute_capability: String,
    driver: String,
    no_gpu: Option<&'a str>,
}

#[derive(Serialize)]
struct Times {
    median: u64,
    min: u64,
    max: u64,
    samples: Vec<u64>,
}

#[derive(Serialize)]
struct NaiveTimes {
    call_ns: u64,
    read_ns: u64,
}

#[derive(Serialize)]
struct Counted {
    instructions: u64,
    active_lanes_percent: Option<f64>,
    sectors_per_request: Option<f64>,
}

#[derive(Serialize)]
struct Launch {
    grid: [u32; 3],
    block: [u32; 3],
    first_ns: u64,
    naive: NaiveTimes,
    returned_ns: u64,
    finished_ns: u64,
    kernel_ns: Times,
    read_ns: u64,
    bytes: u64,
    gb_per_s: f64,
    copy_percent: Option<f64>,
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<Counted>,
}

#[derive(Serialize)]
struct Versions {
    gridstride: &'static str,
    ptx: &'static str,
    driver: String,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    device: Device<'a>,
    kernel: &'static str,
    dtype: gridstride_cpu::Dtype,
    n: u64,
    module_load_ns: u64,
    copy_gb_per_s: f64,
    launches: Vec<Launch>,
    speedup: Option<f64>,
    versions: Versions,
}

impl Report for Json {
    fn comparison(&self, comparison: &Comparison) -> String {
        let Comparison { facts, kernel, dtype, n, module_load, copy, launches } = comparison;
        let copy = copy.gb_per_s();
        print(&Document {
            schema: SCHEMA,
            device: device(facts),
            kernel,
            dtype: *dtype,
            n: *n,
            module_load_ns: ns(*module_load),
            copy_gb_per_s: copy,
            launches: launches.iter().map(|measured| launch(measured, copy)).collect(),
            speedup: comparison.speedup(),
            versions: Versions {
                gridstride: env!("CARGO_PKG_VERSION"),
                ptx: super::ptx_version(),
                driver: driver(facts),
            },
        })
    }

    fn devices(&self, devices: &[Facts]) -> String {
        print(&devices.iter().map(device).collect::<Vec<_>>())
    }
}

fn print(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("plain numbers and texts") + "\n"
}

fn driver(facts: &Facts) -> String {
    format!("{}.{}", facts.driver.0, facts.driver.1)
}

fn device(facts: &Facts) -> Device<'_> {
    Device {
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

fn launch(measured: &Measured, copy: f64) -> Launch {
    let timing = &measured.timing;
    let gb_per_s = measured.gb_per_s();
    Launch {
        grid: measured.shape.grid,
        block: measured.shape.block,
        first_ns: ns(measured.first),
        naive: NaiveTimes { call_ns: ns(measured.naive.call), read_ns: ns(measured.naive.read) },
        returned_ns: ns(timing.returned.median()),
        finished_ns: ns(timing.finished.median()),
        kernel_ns: times(&timing.kernel),
        read_ns: ns(timing.read.median()),
        bytes: measured.bytes,
        gb_per_s,
        copy_percent: (copy > 0.0).then(|| 100.0 * gb_per_s / copy),
        // A result that is wrong is an error and has no report.
        verified: true,
        counters: measured.counters.map(counted),
    }
}

fn times(samples: &Samples) -> Times {
    Times {
        median: ns(samples.median()),
        min: ns(samples.min()),
        max: ns(samples.max()),
        samples: samples.all().iter().copied().map(ns).collect(),
    }
}

fn counted(counters: Counters) -> Counted {
    Counted {
        instructions: counters.instructions,
        active_lanes_percent: counters.active_lanes_percent(),
        sectors_per_request: counters.sectors_per_request(),
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
