//! HTML: one file that needs nothing from elsewhere, for a desk or a phone.

use super::document::{Block, Document, Table, Text, Tone};

const STYLE: &str = include_str!("page.css");

/// Draws a document as a page.
#[must_use]
pub fn draw(document: &Document) -> String {
    let title: String = document.title.0.iter().map(|(_, words)| escaped(words)).collect();
    let body: String = document.blocks.iter().map(block).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<h1>{title}</h1>\n{body}<footer>gridstride {}</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(words) => format!("<p>{}</p>\n", text(words)),
        Block::Table(rows) => table(rows),
        Block::Picture(picture) => {
            let label = escaped(&picture.description());
            format!("<figure role=\"img\" aria-label=\"{label}\">\n{}</figure>\n", picture.svg())
        }
        Block::Lines(lines) => {
            let lines: String = lines.iter().map(|line| format!("<li>{}</li>\n", text(line))).collect();
            format!("<ul>\n{lines}</ul>\n")
        }
    }
}

fn text(text: &Text) -> String {
    let mark = |(tone, words): &(Tone, String)| match tone {
        Tone::Plain => escaped(words),
        Tone::Strong => format!("<strong>{}</strong>", escaped(words)),
        Tone::Good => format!("<strong class=\"good\">{}</strong>", escaped(words)),
        Tone::Bad => format!("<strong class=\"bad\">{}</strong>", escaped(words)),
    };
    text.0.iter().map(mark).collect()
}

fn table(table: &Table) -> String {
    let row = |cells: &[String], tag: &str| {
        let class = |at: usize| if at < table.left { " class=\"words\"" } else { "" };
        let cell = |(at, cell): (usize, &String)| format!("<{tag}{}>{}</{tag}>", class(at), escaped(cell));
        format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
    };
    let caption = table.caption.as_ref().map_or(String::new(), |words| format!("<caption>{}</caption>\n", text(words)));
    let rows: String = table.rows.iter().map(|cells| row(cells, "td")).collect();
    let head =
        if table.has_header() { format!("<thead>\n{}</thead>\n", row(&table.header, "th")) } else { String::new() };
    format!("<div class=\"wide\"><table>\n{caption}{head}<tbody>\n{rows}</tbody>\n</table></div>\n")
}

/// Letters that mean something in HTML mean themselves.
#[must_use]
pub fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
