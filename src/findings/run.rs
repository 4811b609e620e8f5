//! What came of a launch of somebody else's kernel.

use std::time::Duration;

use gridstride_cpu::Facts;
use gridstride_cpu::array::{Array, Difference};
use gridstride_cpu::foreign::{Argument, Launch, Launched};
use serde::Serialize;

use super::{counters, title};
use crate::advice::launch::{Launch as Advised, Loop, Rule};
use crate::report::document::{Document, Table, Text, Tone};
use crate::report::json::{self, SCHEMA, Times, Versions, ns};
use crate::report::{Findings, csv};
use crate::units::{count, digits, plural, time};

/// A buffer against what was expected of it.
#[derive(Debug, Clone, Copy)]
pub struct Checked {
    pub place: usize,
    pub n: usize,
    pub tolerance: f64,
    pub difference: Option<Difference>,
}

/// A launch and what came of it.
#[derive(Debug)]
pub struct Ran<'a> {
    pub facts: Facts,
    pub ptx: &'a str,
    pub plan: &'a Launch<'a>,
    pub launched: &'a Launched,
    pub checks: Vec<Checked>,
    /// Elements to print of each buffer.
    pub print: usize,
    pub module_load: Duration,
}

/// A buffer before and after.
struct Buffer<'a> {
    place: usize,
    name: &'a str,
    after: &'a Array,
    changed: usize,
    /// Runs of elements that nobody has written, first and last.
    unset: Vec<(usize, usize)>,
}

impl Ran<'_> {
    /// Whether every buffer holds what was expected; else a sentence.
    ///
    /// # Errors
    /// The sentence.
    pub fn verdict(&self) -> Result<(), String> {
        let wrong: Vec<String> = self.checks.iter().filter(|check| check.difference.is_some()).map(sentence).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    }

    fn buffers(&self) -> Vec<Buffer<'_>> {
        let parameters = &self.plan.kernel.parameters;
        let all = self.plan.arguments.iter().zip(&self.launched.outputs).enumerate();
        let buffer = |(place, (argument, after)): (usize, (&Argument, &'_ Option<Array>))| {
            let (Argument::Buffer(before), Some(after)) = (argument, after) else { return None };
            let width = before.element().bytes();
            let pairs = before.bytes().chunks_exact(width).zip(after.bytes().chunks_exact(width));
            let changed = pairs.filter(|(before, after)| before != after).count();
            // Only what began as an output can tell.
            let began_unset = before.unset_runs() == [(0, before.len().saturating_sub(1))];
            let unset = if began_unset && width > 1 { after.unset_runs() } else { Vec::new() };
            Some((place, changed, unset))
        };
        all.filter_map(|one| {
            let (place, changed, unset) = buffer(one)?;
            let after = self.launched.outputs[place].as_ref()?;
            Some(Buffer { place, name: &parameters[place].name, after, changed, unset })
        })
        .collect()
    }

    /// Elements of the largest buffer: the work, as far as it can be told.
    fn n(&self) -> Option<u64> {
        self.launched.outputs.iter().flatten().map(|array| array.len() as u64).max()
    }

    fn advice(&self) -> Vec<(&'static str, String)> {
        let launch = Advised {
            facts: &self.facts,
            shape: self.plan.shape,
            n: self.n(),
            over: Loop::Unknown,
            signature: Some(self.plan.kernel),
            kernel: Some(self.launched.kernel),
        };
        let buffers = self.buffers();
        let mut said: Vec<(&'static str, String)> =
            unwritten(self, &buffers).map(|text| ("unwritten", text)).into_iter().collect();
        if buffers.iter().all(|buffer| buffer.changed == 0) && !buffers.is_empty() && self.n() != Some(0) {
            said.push(("no-effect", "The kernel changed none of its buffers.".to_owned()));
        }
        said.extend(Rule::ALL.iter().filter_map(|rule| Some((rule.name(), rule.sentence(&launch)?))));
        said.extend(asynchronous(self).map(|text| ("asynchronous", text)));
        said
    }
}

