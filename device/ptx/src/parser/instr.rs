//! Instructions and their operands.

use super::{Parser, Result};
use crate::ast::{Guard, Instr, Operand};
use crate::lexer::Kind;

impl<'t> Parser<'t> {
    /// `@!p opcode.modifier operand, …;`
    pub(crate) fn instr(&mut self) -> Result<Instr<'t>> {
        let mut guard = None;
        if self.cursor.eat(b'@') {
            let negated = self.cursor.eat(b'!');
            guard = Some(Guard { name: self.cursor.word("a predicate register")?, negated });
        }
        let opcode = self.cursor.word("an instruction")?;
        let mut modifiers = Vec::new();
        while self.cursor.peek().kind == Kind::Dotted {
            modifiers.push(self.cursor.next().text);
        }
        let mut operands = Vec::new();
        while !self.cursor.eat(b';') {
            // Only calls have lists; elsewhere a parenthesis begins a constant expression.
            if opcode.text == "call" && self.cursor.eat(b'(') {
                operands.push(Operand::List(self.operands_until(b')')?));
            } else {
                operands.push(self.operand()?);
            }
            if !self.cursor.eat(b',') {
                self.cursor.expect(b';')?;
                break;
            }
        }
        Ok(Instr { guard, opcode, modifiers, operands })
    }

    fn operand(&mut self) -> Result<Operand<'t>> {
        if self.cursor.eat(b'[') {
            return self.address();
        }
        if self.cursor.eat(b'{') {
            return Ok(Operand::Vector(self.operands_until(b'}')?));
        }
        let first = self.single()?;
        if !self.cursor.eat(b'|') {
            return Ok(first);
        }
        Ok(Operand::Pair(Box::new([first, self.single()?])))
    }

    /// An operand without brackets.
    fn single(&mut self) -> Result<Operand<'t>> {
        let token = self.cursor.peek();
        match token.kind {
            Kind::Punct(b'!') if self.cursor.peek_at(1).kind == Kind::Word => {
                self.cursor.next();
                Ok(Operand::Not(self.cursor.next()))
            }
            Kind::Word if token.text == "_" => {
                self.cursor.next();
                Ok(Operand::Sink)
            }
            Kind::Word if token.text != "WARP_SZ" => {
                self.cursor.next();
                if self.cursor.peek().kind == Kind::Dotted {
                    return Ok(Operand::Element(token, self.cursor.next()));
                }
                let signed = self.cursor.is(b'+') || self.cursor.is(b'-');
                Ok(if signed { Operand::Offset(token, self.integer()?) } else { Operand::Name(token) })
            }
            Kind::Word | Kind::Number | Kind::Punct(b'-' | b'+' | b'~' | b'!' | b'(') => {
                Ok(Operand::Constant(self.constant()?))
            }
            _ => Err(self.cursor.expected("an operand")),
        }
    }

    fn operands_until(&mut self, close: u8) -> Result<Vec<Operand<'t>>> {
        let mut found = Vec::new();
        while !self.cursor.eat(close) {
            found.push(self.single()?);
            if !self.cursor.eat(b',') {
                self.cursor.expect(close)?;
                break;
            }
        }
        Ok(found)
    }

    /// `base`, `base+offset`, `offset`, after `[`; textures and tensor maps have more: `[map, {x, y}]`.
    fn address(&mut self) -> Result<Operand<'t>> {
        let token = self.cursor.peek();
        let address = if token.kind == Kind::Word && token.text != "WARP_SZ" {
            self.cursor.next();
            Operand::Address(Some(token), self.offset()?)
        } else {
            Operand::Address(None, self.integer()?)
        };
        if self.cursor.eat(b']') {
            return Ok(address);
        }
        let mut parts = vec![address];
        while self.cursor.eat(b',') {
            if self.cursor.eat(b'{') {
                parts.push(Operand::Vector(self.operands_until(b'}')?));
            } else {
                parts.push(self.single()?);
            }
        }
        self.cursor.expect(b']')?;
        Ok(Operand::List(parts))
    }
}
