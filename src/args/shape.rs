//! A launch shape as one word.

use std::str::FromStr;

use gridstride_cpu::{Dimensions, LaunchShape};

/// A launch shape: `64/256`, `8x8/16x16`, or `<<<64, 256>>>` as it stands in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape(pub LaunchShape);

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |_| format!("`{text}` is not a launch shape: write blocks/threads, 64/256 or 8x8/16x16");
        let inner = text.trim().trim_start_matches('<').trim_end_matches('>');
        let (grid, block) =
            inner.split_once('/').or_else(|| inner.split_once(',')).ok_or(()).map_err(|()| wrong(()))?;
        let size = |text: &str| text.trim().parse::<Dimensions>().map_err(|_| wrong(()));
        Ok(Self(LaunchShape { grid: size(grid)?.0, block: size(block)?.0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_as_people_write_them() {
        let shape = |text: &str| text.parse::<Shape>().map(|shape| shape.0.to_string());
        assert_eq!(shape("64/256"), Ok("<<<64, 256>>>".into()));
        assert_eq!(shape("<<<1, 1>>>"), Ok("<<<1, 1>>>".into()));
        assert_eq!(shape("8x8/16x16"), Ok("<<<8x8, 16x16>>>".into()));
        for text in ["", "64", "64/", "/256", "a/b", "1/2/3/4", "-1/2"] {
            assert!(shape(text).is_err(), "{text}");
        }
    }
}