fn unwritten(ran: &Ran<'_>, buffers: &[Buffer<'_>]) -> Option<String> {
    let buffer = buffers.iter().find(|buffer| !buffer.unset.is_empty() && buffer.changed > 0)?;
    let (first, last) = buffer.unset[0];
    let missing: usize = buffer.unset.iter().map(|(first, last)| last - first + 1).sum();
    let (n, threads) = (buffer.after.len() as u64, ran.plan.shape.threads());
    let more = if buffer.unset.len() > 1 { " and others" } else { "" };
    let cause = if threads < n {
        let needed = n.div_ceil(ran.plan.shape.threads_per_block().max(1));
        format!(
            " The launch has {} for {}: a kernel of one element a thread needs `--grid {needed}`, and a grid-stride loop covers any \
             number from any shape.",
            plural(threads, "thread"),
            plural(n, "element")
        )
    } else {
        String::new()
    };
    Some(format!(
        "Of argument {}, {} of {} still hold the bytes that were there before the launch: elements {} to {}{more}. Nothing wrote \
         them.{cause}",
        buffer.place,
        count(missing as u64),
        plural(n, "element"),
        count(first as u64),
        count(last as u64),
    ))
}

/// CUDA C++ Programming Guide, "Asynchronous Concurrent Execution".
fn asynchronous(ran: &Ran<'_>) -> Option<String> {
    let (call, wait) = (ran.launched.first_call, ran.launched.first_wait);
    (wait > 2 * call && wait > Duration::from_millis(1)).then(|| {
        format!(
            "The first launch call returned after {}, and the kernel had finished {} later: a clock around the call alone shows the \
             call, and the wait is charged to whatever reads the result.",
            time(call),
            time(wait)
        )
    })
}

fn sentence(check: &Checked) -> String {
    let Checked { place, n, tolerance, difference } = check;
    let n = count(*n as u64);
    let within = if *tolerance > 0.0 { format!(" within {tolerance}") } else { String::new() };
    match difference {
        None => format!("argument {place} holds what was expected{within}, all {n} elements"),
        Some(d) => format!(
            "argument {place} is not what was expected: element {} is {}, and {} was expected ({} of {n} differ{}, by up to {})",
            d.at,
            d.got,
            d.expected,
            count(d.count as u64),
            if *tolerance > 0.0 { format!(" by more than {tolerance}") } else { String::new() },
            digits(d.largest),
        ),
    }
}

/// The first elements, and that there are more.
fn first(array: &Array, print: usize) -> String {
    let mut values: Vec<String> = array.iter().take(print).map(|value| value.to_string()).collect();
    if array.len() > print {
        values.push("…".to_owned());
    }
    values.join(" ")
}

