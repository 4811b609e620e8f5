//! The counters of launches side by side, and the sentences that follow.

use gridstride_cpu::Facts;
use serde::Serialize;

use super::counters;
use crate::advice::profile::{Counted, Rule, difference};
use crate::findings::run::JsonAdvice;
use crate::report::document::{Document, Text};
use crate::report::json::{self, SCHEMA, Versions};
use crate::report::{Findings, csv};
use crate::units::plural;

/// Launches of one kernel, counted.
#[derive(Debug)]
pub struct Profile {
    pub facts: Facts,
    pub ptx: String,
    pub kernel: String,
    pub n: Option<u64>,
    pub launches: Vec<Counted>,
}

impl Profile {
    fn advice(&self) -> Vec<(&'static str, String)> {
        let of = |counted: &Counted| {
            let counted = *counted;
            Rule::ALL.iter().filter_map(move |rule| Some((rule.name(), rule.sentence(&counted)?)))
        };
        let mut said: Vec<(&'static str, String)> = self.launches.iter().flat_map(of).collect();
        if let [first, .., last] = &self.launches[..] {
            said.extend(difference(first, last).map(|text| ("difference", text)));
        }
        said
    }
}

impl Findings for Profile {
    fn document(&self) -> Document {
        let work = self.n.map_or(String::new(), |n| format!(", {}", plural(n, "element")));
        let mut document = Document::new(format!("{}{work}, counted on the CPU device", self.kernel));
        let names: Vec<String> = self.launches.iter().map(|counted| counted.shape.to_string()).collect();
        let columns: Vec<_> = names.iter().map(String::as_str).zip(self.launches.iter().map(|c| c.counters)).collect();
        document.table(counters::table(&columns));
        let advice = self.advice();
        if advice.is_empty() {
            document.say("Nothing in the counters asks for a word.");
        }
        for (rule, sentence) in advice {
            document.say(Text::strong(format!("{rule}:")).plain(format!(" {sentence}")));
        }
        document.say("These are counts of one launch each, exact and repeatable, and no times.");
        document
    }

    fn json(&self) -> String {
        let launches = self.launches.iter().map(|counted| Launch {
            grid: counted.shape.grid,
            block: counted.shape.block,
            counters: counted.counters.into(),
        });
        json::print(&Object {
            schema: SCHEMA,
            verb: "profile",
            device: (&self.facts).into(),
            kernel: &self.kernel,
            n: self.n,
            launches: launches.collect(),
            advice: self.advice().into_iter().map(|(rule, sentence)| JsonAdvice { rule, sentence }).collect(),
            versions: Versions::new(&self.ptx, &self.facts),
        })
    }

    fn csv(&self) -> String {
        csv::rows(self.launches.iter().map(|Counted { shape, counters }| Row {
            kernel: &self.kernel,
            n: self.n,
            grid: axes(shape.grid),
            block: axes(shape.block),
            instructions: counters.instructions,
            active_lanes_percent: counters.active_lanes_percent(),
            divergent_branches: counters.divergent_branches,
            global_requests: counters.global_requests,
            global_sectors: counters.global_sectors,
            global_bytes: counters.global_bytes,
            shared_requests: counters.shared_requests,
            bank_conflicts: counters.bank_conflicts,
            atomics: counters.atomics,
            barriers: counters.barriers,
        }))
    }
}

/// `64x1x1`: one column whatever the dimensions.
fn axes([x, y, z]: [u32; 3]) -> String {
    format!("{x}x{y}x{z}")
}

#[derive(Serialize)]
struct Row<'a> {
    kernel: &'a str,
    n: Option<u64>,
    grid: String,
    block: String,
    instructions: u64,
    active_lanes_percent: Option<f64>,
    divergent_branches: u64,
    global_requests: u64,
    global_sectors: u64,
    global_bytes: u64,
    shared_requests: u64,
    bank_conflicts: u64,
    atomics: u64,
    barriers: u64,
}

#[derive(Serialize)]
struct Launch {
    grid: [u32; 3],
    block: [u32; 3],
    counters: counters::Counted,
}

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    verb: &'static str,
    device: json::Device<'a>,
    kernel: &'a str,
    n: Option<u64>,
    launches: Vec<Launch>,
    advice: Vec<JsonAdvice>,
    versions: Versions,
}
