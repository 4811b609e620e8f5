//! Bodies of functions: declarations, instructions, and labels to blocks when all are known.

use std::rc::Rc;
use std::sync::Arc;

use super::scope::{Name, Range, Scopes};
use super::{Pending, Resolver, Result, add_register, add_var, index};
use crate::ast::{Guard as GuardAst, Instr as InstrAst, Param as ParamAst, RegisterName, Statement};
use crate::cfg;
use crate::error::ParseError;
use crate::lexer::Token;
use crate::module::{Function, Guard, Instr, Linkage, Loc, Operand, Prototype, RegId, Space, Symbol, Type};

/// Reads the statements of a function.
pub(crate) fn resolve<'t>(resolver: &mut Resolver<'t>, pending: Pending<'t>) -> Result<Function> {
    let Pending { function, scopes, statements, .. } = pending;
    let mut body = Body { resolver, function, scopes, waiting: Vec::new(), ends: Vec::new(), loc: None };
    for statement in statements {
        body.statement(statement)?;
    }
    body.finish()
}

/// A function while its body is read.
pub(crate) struct Body<'a, 't> {
    pub(crate) resolver: &'a mut Resolver<'t>,
    pub(crate) function: Function,
    pub(crate) scopes: Scopes<'t>,
    waiting: Vec<Waiting<'t>>,
    /// For each instruction, whether control never comes out behind it (its guard aside).
    ends: Vec<bool>,
    loc: Option<Loc>,
}

/// An operand that names a label, which may stand further down.
struct Waiting<'t> {
    instr: usize,
    operand: usize,
    scope: usize,
    name: Token<'t>,
}

