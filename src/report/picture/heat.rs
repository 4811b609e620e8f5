//! A heat map: how many times longer than the best each shape took. Grids across, blocks down.

use anstyle::{Ansi256Color, Color, Style};

use super::Picture;
use super::svg::Svg;

/// Values over two axes.
#[derive(Debug, Clone)]
pub struct HeatMap {
    /// What the columns are, and each.
    pub across: (String, Vec<String>),
    /// What the rows are, and each.
    pub down: (String, Vec<String>),
    /// Times the best, a row after another; `None` where there is no value.
    pub cells: Vec<Vec<Option<f64>>>,
    /// What it shows, in a sentence.
    pub title: String,
}

/// A cell in at most five letters.
fn figure(value: f64) -> String {
    match value {
        v if v < 9.95 => format!("{v:.2}"),
        v if v < 99.5 => format!("{v:.1}"),
        v if v < 99_999.5 => format!("{v:.0}"),
        _ => ">99k".to_owned(),
    }
}

/// How hot a value is: 0 for the best, 1 for ten times as long or more.
fn heat(value: f64) -> f64 {
    value.max(1.0).log10().min(1.0)
}

/// A step of the terminal's colour cube from green over yellow to red.
fn terminal_colour(value: f64) -> Style {
    const STEPS: [u8; 6] = [28, 64, 100, 136, 130, 124];
    let step = (heat(value) * 5.0).round() as usize;
    let background = Color::Ansi256(Ansi256Color(STEPS[step.min(5)]));
    Style::new().bg_color(Some(background)).fg_color(Some(Color::Ansi256(Ansi256Color(231))))
}

/// The same for a page: a hue from green to red.
fn svg_colour(value: f64) -> String {
    format!("hsl({:.0} 60% 38%)", 120.0 * (1.0 - heat(value)))
}

const CELL: usize = 6;

impl Picture for HeatMap {
    fn terminal(&self, width: usize) -> String {
        let (rows, columns) = (&self.down.1, &self.across.1);
        let left = rows.iter().map(|row| row.chars().count()).max().unwrap_or(0).max(self.down.0.chars().count()) + 2;
        let cell = columns.iter().map(|column| column.chars().count() + 1).max().unwrap_or(0).max(CELL);
        let fit = (width.saturating_sub(left) / cell).max(1);
        let mut out = format!("{}\n", self.title);
        for part in (0..columns.len()).collect::<Vec<_>>().chunks(fit) {
            out += &format!("  {:left$}{}\n", "", self.across.0, left = left - 2);
            out += &format!("  {:left$}", self.down.0, left = left - 2);
            part.iter().for_each(|at| out += &format!("{:>cell$}", columns[*at]));
            out.push('\n');
            for (row, cells) in rows.iter().zip(&self.cells) {
                out += &format!("  {row:left$}", left = left - 2);
                for at in part {
                    out += &match cells[*at] {
                        None => format!("{:>cell$}", "-"),
                        Some(value) => {
                            let style = terminal_colour(value);
                            format!(" {style}{:>width$}{style:#}", figure(value), width = cell - 1)
                        }
                    };
                }
                out.push('\n');
            }
        }
        out
    }

    fn svg(&self) -> String {
        let (rows, columns) = (&self.down.1, &self.across.1);
        let (left, top, cell) = (90.0, 56.0, (58.0, 26.0));
        let (width, height) = (left + cell.0 * columns.len() as f64 + 8.0, top + cell.1 * rows.len() as f64 + 8.0);
        let mut svg = Svg::new(width.max(360.0), height);
        svg.text((4.0, 16.0), "start", None, &self.title);
        svg.text((left, 34.0), "start", None, &self.across.0);
        svg.text((4.0, 50.0), "start", None, &self.down.0);
        for (at, column) in columns.iter().enumerate() {
            svg.text((left + cell.0 * (at as f64 + 0.5), 50.0), "middle", None, column);
        }
        for (down, (row, cells)) in rows.iter().zip(&self.cells).enumerate() {
            let y = top + cell.1 * down as f64;
            svg.text((left - 8.0, y + 17.0), "end", None, row);
            for (across, value) in cells.iter().enumerate() {
                let Some(value) = value else { continue };
                let x = left + cell.0 * across as f64;
                let tip = format!(
                    "{} {}, {} {}: {} times the best",
                    self.across.0,
                    columns[across],
                    self.down.0,
                    row,
                    figure(*value)
                );
                svg.rect((x + 1.0, y + 1.0), (cell.0 - 2.0, cell.1 - 2.0), &svg_colour(*value), &tip);
                svg.text((x + cell.0 / 2.0, y + 17.0), "middle", Some("#fff"), &figure(*value));
            }
        }
        svg.finish(&self.description())
    }

    fn description(&self) -> String {
        self.title.clone()
    }
}

#[cfg(test)]
pub fn sample() -> HeatMap {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    HeatMap {
        across: ("grid".into(), words(&["1", "64", "4096"])),
        down: ("block".into(), words(&["32", "1024"])),
        cells: vec![vec![Some(120.0), Some(2.0), Some(1.04)], vec![Some(12.3), Some(1.0), None]],
        title: "Kernel time as a multiple of the best".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_terminal_and_in_a_page() {
        let drawn = sample().terminal(80);
        assert!(drawn.contains("\x1b["), "coloured");
        let plain = anstream::adapter::strip_str(&drawn).to_string();
        assert_eq!(
            plain,
            "Kernel time as a multiple of the best\n       grid\n  block     1    64  4096\n  32      120  2.00  1.04\n  1024   12.3  \
             1.00     -\n"
        );
        let svg = sample().svg();
        assert_eq!(svg.matches("<rect").count(), 5);
        assert!(
            svg.starts_with("<svg xmlns")
                && svg.ends_with("</svg>\n")
                && svg.contains("grid 64, block 32: 2.00 times the best")
        );
    }

    #[test]
    fn many_columns_go_below_each_other() {
        let across = ("grid".to_owned(), (0..40).map(|n| (n * 1000).to_string()).collect::<Vec<_>>());
        let map = HeatMap {
            across,
            down: ("block".into(), vec!["32".into()]),
            cells: vec![vec![Some(1.0); 40]],
            title: "t".into(),
        };
        let plain = anstream::adapter::strip_str(&map.terminal(80)).to_string();
        assert!(plain.lines().all(|line| line.chars().count() <= 80), "{plain}");
        assert_eq!(plain.matches("1.00").count(), 40);
    }
}
