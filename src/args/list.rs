//! Lists and ranges of sizes: `32..1024`, `1,2,4..`, `100..500:100`.

use std::str::FromStr;

use super::Elements;

/// Sizes to go through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes(Vec<Part>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    One(u64),
    /// From, to (or as far as makes sense), and the step; doubling without one.
    Range {
        from: u64,
        to: Option<u64>,
        step: Option<u64>,
    },
}

/// More sizes than this is a mistake.
const MOST: usize = 1000;

impl Sizes {
    /// All of them, in order, each once. Ranges without an end go to `end`.
    ///
    /// # Errors
    /// A sentence, where there are too many.
    pub fn up_to(&self, end: u64) -> Result<Vec<u64>, String> {
        let mut all = Vec::new();
        for part in &self.0 {
            match *part {
                Part::One(size) => all.push(size),
                Part::Range { from, to, step } => {
                    let to = to.unwrap_or(end.max(from));
                    let next = |at: u64| step.map_or(at.checked_mul(2), |step| at.checked_add(step));
                    let mut at = Some(from);
                    while let Some(size) = at.filter(|size| *size < to) {
                        all.push(size);
                        if all.len() > MOST {
                            return Err(format!("more than {MOST} sizes"));
                        }
                        at = next(size);
                    }
                    all.push(to);
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(|part| parse(part.trim()).map_err(|error| format!("`{text}`: {error}")));
        parts.collect::<Result<_, _>>().map(Self)
    }
}

fn parse(text: &str) -> Result<Part, String> {
    let size = |text: &str| match text.parse::<Elements>() {
        Ok(Elements(0)) => Err("sizes begin at 1".to_owned()),
        Ok(Elements(size)) => Ok(size),
        Err(_) => Err(format!("`{text}` is not a size or a range: try 256, 32..1024 (doubling), 100..500:100, or 1..")),
    };
    let Some((from, rest)) = text.split_once("..") else { return size(text).map(Part::One) };
    let (to, step) = rest.split_once(':').map_or((rest, None), |(to, step)| (to, Some(step)));
    let from = size(from)?;
    let to = if to.is_empty() { None } else { Some(size(to)?) };
    let step = step.map(size).transpose()?;
    match to {
        Some(to) if to < from => Err(format!("{from}..{to} goes backwards")),
        _ => Ok(Part::Range { from, to, step }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_people_write_them() {
        let sizes = |text: &str| text.parse::<Sizes>().and_then(|sizes| sizes.up_to(10));
        assert_eq!(sizes("32..256"), Ok(vec![32, 64, 128, 256]));
        assert_eq!(sizes("1,2,4.."), Ok(vec![1, 2, 4, 8, 10]));
        assert_eq!(sizes("100..350:100"), Ok(vec![100, 200, 300, 350]));
        assert_eq!(sizes("7, 3, 3"), Ok(vec![3, 7]));
        assert_eq!(sizes("64.."), Ok(vec![64]));
        assert_eq!(sizes("1e3,2^11"), Ok(vec![1000, 2048]));
        for text in
            ["", "0", "x", "5..2", "1..2..3", "1..10:0", "1..1e9:1", "..", "-1", "1,,2", "18446744073709551615..:1x"]
        {
            assert!(sizes(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_sizes_or_a_sentence(text in "[0-9.,:e^k]{0,24}", end: u64) {
            if let Ok(sizes) = text.parse::<Sizes>() {
                let _ = sizes.up_to(end);
            }
        }
    }
}
