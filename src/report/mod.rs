//! How results are written: one format a file, behind one trait.

mod csv;
mod json;
mod table;

use gridstride_cpu::{Comparison, Facts};

use crate::args::Format;

/// A format.
pub trait Report {
    /// Launch shapes side by side.
    fn comparison(&self, comparison: &Comparison) -> String;
    /// A list of devices.
    fn devices(&self, devices: &[Facts]) -> String;
}

/// The report of a format.
#[must_use]
pub fn of(format: Format) -> &'static dyn Report {
    match format {
        Format::Table => &table::Table,
        Format::Json => &json::Json,
        Format::Csv => &csv::Csv,
    }
}

/// What a device is called: the CPU device says so.
fn title(facts: &Facts) -> String {
    if facts.is_gpu() { facts.name.clone() } else { format!("the CPU device ({})", facts.name) }
}

/// `.version` of the kernels' PTX.
fn ptx_version() -> &'static str {
    let line = crate::PTX.lines().find_map(|line| line.strip_prefix(".version "));
    line.unwrap_or("unknown").trim()
}
