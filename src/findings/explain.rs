//! What is wrong with a launch before it runs, each sentence with the rule behind it and where the rule comes from.

use gridstride_cpu::foreign::Signature;
use gridstride_cpu::{Facts, KernelFacts, LaunchShape};
use serde::Serialize;

use super::title;
use crate::advice::launch::{Launch, Loop, Rule};
use crate::report::document::{Document, Table, Text, Tone};
use crate::report::json::{self, SCHEMA};
use crate::report::{Findings, csv};
use crate::units::{count, digits, plural};

/// A launch, and what is known of it.
#[derive(Debug)]
pub struct Explained<'a> {
    pub facts: Facts,
    pub signature: &'a Signature,
    pub shape: LaunchShape,
    pub elements: Option<u64>,
    /// Elements, or iterations of the loop.
    pub n: Option<u64>,
    pub over: Loop,
    /// What the device says of the kernel; `None` for a launch that it refuses.
    pub kernel: Option<KernelFacts>,
    /// The shape that suits.
    pub full: LaunchShape,
}

#[derive(Serialize)]
struct Advice {
    rule: &'static str,
    sentence: String,
    source: &'static str,
}

impl Explained<'_> {
    fn advice(&self) -> Vec<Advice> {
        let Self { facts, shape, n, over, kernel, .. } = self;
        let launch =
            Launch { facts, shape: *shape, n: *n, over: *over, signature: Some(self.signature), kernel: *kernel };
        let spoken = |rule: &Rule| {
            let sentence = rule.sentence(&launch)?;
            Some(Advice { rule: rule.name(), sentence, source: rule.source() })
        };
        Rule::ALL.iter().filter_map(spoken).collect()
    }

    fn figures(&self) -> Table {
        let mut table = Table::new(&["", ""]);
        let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
        let (shape, facts) = (self.shape, &self.facts);
        let processor = if facts.is_gpu() { "multiprocessor" } else { "core" };
        row("blocks", count(shape.blocks()));
        row("threads", count(shape.threads()));
        row("warps a block", count(shape.threads_per_block().div_ceil(facts.warp_size.into())));
        row(&format!("blocks a {processor}"), digits(shape.blocks() as f64 / f64::from(facts.multiprocessors.max(1))));
        if let Some(n) = self.elements.filter(|_| shape.threads() > 0) {
            row("elements a thread", digits(n as f64 / shape.threads() as f64));
        }
        if let Some(kernel) = self.kernel.filter(|_| facts.is_gpu()) {
            row("registers a thread", count(kernel.registers.into()));
            row("shared memory a block, bytes", count(kernel.static_shared.into()));
            if let Some(blocks) = kernel.blocks_per_multiprocessor {
                row("blocks that a multiprocessor holds", count(blocks.into()));
            }
        }
        table
    }
}

impl Findings for Explained<'_> {
    fn document(&self) -> Document {
        let work = self.elements.map_or(String::new(), |n| format!(" for {}", plural(n, "element")));
        let name = &self.signature.name;
        let mut document = Document::new(format!("{name} {}{work} on {}", self.shape, title(&self.facts)));
        document.table(self.figures());
        let advice = self.advice();
        for Advice { rule, sentence, source } in &advice {
            document.say(Text::default().and(Tone::Bad, format!("{rule}:")).plain(format!(" {sentence} [{source}]")));
        }
        if advice.is_empty() {
            document.say(Text::default().and(Tone::Good, "Nothing is wrong with the shape of this launch."));
        } else if self.full != self.shape {
            document.say(format!("{} suits this device.", self.full));
        }
        document
    }

    fn json(&self) -> String {
        json::print(&Object {
            schema: SCHEMA,
            verb: "explain",
            device: (&self.facts).into(),
            kernel: &self.signature.name,
            grid: self.shape.grid,
            block: self.shape.block,
            n: self.elements,
            advice: self.advice(),
            suited_grid: self.full.grid,
            suited_block: self.full.block,
        })
    }

    fn csv(&self) -> String {
        csv::rows(self.advice().into_iter())
    }
}

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    verb: &'static str,
    device: json::Device<'a>,
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    n: Option<u64>,
    advice: Vec<Advice>,
    suited_grid: [u32; 3],
    suited_block: [u32; 3],
}
