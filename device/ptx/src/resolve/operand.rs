//! Operands: what their names mean.

use super::Result;
use super::body::Body;
use super::nearest::nearest;
use super::scope::{Found, Name};
use super::special;
use crate::ast::{Constant, Instr, Operand as OperandAst};
use crate::lexer::Token;
use crate::module::{AddressBase, BlockId, Operand, RegId, Symbol, Type};

impl<'t> Body<'_, 't> {
    pub(crate) fn operands(&mut self, instr: &Instr<'t>) -> Result<Vec<Operand>> {
        let count = instr.operands.len();
        match (instr.opcode.text, &instr.operands[..]) {
            ("bra", [OperandAst::Name(label)]) => {
                self.wait_for_label(0, *label);
                Ok(vec![Operand::Label(BlockId(0))])
            }
            ("brx", [index, OperandAst::Name(list)]) => {
                self.wait_for_label(1, *list);
                Ok(vec![self.operand(index)?, Operand::Targets([].into())])
            }
            ("bra", _) => Err(self.error(instr.opcode, &format!("`bra` takes one label, not {count} operands"))),
            ("brx", _) => Err(self.error(instr.opcode, "`brx.idx` takes a register and a list of `.branchtargets`")),
            (_, operands) => operands.iter().map(|operand| self.operand(operand)).collect(),
        }
    }

    fn operand(&mut self, operand: &OperandAst<'t>) -> Result<Operand> {
        Ok(match operand {
            OperandAst::Name(token) => self.named(*token)?,
            OperandAst::Not(token) => Operand::NotReg(self.predicate(*token, "what `!` stands before")?),
            OperandAst::Element(token, element) => self.element(*token, *element)?,
            OperandAst::Offset(token, offset) => match self.named(*token)? {
                Operand::Symbol(symbol, _) => Operand::Symbol(symbol, *offset),
                _ => return Err(self.error(*token, &format!("`{}` is not the name of a variable", token.text))),
            },
            OperandAst::Constant(Constant::Int { bits, .. }) => Operand::Int(bits.cast_signed()),
            OperandAst::Constant(Constant::F32(bits)) => Operand::F32(*bits),
            OperandAst::Constant(Constant::F64(bits)) => Operand::F64(*bits),
            OperandAst::Address(None, offset) => Operand::Address(AddressBase::Absolute, *offset),
            OperandAst::Address(Some(token), offset) => Operand::Address(self.base(*token)?, *offset),
            OperandAst::Vector(parts) => Operand::Vector(self.list(parts)?),
            OperandAst::List(parts) => Operand::List(self.list(parts)?),
            OperandAst::Sink => Operand::Sink,
            OperandAst::Pair(pair) => {
                let [first, second] = &**pair;
                Operand::Pair(Box::new(self.operand(first)?), Box::new(self.operand(second)?))
            }
        })
    }

    fn list(&mut self, parts: &[OperandAst<'t>]) -> Result<Vec<Operand>> {
        parts.iter().map(|part| self.operand(part)).collect()
    }

    fn base(&mut self, token: Token<'t>) -> Result<AddressBase> {
        match self.named(token)? {
            Operand::Reg(reg) => Ok(AddressBase::Reg(reg)),
            Operand::Symbol(symbol, _) => Ok(AddressBase::Symbol(symbol)),
            _ => Err(self.error(token, &format!("`{}` is not an address", token.text))),
        }
    }

    /// What a name that stands alone means.
    fn named(&mut self, token: Token<'t>) -> Result<Operand> {
        if let Some(name) = self.find(token.text) {
            return Ok(match name {
                Name::Reg(reg) => Operand::Reg(reg),
                Name::Vector(elements) => Operand::Vector(elements.iter().copied().map(Operand::Reg).collect()),
                Name::Var(var) => Operand::Symbol(Symbol::Var(var), 0),
                Name::Global(global) => Operand::Symbol(Symbol::Global(global), 0),
                Name::Prototype(prototype) => Operand::Prototype(prototype),
                Name::BranchTargets(_) => {
                    return Err(self.error(token, "only `brx.idx` takes a list of `.branchtargets`"));
                }
            });
        }
        if let Some(symbol) = self.resolver.symbol(token.text) {
            return Ok(Operand::Symbol(symbol, 0));
        }
        match special::special(token.text) {
            Some(name) => Ok(Operand::Special(self.resolver.intern(name), None)),
            None => Err(self.unknown(token)),
        }
    }

    /// `%tid.x`, `v.y` of a vector register, `r.h0`.
    fn element(&mut self, token: Token<'t>, element: Token<'t>) -> Result<Operand> {
        let axis = match element.text {
            "x" | "r" => Some((0, 'x')),
            "y" | "g" => Some((1, 'y')),
            "z" | "b" => Some((2, 'z')),
            "w" | "a" => Some((3, 'w')),
            _ => None,
        };
        let lacks = format!("`{}` has no element `.{}`", token.text, element.text);
        match (self.find(token.text), axis) {
            (Some(Name::Reg(reg)), _) => return Ok(Operand::Element(reg, self.resolver.intern(element.text))),
            (Some(Name::Vector(elements)), Some((place, _))) if place < elements.len() => {
                return Ok(Operand::Reg(elements[place]));
            }
            (Some(_), _) => return Err(self.error(element, &lacks)),
            (None, _) => {}
        }
        match (special::special(token.text), axis) {
            (Some(name), Some((_, axis))) if special::is_vector(name) => {
                Ok(Operand::Special(self.resolver.intern(name), Some(axis)))
            }
            (Some(_), _) => Err(self.error(element, &lacks)),
            (None, _) if self.resolver.symbol(token.text).is_some() => Err(self.error(element, &lacks)),
            (None, _) => Err(self.unknown(token)),
        }
    }

    /// A register of type `.pred`.
    pub(crate) fn predicate(&mut self, token: Token<'t>, what: &str) -> Result<RegId> {
        match self.named(token)? {
            Operand::Reg(reg) if self.function.regs[reg.0 as usize].ty == Type::Pred => Ok(reg),
            _ => Err(self.error(token, &format!("{what} is a predicate register, which `{}` is not", token.text))),
        }
    }

    /// The meaning of a name of function scope; a register of a range is made when it first occurs.
    fn find(&mut self, text: &'t str) -> Option<Name<'t>> {
        let (scope, range) = match self.scopes.find(text)? {
            Found::Name(name) => return Some(name.clone()),
            Found::InRange(scope, range) => (scope, range),
        };
        let name = self.make_register(text, range.ty, range.lanes);
        self.scopes.materialize(scope, text, name.clone());
        Some(name)
    }

    fn unknown(&self, token: Token<'_>) -> crate::error::ParseError {
        let function = &self.function.name;
        let known = self.scopes.known().chain(self.resolver.symbols.keys().copied());
        let near = self.scopes.range_before(token.text).or_else(|| nearest(token.text, known).map(str::to_owned));
        let hint = near.map_or(String::new(), |near| format!("; `{near}` is"));
        self.error(token, &format!("`{}` is not declared in `{function}`{hint}", token.text))
    }
}
