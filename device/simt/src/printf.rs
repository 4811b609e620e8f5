//! `vprintf`'s format strings (CUDA C++ Programming Guide, "Formatted Output").
//!
//! Arguments lie one behind the other, each aligned to its size: 4 bytes for `int`, 8 for `long`, pointers and `double`.

/// The text, and the number of arguments (what `vprintf` returns). `load(offset, bytes)` reads an argument, `string(address)`
/// what a `%s` points to.
pub(crate) fn format(
    format: &str,
    load: impl Fn(u64, usize) -> Option<u64>,
    string: impl Fn(u64) -> String,
) -> (String, u64) {
    let mut out = String::new();
    let (mut offset, mut count) = (0u64, 0);
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let Some((mut spec, after)) = Spec::parse(&rest[at + 1..]) else {
            out.push('%');
            rest = &rest[at + 1..];
            continue;
        };
        rest = after;
        if spec.conversion == '%' {
            out.push('%');
            continue;
        }
        if spec.width_follows {
            offset = offset.next_multiple_of(4);
            let width = load(offset, 4).unwrap_or(0) as u32 as i32;
            offset += 4;
            count += 1;
            spec.left |= width < 0;
            spec.width = (width.unsigned_abs() as usize).min(WIDEST);
        }
        let size = spec.argument_bytes();
        offset = offset.next_multiple_of(size as u64);
        let value = load(offset, size).unwrap_or(0);
        offset += size as u64;
        count += 1;
        out.push_str(&spec.pad(spec.text(value, size, &string)));
    }
    out.push_str(rest);
    (out, count)
}

/// `%[flags][width][.precision][length]conversion`
struct Spec {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    /// `*`: an argument says it.
    width_follows: bool,
    precision: Option<usize>,
    long: bool,
    conversion: char,
}

impl Spec {
    fn parse(text: &str) -> Option<(Self, &str)> {
        let flags = text.len() - text.trim_start_matches(['-', '0', '+', ' ', '#']).len();
        let (flags, rest) = text.split_at(flags);
        let width_follows = rest.starts_with('*');
        // A precision that follows, `.*`, is not among what `vprintf` knows: it prints such a conversion as it is.
        let (width, rest) = if width_follows { (None, &rest[1..]) } else { digits(rest) };
        let (precision, rest) = match rest.strip_prefix('.') {
            Some(rest) => {
                let (precision, rest) = digits(rest);
                (Some(precision.unwrap_or(0)), rest)
            }
            None => (None, rest),
        };
        let length = rest.len() - rest.trim_start_matches(['l', 'h', 'z', 'j', 't']).len();
        let (length, rest) = rest.split_at(length);
        let conversion = rest.chars().next()?;
        if !"diuxXocfFeEgGaAsp%".contains(conversion) {
            return None;
        }
        let spec = Self {
            left: flags.contains('-'),
            zero: flags.contains('0') && !flags.contains('-'),
            plus: flags.contains('+'),
            space: flags.contains(' '),
            width_follows,
            alternate: flags.contains('#'),
            width: width.unwrap_or(0),
            precision,
            long: length.contains(['l', 'z', 'j', 't']),
            conversion,
        };
        Some((spec, &rest[conversion.len_utf8()..]))
    }

    fn argument_bytes(&self) -> usize {
        match self.conversion {
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' | 'c' if !self.long => 4,
            _ => 8,
        }
    }

    fn text(&self, value: u64, size: usize, string: &impl Fn(u64) -> String) -> String {
        let signed = if size == 4 { i64::from(value as u32 as i32) } else { value.cast_signed() };
        let float = f64::from_bits(value);
        let precision = self.precision.unwrap_or(6);
        match self.conversion {
            'd' | 'i' => {
                let sign = if signed < 0 { "-" } else { self.sign() };
                format!("{sign}{:0>1$}", signed.unsigned_abs(), self.precision.unwrap_or(1))
            }
            'u' => format!("{value:0>0$}", self.precision.unwrap_or(1)),
            'x' => format!("{}{value:0>1$x}", self.prefix(value, "0x"), self.precision.unwrap_or(1)),
            'X' => format!("{}{value:0>1$X}", self.prefix(value, "0X"), self.precision.unwrap_or(1)),
            'o' => format!("{}{value:o}", self.prefix(value, "0")),
            'c' => char::from(value as u8).to_string(),
            's' => {
                let text = string(value);
                self.precision.map_or(text.clone(), |limit| text.chars().take(limit).collect())
            }
            // As the C library of the host prints it, which does the printing on a GPU, too.
            'p' if value == 0 => "(nil)".to_owned(),
            'p' => format!("{value:#x}"),
            'f' | 'F' => signed_float(float, self.sign(), format!("{float:.precision$}")),
            'e' | 'E' => self.cased(signed_float(float, self.sign(), exponent(float, precision))),
            'g' | 'G' => self.cased(signed_float(float, self.sign(), shortest(float, precision.max(1)))),
            _ => self.cased(signed_float(float, self.sign(), hexadecimal(float))),
        }
    }

