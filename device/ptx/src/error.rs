//! What is wrong with a PTX text, and where.

use std::fmt;

/// Characters of a source line that a message shows.
const SHOWN: usize = 160;

/// Why a text cannot be read. `Display` shows the place in the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What was expected, what was found.
    pub message: String,
    /// The line of the text, cut where it is very long.
    pub source_line: String,
}

impl ParseError {
    /// An error at a byte offset of `text`.
    pub(crate) fn at(text: &str, offset: usize, line: u32, message: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let whole = text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or("");
        let column = u32::try_from(before[line_start..].chars().count()).unwrap_or(u32::MAX - 1) + 1;
        Self { line, column, message: message.into(), source_line: whole.chars().take(SHOWN).collect() }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, message, source_line } = self;
        write!(f, "PTX line {line}, column {column}: {message}")?;
        if source_line.trim().is_empty() {
            return Ok(());
        }
        let margin = " ".repeat(line.to_string().len());
        write!(f, "\n {line} | {source_line}")?;
        let before = *column as usize - 1;
        if before <= SHOWN {
            // Tabs are kept so that the caret stands under its character whatever their width.
            let indent = source_line.chars().map(|c| if c == '\t' { '\t' } else { ' ' });
            let indent: String = indent.chain(std::iter::repeat(' ')).take(before).collect();
            write!(f, "\n {margin} | {indent}^")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_place() {
        let error = ParseError::at("a\n\té bad\nc", 6, 2, "no");
        assert_eq!(error.to_string(), "PTX line 2, column 4: no\n 2 | \té bad\n   | \t  ^");
    }

    #[test]
    fn cuts_long_lines() {
        let text = "x".repeat(1000);
        let error = ParseError::at(&text, 900, 1, "no");
        assert_eq!((error.column, error.source_line.len()), (901, SHOWN));
        assert!(!error.to_string().contains('^'));
    }

    #[test]
    fn an_empty_line_is_not_shown() {
        assert_eq!(ParseError::at("", 0, 1, "nothing here").to_string(), "PTX line 1, column 1: nothing here");
    }
}
