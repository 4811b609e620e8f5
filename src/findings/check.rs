//! What the checks found.

use gridstride_cpu::{Checked, Checks, Finding, Party};
use serde::Serialize;

use crate::report::document::{Document, Table};
use crate::report::{Findings, csv, json};
use crate::units::{count, plural};

/// Every launch that was tried.
#[derive(Debug)]
pub struct Report {
    pub checks: Checks,
    pub schedules: u32,
    pub checked: Vec<Checked>,
}

impl Report {
    /// Findings, faults and wrong results.
    #[must_use]
    pub fn count(&self) -> usize {
        self.checked.iter().map(|one| one.findings.len() + usize::from(one.failure.is_some())).sum()
    }

    fn names(&self) -> Vec<&'static str> {
        let Checks { race, init, sync, leak } = self.checks;
        let all = [(race, "race"), (init, "init"), (sync, "sync"), (leak, "leak")];
        all.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect()
    }
}

fn result(one: &Checked) -> String {
    let mut parts = Vec::new();
    if !one.findings.is_empty() {
        parts.push(plural(one.findings.len() as u64, "finding"));
    }
    if one.failure.is_some() {
        parts.push("failed".to_owned());
    }
    if parts.is_empty() { "clean".to_owned() } else { parts.join(", ") }
}

impl Findings for Report {
    fn document(&self) -> Document {
        let launches = match self.checked.len() {
            1 => "1 launch".to_owned(),
            more => format!("{more} launches"),
        };
        let title = match self.count() as u64 {
            0 => format!("nothing found in {launches}"),
            bad => format!("{} in {launches}", plural(bad, "finding")),
        };
        let mut document = Document::new(title);
        let orders = match self.schedules {
            0 | 1 => String::new(),
            more => format!(", each launch in {more} orders of warps and blocks"),
        };
        document.say(format!("Looked for: bounds, alignment, {}{orders}.", self.names().join(", ")));
        let mut table = Table::new(&["kernel", "type", "launch", "result", "elements"]).left(4);
        for one in &self.checked {
            let kernel = one.kernel.to_owned();
            table.row([kernel, one.dtype.to_string(), one.shape.to_string(), result(one), count(one.n)]);
        }
        document.table(table);
        for one in self.checked.iter().filter(|one| !one.is_clean()) {
            document.say(format!("{} {} {}, {} elements:", one.kernel, one.dtype, one.shape, count(one.n)));
            let findings = one.findings.iter().map(ToString::to_string);
            for text in findings.chain(one.failure.clone()) {
                text.lines().for_each(|line| document.line(line.to_owned()));
            }
        }
        document
    }

    fn json(&self) -> String {
        json::print(&Json {
            schema: json::SCHEMA,
            checks: self.names(),
            schedules: self.schedules,
            found: self.count(),
            launches: self.checked.iter().map(Launch::from).collect(),
        })
    }

    fn csv(&self) -> String {
        csv::rows(self.checked.iter().flat_map(|one| {
            let row = |check: &'static str, text: String| Row {
                kernel: one.kernel,
                dtype: one.dtype.to_string(),
                n: one.n,
                launch: one.shape.to_string(),
                check,
                finding: text,
            };
            let mut rows: Vec<Row> =
                one.findings.iter().map(|found| row(found.kind.check(), found.to_string())).collect();
            rows.extend(one.failure.iter().map(|failure| row("failure", failure.clone())));
            if rows.is_empty() {
                rows.push(row("", String::new()));
            }
            rows
        }))
    }
}

#[derive(Serialize)]
struct Row {
    kernel: &'static str,
    dtype: String,
    n: u64,
    launch: String,
    check: &'static str,
    finding: String,
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    checks: Vec<&'static str>,
    schedules: u32,
    found: usize,
    launches: Vec<Launch<'a>>,
}

#[derive(Serialize)]
struct Launch<'a> {
    kernel: &'static str,
    dtype: String,
    n: u64,
    grid: [u32; 3],
    block: [u32; 3],
    failure: Option<&'a str>,
    findings: Vec<Found<'a>>,
}

impl<'a> From<&'a Checked> for Launch<'a> {
    fn from(one: &'a Checked) -> Self {
        Self {
            kernel: one.kernel,
            dtype: one.dtype.to_string(),
            n: one.n,
            grid: one.shape.grid,
            block: one.shape.block,
            failure: one.failure.as_deref(),
            findings: one.findings.iter().map(Found::from).collect(),
        }
    }
}

#[derive(Serialize)]
struct Found<'a> {
    check: &'static str,
    message: String,
    times: u64,
    threads: Vec<Thread<'a>>,
}

impl<'a> From<&'a Finding> for Found<'a> {
    fn from(finding: &'a Finding) -> Self {
        Self {
            check: finding.kind.check(),
            message: finding.kind.to_string(),
            times: finding.times,
            threads: finding.parties.iter().map(Thread::from).collect(),
        }
    }
}

#[derive(Serialize)]
struct Thread<'a> {
    what: &'a str,
    block: [u32; 3],
    thread: [u32; 3],
    file: Option<&'a str>,
    line: Option<u32>,
    ptx_line: u32,
    instruction: &'a str,
}

impl<'a> From<&'a Party> for Thread<'a> {
    fn from(party: &'a Party) -> Self {
        Self {
            what: &party.what,
            block: party.block,
            thread: party.thread,
            file: party.loc.as_ref().map(|loc| &*loc.file),
            line: party.loc.as_ref().map(|loc| loc.line),
            ptx_line: party.ptx_line,
            instruction: &party.instruction,
        }
    }
}
