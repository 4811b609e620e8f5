//! Text to tokens. Comments, white space and debug sections go; every token knows its place.

use crate::error::ParseError;

/// A token: a slice of the text and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    /// As written; without the dot for [`Kind::Dotted`], without the quotes for [`Kind::Text`].
    pub(crate) text: &'t str,
    pub(crate) line: u32,
    /// Byte offset in the text, dot and quotes included.
    pub(crate) at: u32,
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
    if u32::try_from(text.len()).is_err() {
        return Err(ParseError::at("", 0, 1, "a PTX text of 4 GiB or more is not supported"));
    }
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, line: 1, line_start: 0 };
    loop {
        let token = lexer.next()?;
        if token.kind == Kind::Dotted && token.text == "section" {
            lexer.skip_section(token)?;
            continue;
        }
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
        let Some(&first) = self.bytes.get(start) else {
            return Ok(self.token(Kind::End, start, start, start));
        };
        match first {
            // NVRTC ends its text with a NUL; whoever passes that on means the end.
            0 => Ok(self.token(Kind::End, start, start, start)),
            // A `%` on its own is the remainder of a constant expression.
            b'%' if !self.bytes.get(start + 1).copied().is_some_and(is_word) => {
                self.at += 1;
                Ok(self.token(Kind::Punct(b'%'), start, start, self.at))
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' => {
                self.skip_while(is_word);
                Ok(self.token(Kind::Word, start, start, self.at))
            }
            b'.' => Ok(self.dotted(start)),
            b'0'..=b'9' => {
                self.number(start);
                Ok(self.token(Kind::Number, start, start, self.at))
            }
            b'"' => self.string(start),
            b if b.is_ascii_graphic() => {
                self.at += 1;
                Ok(self.token(Kind::Punct(b), start, start, self.at))
            }
            _ => {
                let found = self.text[start..].chars().next().unwrap_or('?');
                Err(self.error(self.line, start, &format!("{found:?} does not belong in PTX")))
            }
        }
    }

    fn token(&self, kind: Kind, at: usize, from: usize, to: usize) -> Token<'t> {
        let at = u32::try_from(at).expect("the length of the text was checked");
        Token { kind, text: &self.text[from..to], line: self.line, at }
    }

    /// `.name`, `.name::part`, a number such as `.5`, or a lone dot.
    fn dotted(&mut self, start: usize) -> Token<'t> {
        self.at += 1;
        let next = self.bytes.get(self.at).copied().unwrap_or(b' ');
        // `tex.1d` has a modifier, `, .5` a number.
        let attached = start > 0 && is_word(self.bytes[start - 1]);
        if next.is_ascii_digit() && !attached {
            self.number(start);
            return self.token(Kind::Number, start, start, self.at);
        }
        if !is_word(next) {
            return self.token(Kind::Punct(b'.'), start, start, self.at);
        }
        self.skip_while(is_word);
        while self.bytes[self.at..].starts_with(b"::") && self.bytes.get(self.at + 2).copied().is_some_and(is_word) {
            self.at += 2;
            self.skip_while(is_word);
        }
        self.token(Kind::Dotted, start, start + 1, self.at)
    }

    fn number(&mut self, start: usize) {
        let hex = self.bytes[start] == b'0'
            && matches!(self.bytes.get(start + 1), Some(b'x' | b'X' | b'f' | b'F' | b'd' | b'D'));
        self.skip_while(|b| b.is_ascii_alphanumeric());
        if hex {
            return;
        }
        let fraction = self.bytes[start] != b'.' && self.bytes.get(self.at) == Some(&b'.');
        if fraction && !self.bytes.get(self.at + 1).is_some_and(|b| is_word(*b) && !b.is_ascii_digit()) {
            self.at += 1;
            self.skip_while(|b| b.is_ascii_alphanumeric());
        }
        // The sign of an exponent: `1.5e-3`.
        if matches!(self.bytes[self.at - 1], b'e' | b'E') && matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
            self.at += 1;
            self.skip_while(|b| b.is_ascii_digit());
        }
    }

    fn string(&mut self, start: usize) -> Result<Token<'t>, ParseError> {
        self.at += 1;
        self.skip_while(|b| b != b'"' && b != b'\n');
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(self.error(self.line, start, "the string does not end on its line"));
        }
        self.at += 1;
        Ok(self.token(Kind::Text, start, start + 1, self.at - 1))
    }

    /// Skips `.debug_info { … }` after `.section`: line tables come from `.loc`, the rest is for debuggers.
    fn skip_section(&mut self, section: Token<'_>) -> Result<(), ParseError> {
        let mut depth = 0u32;
        loop {
            self.skip_blanks()?;
            match self.bytes.get(self.at) {
                None | Some(0) => break,
                Some(b';') if depth == 0 => break,
                Some(b'{') => depth += 1,
                Some(b'}') if depth <= 1 => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'}') => depth -= 1,
                Some(_) => {}
            }
            self.at += 1;
        }
        Err(self.error(section.line, section.at as usize, "the section that begins here has no end (`{ … }`)"))
    }

    fn skip_blanks(&mut self) -> Result<(), ParseError> {
        loop {
            match self.bytes.get(self.at) {
                Some(b'\n') => self.newline(),
                Some(b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c') => self.at += 1,
                Some(b'/') if self.bytes.get(self.at + 1) == Some(&b'/') => self.skip_while(|b| b != b'\n'),
                Some(b'/') if self.bytes.get(self.at + 1) == Some(&b'*') => self.block_comment()?,
                // C preprocessor line markers that old compilers leave.
                Some(b'#') if self.at == self.line_start => self.skip_while(|b| b != b'\n'),
                _ => return Ok(()),
            }
        }
    }

    fn block_comment(&mut self) -> Result<(), ParseError> {
        let (line, start) = (self.line, self.at);
        self.at += 2;
        loop {
            match self.bytes.get(self.at) {
                None => return Err(self.error(line, start, "the comment that opens here does not end")),
                Some(b'*') if self.bytes.get(self.at + 1) == Some(&b'/') => {
                    self.at += 2;
                    return Ok(());
                }
                Some(b'\n') => self.newline(),
                Some(_) => self.at += 1,
            }
        }
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).copied().is_some_and(&keep) {
            self.at += 1;
        }
    }

    fn error(&self, line: u32, at: usize, message: &str) -> ParseError {
        ParseError::at(self.text, at, line, message)
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        lex(text).unwrap().into_iter().filter(|t| t.kind != Kind::End).map(|t| t.text).collect()
    }

    #[test]
    fn splits_an_instruction() {
        let found = words("@!%p1 ld.shared::cta.v2.f32 {%f1,_}, [%rd1+-8]; // why").join(" ");
        assert_eq!(found, "@ ! %p1 ld shared::cta v2 f32 { %f1 , _ } , [ %rd1 + - 8 ] ;");
    }

    #[test]
    fn keeps_numbers_whole() {
        for number in ["0f3F800000", "0d3FF0000000000000", "0x1FU", "12", "1.5e-3", "0b101", "2.0", "3.", "1e+9"] {
            assert_eq!(words(number), [number]);
        }
        assert_eq!(words("mov.f64 %fd1, .5;"), ["mov", "f64", "%fd1", ",", ".5", ";"]);
        assert_eq!(words("tex.1d.v4"), ["tex", "1d", "v4"]);
    }

    #[test]
    fn a_colon_after_a_modifier_is_not_part_of_it() {
        assert_eq!(words("a.L2::128B: b.c::"), ["a", "L2::128B", ":", "b", "c", ":", ":"]);
    }

    #[test]
    fn knows_places_through_comments_and_sections() {
        let tokens = lex("/* a\n b */ x\n.section .debug_info {\n .b8 1\n}\n\t.y").unwrap();
        assert_eq!((tokens[0].text, tokens[0].line, tokens[0].at), ("x", 2, 11));
        assert_eq!((tokens[1].text, tokens[1].line, tokens[1].at), ("y", 6, 46));
        assert_eq!(tokens.len(), 3);
    }

    #[test]
    fn says_what_does_not_belong() {
        assert!(lex("add é").unwrap_err().to_string().contains("'é' does not belong"));
        assert!(lex("x\n/* open\n").unwrap_err().to_string().contains("2 | /* open\n   | ^"));
        assert!(lex(".section .debug_str { ").unwrap_err().message.contains("no end"));
        assert!(lex("\"open\n\"").unwrap_err().message.contains("does not end"));
    }
}
