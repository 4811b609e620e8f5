//! Variable declarations: `.align 16 .b8 name[4][8] = { … }`, parameters among them.

use super::{Parser, Result};
use crate::ast::{Init, InitAddress, Variable};
use crate::lexer::Kind;
use crate::module::{Linkage, Space, Type};

/// Braces and brackets that no compiler writes; deeper text is an error instead of a stack overflow.
const MAX_DEPTH: usize = 16;

/// What stands before the names of a declaration.
struct Head {
    align: Option<u32>,
    lanes: u32,
    ty: Type,
}

impl<'t> Parser<'t> {
    /// The variables of one declaration, after its state space and up to and with its `;`.
    pub(crate) fn variables(&mut self, space: Space, linkage: Linkage) -> Result<Vec<Variable<'t>>> {
        let head = self.head()?;
        let mut found = Vec::new();
        loop {
            let mut variable = self.variable(&head, space)?;
            variable.linkage = linkage;
            if self.cursor.eat(b'=') {
                variable.init = Some(self.initializer(0)?);
            }
            found.push(variable);
            if self.cursor.eat(b';') {
                return Ok(found);
            }
            self.cursor.expect(b',')?;
        }
    }

    /// A `.param` of a function, after its state space: `.u64 .ptr .global .align 8 name`, `.align 4 .b8 name[12]`.
    pub(crate) fn param_variable(&mut self) -> Result<Variable<'t>> {
        let head = self.head()?;
        if self.cursor.eat_dotted("ptr") {
            // What the pointer points to; nothing here depends on it.
            while self.cursor.peek().kind == Kind::Dotted {
                let token = self.cursor.next();
                match (token.text, Space::from_name(token.text)) {
                    ("align", _) => self.cursor.count("the alignment").map(drop)?,
                    (_, Some(_)) => {}
                    (other, None) => {
                        return Err(self.cursor.error(token, &format!("`.{other}` says nothing about a pointer")));
                    }
                }
            }
        }
        self.variable(&head, Space::Param)
    }

    fn head(&mut self) -> Result<Head> {
        let mut head = Head { align: None, lanes: 1, ty: Type::B8 };
        loop {
            if self.cursor.eat_dotted("align") {
                let token = self.cursor.peek();
                let align = self.cursor.count("the alignment")?;
                if !align.is_power_of_two() {
                    return Err(self.cursor.error(token, &format!("an alignment is a power of two, not {align}")));
                }
                head.align = Some(align);
            } else if self.cursor.eat_dotted("attribute") {
                // `.managed`, `.unified`: who may touch the memory besides; nothing here depends on it.
                self.cursor.skip_parens()?;
            } else if let Some(lanes) = self.lanes() {
                head.lanes = lanes;
            } else {
                head.ty = self.cursor.ty()?;
                return Ok(head);
            }
        }
    }

    /// `.v2` or `.v4`
    pub(crate) fn lanes(&mut self) -> Option<u32> {
        if self.cursor.eat_dotted("v2") {
            return Some(2);
        }
        self.cursor.eat_dotted("v4").then_some(4)
    }

    fn variable(&mut self, head: &Head, space: Space) -> Result<Variable<'t>> {
        let name = self.cursor.word("the name of a variable")?;
        let mut dimensions = Vec::new();
        while self.cursor.eat(b'[') {
            if dimensions.len() == MAX_DEPTH {
                return Err(self.cursor.expected("an array of fewer dimensions"));
            }
            let token = self.cursor.peek();
            let length = if self.cursor.is(b']') { None } else { Some(self.integer()?) };
            let length = length.map(u64::try_from).transpose();
            dimensions.push(length.map_err(|_| self.cursor.error(token, "an array has no negative length"))?);
            self.cursor.expect(b']')?;
        }
        let Head { align, lanes, ty } = *head;
        let linkage = Linkage::Internal;
        Ok(Variable { name, linkage, space, ty, lanes, align, dimensions, init: None })
    }

    fn initializer(&mut self, depth: usize) -> Result<Init<'t>> {
        if !self.cursor.eat(b'{') {
            return self.initial_value();
        }
        if depth > MAX_DEPTH {
            return Err(self.cursor.expected("an initialiser nested less deeply"));
        }
        let mut parts = Vec::new();
        while !self.cursor.eat(b'}') {
            parts.push(self.initializer(depth + 1)?);
            if !self.cursor.eat(b',') {
                self.cursor.expect(b'}')?;
                break;
            }
        }
        Ok(Init::List(parts))
    }

    fn initial_value(&mut self) -> Result<Init<'t>> {
        let token = self.cursor.peek();
        if token.kind == Kind::Word && token.text != "WARP_SZ" {
            return self.initial_address(None);
        }
        if token.kind == Kind::Number && self.cursor.is_at(1, b'(') {
            let mask = self.cursor.number("a mask")?;
            self.cursor.expect(b'(')?;
            let address = self.initial_address(Some(mask))?;
            self.cursor.expect(b')')?;
            return Ok(address);
        }
        Ok(Init::Number(self.constant()?, token))
    }

    /// `symbol`, `symbol+4`, `generic(symbol)+4`
    fn initial_address(&mut self, mask: Option<u64>) -> Result<Init<'t>> {
        let generic = self.cursor.peek().text == "generic" && self.cursor.is_at(1, b'(');
        if generic {
            self.cursor.next();
            self.cursor.next();
        }
        let symbol = self.cursor.word("the name of a variable or function")?;
        let mut addend = self.offset()?;
        if generic {
            self.cursor.expect(b')')?;
            addend = addend.wrapping_add(self.offset()?);
        }
        Ok(Init::Address(InitAddress { symbol, addend, generic, mask }))
    }

    /// `+4`, `-4`, `+-4` or nothing.
    pub(crate) fn offset(&mut self) -> Result<i64> {
        let signed = self.cursor.is(b'+') || self.cursor.is(b'-');
        if signed { self.integer() } else { Ok(0) }
    }
}
