//! Every kernel at full size.

use gridstride_cpu::kernels::Kernel;
use gridstride_cpu::{CopyRate, Dtype, Facts, FlopRate, LaunchShape, Measured};
use serde::Serialize;

use super::title;
use crate::report::document::{Document, Table, Text};
use crate::report::json::{self, SCHEMA, Times, Versions};
use crate::report::{Findings, csv};
use crate::units::{count, digits, time};

/// What the kernels reached, or the launches of each that were right.
#[derive(Debug)]
pub struct Benchmark {
    pub facts: Facts,
    pub copy: Option<CopyRate>,
    pub flops: Option<FlopRate>,
    pub rows: Vec<Row>,
    /// Entry points and how many of their launches were verified.
    pub verified: Vec<(String, u64)>,
}

/// A kernel's measurement.
#[derive(Debug)]
pub struct Row {
    pub kernel: &'static str,
    pub dtype: Dtype,
    pub n: u64,
    pub extent: Option<String>,
    pub operations: u64,
    pub measured: Measured,
}

/// What limits a kernel, and how near it comes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reached {
    /// 10^9 bytes or operations a second.
    rate: f64,
    unit: &'static str,
    /// Share of the device's own rate, if that was measured.
    of_peak: Option<f64>,
}

impl Row {
    /// A measurement of `n` elements.
    #[must_use]
    pub fn new(kernel: &'static dyn Kernel, dtype: Dtype, n: u64, measured: Measured) -> Self {
        let (extent, operations) = (kernel.extent(n), kernel.operations(dtype, n));
        Self { kernel: kernel.name(), dtype, n, extent, operations, measured }
    }

    fn seconds(&self) -> f64 {
        self.measured.timing.kernel.median().as_secs_f64()
    }
}

impl Benchmark {
    /// By bytes or by operations, whichever takes the device longer.
    fn reached(&self, row: &Row) -> Reached {
        let copy = self.copy.as_ref().map_or(0.0, CopyRate::gb_per_s);
        let flops = self.flops.as_ref().map_or(0.0, FlopRate::gflop_per_s);
        let (bytes, operations) = (row.measured.bytes as f64, row.operations as f64);
        let computes = operations * copy > bytes * flops;
        let (work, unit, peak) = if computes { (operations, "Gop/s", flops) } else { (bytes, "GB/s", copy) };
        let rate = if row.seconds() > 0.0 { work / row.seconds() / 1e9 } else { 0.0 };
        Reached { rate, unit, of_peak: (peak > 0.0).then(|| 100.0 * rate / peak) }
    }
}

impl Findings for Benchmark {
    fn document(&self) -> Document {
        let mut document = Document::new(format!("Every kernel on {}", title(&self.facts)));
        if let (Some(copy), Some(flops)) = (&self.copy, &self.flops) {
            let mut table = Table::new(&["kernel", "type", "elements", "launch", "kernel", "rate", "of peak"]);
            for row in &self.rows {
                let reached = self.reached(row);
                table.row([
                    row.kernel.to_owned(),
                    row.dtype.to_string(),
                    row.extent.clone().unwrap_or_else(|| count(row.n)),
                    row.measured.shape.to_string(),
                    time(row.measured.timing.kernel.median()),
                    format!("{} {}", digits(reached.rate), reached.unit),
                    reached.of_peak.map_or("-".to_owned(), |share| format!("{} %", digits(share))),
                ]);
            }
            document.table(table);
            document.say(format!(
                "In the same run a copy moved {} GB/s, and multiply-adds were {} Gop/s. Every result was verified against the host's.",
                digits(copy.gb_per_s()),
                digits(flops.gflop_per_s()),
            ));
        }
        if !self.verified.is_empty() {
            let mut table = Table::new(&["kernel", "launches that were right"]);
            for (entry, launches) in &self.verified {
                table.row([entry.clone(), count(*launches)]);
            }
            document.table(table);
            let all: u64 = self.verified.iter().map(|(_, launches)| launches).sum();
            document.say(format!("{} launches, and every result was the host's.", count(all)));
        }
        if !self.facts.is_gpu() {
            document.say(Text::strong("These are figures of the CPU device, not of a GPU."));
        }
        document
    }

    fn json(&self) -> String {
        json::print(&Object {
            schema: SCHEMA,
            verb: "bench",
            device: (&self.facts).into(),
            copy_gb_per_s: self.copy.as_ref().map(CopyRate::gb_per_s),
            fma_gop_per_s: self.flops.as_ref().map(FlopRate::gflop_per_s),
            kernels: self.rows.iter().map(|row| self.object(row)).collect(),
            verified: self.verified.iter().map(|(entry, launches)| Launches { entry, launches: *launches }).collect(),
            versions: Versions::new(crate::PTX, &self.facts),
        })
    }

    fn csv(&self) -> String {
        csv::rows(self.rows.iter().map(|row| {
            let (reached, timing) = (self.reached(row), &row.measured.timing.kernel);
            CsvRow {
                device: &self.facts.name,
                kernel: row.kernel,
                dtype: row.dtype.name(),
                n: row.n,
                launch: row.measured.shape.to_string(),
                kernel_median_ns: timing.median().as_nanos(),
                kernel_min_ns: timing.min().as_nanos(),
                kernel_max_ns: timing.max().as_nanos(),
                runs: timing.all().len(),
                rate: reached.rate,
                unit: reached.unit,
                peak_percent: reached.of_peak,
            }
        }))
    }
}

impl Benchmark {
    fn object<'a>(&self, row: &'a Row) -> Measurement<'a> {
        let (reached, LaunchShape { grid, block }) = (self.reached(row), row.measured.shape);
        Measurement {
            kernel: row.kernel,
            dtype: row.dtype,
            n: row.n,
            grid,
            block,
            kernel_ns: (&row.measured.timing.kernel).into(),
            bytes: row.measured.bytes,
            operations: row.operations,
            rate: reached.rate,
            unit: reached.unit,
            peak_percent: reached.of_peak,
            verified: true,
        }
    }
}

#[derive(Serialize)]
struct CsvRow<'a> {
    device: &'a str,
    kernel: &'static str,
    dtype: &'static str,
    n: u64,
    launch: String,
    kernel_median_ns: u128,
    kernel_min_ns: u128,
    kernel_max_ns: u128,
    runs: usize,
    rate: f64,
    unit: &'static str,
    peak_percent: Option<f64>,
}

#[derive(Serialize)]
struct Measurement<'a> {
    kernel: &'a str,
    dtype: Dtype,
    n: u64,
    grid: [u32; 3],
    block: [u32; 3],
    kernel_ns: Times,
    bytes: u64,
    operations: u64,
    rate: f64,
    unit: &'static str,
    peak_percent: Option<f64>,
    verified: bool,
}

#[derive(Serialize)]
struct Launches<'a> {
    entry: &'a str,
    launches: u64,
}

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    verb: &'static str,
    device: json::Device<'a>,
    copy_gb_per_s: Option<f64>,
    fma_gop_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kernels: Vec<Measurement<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    verified: Vec<Launches<'a>>,
    versions: Versions,
}
