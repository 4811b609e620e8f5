//! CSV: one row a launch, with everything that identifies it in the row.

use gridstride_cpu::{Comparison, Facts};
use serde::Serialize;

use super::Report;

pub(super) struct Csv;

#[derive(Serialize)]
struct Row<'a> {
    device: &'a str,
    device_kind: &'static str,
    kernel: &'static str,
    dtype: &'static str,
    n: u64,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    naive_call_ns: u128,
    naive_read_ns: u128,
    returned_ns: u128,
    finished_ns: u128,
    kernel_median_ns: u128,
    kernel_min_ns: u128,
    kernel_max_ns: u128,
    runs: usize,
    read_ns: u128,
    bytes: u64,
    gb_per_s: f64,
    copy_gb_per_s: f64,
    verified: bool,
    instructions: Option<u64>,
    active_lanes_percent: Option<f64>,
    sectors_per_request: Option<f64>,
}

impl Report for Csv {
    fn comparison(&self, comparison: &Comparison) -> String {
        let rows = comparison.launches.iter().map(|measured| {
            let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (measured.shape.grid, measured.shape.block);
            let timing = &measured.timing;
            Row {
                device: &comparison.facts.name,
                device_kind: comparison.facts.kind_name(),
                kernel: comparison.kernel,
                dtype: comparison.dtype.name(),
                n: comparison.n,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                naive_call_ns: measured.naive.call.as_nanos(),
                naive_read_ns: measured.naive.read.as_nanos(),
                returned_ns: timing.returned.median().as_nanos(),
                finished_ns: timing.finished.median().as_nanos(),
                kernel_median_ns: timing.kernel.median().as_nanos(),
                kernel_min_ns: timing.kernel.min().as_nanos(),
                kernel_max_ns: timing.kernel.max().as_nanos(),
                runs: timing.kernel.all().len(),
                read_ns: timing.read.median().as_nanos(),
                bytes: measured.bytes,
                gb_per_s: measured.gb_per_s(),
                copy_gb_per_s: comparison.copy.gb_per_s(),
                verified: true,
                instructions: measured.counters.map(|c| c.instructions),
                active_lanes_percent: measured.counters.and_then(|c| c.active_lanes_percent()),
                sectors_per_request: measured.counters.and_then(|c| c.sectors_per_request()),
            }
        });
        write(rows)
    }

    fn devices(&self, devices: &[Facts]) -> String {
        #[derive(Serialize)]
        struct Device<'a> {
            name: &'a str,
            kind: &'static str,
            multiprocessors: u32,
            warp_size: u32,
            memory_bytes: u64,
            driver: String,
        }
        write(devices.iter().map(|facts| Device {
            name: &facts.name,
            kind: facts.kind_name(),
            multiprocessors: facts.multiprocessors,
            warp_size: facts.warp_size,
            memory_bytes: facts.memory_bytes,
            driver: format!("{}.{}", facts.driver.0, facts.driver.1),
        }))
    }
}

fn write(rows: impl Iterator<Item = impl Serialize>) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    rows.for_each(|row| writer.serialize(row).expect("a row is flat, and memory takes it"));
    let bytes = writer.into_inner().expect("memory takes it");
    String::from_utf8(bytes).expect("names are UTF-8")
}
