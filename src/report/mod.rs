//! How results are written. A verb gives [`Findings`]; a format is a file here and a line in [`write()`].
//!
//! ```text
//! findings -- document --> terminal | markdown | html          for people, the same words and pictures
//!          -- json, csv -->                                    for programs, every figure
//! ```

pub mod csv;
pub mod document;
pub mod html;
pub mod json;
mod markdown;
pub mod picture;
pub mod terminal;

use crate::args::Format;
use crate::report::document::Document;

/// What a verb has found.
pub trait Findings {
    /// For people.
    fn document(&self) -> Document;
    /// For programs: one object or array, see docs/json-schema.md.
    fn json(&self) -> String;
    /// For programs that like rows.
    fn csv(&self) -> String;
}

/// The findings in a format.
#[must_use]
pub fn write(format: Format, findings: &dyn Findings) -> String {
    match format {
        Format::Table => terminal::draw(&findings.document()),
        Format::Json => findings.json(),
        Format::Csv => findings.csv(),
        Format::Markdown => markdown::draw(&findings.document()),
        Format::Html => html::draw(&findings.document()),
    }
}

/// `.version` of PTX.
#[must_use]
pub fn ptx_version(ptx: &str) -> &str {
    let line = ptx.lines().find_map(|line| line.trim_start().strip_prefix(".version "));
    line.unwrap_or("unknown").trim()
}
