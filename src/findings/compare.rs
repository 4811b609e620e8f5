//! Launch shapes side by side.

use std::time::Duration;

use gridstride_cpu::{Comparison, Measured, Naive, kernels};
use serde::Serialize;

use super::{counters, title};
use crate::advice::comparison::Rule;
use crate::report::document::{Block, Document, Table, Text, Tone};
use crate::report::json::{self, SCHEMA, Times, Versions, ns};
use crate::report::picture::timeline::{Span, Timeline};
use crate::report::{Findings, csv};
use crate::units::{count, digits, time};

/// A comparison, and whether its picture is wanted.
#[derive(Debug)]
pub struct Compared {
    pub comparison: Comparison,
    pub timeline: bool,
}

impl Findings for Compared {
    fn document(&self) -> Document {
        let mut document = self.comparison.document();
        if self.timeline {
            document.blocks.insert(1, Block::Picture(Box::new(timelines(&self.comparison))));
        }
        document
    }

    fn json(&self) -> String {
        self.comparison.json()
    }

    fn csv(&self) -> String {
        self.comparison.csv()
    }
}

/// The first launch as people meet it, over time: the slowest one, in which the wait is easiest to see.
#[must_use]
pub fn timelines(comparison: &Comparison) -> Timeline {
    let Some(first) = comparison.launches.first() else { return Timeline { title: String::new(), lanes: Vec::new() } };
    let Naive { call, read, kernel } = first.naive;
    let span = |what: String, from, to, waits| Span { what, from, to, waits };
    let mut host = vec![span("the call returns after".to_owned(), Duration::ZERO, call, false)];
    if let Some(at) = kernels::element_read(comparison.n) {
        host.push(span(format!("reading out[{at}] waits"), call, call + read, true));
    }
    let device = vec![span("the kernel runs".to_owned(), Duration::ZERO, kernel, false)];
    let (place, lane) = match comparison.facts.is_gpu() {
        true => (comparison.facts.name.as_str(), "GPU"),
        false => ("the CPU device", "device"),
    };
    Timeline {
        title: format!("One launch of {} on {place}, from the call on", first.shape),
        lanes: vec![("host".to_owned(), host), (lane.to_owned(), device)],
    }
}

impl Findings for Comparison {
    fn document(&self) -> Document {
        let Self { facts, kernel, dtype, n, outputs, .. } = self;
        let mut document = Document::new(format!("{kernel} {dtype}, n = {}, on {}", count(*n), title(facts)));
        // Above each table of figures, and figures of the CPU device are called that.
        let place = if facts.is_gpu() { "" } else { ", on the CPU device" };
        let met = Text::strong(format!("As people meet it{place}:"))
            .plain(format!(" the launch call, then {}", read(*outputs)));
        document.table(naive(self).caption(met));
        let from =
            Text::strong(format!("Measured{place}:")).plain(" from the call, with a wait for the kernel; medians");
        document.table(measured(self).caption(from));
        document.say(verdict(self));
        for sentence in Rule::ALL.iter().filter_map(|rule| rule.sentence(self)) {
            document.say(sentence);
        }
        document
    }

    fn json(&self) -> String {
        let Self { facts, kernel, dtype, n, module_load, copy, launches, .. } = self;
        let copy = copy.gb_per_s();
        json::print(&Object {
            schema: SCHEMA,
            verb: "compare",
            device: facts.into(),
            kernel,
            dtype: *dtype,
            n: *n,
            module_load_ns: ns(*module_load),
            copy_gb_per_s: copy,
            launches: launches.iter().map(|measured| launch(measured, copy)).collect(),
            speedup: self.speedup(),
            versions: Versions::new(crate::PTX, facts),
        })
    }

    fn csv(&self) -> String {
        let comparison = self;
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
        csv::rows(rows)
    }
}

/// How much faster the second launch is, where there are two.
fn verdict(comparison: &Comparison) -> Text {
    let verified = "Every result was verified against the host's.";
    let speedup = comparison.speedup().filter(|_| comparison.n > 0);
    let ([first, .., last], Some(speedup)) = (&comparison.launches[..], speedup) else {
        return verified.into();
    };
    let (times, word) = if speedup >= 1.0 { (speedup, "faster") } else { (1.0 / speedup, "slower") };
    Text::from(format!("{} is ", last.shape))
        .and(Tone::Good, format!("{} times {word}", digits(times)))
        .plain(format!(" than {}. {verified}", first.shape))
}