    /// What stands before a number that is not negative.
    fn sign(&self) -> &'static str {
        match (self.plus, self.space) {
            (true, _) => "+",
            (false, true) => " ",
            (false, false) => "",
        }
    }

    fn prefix(&self, value: u64, prefix: &'static str) -> &'static str {
        if self.alternate && value != 0 { prefix } else { "" }
    }

    fn cased(&self, text: String) -> String {
        if self.conversion.is_uppercase() { text.to_uppercase() } else { text }
    }

    fn pad(&self, text: String) -> String {
        let width = self.width;
        if self.left {
            format!("{text:<width$}")
        } else if self.zero && self.conversion != 's' {
            let sign = text.len() - text.trim_start_matches(['-', '+', ' ']).len();
            let (sign, digits) = text.split_at(sign);
            format!("{sign}{digits:0>fill$}", fill = width.saturating_sub(sign.len()))
        } else {
            format!("{text:>width$}")
        }
    }
}

/// Columns that a conversion fills at most.
const WIDEST: usize = 512;

fn digits(text: &str) -> (Option<usize>, &str) {
    let end = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (digits, rest) = text.split_at(end);
    // Nobody means a width of more than a screenful; a huge one would only fill memory.
    (digits.parse().ok().map(|n: usize| n.min(WIDEST)), rest)
}

fn signed_float(value: f64, sign: &str, text: String) -> String {
    let text = if value.is_nan() { "nan".into() } else { text };
    if value.is_sign_negative() { text } else { format!("{sign}{text}") }
}

/// C's `%e`: at least two digits of exponent.
fn exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let number: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}e{}{:02}", if number < 0 { '-' } else { '+' }, number.abs())
}

/// C's `%a`.
fn hexadecimal(value: f64) -> String {
    if !value.is_finite() {
        return format!("{value}");
    }
    let (bits, sign) = (value.to_bits(), if value.is_sign_negative() { "-" } else { "" });
    let (exponent, mantissa) = ((bits >> 52 & 0x7FF) as i32, bits & ((1 << 52) - 1));
    let digits = format!("{mantissa:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    let (whole, exponent) = match (exponent, mantissa) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, exponent - 1023),
    };
    format!("{sign}0x{whole}{point}{digits}p{exponent:+}")
}

/// C's `%g`: the shorter of the two forms, without trailing zeros.
fn shortest(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let text = exponent(value, digits - 1);
    let Some((mantissa, power)) = text.split_once('e') else { return text };
    let power: i32 = power.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
    };
    if (-4..digits as i32).contains(&power) {
        trim(&format!("{value:.places$}", places = (digits as i32 - 1 - power).max(0) as usize))
    } else {
        format!("{}e{}{:02}", trim(mantissa), if power < 0 { '-' } else { '+' }, power.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str, words: &[u64]) -> String {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let load = |offset: u64, size: usize| {
            let mut value = [0; 8];
            value[..size].copy_from_slice(bytes.get(offset as usize..offset as usize + size)?);
            Some(u64::from_le_bytes(value))
        };
        format(text, load, |at| format!("text at {at}")).0
    }

    #[test]
    fn as_c_prints() {
        assert_eq!(print("%d|%5u|%-4x|%%", &[0xFFFF_FFFF | 7 << 32, 255]), "-1|    7|ff  |%");
        assert_eq!(print("%f %.2f", &[1.5f64.to_bits(), (-0.125f64).to_bits()]), "1.500000 -0.12");
        assert_eq!(
            print("%e %g %g", &[12345.678f64.to_bits(), 0.0001f64.to_bits(), 1e20f64.to_bits()]),
            "1.234568e+04 0.0001 1e+20"
        );
        assert_eq!(print("%05d %+d", &[(-42i32) as u32 as u64 | 7 << 32]), "-0042 +7");
        assert_eq!(print("%lld %s %c", &[u64::MAX, 9, 65]), "-1 text at 9 A");
        assert_eq!(print("100%", &[]), "100%");
        assert_eq!(print("%q", &[]), "%q");
    }
}
