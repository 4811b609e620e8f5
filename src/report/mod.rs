//! How results are written: one format a file, behind one trait.

mod csv;
mod json;
#[cfg(test)]
pub mod sample;
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

/// `.version` of the kernels' PTX.
fn ptx_version() -> &'static str {
    let line = crate::PTX.lines().find_map(|line| line.strip_prefix(".version "));
    line.unwrap_or("unknown").trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The report without the version of this package and of the kernels, which change for other reasons.
    fn report(format: Format, comparison: &Comparison) -> String {
        let text = of(format).comparison(comparison);
        text.replace(&format!("\"{}\"", env!("CARGO_PKG_VERSION")), "\"VERSION\"")
            .replace(&format!("\"ptx\": \"{}\"", ptx_version()), "\"ptx\": \"PTX\"")
    }

    #[test]
    fn tables() {
        for (name, comparison) in [("gpu", sample::gpu()), ("cpu", sample::cpu())] {
            let text = anstream::adapter::strip_str(&report(Format::Table, &comparison)).to_string();
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            insta::assert_snapshot!(format!("table_{name}"), text);
        }
    }

    #[test]
    fn a_table_of_one_launch_and_of_no_elements() {
        let mut comparison = sample::gpu();
        comparison.launches.remove(0);
        insta::assert_snapshot!("table_one", anstream::adapter::strip_str(&report(Format::Table, &comparison)));
        let comparison = Comparison { n: 0, ..sample::gpu() };
        let text = report(Format::Table, &comparison);
        assert!(text.contains("0 elements") && !text.contains("faster") && !text.contains("out["), "{text}");
    }

    #[test]
    fn files() {
        insta::assert_snapshot!("json_gpu", report(Format::Json, &sample::gpu()));
        insta::assert_snapshot!("json_cpu", report(Format::Json, &sample::cpu()));
        insta::assert_snapshot!("csv_cpu", report(Format::Csv, &sample::cpu()));
    }

    #[test]
    fn devices() {
        let facts = [sample::gpu().facts, sample::cpu().facts];
        insta::assert_snapshot!("devices_gpu", of(Format::Table).devices(&facts[..1]));
        insta::assert_snapshot!("devices_cpu", of(Format::Table).devices(&facts[1..]));
        insta::assert_snapshot!("devices_csv", of(Format::Csv).devices(&facts));
    }
}
