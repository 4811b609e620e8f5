//! SVG by hand: the few shapes that these pictures are made of.

use std::fmt::Write;

use crate::report::html::escaped;

/// A drawing that grows.
#[derive(Debug)]
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    /// An empty one, in units of a CSS pixel.
    #[must_use]
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// A filled rectangle with a text that shows under a pointer.
    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str, tip: &str) {
        let tip = escaped(tip);
        // A String takes everything.
        let _ = writeln!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"><title>{tip}</title></rect>"
        );
    }

    /// Words; `anchor` is `start`, `middle` or `end`. With a colour of their own they stay readable on a filled rectangle.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: &str, colour: Option<&str>, words: &str) {
        let style = colour.map_or(String::new(), |colour| format!(" style=\"fill:{colour}\""));
        let words = escaped(words);
        let _ = writeln!(self.body, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{style}>{words}</text>");
    }

    /// The whole element.
    #[must_use]
    pub fn finish(self, label: &str) -> String {
        let (Self { width, height, body }, label) = (self, escaped(label));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" font-family=\"system-ui, sans-serif\" font-size=\"12\" role=\"img\" aria-label=\"{label}\">\n\
             <title>{label}</title>\n{body}</svg>\n"
        )
    }
}