/// What is read behind the launch.
fn read(outputs: u64) -> String {
    kernels::element_read(outputs).map_or("nothing to read".to_owned(), |at| format!("reading out[{at}]"))
}

fn naive(comparison: &Comparison) -> Table {
    let read = kernels::element_read(comparison.outputs).map_or("read".to_owned(), |at| format!("read out[{at}]"));
    let mut table = Table::new(&["launch", "call", &read]);
    for measured in &comparison.launches {
        table.row([measured.shape.to_string(), time(measured.naive.call), time(measured.naive.read)]);
    }
    table
}

fn measured(comparison: &Comparison) -> Table {
    let mut table = Table::new(&["launch", "returned", "finished", "kernel", "spread", "read", "GB/s", "of copy"]);
    let copy = comparison.copy.gb_per_s();
    for measured in &comparison.launches {
        let timing = &measured.timing;
        let share = if copy > 0.0 { format!("{} %", digits(100.0 * measured.gb_per_s() / copy)) } else { "-".into() };
        table.row([
            measured.shape.to_string(),
            time(timing.returned.median()),
            time(timing.finished.median()),
            time(timing.kernel.median()),
            format!("{} %", digits(100.0 * timing.kernel.spread())),
            time(timing.read.median()),
            digits(measured.gb_per_s()),
            share,
        ]);
    }
    table
}

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

#[derive(Serialize)]
struct NaiveTimes {
    call_ns: u64,
    read_ns: u64,
    kernel_ns: u64,
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
    counters: Option<counters::Counted>,
}

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    verb: &'static str,
    device: json::Device<'a>,
    kernel: &'static str,
    dtype: gridstride_cpu::Dtype,
    n: u64,
    module_load_ns: u64,
    copy_gb_per_s: f64,
    launches: Vec<Launch>,
    speedup: Option<f64>,
    versions: Versions,
}

fn launch(measured: &Measured, copy: f64) -> Launch {
    let timing = &measured.timing;
    let gb_per_s = measured.gb_per_s();
    Launch {
        grid: measured.shape.grid,
        block: measured.shape.block,
        first_ns: ns(measured.first),
        naive: NaiveTimes {
            call_ns: ns(measured.naive.call),
            read_ns: ns(measured.naive.read),
            kernel_ns: ns(measured.naive.kernel),
        },
        returned_ns: ns(timing.returned.median()),
        finished_ns: ns(timing.finished.median()),
        kernel_ns: (&timing.kernel).into(),
        read_ns: ns(timing.read.median()),
        bytes: measured.bytes,
        gb_per_s,
        copy_percent: (copy > 0.0).then(|| 100.0 * gb_per_s / copy),
        // A result that is wrong is an error and has no report.
        verified: true,
        counters: measured.counters.map(counters::Counted::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Format;
    use crate::findings::devices::Devices;
    use crate::findings::sample;
    use crate::report::write;

    /// The report without what changes for other reasons: the versions of this package and of the kernels.
    fn report(format: Format, comparison: &Comparison) -> String {
        let text = write(format, comparison);
        let keep = |line: &&str| {
            !["\"gridstride\"", "\"ptx\"", "\"ptx_hash\"", "<footer>"].iter().any(|mark| line.contains(mark))
        };
        text.lines().filter(keep).map(|line| line.to_owned() + "\n").collect()
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
        let comparison = Comparison { n: 0, outputs: 0, ..sample::gpu() };
        let text = report(Format::Table, &comparison);
        assert!(text.contains("0 elements") && !text.contains("faster") && !text.contains("out["), "{text}");
    }

    #[test]
    fn files() {
        insta::assert_snapshot!("json_gpu", report(Format::Json, &sample::gpu()));
        insta::assert_snapshot!("json_cpu", report(Format::Json, &sample::cpu()));
        insta::assert_snapshot!("csv_cpu", report(Format::Csv, &sample::cpu()));
        insta::assert_snapshot!("markdown_gpu", report(Format::Markdown, &sample::gpu()));
        let page = report(Format::Html, &sample::gpu());
        insta::assert_snapshot!("html_gpu", page.split_once("</style>").map_or("", |(_, body)| body));
    }

    #[test]
    fn devices() {
        let facts = [sample::gpu().facts, sample::cpu().facts];
        insta::assert_snapshot!("devices_gpu", write(Format::Table, &Devices(facts[..1].to_vec())));
        insta::assert_snapshot!("devices_cpu", write(Format::Table, &Devices(facts[1..].to_vec())));
        insta::assert_snapshot!("devices_csv", write(Format::Csv, &Devices(facts.to_vec())));
    }
}
