//! Variable declarations: `.align 16 .b8 name[4][8] = { … }`.

use std::sync::Arc;

use super::Parser;
use super::cursor::Result;
use crate::lexer::Kind;
use crate::module::{Init, Space, Type};

/// A declared variable, before its scope gives it a place.
pub(crate) struct Variable {
    pub(crate) name: Arc<str>,
    pub(crate) ty: Type,
    pub(crate) align: u32,
    pub(crate) size: u64,
    pub(crate) unsized_array: bool,
    pub(crate) init: Option<Init>,
}

impl Parser<'_> {
    /// The variables of one declaration, after its state space and up to and with its `;`.
    pub(crate) fn variables(&mut self, _space: Space) -> Result<Vec<Variable>> {
        let mut align = None;
        let mut lanes = 1;
        loop {
            if self.cursor.eat_dotted("align") {
                align = Some(self.cursor.count("the alignment")?);
            } else if self.cursor.eat_dotted("attribute") {
                self.skip_parens()?;
            } else if self.cursor.eat_dotted("v2") {
                lanes = 2;
            } else if self.cursor.eat_dotted("v4") {
                lanes = 4;
            } else {
                break;
            }
        }
        let ty = self.cursor.ty()?;
        let mut found = Vec::new();
        loop {
            found.push(self.variable(ty, lanes, align)?);
            if self.cursor.eat(b';') {
                return Ok(found);
            }
            self.cursor.expect(b',')?;
        }
    }

    fn variable(&mut self, ty: Type, lanes: u32, align: Option<u32>) -> Result<Variable> {
        let token = self.cursor.word("the name of a variable")?;
        let name = self.cursor.intern(token.text);
        let element = u64::from(ty.bytes() * lanes);
        let mut dimensions = Vec::new();
        while self.cursor.eat(b'[') {
            dimensions.push(if self.cursor.is(b']') { None } else { Some(self.cursor.integer()?) });
            self.cursor.expect(b']')?;
        }
        let init = if self.cursor.eat(b'=') { Some(self.initializer(ty)?) } else { None };
        let mut size = element;
        let mut unsized_array = false;
        for (place, dimension) in dimensions.iter().enumerate() {
            let length = match (dimension, &init) {
                (Some(length), _) => u64::try_from(*length).ok(),
                // `x[] = { … }`: as long as its initialiser.
                (None, Some(init)) if place == 0 => Some((init.bytes.len() as u64).div_ceil(element)),
                (None, _) => {
                    unsized_array = true;
                    Some(0)
                }
            };
            size = length
                .and_then(|length| size.checked_mul(length))
                .filter(|size| i64::try_from(*size).is_ok())
                .ok_or_else(|| self.cursor.error(token, &format!("the size of `{name}` does not fit")))?;
        }
        let init = init.map(|init| self.fit(init, size, token)).transpose()?;
        let align = align.unwrap_or(ty.bytes() * lanes);
        if !align.is_power_of_two() {
            return Err(self.cursor.error(token, &format!("the alignment of `{name}` is {align}, not a power of two")));
        }
        Ok(Variable { name, ty, align, size, unsized_array, init })
    }

    fn fit(&self, init: Init, size: u64, at: crate::lexer::Token<'_>) -> Result<Init> {
        if init.bytes.len() as u64 > size {
            let message = format!("the initialiser has {} bytes, the variable {size}", init.bytes.len());
            return Err(self.cursor.error(at, &message));
        }
        Ok(init)
    }

    pub(crate) fn skip_parens(&mut self) -> Result<()> {
        self.cursor.expect(b'(')?;
        let mut depth = 1u32;
        while depth > 0 {
            match self.cursor.next().kind {
                Kind::Punct(b'(') => depth += 1,
                Kind::Punct(b')') => depth -= 1,
                Kind::End => return Err(self.cursor.expected("`)`")),
                _ => {}
            }
        }
        Ok(())
    }
}
