//! Literals: `12`, `017`, `0x1F`, `0b11`, each with an optional `U`; `0f3F800000`, `0d3FF0000000000000`, `1.5e-3`.

use crate::ast::Constant;

/// The value of a [`crate::lexer::Kind::Number`].
pub(crate) fn parse(text: &str) -> Option<Constant> {
    let bytes = text.as_bytes();
    match (bytes.first()?, bytes.get(1)) {
        (b'0', Some(b'f' | b'F')) => bits(&text[2..], 8).and_then(|b| u32::try_from(b).ok()).map(Constant::F32),
        (b'0', Some(b'd' | b'D')) => bits(&text[2..], 16).map(Constant::F64),
        (b'0', Some(b'x' | b'X' | b'b' | b'B')) => integer(text),
        _ if text.contains(['.', 'e', 'E']) => text.parse().ok().map(|value: f64| Constant::F64(value.to_bits())),
        _ => integer(text),
    }
}

fn bits(hex: &str, digits: usize) -> Option<u64> {
    (hex.len() == digits).then(|| u64::from_str_radix(hex, 16).ok())?
}

fn integer(text: &str) -> Option<Constant> {
    let digits = text.strip_suffix(['u', 'U']).unwrap_or(text);
    let bits = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => u64::from_str_radix(&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => u64::from_str_radix(&digits[2..], 2),
        [b'0', _, ..] => u64::from_str_radix(&digits[1..], 8),
        _ => digits.parse(),
    };
    let bits = bits.ok()?;
    // Without a suffix a literal is signed where it fits.
    let unsigned = digits.len() < text.len() || i64::try_from(bits).is_err();
    Some(Constant::Int { bits, unsigned })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(text: &str) -> Option<u64> {
        match parse(text)? {
            Constant::Int { bits, .. } => Some(bits),
            _ => None,
        }
    }

    #[test]
    fn integers_of_every_base() {
        assert_eq!(int("12"), Some(12));
        assert_eq!(int("017"), Some(15));
        assert_eq!(int("0"), Some(0));
        assert_eq!(int("0U"), Some(0));
        assert_eq!(int("0xFFFFFFFFFFFFFFFFU"), Some(u64::MAX));
        assert_eq!(int("0b101"), Some(5));
        for wrong in ["0x1ffffffffffffffff", "12x", "0x", "08", "0b2", "1UU"] {
            assert_eq!(int(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn floats_as_bits() {
        assert_eq!(parse("0f3F800000"), Some(Constant::F32(1f32.to_bits())));
        assert_eq!(parse("0F7fffffff"), Some(Constant::F32(0x7fff_ffff)));
        assert_eq!(parse("0d3FF0000000000000"), Some(Constant::F64(1f64.to_bits())));
        for (text, value) in [("1.5", 1.5f64), (".5", 0.5), ("2.", 2.0), ("1e3", 1000.0), ("1.5e-3", 0.0015)] {
            assert_eq!(parse(text), Some(Constant::F64(value.to_bits())), "{text}");
        }
        for wrong in ["0f3F8", "0d0", "1e", "1.5x", "0f3F80000g"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
