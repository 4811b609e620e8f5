//! What is wrong with a PTX text, and where.

use std::fmt;

/// Why a text cannot be read. `Display` shows the place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What was expected, what was found.
    pub message: String,
    /// The line of the text.
    pub source_line: String,
}

impl ParseError {
    pub(crate) fn at(text: &str, line: u32, column: u32, message: impl Into<String>) -> Self {
        let source_line = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or("");
        Self { line, column, message: message.into(), source_line: source_line.chars().take(160).collect() }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, message, source_line } = self;
        write!(f, "PTX line {line}, column {column}: {message}")?;
        if !source_line.trim().is_empty() {
            let margin = " ".repeat(line.to_string().len());
            // Tabs are kept so that the caret stands under its character whatever their width.
            let before = source_line.chars().take(column.saturating_sub(1) as usize);
            let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            write!(f, "\n {line} | {source_line}\n {margin} | {indent}^")?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseError {}
