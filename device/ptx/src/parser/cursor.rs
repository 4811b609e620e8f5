//! A place in the token stream, and the errors that point at it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::ParseError;
use crate::lexer::{Kind, Token};
use crate::module::Type;

/// Reads tokens one by one; hands out shared copies of names.
pub(crate) struct Cursor<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    at: usize,
    names: HashMap<&'t str, Arc<str>>,
}

pub(crate) type Result<T> = std::result::Result<T, ParseError>;

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str, tokens: Vec<Token<'t>>) -> Self {
        Self { text, tokens, at: 0, names: HashMap::new() }
    }

    pub(crate) fn peek(&self) -> Token<'t> {
        self.tokens[self.at]
    }

    /// The token `ahead` places on; the end of the text repeats.
    pub(crate) fn peek_at(&self, ahead: usize) -> Token<'t> {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    pub(crate) fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// One shared copy of each name.
    pub(crate) fn intern(&mut self, name: &'t str) -> Arc<str> {
        self.names.entry(name).or_insert_with(|| name.into()).clone()
    }

    pub(crate) fn is(&self, punct: u8) -> bool {
        self.peek().kind == Kind::Punct(punct)
    }

    pub(crate) fn is_dotted(&self, name: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Dotted && token.text == name
    }

    pub(crate) fn eat(&mut self, punct: u8) -> bool {
        let found = self.is(punct);
        if found {
            self.at += 1;
        }
        found
    }

    pub(crate) fn eat_dotted(&mut self, name: &str) -> bool {
        let found = self.is_dotted(name);
        if found {
            self.at += 1;
        }
        found
    }

    pub(crate) fn expect(&mut self, punct: u8) -> Result<()> {
        if self.eat(punct) { Ok(()) } else { Err(self.expected(&format!("`{}`", punct as char))) }
    }

    pub(crate) fn word(&mut self, what: &str) -> Result<Token<'t>> {
        if self.peek().kind == Kind::Word { Ok(self.next()) } else { Err(self.expected(what)) }
    }

    pub(crate) fn dotted(&mut self, what: &str) -> Result<Token<'t>> {
        if self.peek().kind == Kind::Dotted { Ok(self.next()) } else { Err(self.expected(what)) }
    }

    /// A type directive, `.f32`.
    pub(crate) fn ty(&mut self) -> Result<Type> {
        let token = self.peek();
        match (token.kind, Type::from_name(token.text)) {
            (Kind::Dotted, Some(ty)) => {
                self.next();
                Ok(ty)
            }
            _ => Err(self.expected("a type such as `.b32`")),
        }
    }

    /// A plain unsigned number.
    pub(crate) fn count(&mut self, what: &str) -> Result<u32> {
        let token = self.peek();
        let value = self.integer()?;
        u32::try_from(value).map_err(|_| self.error(token, &format!("{what} does not fit: {}", token.text)))
    }

    /// An integer constant with an optional sign or complement.
    pub(crate) fn integer(&mut self) -> Result<i64> {
        if self.eat(b'-') {
            return Ok(self.integer()?.wrapping_neg());
        }
        if self.eat(b'+') {
            return self.integer();
        }
        if self.eat(b'~') {
            return Ok(!self.integer()?);
        }
        let token = self.peek();
        if token.kind == Kind::Word && token.text == "WARP_SZ" {
            self.next();
            return Ok(32);
        }
        if token.kind != Kind::Number {
            return Err(self.expected("a number"));
        }
        let value = parse_integer(token.text)
            .ok_or_else(|| self.error(token, &format!("`{}` is not an integer of at most 64 bits", token.text)))?;
        self.next();
        Ok(value)
    }

    pub(crate) fn expected(&self, what: &str) -> ParseError {
        let found = self.peek();
        let shown = match found.kind {
            Kind::End => "the end of the text".to_owned(),
            Kind::Dotted => format!("`.{}`", found.text),
            _ => format!("`{}`", found.text),
        };
        self.error(found, &format!("expected {what}, found {shown}"))
    }

    pub(crate) fn error(&self, at: Token<'_>, message: &str) -> ParseError {
        ParseError::at(self.text, at.line, at.column, message)
    }

    pub(crate) fn error_at_line(&self, line: u32, message: &str) -> ParseError {
        ParseError::at(self.text, line, 1, message)
    }

    /// Skips a balanced `{ … }`, debug sections for example.
    pub(crate) fn skip_braces(&mut self) -> Result<()> {
        let open = self.peek();
        self.expect(b'{')?;
        let mut depth = 1u32;
        while depth > 0 {
            let token = self.next();
            match token.kind {
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') => depth -= 1,
                Kind::End => return Err(self.error(open, "the `{` that opens here is not closed")),
                _ => {}
            }
        }
        Ok(())
    }
}

/// `12`, `017`, `0x1F`, `0b11`, each with an optional `U`; as two's complement of 64 bits.
fn parse_integer(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U']);
    let lower = digits.get(..2).map(str::to_ascii_lowercase);
    let value = match lower.as_deref() {
        Some("0x") => u64::from_str_radix(&digits[2..], 16),
        Some("0b") => u64::from_str_radix(&digits[2..], 2),
        _ if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(&digits[1..], 8),
        _ => digits.parse(),
    };
    value.ok().map(u64::cast_signed)
}

/// `0f3F800000` as its bits, if `text` is of that form.
pub(crate) fn parse_f32_bits(text: &str) -> Option<u32> {
    let hex = text.strip_prefix("0f").or_else(|| text.strip_prefix("0F"))?;
    (hex.len() == 8).then(|| u32::from_str_radix(hex, 16).ok())?
}

/// `0d3FF0000000000000` or a decimal constant such as `1.5`, as the bits of an f64.
pub(crate) fn parse_f64_bits(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0d").or_else(|| text.strip_prefix("0D")) {
        return (hex.len() == 16).then(|| u64::from_str_radix(hex, 16).ok())?;
    }
    let decimal = text.contains(['.']) || (!text.starts_with("0x") && text.contains(['e', 'E']));
    decimal.then(|| text.parse::<f64>().ok().map(f64::to_bits))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_base() {
        assert_eq!(parse_integer("12"), Some(12));
        assert_eq!(parse_integer("017"), Some(15));
        assert_eq!(parse_integer("0xFFFFFFFFFFFFFFFFU"), Some(-1));
        assert_eq!(parse_integer("0b101"), Some(5));
        assert_eq!(parse_integer("0"), Some(0));
        assert_eq!(parse_integer("0x1ffffffffffffffff"), None);
        assert_eq!(parse_integer("12x"), None);
    }

    #[test]
    fn floats_as_bits() {
        assert_eq!(parse_f32_bits("0f3F800000"), Some(1f32.to_bits()));
        assert_eq!(parse_f32_bits("0f3F8"), None);
        assert_eq!(parse_f64_bits("0d3FF0000000000000"), Some(1f64.to_bits()));
        assert_eq!(parse_f64_bits("1.5"), Some(1.5f64.to_bits()));
        assert_eq!(parse_f64_bits("15"), None);
    }
}