impl<'t> Body<'_, 't> {
    pub(crate) fn error(&self, at: Token<'_>, message: &str) -> ParseError {
        self.resolver.error(at, message)
    }

    pub(crate) fn register(&mut self, name: Arc<str>, ty: Type) -> RegId {
        add_register(&mut self.function, name, ty)
    }

    /// Notes that operand `operand` of the instruction being read is the label or list of labels `name`.
    pub(crate) fn wait_for_label(&mut self, operand: usize, name: Token<'t>) {
        let (instr, scope) = (self.function.instrs.len(), self.scopes.current());
        self.waiting.push(Waiting { instr, operand, scope, name });
    }

    fn define(&mut self, token: Token<'t>, meaning: Name<'t>) -> Result<()> {
        if self.scopes.define(token.text, meaning) { Ok(()) } else { Err(self.declared(token)) }
    }

    fn declared(&self, token: Token<'_>) -> ParseError {
        let function = &self.function.name;
        self.error(token, &format!("`{}` is already declared in this scope of `{function}`", token.text))
    }

    fn statement(&mut self, statement: Statement<'t>) -> Result<()> {
        match statement {
            Statement::Open => self.scopes.open(),
            Statement::Close => self.scopes.close(),
            Statement::Label(name) => {
                if !self.scopes.define_label(name.text, index(self.function.instrs.len())) {
                    let message = format!("the label `{}` is already defined in `{}`", name.text, self.function.name);
                    return Err(self.error(name, &message));
                }
            }
            Statement::Registers { ty, lanes, names } => {
                for name in names {
                    self.registers(ty, lanes, &name)?;
                }
            }
            Statement::Variable(variable)
                if matches!(variable.space, Space::Global | Space::Const) && variable.linkage != Linkage::Extern =>
            {
                let global = self.resolver.own_global(&variable, &self.scopes, &self.function.name)?;
                self.define(variable.name, Name::Global(global))?;
            }
            Statement::Variable(variable) => {
                let var = self.resolver.var(&variable, Some(&self.scopes))?;
                let var = add_var(&mut self.function, var);
                self.define(variable.name, Name::Var(var))?;
            }
            Statement::BranchTargets { name, labels } => self.define(name, Name::BranchTargets(labels.into()))?,
            Statement::CallTargets { name, functions } => {
                let prototype = self.prototype_of(functions[0])?;
                self.define(name, Name::Prototype(Arc::new(prototype)))?;
            }
            Statement::CallPrototype { name, returns, params, noreturn } => {
                let prototype = Prototype { returns: self.shapes(&returns)?, params: self.shapes(&params)?, noreturn };
                self.define(name, Name::Prototype(Arc::new(prototype)))?;
            }
            Statement::Loc { file, line, column } => {
                let name = self.resolver.files.get(&file).cloned();
                let file = name.unwrap_or_else(|| format!("file {file}").into());
                // Line 0: code that belongs to no line.
                self.loc = (line > 0).then_some(Loc { file, line, column });
            }
            Statement::Instr(instr) => self.instr(&instr)?,
        }
        Ok(())
    }

    fn registers(&mut self, ty: Type, lanes: u32, name: &RegisterName<'t>) -> Result<()> {
        let token = name.name;
        if let Some(count) = name.count {
            let range = Range { ty, lanes, count };
            return if self.scopes.define_range(token.text, range) { Ok(()) } else { Err(self.declared(token)) };
        }
        let meaning = self.make_register(token.text, ty, lanes);
        self.define(token, meaning)
    }

    /// A register, or the elements of a vector register.
    pub(crate) fn make_register(&mut self, name: &'t str, ty: Type, lanes: u32) -> Name<'t> {
        if lanes == 1 {
            let name = self.resolver.intern(name);
            return Name::Reg(self.register(name, ty));
        }
        let elements = ["x", "y", "z", "w"].into_iter().take(lanes as usize);
        let elements: Rc<[RegId]> = elements.map(|e| self.register(format!("{name}.{e}").into(), ty)).collect();
        Name::Vector(elements)
    }

    fn shapes(&mut self, params: &[ParamAst<'t>]) -> Result<Vec<(u32, u64)>> {
        let shape = |param: &ParamAst<'t>| match param {
            ParamAst::Reg { ty, .. } => Ok((ty.bytes(), u64::from(ty.bytes()))),
            ParamAst::Var(variable) => self.resolver.var(variable, None).map(|var| (var.align, var.size)),
        };
        params.iter().map(shape).collect()
    }

    /// The shape that all functions of a `.calltargets` list have.
    fn prototype_of(&mut self, name: Token<'t>) -> Result<Prototype> {
        let Some(Symbol::Func(id)) = self.resolver.symbol(name.text) else {
            return Err(self.error(name, &format!("`{}` is not a declared function", name.text)));
        };
        let function = &self.resolver.module.functions[id.0 as usize];
        Ok(function.prototype())
    }

    fn instr(&mut self, ast: &InstrAst<'t>) -> Result<()> {
        let guard = ast.guard.as_ref().map(|guard| self.guard(guard)).transpose()?;
        let opcode = self.resolver.intern(ast.opcode.text);
        let modifiers = ast.modifiers.iter().map(|modifier| self.resolver.intern(modifier)).collect();
        let operands = self.operands(ast)?;
        let instr = Instr { guard, opcode, modifiers, operands, line: ast.opcode.line, loc: self.loc.clone() };
        self.ends.push(cfg::ends_block(&instr) || self.never_returns(&instr));
        self.function.instrs.push(instr);
        Ok(())
    }

    fn guard(&mut self, guard: &GuardAst<'t>) -> Result<Guard> {
        let reg = self.predicate(guard.name, "a guard")?;
        Ok(Guard { reg, negated: guard.negated })
    }

    /// True for a call of a function that is declared `.noreturn`.
    fn never_returns(&self, instr: &Instr) -> bool {
        &*instr.opcode == "call"
            && instr.operands.iter().any(|operand| match operand {
                Operand::Symbol(Symbol::Func(id), _) => self.resolver.module.functions[id.0 as usize].noreturn,
                Operand::Prototype(prototype) => prototype.noreturn,
                _ => false,
            })
    }

    fn finish(mut self) -> Result<Function> {
        let mut targets = Vec::with_capacity(self.waiting.len());
        for waiting in &self.waiting {
            targets.push(self.targets(waiting)?);
        }
        // Only labels that are branched to begin a block: debuggers have labels everywhere.
        let labels = targets.iter().flatten().map(|(at, name)| (*at, self.resolver.intern(name))).collect();
        let holders = cfg::split(&mut self.function, &mut self.ends, labels);
        for (waiting, places) in self.waiting.iter().zip(targets) {
            let mut blocks = places.into_iter().map(|(at, _)| holders[at as usize]);
            let instr = &mut self.function.instrs[waiting.instr];
            instr.operands[waiting.operand] = match &*instr.opcode {
                "brx" => Operand::Targets(blocks.collect()),
                _ => Operand::Label(blocks.next().expect("a branch has one target")),
            };
        }
        cfg::connect(&mut self.function, &self.ends);
        Ok(self.function)
    }

    /// The instructions that a branch leads to, with their labels.
    fn targets(&self, waiting: &Waiting<'t>) -> Result<Vec<(u32, &'t str)>> {
        let Waiting { instr, scope, name, .. } = *waiting;
        if &*self.function.instrs[instr].opcode != "brx" {
            return Ok(vec![self.label(scope, name)?]);
        }
        match self.scopes.find_from(scope, name.text) {
            Some(super::scope::Found::Name(Name::BranchTargets(labels))) => {
                labels.iter().map(|label| self.label(scope, *label)).collect()
            }
            _ => Err(self.error(name, &format!("`{}` is not a list of `.branchtargets`", name.text))),
        }
    }

    fn label(&self, scope: usize, name: Token<'t>) -> Result<(u32, &'t str)> {
        self.scopes.find_label(scope, name.text).map(|at| (at, name.text)).ok_or_else(|| {
            let near = self.scopes.nearest_label(scope, name.text);
            let hint = near.map_or(String::new(), |near| format!("; `{near}` is"));
            self.error(name, &format!("the label `{}` is not defined in `{}`{hint}", name.text, self.function.name))
        })
    }
}