impl Findings for Ran<'_> {
    fn document(&self) -> Document {
        let place = if self.facts.is_gpu() { "" } else { ", on the CPU device" };
        let mut document =
            Document::new(format!("{} {} on {}", self.plan.kernel.name, self.plan.shape, title(&self.facts)));
        let mut table = Table::new(&["argument", "buffer", "changed"]).left(2);
        let buffers = self.buffers();
        for buffer in &buffers {
            let kind = format!("{}[{}]", buffer.after.element(), buffer.after.len());
            table.row([format!("{} {}", buffer.place, buffer.name), kind, count(buffer.changed as u64)]);
        }
        document.table(table.caption("Buffers, and how many of their elements the launch changed"));
        for buffer in buffers.iter().filter(|buffer| buffer.changed > 0 && self.print > 0) {
            document.say(format!("{}: {}", buffer.place, first(buffer.after, self.print)));
        }
        for check in &self.checks {
            let tone = if check.difference.is_none() { Tone::Good } else { Tone::Bad };
            let text = sentence(check);
            document.say(Text::default().and(tone, if tone == Tone::Good { "right: " } else { "wrong: " }).plain(text));
        }
        let timing = &self.launched.timing;
        if !timing.kernel.all().is_empty() {
            let mut table = Table::new(&["launches", "returned", "finished", "kernel", "spread"]);
            table.row([
                count(timing.kernel.all().len() as u64),
                time(timing.returned.median()),
                time(timing.finished.median()),
                time(timing.kernel.median()),
                format!("{} %", digits(100.0 * timing.kernel.spread())),
            ]);
            document.table(table.caption(Text::strong(format!("Measured{place}:")).plain(" medians, from the call")));
        }
        if let Some(counted) = self.launched.counters {
            document.table(counters::table(&[("", counted)]).caption("Counted by the CPU device, in one launch"));
        }
        for (_, sentence) in self.advice() {
            document.say(sentence);
        }
        if !self.facts.is_gpu() {
            document.say("Times are those of the CPU device, and not a GPU's.");
        }
        document
    }

    fn json(&self) -> String {
        let buffers = self.buffers();
        let buffers = buffers.iter().map(|buffer| JsonBuffer {
            place: buffer.place,
            parameter: buffer.name,
            dtype: buffer.after.element().name(),
            n: buffer.after.len(),
            changed: buffer.changed,
            unwritten: buffer.unset.iter().map(|(first, last)| last - first + 1).sum(),
            first: buffer.after.iter().take(self.print).map(|value| value.to_string()).collect(),
        });
        let checks = self.checks.iter().map(|check| JsonCheck {
            place: check.place,
            right: check.difference.is_none(),
            differing: check.difference.map_or(0, |difference| difference.count),
            first_differing: check.difference.map(|difference| difference.at),
            tolerance: check.tolerance,
        });
        json::print(&Object {
            schema: SCHEMA,
            verb: "run",
            device: (&self.facts).into(),
            kernel: &self.plan.kernel.name,
            grid: self.plan.shape.grid,
            block: self.plan.shape.block,
            shared_bytes: self.plan.shared,
            module_load_ns: ns(self.module_load),
            first_call_ns: ns(self.launched.first_call),
            first_wait_ns: ns(self.launched.first_wait),
            kernel_ns: (&self.launched.timing.kernel).into(),
            buffers: buffers.collect(),
            checks: checks.collect(),
            counters: self.launched.counters.map(counters::Counted::from),
            advice: self.advice().into_iter().map(|(rule, sentence)| JsonAdvice { rule, sentence }).collect(),
            versions: Versions::new(self.ptx, &self.facts),
        })
    }

    fn csv(&self) -> String {
        csv::rows(self.buffers().iter().map(|buffer| Row {
            kernel: &self.plan.kernel.name,
            grid: self.plan.shape.grid[0],
            block: self.plan.shape.block[0],
            place: buffer.place,
            dtype: buffer.after.element().name(),
            n: buffer.after.len(),
            changed: buffer.changed,
            right: self.checks.iter().find(|check| check.place == buffer.place).map(|check| check.difference.is_none()),
            kernel_median_ns: ns(self.launched.timing.kernel.median()),
        }))
    }
}

#[derive(Serialize)]
struct Row<'a> {
    kernel: &'a str,
    grid: u32,
    block: u32,
    place: usize,
    dtype: &'static str,
    n: usize,
    changed: usize,
    right: Option<bool>,
    kernel_median_ns: u64,
}

#[derive(Serialize)]
struct JsonBuffer<'a> {
    place: usize,
    parameter: &'a str,
    dtype: &'static str,
    n: usize,
    changed: usize,
    unwritten: usize,
    first: Vec<String>,
}

#[derive(Serialize)]
struct JsonCheck {
    place: usize,
    right: bool,
    differing: usize,
    first_differing: Option<usize>,
    tolerance: f64,
}

/// A sentence and the rule behind it.
#[derive(Debug, Serialize)]
pub struct JsonAdvice {
    pub rule: &'static str,
    pub sentence: String,
}

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    verb: &'static str,
    device: json::Device<'a>,
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    module_load_ns: u64,
    first_call_ns: u64,
    first_wait_ns: u64,
    kernel_ns: Times,
    buffers: Vec<JsonBuffer<'a>>,
    checks: Vec<JsonCheck>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<counters::Counted>,
    advice: Vec<JsonAdvice>,
    versions: Versions,
}
