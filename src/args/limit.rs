//! A time limit, as people write it.

use std::str::FromStr;
use std::time::Duration;

/// How long something may take: `10`, `10s`, `500ms`, `2m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub Duration);

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a time: try 10, 10s, 500ms or 2m");
        let plain = text.trim();
        let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
        let found = units.into_iter().find_map(|(unit, seconds)| Some((plain.strip_suffix(unit)?, seconds)));
        let (number, unit) = found.unwrap_or((plain, 1.0));
        let value: f64 = number.trim().parse().map_err(|_| wrong())?;
        let time = Duration::try_from_secs_f64(value * unit).map_err(|_| wrong())?;
        if time.is_zero() { Err(format!("`{text}` leaves no time at all")) } else { Ok(Self(time)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_people_write_them() {
        let ms = |text: &str| text.parse::<Limit>().map(|limit| limit.0.as_millis());
        for (text, expected) in [("10", 10_000), ("1.5s", 1500), ("500ms", 500), ("2m", 120_000), (" 1 h ", 3_600_000)]
        {
            assert_eq!(ms(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "-1", "0", "nan", "inf", "1e300", "ten", "1d"] {
            assert!(ms(text).is_err(), "{text}");
        }
    }
}
