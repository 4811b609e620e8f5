//! Numbers for people: three significant digits, a unit that fits, thousands apart.

use std::time::Duration;

/// `12.3 µs`, `761 ms`, `1.52 s`.
#[must_use]
pub fn time(time: Duration) -> String {
    let ns = time.as_secs_f64() * 1e9;
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    // The unit in which the rounded value is at least 1.
    let (scale, unit) = units.into_iter().find(|(scale, _)| ns >= 0.9995 * scale).unwrap_or((1.0, "ns"));
    format!("{} {unit}", digits(ns / scale))
}

/// Three significant digits, no exponent; what would round to nothing is said to be little and not none.
#[must_use]
pub fn digits(value: f64) -> String {
    match value.abs() {
        v if v > 0.0 && v < 0.005 => "<0.01".to_owned(),
        v if v >= 9999.5 => count(v.round() as u64),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// `10,000,000`
#[must_use]
pub fn count(n: u64) -> String {
    let plain = n.to_string();
    let mut out = String::new();
    for (place, digit) in plain.chars().enumerate() {
        if place > 0 && (plain.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `141 GB`, `24.0 GB`: powers of ten, as memory of devices is advertised.
#[must_use]
pub fn bytes(n: u64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.into_iter().find(|(scale, _)| n as f64 >= *scale) {
        Some((scale, unit)) => format!("{} {unit}", digits(n as f64 / scale)),
        None => format!("{n} bytes"),
    }
}

/// `1 block`, `2 blocks`.
#[must_use]
pub fn plural(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (ns, text) in [
            (0, "0.00 ns"),
            (950, "950 ns"),
            (12_340, "12.3 µs"),
            (999_600, "1.00 ms"),
            (761_000_000, "761 ms"),
            (1_520_000_000, "1.52 s"),
        ] {
            assert_eq!(time(Duration::from_nanos(ns)), text);
        }
    }

    #[test]
    fn numbers_are_neither_none_nor_unreadable() {
        for (value, text) in
            [(0.0, "0.00"), (0.0039, "<0.01"), (0.4, "0.40"), (99.96, "100"), (3429.4, "3429"), (21_428.6, "21,429")]
        {
            assert_eq!(digits(value), text);
        }
    }

    #[test]
    fn counts_and_bytes() {
        assert_eq!(count(10_000_000), "10,000,000");
        assert_eq!(count(123), "123");
        assert_eq!(bytes(143_771_000_000), "144 GB");
        assert_eq!(bytes(12), "12 bytes");
        assert_eq!(plural(1, "block"), "1 block");
    }
}
