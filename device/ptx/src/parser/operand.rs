//! Operands of instructions.

use super::Parser;
use super::cursor::{Result, parse_f32_bits, parse_f64_bits};
use super::function::Body;
use super::scope::Name;
use crate::lexer::{Kind, Token};
use crate::module::{AddressBase, BlockId, Operand, Symbol};

/// Special registers (PTX ISA, "Special Registers") without their elements and numbers.
const SPECIAL: &[&str] = &[
    "tid",
    "ntid",
    "laneid",
    "warpid",
    "nwarpid",
    "ctaid",
    "nctaid",
    "smid",
    "nsmid",
    "gridid",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
    "clock",
    "clock_hi",
    "clock64",
    "globaltimer",
    "globaltimer_lo",
    "globaltimer_hi",
    "total_smem_size",
    "dynamic_smem_size",
    "aggr_smem_size",
    "reserved_smem_offset_begin",
    "reserved_smem_offset_end",
    "reserved_smem_offset_cap",
    "is_explicit_cluster",
    "clusterid",
    "nclusterid",
    "cluster_ctaid",
    "cluster_nctaid",
    "cluster_ctarank",
    "cluster_nctarank",
    "current_graph_exec",
];

fn special(name: &str) -> Option<&str> {
    let name = name.strip_prefix('%')?;
    let numbered = |prefix| name.strip_prefix(prefix).is_some_and(|n: &str| n.parse::<u8>().is_ok());
    let counter = name.strip_prefix("pm").is_some_and(|n| n.trim_end_matches("_64").parse::<u8>().is_ok());
    let known = SPECIAL.contains(&name) || numbered("envreg") || numbered("reserved_smem_offset_") || counter;
    known.then_some(name)
}

impl<'t> Parser<'t> {
    /// One operand of an instruction that is not a branch.
    pub(crate) fn operand(&mut self, body: &mut Body<'t>) -> Result<Operand> {
        let first = self.cursor.peek();
        let operand = match first.kind {
            Kind::Punct(b'[') => return self.address(body),
            Kind::Punct(b'{') => {
                self.cursor.next();
                return Ok(Operand::Vector(self.operands_until(body, b'}')?));
            }
            Kind::Punct(b'(') => {
                self.cursor.next();
                return Ok(Operand::List(self.operands_until(body, b')')?));
            }
            Kind::Punct(b'!') => {
                self.cursor.next();
                let token = self.cursor.word("a predicate register")?;
                return match self.resolve(body, token)? {
                    Operand::Reg(reg) => Ok(Operand::NotReg(reg)),
                    _ => Err(self.cursor.error(token, "`!` belongs before a predicate register")),
                };
            }
            Kind::Punct(b'-' | b'+' | b'~') | Kind::Number => self.constant()?,
            Kind::Word if first.text == "_" => {
                self.cursor.next();
                Operand::Sink
            }
            Kind::Word => {
                self.cursor.next();
                self.named(body, first)?
            }
            _ => return Err(self.cursor.expected("an operand")),
        };
        if self.cursor.eat(b'|') {
            let second = self.operand(body)?;
            return Ok(Operand::Pair(Box::new(operand), Box::new(second)));
        }
        Ok(operand)
    }

    fn operands_until(&mut self, body: &mut Body<'t>, close: u8) -> Result<Vec<Operand>> {
        let mut found = Vec::new();
        while !self.cursor.eat(close) {
            if matches!(self.cursor.peek().kind, Kind::Punct(b'{' | b'(')) {
                return Err(self.cursor.expected("an operand without a list of its own"));
            }
            found.push(self.operand(body)?);
            if !self.cursor.eat(b',') {
                self.cursor.expect(close)?;
                break;
            }
        }
        Ok(found)
    }

    fn constant(&mut self) -> Result<Operand> {
        let negative = self.cursor.is(b'-');
        let token = if negative { self.cursor.peek_at(1) } else { self.cursor.peek() };
        if let Some(bits) = parse_f32_bits(token.text).filter(|_| token.kind == Kind::Number) {
            self.skip_number(negative);
            return Ok(Operand::F32(bits ^ (u32::from(negative) << 31)));
        }
        if let Some(bits) = parse_f64_bits(token.text).filter(|_| token.kind == Kind::Number) {
            self.skip_number(negative);
            return Ok(Operand::F64(bits ^ (u64::from(negative) << 63)));
        }
        Ok(Operand::Int(self.cursor.integer()?))
    }

