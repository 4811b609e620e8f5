//! Instructions back to text, for messages.

use std::fmt::{self, Write};

use crate::module::{AddressBase, Function, Instr, Module, Operand, Symbol};

impl Module {
    /// Instruction `at` of `function` as PTX.
    #[must_use]
    pub fn instr_text(&self, function: &Function, at: usize) -> String {
        let mut text = String::new();
        if let Some(instr) = function.instrs.get(at) {
            let printer = Printer { module: self, function };
            printer.instr(&mut text, instr).expect("a String takes all text");
        }
        text
    }
}

struct Printer<'a> {
    module: &'a Module,
    function: &'a Function,
}

impl Printer<'_> {
    fn instr(&self, out: &mut String, instr: &Instr) -> fmt::Result {
        if let Some(guard) = instr.guard {
            let not = if guard.negated { "!" } else { "" };
            write!(out, "@{not}{} ", self.function.regs[guard.reg.0 as usize].name)?;
        }
        write!(out, "{}", instr.opcode)?;
        for modifier in &instr.modifiers {
            write!(out, ".{modifier}")?;
        }
        for (place, operand) in instr.operands.iter().enumerate() {
            out.push_str(if place == 0 { " " } else { ", " });
            self.operand(out, operand)?;
        }
        Ok(())
    }

    fn operand(&self, out: &mut String, operand: &Operand) -> fmt::Result {
        let reg = |id: crate::module::RegId| &self.function.regs[id.0 as usize].name;
        let label = |id: crate::module::BlockId| {
            let block = self.function.blocks.get(id.0 as usize).and_then(|b| b.label.as_deref());
            block.map_or_else(|| format!("block {}", id.0), str::to_owned)
        };
        match operand {
            Operand::Reg(id) => write!(out, "{}", reg(*id)),
            Operand::NotReg(id) => write!(out, "!{}", reg(*id)),
            Operand::Int(value) => write!(out, "{value}"),
            Operand::F32(bits) => write!(out, "0f{bits:08X}"),
            Operand::F64(bits) => write!(out, "0d{bits:016X}"),
            Operand::Special(name, None) => write!(out, "%{name}"),
            Operand::Special(name, Some(axis)) => write!(out, "%{name}.{axis}"),
            Operand::Symbol(symbol, offset) => {
                write!(out, "{}", self.symbol(*symbol))?;
                Self::offset(out, *offset)
            }
            Operand::Address(base, offset) => {
                out.push('[');
                match base {
                    AddressBase::Reg(id) => write!(out, "{}", reg(*id))?,
                    AddressBase::Symbol(symbol) => write!(out, "{}", self.symbol(*symbol))?,
                    AddressBase::Absolute => {
                        return write!(out, "{offset}]");
                    }
                }
                Self::offset(out, *offset)?;
                out.push(']');
                Ok(())
            }
            Operand::Vector(parts) => self.list(out, '{', parts, '}'),
            Operand::List(parts) => self.list(out, '(', parts, ')'),
            Operand::Sink => write!(out, "_"),
            Operand::Pair(first, second) => {
                self.operand(out, first)?;
                out.push('|');
                self.operand(out, second)
            }
            Operand::Element(id, element) => write!(out, "{}.{element}", reg(*id)),
            Operand::Label(block) => write!(out, "{}", label(*block)),
            Operand::Targets(blocks) => {
                let names: Vec<String> = blocks.iter().map(|b| label(*b)).collect();
                write!(out, "{{{}}}", names.join(", "))
            }
            Operand::Prototype(_) => write!(out, "<prototype>"),
        }
    }

    fn list(&self, out: &mut String, open: char, parts: &[Operand], close: char) -> fmt::Result {
        out.push(open);
        for (place, part) in parts.iter().enumerate() {
            if place > 0 {
                out.push_str(", ");
            }
            self.operand(out, part)?;
        }
        out.push(close);
        Ok(())
    }

    fn offset(out: &mut String, offset: i64) -> fmt::Result {
        if offset == 0 { Ok(()) } else { write!(out, "{offset:+}") }
    }

    fn symbol(&self, symbol: Symbol) -> &str {
        match symbol {
            Symbol::Global(id) => &self.module.globals[id.0 as usize].name,
            Symbol::Func(id) => &self.module.functions[id.0 as usize].name,
            Symbol::Var(id) => &self.function.vars[id.0 as usize].name,
        }
    }
}
