//! Text to tokens. Comments and white space go; every token knows its line and column.

use crate::error::ParseError;

/// A token: a slice of the text and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    /// As written; without the dot for [`Kind::Dotted`], without the quotes for [`Kind::Text`].
    pub(crate) text: &'t str,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name, an opcode, a register: letters, digits, `_`, `$`, `%`.
    Word,
    /// `.name`: a directive, a modifier or an element; may hold `::`.
    Dotted,
    /// Anything that starts with a digit.
    Number,
    /// `"…"`
    Text,
    /// One character of punctuation.
    Punct(u8),
    /// The end of the text.
    End,
}

/// All tokens of `text`, with one [`Kind::End`] at the end.
pub(crate) fn lex(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, line: 1, line_start: 0 };
    loop {
        let token = lexer.next()?;
        tokens.push(token);
        if token.kind == Kind::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'t> Lexer<'t> {
    fn next(&mut self) -> Result<Token<'t>, ParseError> {
        self.skip_blanks()?;
        let start = self.at;
        let (line, column) = (self.line, self.column(start));
        let token = |kind, text| Token { kind, text, line, column };
        let Some(&first) = self.bytes.get(start) else {
            return Ok(token(Kind::End, ""));
        };
        match first {
            // NVRTC ends its text with a NUL; whoever passes that on means the end.
            0 => Ok(token(Kind::End, "")),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' => {
                self.skip_while(is_word);
                Ok(token(Kind::Word, &self.text[start..self.at]))
            }
            b'.' if self.bytes.get(start + 1).copied().is_some_and(is_word) => {
                self.at += 1;
                self.skip_while(|b| is_word(b) || b == b':');
                // `label:` after a dotted word does not occur, a trailing single colon is not part of the word.
                while self.bytes[self.at - 1] == b':' {
                    self.at -= 1;
                }
                Ok(token(Kind::Dotted, &self.text[start + 1..self.at]))
            }
            b'0'..=b'9' => {
                self.number(start);
                Ok(token(Kind::Number, &self.text[start..self.at]))
            }
            b'"' => {
                self.at += 1;
                self.skip_while(|b| b != b'"' && b != b'\n');
                if self.bytes.get(self.at) != Some(&b'"') {
                    return Err(self.error(line, column, "the string does not end on its line"));
                }
                self.at += 1;
                Ok(token(Kind::Text, &self.text[start + 1..self.at - 1]))
            }
            b if b.is_ascii_graphic() => {
                self.at += 1;
                Ok(token(Kind::Punct(b), &self.text[start..self.at]))
            }
            _ => {
                let found = self.text[start..].chars().next().unwrap_or('?');
                Err(self.error(line, column, &format!("{found:?} does not belong in PTX")))
            }
        }
    }

    fn number(&mut self, start: usize) {
        let hex = self.bytes[start] == b'0'
            && matches!(self.bytes.get(start + 1), Some(b'x' | b'X' | b'f' | b'F' | b'd' | b'D'));
        self.skip_while(|b| b.is_ascii_alphanumeric());
        let digit_follows = self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit);
        if !hex && self.bytes.get(self.at) == Some(&b'.') && digit_follows {
            self.at += 1;
            self.skip_while(|b| b.is_ascii_alphanumeric());
        }
        // The sign of an exponent: `1.5e-3`.
        let exponent = matches!(self.bytes[self.at - 1], b'e' | b'E');
        if !hex && exponent && matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
            self.at += 1;
            self.skip_while(|b| b.is_ascii_digit());
        }
    }

    fn skip_blanks(&mut self) -> Result<(), ParseError> {
        loop {
            match self.bytes.get(self.at) {
                Some(b'\n') => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                Some(b' ' | b'\t' | b'\r' | b'\x0c') => self.at += 1,
                Some(b'/') if self.bytes.get(self.at + 1) == Some(&b'/') => self.skip_while(|b| b != b'\n'),
                Some(b'/') if self.bytes.get(self.at + 1) == Some(&b'*') => self.block_comment()?,
                // C preprocessor line markers that old compilers leave.
                Some(b'#') if self.at == self.line_start => self.skip_while(|b| b != b'\n'),
                _ => return Ok(()),
            }
        }
    }

    fn block_comment(&mut self) -> Result<(), ParseError> {
        let (line, column) = (self.line, self.column(self.at));
        self.at += 2;
        loop {
            match self.bytes.get(self.at) {
                None => {
                    return Err(self.error(line, column, "the comment that opens here does not end"));
                }
                Some(b'*') if self.bytes.get(self.at + 1) == Some(&b'/') => {
                    self.at += 2;
                    return Ok(());
                }
                Some(b'\n') => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).copied().is_some_and(&keep) {
            self.at += 1;
        }
    }

    fn column(&self, at: usize) -> u32 {
        let line = &self.bytes[self.line_start..at];
        // Characters, not bytes: continuation bytes of UTF-8 do not count.
        u32::try_from(line.iter().filter(|b| *b & 0xC0 != 0x80).count()).unwrap_or(u32::MAX - 1) + 1
    }

    fn error(&self, line: u32, column: u32, message: &str) -> ParseError {
        ParseError::at(self.text, line, column, message)
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        lex(text).unwrap().into_iter().map(|t| (t.kind, t.text)).collect()
    }

    #[test]
    fn splits_an_instruction() {
        let found = kinds("@!%p1 ld.shared::cta.v2.f32 {%f1,_}, [%rd1+-8]; // why");
        let words: Vec<&str> = found.iter().map(|t| t.1).collect();
        let expected = [
            "@",
            "!",
            "%p1",
            "ld",
            "shared::cta",
            "v2",
            "f32",
            "{",
            "%f1",
            ",",
            "_",
            "}",
            ",",
            "[",
            "%rd1",
            "+",
            "-",
            "8",
            "]",
            ";",
            "",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn keeps_numbers_whole() {
        for number in ["0f3F800000", "0d3FF0000000000000", "0x1FU", "12", "1.5e-3", "0b101", "2.0"] {
            assert_eq!(kinds(number)[0], (Kind::Number, number));
        }
    }

    #[test]
    fn counts_lines_and_columns_through_comments() {
        let tokens = lex("/* a\n b */ x\n\ty").unwrap();
        assert_eq!((tokens[0].line, tokens[0].column), (2, 7));
        assert_eq!((tokens[1].line, tokens[1].column), (3, 2));
    }

    #[test]
    fn says_what_does_not_belong() {
        assert!(lex("add é").unwrap_err().to_string().contains("'é' does not belong"));
        assert!(lex("/* open").unwrap_err().message.contains("does not end"));
    }
}