    fn skip_number(&mut self, negative: bool) {
        if negative {
            self.cursor.next();
        }
        self.cursor.next();
    }

    /// A word that is not followed up yet: register, element, special register, constant, address of a symbol.
    fn named(&mut self, body: &mut Body<'t>, token: Token<'t>) -> Result<Operand> {
        if token.text == "WARP_SZ" {
            return Ok(Operand::Int(32));
        }
        let known = body.scopes.find(token.text).is_some();
        if let (false, Some(name)) = (known, special(token.text)) {
            let name = self.cursor.intern(name);
            let element = (self.cursor.peek().kind == Kind::Dotted).then(|| self.cursor.next());
            let axis = match element.map(|e| e.text) {
                None => None,
                Some("x") => Some('x'),
                Some("y") => Some('y'),
                Some("z") => Some('z'),
                Some("w") => Some('w'),
                Some(other) => {
                    return Err(self.cursor.error(token, &format!("`{}` has no element `.{other}`", token.text)));
                }
            };
            return Ok(Operand::Special(name, axis));
        }
        let resolved = self.resolve(body, token)?;
        match resolved {
            Operand::Reg(reg) if self.cursor.peek().kind == Kind::Dotted => {
                let element = self.cursor.next();
                Ok(Operand::Element(reg, self.cursor.intern(element.text)))
            }
            Operand::Symbol(symbol, _) if self.cursor.is(b'+') || self.cursor.is(b'-') => {
                Ok(Operand::Symbol(symbol, self.cursor.integer()?))
            }
            other => Ok(other),
        }
    }

    /// `[base]`, `[base+offset]`, `[offset]`, `[symbol+offset]`.
    fn address(&mut self, body: &mut Body<'t>) -> Result<Operand> {
        self.cursor.expect(b'[')?;
        let token = self.cursor.peek();
        let base = if token.kind == Kind::Word && token.text != "WARP_SZ" {
            self.cursor.next();
            match self.resolve(body, token)? {
                Operand::Reg(reg) => AddressBase::Reg(reg),
                Operand::Symbol(symbol, _) => AddressBase::Symbol(symbol),
                _ => {
                    return Err(self.cursor.error(token, &format!("`{}` is not an address", token.text)));
                }
            }
        } else {
            AddressBase::Absolute
        };
        let mut offset = 0i64;
        if base == AddressBase::Absolute {
            offset = self.cursor.integer()?;
        }
        while self.cursor.is(b'+') || self.cursor.is(b'-') {
            offset = offset.wrapping_add(self.cursor.integer()?);
        }
        self.cursor.expect(b']')?;
        Ok(Operand::Address(base, offset))
    }

    pub(crate) fn resolve(&mut self, body: &Body<'t>, token: Token<'t>) -> Result<Operand> {
        match body.scopes.find(token.text) {
            Some(Name::Reg(reg)) => return Ok(Operand::Reg(*reg)),
            Some(Name::Var(var)) => return Ok(Operand::Symbol(Symbol::Var(*var), 0)),
            Some(Name::Prototype(prototype)) => return Ok(Operand::Prototype(prototype.clone())),
            None => {}
        }
        if let Some(symbol) = self.symbols.get(token.text) {
            return Ok(Operand::Symbol(*symbol, 0));
        }
        let nearest = body.scopes.nearest(token.text);
        let hint = nearest.map_or(String::new(), |near| format!("; `{near}` is"));
        let message = format!("`{}` is not declared in `{}`{hint}", token.text, body.name());
        Err(self.cursor.error(token, &message))
    }

    /// The operands of `bra` and `brx.idx`: labels may be defined further down, so they wait.
    pub(crate) fn branch_operands(&mut self, body: &mut Body<'t>, indexed: bool) -> Result<Vec<Operand>> {
        let mut operands = Vec::new();
        if indexed {
            operands.push(self.operand(body)?);
            self.cursor.expect(b',')?;
        }
        let token = self.cursor.word("a label")?;
        let names: Vec<&'t str> = match (indexed, body.targets.get(token.text)) {
            (true, Some(list)) => list.clone(),
            (true, None) => {
                return Err(self.cursor.error(token, "no `.branchtargets` of that name stands above"));
            }
            (false, _) => vec![token.text],
        };
        body.wait_for_labels(operands.len(), names, token);
        operands.push(if indexed { Operand::Targets([].into()) } else { Operand::Label(BlockId(0)) });
        self.cursor.expect(b';')?;
        Ok(operands)
    }
}
