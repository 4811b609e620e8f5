//! The report for people: 80 columns, colours for a terminal.

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, presets};
use gridstride_cpu::{Comparison, Facts, kernels};

use super::Report;
use crate::advice::Rule;
use crate::units::{bytes, count, digits, plural, time};

pub(super) struct Table;

const WIDTH: u16 = 80;
const BOLD: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();

impl Report for Table {
    fn comparison(&self, comparison: &Comparison) -> String {
        let Comparison { facts, kernel, dtype, n, .. } = comparison;
        let mut out = format!("{BOLD}{kernel} {dtype}, n = {}, on {}{BOLD:#}\n", count(*n), title(facts));
        // Under each heading are figures, and figures of the CPU device are called that.
        let place = if facts.is_gpu() { "" } else { ", on the CPU device" };
        out += &format!("\n{BOLD}As people meet it{place}:{BOLD:#} the launch call, then {}\n", read(*n));
        out += &naive(comparison);
        out += &format!("\n{BOLD}Measured{place}:{BOLD:#} from the call, with a wait for the kernel; medians\n");
        out += &measured(comparison);
        out += "\n";
        out += &verdict(comparison);
        for sentence in Rule::ALL.iter().filter_map(|rule| rule.sentence(comparison)) {
            out += "\n";
            out += &wrapped(&sentence);
        }
        out
    }

    fn devices(&self, devices: &[Facts]) -> String {
        let mut table = plain(&["device", "kind", "multiprocessors", "memory", "driver"]);
        for facts in devices {
            let (major, minor) = facts.driver;
            let driver = if facts.is_gpu() { format!("{major}.{minor}") } else { "built in".to_owned() };
            let kind = facts.kind_name().to_owned();
            table.add_row([
                facts.name.clone(),
                kind,
                facts.multiprocessors.to_string(),
                bytes(facts.memory_bytes),
                driver,
            ]);
        }
        let mut out = finish(table);
        if devices.iter().all(Facts::is_gpu) {
            out += "\nThe built-in CPU device is there as well: --device cpu.\n";
        }
        if let Some(reason) = devices.iter().find_map(|facts| facts.no_gpu.as_ref()) {
            out += "\n";
            out += &wrapped(&format!("There is {reason}."));
        }
        out
    }
}

/// How much faster the second launch is, where there are two.
fn verdict(comparison: &Comparison) -> String {
    let verified = "Every result was verified against the host's.";
    let speedup = comparison.speedup().filter(|_| comparison.n > 0);
    let ([first, .., last], Some(speedup)) = (&comparison.launches[..], speedup) else {
        return wrapped(verified);
    };
    let (times, word) = if speedup >= 1.0 { (speedup, "faster") } else { (1.0 / speedup, "slower") };
    let text = format!("{} is {} times {word} than {}. {verified}", last.shape, digits(times), first.shape);
    // Coloured behind the wrapping, which counts characters.
    let number = format!("{} times {word}", digits(times));
    wrapped(&text).replacen(&number, &format!("{GOOD}{number}{GOOD:#}"), 1)
}

fn plain(header: &[&str]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    table.set_header(header.iter().copied());
    for (place, column) in table.column_iter_mut().enumerate() {
        let alignment = if place == 0 { CellAlignment::Left } else { CellAlignment::Right };
        column.set_cell_alignment(alignment);
        column.set_padding((if place == 0 { 2 } else { 1 }, 0));
    }
    table
}

fn finish(table: comfy_table::Table) -> String {
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

/// Which device it is, in a few words; the CPU device by what it is and not by a name that could be a GPU's.
fn title(facts: &Facts) -> String {
    let processors = u64::from(facts.multiprocessors);
    match facts.is_gpu() {
        true => format!("{} ({})", facts.name, plural(processors, "multiprocessor")),
        false => format!("the CPU device ({})", plural(processors, "core")),
    }
}

/// What is read behind the launch.
fn read(n: u64) -> String {
    kernels::element_read(n).map_or("nothing to read".to_owned(), |at| format!("reading out[{at}]"))
}

fn naive(comparison: &Comparison) -> String {
    let read = kernels::element_read(comparison.n).map_or("read".to_owned(), |at| format!("read out[{at}]"));
    let mut table = plain(&["launch", "call", &read]);
    for measured in &comparison.launches {
        table.add_row([measured.shape.to_string(), time(measured.naive.call), time(measured.naive.read)]);
    }
    finish(table)
}

fn measured(comparison: &Comparison) -> String {
    let mut table = plain(&["launch", "returned", "finished", "kernel", "spread", "read", "GB/s", "of copy"]);
    let copy = comparison.copy.gb_per_s();
    for measured in &comparison.launches {
        let timing = &measured.timing;
        let share = if copy > 0.0 { format!("{} %", digits(100.0 * measured.gb_per_s() / copy)) } else { "-".into() };
        table.add_row([
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
    finish(table)
}

/// Words in lines of at most 80 columns.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > usize::from(WIDTH) {
            out.push('\n');
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
    }
    out.push('\n');
    out
}
