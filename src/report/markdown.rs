//! Markdown, for issues and notes: the same document, pictures as text.

use super::document::{Block, Document, Table, Text, Tone};

/// Columns that a picture drawn as text may take.
const WIDTH: usize = 80;

/// Draws a document.
#[must_use]
pub fn draw(document: &Document) -> String {
    let title: String = document.title.0.iter().map(|(_, words)| escaped(words)).collect();
    let mut out = format!("## {title}\n");
    for block in &document.blocks {
        out.push('\n');
        out += &match block {
            Block::Paragraph(words) => text(words) + "\n",
            Block::Table(rows) => table(rows),
            Block::Picture(picture) => fenced(&anstream::adapter::strip_str(&picture.terminal(WIDTH)).to_string()),
            Block::Lines(lines) => lines.iter().map(|line| format!("- {}\n", text(line))).collect(),
        };
    }
    out
}

fn text(text: &Text) -> String {
    let mut out = String::new();
    for (tone, words) in &text.0 {
        // Marks of emphasis must touch the words that they emphasise.
        let inner = words.trim();
        if *tone == Tone::Plain || inner.is_empty() {
            out += &escaped(words);
        } else {
            let (before, after) = words.split_once(inner).unwrap_or_default();
            out += &format!("{before}**{}**{after}", escaped(inner));
        }
    }
    out
}

fn table(table: &Table) -> String {
    let mut out = table.caption.as_ref().map_or(String::new(), |caption| text(caption) + "\n\n");
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    out += &row(table.header.iter().map(|cell| escaped(cell)).collect());
    out += &row((0..table.header.len()).map(|at| if at < table.left { "---" } else { "---:" }.to_owned()).collect());
    for cells in &table.rows {
        out += &row(cells.iter().map(|cell| escaped(cell)).collect());
    }
    out
}

/// A fence longer than any in the lines, which may be anybody's.
fn fenced(lines: &str) -> String {
    let longest = lines.lines().map(|line| line.chars().take_while(|letter| *letter == '`').count()).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", lines.trim_end_matches('\n'))
}

/// Letters that mean something in Markdown, or in the HTML that it may hold, mean themselves.
fn escaped(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for letter in words.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => out.extend(['\\', letter]),
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '\n' => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_name_stays_what_it_is() {
        assert_eq!(escaped("<<<1, 1>>> a_b|c"), "&lt;&lt;&lt;1, 1&gt;&gt;&gt; a\\_b\\|c");
        let paragraph = Text::strong("Measured:").plain(" x").and(Tone::Good, " 3 times");
        assert_eq!(text(&paragraph), "**Measured:** x **3 times**");
        assert!(fenced("```\nx\n```").starts_with("````text\n"));
    }
}
