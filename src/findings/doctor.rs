//! What works on this machine, and what mends what does not.

use serde::Serialize;

use crate::report::document::{Document, Text, Tone};
use crate::report::json::{self, SCHEMA};
use crate::report::{Findings, csv};

/// How it is with one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is there and does what it should.
    Works,
    /// Worth knowing, and nothing wrong.
    Note,
    /// It is missing, and something else can do without.
    Lacks,
    /// Nothing can be run.
    Fails,
}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    pub what: &'static str,
    pub state: State,
    pub found: String,
    /// What mends it; empty where there is nothing to mend.
    pub mend: String,
}

impl Finding {
    /// A finding with what mends it.
    #[must_use]
    pub fn new(what: &'static str, state: State, found: String, mend: &str) -> Self {
        Self { what, state, found, mend: mend.to_owned() }
    }

    /// Nothing to mend.
    #[must_use]
    pub fn works(what: &'static str, found: String) -> Self {
        Self::new(what, State::Works, found, "")
    }
}

/// All that was looked at.
#[derive(Debug, Serialize)]
pub struct Diagnosis {
    pub findings: Vec<Finding>,
}

impl Findings for Diagnosis {
    fn document(&self) -> Document {
        let mut document = Document::new("What works here");
        for Finding { what, state, found, mend } in &self.findings {
            let (tone, word) = match state {
                State::Works => (Tone::Good, "works"),
                State::Note => (Tone::Strong, "note"),
                State::Lacks => (Tone::Bad, "lacks"),
                State::Fails => (Tone::Bad, "fails"),
            };
            let mend = if mend.is_empty() { String::new() } else { format!(" -> {mend}") };
            document.line(Text::default().and(tone, format!("{word:5}")).plain(format!(" {what}: {found}{mend}")));
        }
        document
    }

    fn json(&self) -> String {
        #[derive(Serialize)]
        struct Object<'a> {
            schema: u32,
            verb: &'static str,
            findings: &'a [Finding],
        }
        json::print(&Object { schema: SCHEMA, verb: "doctor", findings: &self.findings })
    }

    fn csv(&self) -> String {
        csv::rows(self.findings.iter())
    }
}
