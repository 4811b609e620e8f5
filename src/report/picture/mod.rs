//! A picture that a format draws as it can: letters on a terminal, SVG in a page.

pub mod heat;
mod svg;
pub mod timeline;

use std::fmt::Debug;

/// Something to look at.
pub trait Picture: Debug {
    /// In letters, at most `width` columns, every line ended.
    fn terminal(&self, width: usize) -> String;
    /// As one `<svg>` element that needs nothing from elsewhere.
    fn svg(&self) -> String;
    /// In a sentence, for those who cannot see it.
    fn description(&self) -> String;
}
