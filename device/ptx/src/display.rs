//! Instructions back to text, for messages.

use std::fmt::{self, Display, Formatter};

use crate::module::{AddressBase, BlockId, Function, Instr, Module, Operand, RegId, Symbol};

impl Module {
    /// Instruction `at` of `function` as PTX; nothing where there is no such instruction.
    #[must_use]
    pub fn instr_text(&self, function: &Function, at: usize) -> String {
        function.display_instr(self, at).to_string()
    }
}

impl Function {
    /// Instruction `at` as PTX; nothing where there is no such instruction. `module` is the one that has the function.
    #[must_use]
    pub fn display_instr<'a>(&'a self, module: &'a Module, at: usize) -> impl Display + 'a {
        fmt::from_fn(move |f| match self.instrs.get(at) {
            Some(instr) => Printer { module, function: self }.instr(f, instr),
            None => Ok(()),
        })
    }
}

struct Printer<'a> {
    module: &'a Module,
    function: &'a Function,
}

impl Printer<'_> {
    fn instr(&self, out: &mut Formatter<'_>, instr: &Instr) -> fmt::Result {
        if let Some(guard) = instr.guard {
            let not = if guard.negated { "!" } else { "" };
            write!(out, "@{not}{} ", self.reg(guard.reg))?;
        }
        write!(out, "{}", instr.opcode)?;
        for modifier in &instr.modifiers {
            write!(out, ".{modifier}")?;
        }
        for (place, operand) in instr.operands.iter().enumerate() {
            out.write_str(if place == 0 { " " } else { ", " })?;
            self.operand(out, operand)?;
        }
        Ok(())
    }

    fn operand(&self, out: &mut Formatter<'_>, operand: &Operand) -> fmt::Result {
        match operand {
            Operand::Reg(id) => write!(out, "{}", self.reg(*id)),
            Operand::NotReg(id) => write!(out, "!{}", self.reg(*id)),
            Operand::Int(value) => write!(out, "{value}"),
            Operand::F32(bits) => write!(out, "0f{bits:08X}"),
            Operand::F64(bits) => write!(out, "0d{bits:016X}"),
            Operand::Special(name, None) => write!(out, "%{name}"),
            Operand::Special(name, Some(axis)) => write!(out, "%{name}.{axis}"),
            Operand::Symbol(symbol, offset) => {
                out.write_str(self.symbol(*symbol))?;
                Self::offset(out, *offset)
            }
            Operand::Address(base, offset) => {
                out.write_str("[")?;
                self.address(out, *base, *offset)?;
                out.write_str("]")
            }
            Operand::Vector(parts) => self.list(out, "{", parts, "}"),
            Operand::List(parts) => match &parts[..] {
                // An address with coordinates.
                [Operand::Address(base, offset), rest @ ..] => {
                    out.write_str("[")?;
                    self.address(out, *base, *offset)?;
                    self.list(out, ", ", rest, "]")
                }
                _ => self.list(out, "(", parts, ")"),
            },
            Operand::Sink => out.write_str("_"),
            Operand::Pair(first, second) => {
                self.operand(out, first)?;
                out.write_str("|")?;
                self.operand(out, second)
            }
            Operand::Element(id, element) => write!(out, "{}.{element}", self.reg(*id)),
            Operand::Label(block) => self.label(out, *block),
            Operand::Targets(blocks) => {
                out.write_str("{")?;
                for (place, block) in blocks.iter().enumerate() {
                    out.write_str(if place == 0 { "" } else { ", " })?;
                    self.label(out, *block)?;
                }
                out.write_str("}")
            }
            Operand::Prototype(_) => out.write_str("<prototype>"),
        }
    }

    fn address(&self, out: &mut Formatter<'_>, base: AddressBase, offset: i64) -> fmt::Result {
        match base {
            AddressBase::Absolute => return write!(out, "{offset}"),
            AddressBase::Reg(id) => out.write_str(self.reg(id))?,
            AddressBase::Symbol(symbol) => out.write_str(self.symbol(symbol))?,
        }
        Self::offset(out, offset)
    }

    fn list(&self, out: &mut Formatter<'_>, open: &str, parts: &[Operand], close: &str) -> fmt::Result {
        out.write_str(open)?;
        for (place, part) in parts.iter().enumerate() {
            out.write_str(if place == 0 { "" } else { ", " })?;
            self.operand(out, part)?;
        }
        out.write_str(close)
    }

    fn offset(out: &mut Formatter<'_>, offset: i64) -> fmt::Result {
        if offset == 0 { Ok(()) } else { write!(out, "{offset:+}") }
    }

    fn label(&self, out: &mut Formatter<'_>, id: BlockId) -> fmt::Result {
        match self.function.blocks.get(id.0 as usize).and_then(|block| block.label.as_deref()) {
            Some(label) => out.write_str(label),
            None => write!(out, "block {}", id.0),
        }
    }

    fn reg(&self, id: RegId) -> &str {
        &self.function.regs[id.0 as usize].name
    }

    fn symbol(&self, symbol: Symbol) -> &str {
        match symbol {
            Symbol::Global(id) => &self.module.globals[id.0 as usize].name,
            Symbol::Func(id) => &self.module.functions[id.0 as usize].name,
            Symbol::Var(id) => &self.function.vars[id.0 as usize].name,
        }
    }
}
