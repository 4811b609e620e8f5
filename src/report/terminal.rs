//! The report for people at a terminal: 80 columns, colours.

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, presets};

use super::document::{Block, Document, Table, Text, Tone};

/// Columns of a terminal that every terminal has.
pub const WIDTH: usize = 80;

/// Draws a document.
#[must_use]
pub fn draw(document: &Document) -> String {
    let title: Text = Text(document.title.0.iter().map(|(_, words)| (Tone::Strong, words.clone())).collect());
    let mut out = wrapped(&title);
    for block in &document.blocks {
        if !out.is_empty() {
            out.push('\n');
        }
        out += &match block {
            Block::Paragraph(text) => wrapped(text),
            Block::Table(table) => with_caption(table),
            Block::Picture(picture) => picture.terminal(WIDTH),
            Block::Lines(lines) => lines.iter().map(wrapped).collect(),
        };
    }
    out
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Strong => Style::new().bold(),
        Tone::Good => AnsiColor::Green.on_default().bold(),
        Tone::Bad => AnsiColor::Red.on_default().bold(),
    }
}

fn with_caption(table: &Table) -> String {
    let mut out = table.caption.as_ref().map(wrapped).unwrap_or_default();
    let mut drawn = comfy_table::Table::new();
    drawn.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    drawn.set_width(u16::try_from(WIDTH).unwrap_or(u16::MAX));
    if table.has_header() {
        drawn.set_header(table.header.iter());
    }
    drawn.add_rows(table.rows.iter());
    for (place, column) in drawn.column_iter_mut().enumerate() {
        let alignment = if place < table.left { CellAlignment::Left } else { CellAlignment::Right };
        column.set_cell_alignment(alignment);
        column.set_padding((if place == 0 { 2 } else { 1 }, 0));
    }
    for line in drawn.lines() {
        out += line.trim_end();
        out.push('\n');
    }
    out
}

/// Words in lines of at most 80 columns. A word that is longer has a line of its own.
#[must_use]
pub fn wrapped(text: &Text) -> String {
    let letters = text.0.iter().flat_map(|(tone, words)| words.chars().map(|letter| (letter, *tone)));
    let letters: Vec<(char, Tone)> = letters.collect();
    let mut line = Vec::new();
    let mut out = String::new();
    for word in letters.split(|(letter, _)| *letter == ' ') {
        if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
            out += &coloured(&line);
            line.clear();
        } else if !line.is_empty() {
            // A space stands out where the words on both of its sides do.
            let sides = (line.last().map(|(_, tone)| *tone), word.first().map(|(_, tone)| *tone));
            line.push((' ', sides.0.filter(|tone| sides.1 == Some(*tone)).unwrap_or(Tone::Plain)));
        }
        line.extend_from_slice(word);
    }
    if !line.is_empty() {
        out += &coloured(&line);
    }
    out
}

fn coloured(line: &[(char, Tone)]) -> String {
    let mut out = String::new();
    for run in line.chunk_by(|(_, a), (_, b)| a == b) {
        let style = style(run[0].1);
        let words: String = run.iter().map(|(letter, _)| letter).collect();
        out += &format!("{style}{words}{style:#}");
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_keep_their_tones() {
        let text = Text::strong("one two").plain(" three ".repeat(20)).and(Tone::Good, "last");
        let drawn = wrapped(&text);
        assert!(
            drawn.starts_with("\x1b[1mone two\x1b[0m") && drawn.ends_with("\x1b[1m\x1b[32mlast\x1b[0m\n"),
            "{drawn:?}"
        );
        let plain = anstream::adapter::strip_str(&drawn).to_string();
        assert!(plain.lines().all(|line| line.len() <= WIDTH) && plain.lines().count() > 1);
        let long = "x".repeat(100);
        assert_eq!(wrapped(&format!("a {long} b").into()), format!("a\n{long}\nb\n"));
    }
}
