//! Initialisers of variables: numbers, addresses, nested braces.

use super::Parser;
use super::cursor::{Result, parse_f32_bits, parse_f64_bits};
use crate::lexer::Kind;
use crate::module::{Init, Reloc, Type};

/// Nesting that no compiler writes; deeper text is an error instead of a stack overflow.
const MAX_DEPTH: u32 = 16;

impl Parser<'_> {
    pub(crate) fn initializer(&mut self, ty: Type) -> Result<Init> {
        let mut init = Init::default();
        self.initializer_part(ty, &mut init, 0)?;
        Ok(init)
    }

    fn initializer_part(&mut self, ty: Type, init: &mut Init, depth: u32) -> Result<()> {
        if !self.cursor.eat(b'{') {
            return self.initial_value(ty, init);
        }
        if depth == MAX_DEPTH {
            return Err(self.cursor.expected("an initialiser nested less deeply"));
        }
        while !self.cursor.eat(b'}') {
            self.initializer_part(ty, init, depth + 1)?;
            if !self.cursor.eat(b',') {
                self.cursor.expect(b'}')?;
                break;
            }
        }
        Ok(())
    }

    fn initial_value(&mut self, ty: Type, init: &mut Init) -> Result<()> {
        let token = self.cursor.peek();
        if token.kind == Kind::Word && token.text != "WARP_SZ" {
            return self.initial_address(ty, 0, init);
        }
        // `0xFF00(symbol)`: the masked byte of an address.
        if token.kind == Kind::Number && self.cursor.peek_at(1).kind == Kind::Punct(b'(') {
            let mask = self.cursor.integer()?.cast_unsigned();
            self.cursor.expect(b'(')?;
            self.initial_address(ty, mask.trailing_zeros(), init)?;
            return self.cursor.expect(b')');
        }
        let bits = self.initial_number(ty)?;
        init.bytes.extend_from_slice(&bits.to_le_bytes()[..ty.bytes() as usize]);
        Ok(())
    }

    fn initial_number(&mut self, ty: Type) -> Result<u128> {
        let negative = self.cursor.is(b'-') && self.cursor.peek_at(1).kind == Kind::Number;
        let token = if negative { self.cursor.peek_at(1) } else { self.cursor.peek() };
        let sign = if negative { -1.0 } else { 1.0 };
        let value = parse_f32_bits(token.text)
            .map(|bits| f64::from(f32::from_bits(bits)))
            .or_else(|| parse_f64_bits(token.text).map(f64::from_bits));
        let Some(value) = value.filter(|_| token.kind == Kind::Number) else {
            let integer = self.cursor.integer()?;
            return Ok(match ty {
                Type::F32 => u128::from((integer as f32).to_bits()),
                Type::F64 => u128::from((integer as f64).to_bits()),
                _ => i128::from(integer).cast_unsigned(),
            });
        };
        if negative {
            self.cursor.next();
        }
        self.cursor.next();
        match ty {
            // The exact bits, so that a NaN keeps its payload.
            Type::F32 if !negative => {
                Ok(u128::from(parse_f32_bits(token.text).unwrap_or_else(|| (value as f32).to_bits())))
            }
            Type::F32 => Ok(u128::from(((sign * value) as f32).to_bits())),
            Type::F64 => Ok(u128::from((sign * value).to_bits())),
            Type::B32 | Type::U32 | Type::S32 => Ok(u128::from(((sign * value) as f32).to_bits())),
            _ => Err(self.cursor.error(token, "a floating-point constant needs a variable of type `.f32` or `.f64`")),
        }
    }

    /// `symbol`, `symbol+4`, `generic(symbol)+4`, `mask` handled by the caller.
    fn initial_address(&mut self, ty: Type, shift: u32, init: &mut Init) -> Result<()> {
        let generic = self.cursor.peek().text == "generic" && self.cursor.peek_at(1).kind == Kind::Punct(b'(');
        if generic {
            self.cursor.next();
            self.cursor.next();
        }
        let token = self.cursor.word("the name of a variable or function")?;
        let Some(&symbol) = self.symbols.get(token.text) else {
            let message = format!("`{}` is not declared at module scope", token.text);
            return Err(self.cursor.error(token, &message));
        };
        if generic {
            self.cursor.expect(b')')?;
        }
        let signed = self.cursor.is(b'+') || self.cursor.is(b'-');
        let addend = if signed { self.cursor.integer()? } else { 0 };
        let width = ty.bytes();
        init.relocs.push(Reloc { offset: init.bytes.len() as u64, width, shift, symbol, addend, generic });
        init.bytes.resize(init.bytes.len() + width as usize, 0);
        Ok(())
    }
}
