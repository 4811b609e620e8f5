//! A number of elements, as people write it.

use std::str::FromStr;

/// A number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elements(pub u64);

impl FromStr for Elements {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a number of elements: try 10000000, 10_000_000, 1e7, 10M or 2^24");
        let beyond = || format!("`{text}` is more than 64 bits can count");
        let plain = text.trim().replace(['_', ' '], "");
        if let Some((base, power)) = plain.split_once('^') {
            let (base, power): (u64, u32) = (base.parse().map_err(|_| wrong())?, power.parse().map_err(|_| wrong())?);
            return base.checked_pow(power).map(Self).ok_or_else(beyond);
        }
        let (number, factor) = split_suffix(&plain);
        if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) {
            let whole = number.parse::<u64>().ok().and_then(|whole| whole.checked_mul(factor));
            return whole.map(Self).ok_or_else(beyond);
        }
        let value = number.parse::<f64>().map_err(|_| wrong())? * factor as f64;
        // Exact in an f64, so that what is run is what was asked for.
        let exact = value >= 0.0 && value.fract() == 0.0 && value <= 9_007_199_254_740_992.0;
        if exact { Ok(Self(value as u64)) } else { Err(wrong()) }
    }
}

/// `10M` is 10 and a million. The suffixes are powers of ten; `2^20` is there for the others.
fn split_suffix(text: &str) -> (&str, u64) {
    let suffixes = [(['k', 'K'], 1_000), (['m', 'M'], 1_000_000), (['g', 'G'], 1_000_000_000)];
    let found = suffixes.into_iter().find_map(|(letters, factor)| Some((text.strip_suffix(letters)?, factor)));
    found.unwrap_or((text, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_as_people_write_them() {
        let parsed = |text: &str| text.parse::<Elements>().map(|n| n.0);
        for (text, expected) in [
            ("0", 0),
            ("10_000_000", 10_000_000),
            ("1e7", 10_000_000),
            ("2^28", 1 << 28),
            ("10M", 10_000_000),
            ("1.5k", 1500),
            ("1G", 1_000_000_000),
            ("2 k", 2000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parsed(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "-1",
            "ten",
            "1.5",
            "1e30",
            "2^64",
            "2^",
            "99999999999999999999",
            "inf",
            "nan",
            "1e-3",
            "5\u{212a}",
            "M",
            "1e",
            "+",
            "9e9G",
            "18446744073709551615k",
            "2^-1",
            "²",
        ] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}
