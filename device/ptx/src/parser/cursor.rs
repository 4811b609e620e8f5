//! A place in the token stream, and the errors that point at it.

use super::{Result, number};
use crate::ast::Constant;
use crate::error::ParseError;
use crate::lexer::{Kind, Token};
use crate::module::Type;

/// Reads tokens one by one.
pub(crate) struct Cursor<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    at: usize,
}

impl<'t> Cursor<'t> {
    /// `tokens` end with a [`Kind::End`].
    pub(crate) fn new(text: &'t str, tokens: Vec<Token<'t>>) -> Self {
        Self { text, tokens, at: 0 }
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

    pub(crate) fn is(&self, punct: u8) -> bool {
        self.peek().kind == Kind::Punct(punct)
    }

    pub(crate) fn is_at(&self, ahead: usize, punct: u8) -> bool {
        self.peek_at(ahead).kind == Kind::Punct(punct)
    }

    pub(crate) fn is_dotted(&self, name: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Dotted && token.text == name
    }

    pub(crate) fn eat(&mut self, punct: u8) -> bool {
        let found = self.is(punct);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn eat_dotted(&mut self, name: &str) -> bool {
        let found = self.is_dotted(name);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, punct: u8) -> Result<()> {
        if self.eat(punct) { Ok(()) } else { Err(self.expected(&format!("`{}`", punct as char))) }
    }

    pub(crate) fn word(&mut self, what: &str) -> Result<Token<'t>> {
        self.of_kind(Kind::Word, what)
    }

    pub(crate) fn dotted(&mut self, what: &str) -> Result<Token<'t>> {
        self.of_kind(Kind::Dotted, what)
    }

    pub(crate) fn string(&mut self, what: &str) -> Result<Token<'t>> {
        self.of_kind(Kind::Text, &format!("{what}, in quotes"))
    }

    fn of_kind(&mut self, kind: Kind, what: &str) -> Result<Token<'t>> {
        if self.peek().kind == kind { Ok(self.next()) } else { Err(self.expected(what)) }
    }

    /// A type directive, `.f32`.
    pub(crate) fn ty(&mut self) -> Result<Type> {
        let token = self.peek();
        let ty = Type::from_name(token.text).filter(|_| token.kind == Kind::Dotted);
        let ty = ty.ok_or_else(|| self.expected("a type such as `.b32`"))?;
        self.next();
        Ok(ty)
    }

    /// A number on its own, no expression.
    pub(crate) fn number(&mut self, what: &str) -> Result<u64> {
        let token = self.of_kind(Kind::Number, what)?;
        match number::parse(token.text) {
            Some(Constant::Int { bits, .. }) => Ok(bits),
            _ => Err(self.error(token, &format!("`{}` is not an integer of at most 64 bits", clip(token.text)))),
        }
    }

    /// A number of at most 32 bits.
    pub(crate) fn count(&mut self, what: &str) -> Result<u32> {
        let token = self.peek();
        let value = self.number(what)?;
        u32::try_from(value).map_err(|_| self.error(token, &format!("{what} does not fit: {}", clip(token.text))))
    }

    /// Skips a balanced `( … )`.
    pub(crate) fn skip_parens(&mut self) -> Result<()> {
        let open = self.peek();
        self.expect(b'(')?;
        let mut depth = 1u32;
        while depth > 0 {
            match self.next().kind {
                Kind::Punct(b'(') => depth += 1,
                Kind::Punct(b')') => depth -= 1,
                Kind::End => return Err(self.error(open, "the `(` that opens here is not closed")),
                _ => {}
            }
        }
        Ok(())
    }

    pub(crate) fn expected(&self, what: &str) -> ParseError {
        let found = self.peek();
        let shown = match found.kind {
            Kind::End => "the end of the text".to_owned(),
            Kind::Dotted => format!("`.{}`", clip(found.text)),
            Kind::Text => format!("\"{}\"", clip(found.text)),
            _ => format!("`{}`", clip(found.text)),
        };
        self.error(found, &format!("expected {what}, found {shown}"))
    }

    pub(crate) fn error(&self, at: Token<'_>, message: &str) -> ParseError {
        ParseError::at(self.text, at.at as usize, at.line, message)
    }
}

/// Names in messages are cut where they are absurdly long.
pub(crate) fn clip(text: &str) -> &str {
    text.char_indices().nth(200).map_or(text, |(end, _)| &text[..end])
}
