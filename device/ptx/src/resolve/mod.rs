//! Syntax tree to module: every name becomes an index, every variable gets a size, every function its graph.
//!
//! First all names of module scope are declared, so that text may use what stands further down (calls of one another,
//! tables of functions); then initialisers and bodies are read.

mod body;
mod nearest;
mod operand;
mod scope;
mod special;
mod variable;

use std::collections::HashMap;
use std::sync::Arc;

use crate::ast::{Ast, Function as FunctionAst, Item, Param as ParamAst, Statement, Variable};
use crate::error::ParseError;
use crate::lexer::Token;
use crate::module::{
    FuncId, Function, Global, GlobalId, Linkage, Module, Param, RegId, Register, Symbol, Type, Var, VarId,
};
use scope::{Name, Scopes};

pub(crate) type Result<T> = std::result::Result<T, ParseError>;

/// The module that `ast`, read from `text`, means.
pub(crate) fn resolve<'t>(text: &'t str, ast: Ast<'t>) -> Result<Module> {
    let module = Module { version: ast.version, target: ast.target, globals: Vec::new(), functions: Vec::new() };
    let mut resolver = Resolver {
        text,
        module,
        files: ast.files,
        names: HashMap::new(),
        symbols: HashMap::new(),
        padding_left: 1 << 28,
    };
    let mut aliases = Vec::new();
    let mut variables = Vec::new();
    let mut bodies = Vec::new();
    for item in ast.items {
        match item {
            Item::Variable(variable) => {
                let id = resolver.declare_global(&variable)?;
                variables.push((id, variable));
            }
            Item::Function(function) => bodies.extend(resolver.declare_function(*function)?),
            Item::Alias { new, old } => aliases.push((new, old)),
        }
    }
    for (new, old) in aliases {
        resolver.alias(new, old)?;
    }
    for (id, variable) in variables {
        resolver.fill_global(id, &variable)?;
    }
    for pending in bodies {
        let id = pending.id;
        let function = body::resolve(&mut resolver, pending)?;
        resolver.module.functions[id.0 as usize] = function;
    }
    Ok(resolver.module)
}

/// Module scope.
pub(crate) struct Resolver<'t> {
    text: &'t str,
    module: Module,
    files: HashMap<u32, Arc<str>>,
    /// One shared copy of each name.
    names: HashMap<&'t str, Arc<str>>,
    symbols: HashMap<&'t str, Meaning>,
    /// Bytes of zeros that nested initialisers may still add: a short text must not fill the memory.
    padding_left: u64,
}

/// What a name of module scope stands for, and whether it was defined or only declared so far.
#[derive(Debug, Clone, Copy)]
struct Meaning {
    symbol: Symbol,
    defined: bool,
}

/// A function that is declared, with its body still to be read.
pub(crate) struct Pending<'t> {
    id: FuncId,
    function: Function,
    scopes: Scopes<'t>,
    statements: Vec<Statement<'t>>,
}

impl<'t> Resolver<'t> {
    fn intern(&mut self, name: &'t str) -> Arc<str> {
        self.names.entry(name).or_insert_with(|| name.into()).clone()
    }

    fn error(&self, at: Token<'_>, message: &str) -> ParseError {
        ParseError::at(self.text, at.at as usize, at.line, message)
    }

    fn symbol(&self, name: &str) -> Option<Symbol> {
        self.symbols.get(name).map(|meaning| meaning.symbol)
    }

    fn taken(&self, name: Token<'_>, line: u32) -> ParseError {
        self.error(name, &format!("`{}` is already defined on line {line}", name.text))
    }

    fn declare_global(&mut self, variable: &Variable<'t>) -> Result<GlobalId> {
        let name = variable.name;
        let global = Global {
            name: self.intern(name.text),
            space: variable.space,
            linkage: variable.linkage,
            align: variable::alignment(variable),
            size: None,
            init: None,
            line: name.line,
        };
        let defined = variable.linkage != Linkage::Extern;
        let Some(known) = self.symbols.get_mut(name.text) else {
            let id = GlobalId(index(self.module.globals.len()));
            self.symbols.insert(name.text, Meaning { symbol: Symbol::Global(id), defined });
            self.module.globals.push(global);
            return Ok(id);
        };
        let Symbol::Global(id) = known.symbol else {
            return Err(self.error(name, &format!("`{}` is already the name of a function", name.text)));
        };
        let declared = &mut self.module.globals[id.0 as usize];
        match (known.defined, defined) {
            (true, true) => {
                let line = declared.line;
                return Err(self.taken(name, line));
            }
            (false, true) => {
                known.defined = true;
                *declared = global;
            }
            (_, false) => {}
        }
        Ok(id)
    }

    /// Size and initial contents, when all names are known.
    fn fill_global(&mut self, id: GlobalId, variable: &Variable<'t>) -> Result<()> {
        let (size, init) = self.contents(variable, None)?;
        let defined = variable.linkage != Linkage::Extern;
        if size.is_none() && defined {
            return Err(self.error(variable.name, &format!("the array `{}` has no length", variable.name.text)));
        }
        let global = &mut self.module.globals[id.0 as usize];
        if defined || global.linkage == Linkage::Extern {
            global.size = size;
            global.init = init;
        }
        Ok(())
    }

    fn declare_function(&mut self, ast: FunctionAst<'t>) -> Result<Option<Pending<'t>>> {
        let name = ast.name;
        let mut scopes = Scopes::new();
        let mut function = Function {
            name: self.intern(name.text),
            is_entry: ast.is_entry,
            linkage: ast.linkage,
            params: Vec::new(),
            returns: Vec::new(),
            noreturn: ast.noreturn,
            bounds: ast.bounds,
            regs: Vec::new(),
            vars: Vec::new(),
            instrs: Vec::new(),
            blocks: Vec::new(),
            line: name.line,
        };
        function.returns = self.params(&ast.returns, &mut function, &mut scopes)?;
        function.params = self.params(&ast.params, &mut function, &mut scopes)?;
        let id = self.enter_function(name, &mut function, ast.body.is_some())?;
        Ok(ast.body.map(|statements| Pending { id, function, scopes, statements }))
    }

    /// Adds a function, or completes its earlier declaration.
    fn enter_function(&mut self, name: Token<'t>, function: &mut Function, defined: bool) -> Result<FuncId> {
        let Some(known) = self.symbols.get_mut(name.text) else {
            let id = FuncId(index(self.module.functions.len()));
            self.symbols.insert(name.text, Meaning { symbol: Symbol::Func(id), defined });
            self.module.functions.push(function.clone());
            return Ok(id);
        };
        let Symbol::Func(id) = known.symbol else {
            return Err(self.error(name, &format!("`{}` is already the name of a variable", name.text)));
        };
        let declared = &mut self.module.functions[id.0 as usize];
        let line = declared.line;
        if known.defined && defined {
            return Err(self.taken(name, line));
        }
        if declared.is_entry != function.is_entry {
            let message = format!("`{}` is a kernel here and a function on line {line}, or the reverse", name.text);
            return Err(self.error(name, &message));
        }
        let noreturn = declared.noreturn || function.noreturn;
        if defined || !known.defined {
            known.defined = defined;
            *declared = function.clone();
        }
        declared.noreturn = noreturn;
        function.noreturn = noreturn;
        Ok(id)
    }

    fn params(
        &mut self,
        params: &[ParamAst<'t>],
        function: &mut Function,
        scopes: &mut Scopes<'t>,
    ) -> Result<Vec<Param>> {
        let mut found = Vec::with_capacity(params.len());
        for param in params {
            let (token, param, name) = match param {
                ParamAst::Var(variable) => {
                    let var = self.var(variable, None)?;
                    let id = add_var(function, var);
                    (variable.name, Param::Var(id), Name::Var(id))
                }
                ParamAst::Reg { name, ty } => {
                    let id = add_register(function, self.intern(name.text), *ty);
                    (*name, Param::Reg(id), Name::Reg(id))
                }
            };
            // Declarations may leave the names out.
            if token.text != "_" && !scopes.define(token.text, name) {
                return Err(self.error(token, &format!("the parameter `{}` is already declared", token.text)));
            }
            found.push(param);
        }
        Ok(found)
    }

    /// From here on, `new` is another name of `old`.
    fn alias(&mut self, new: Token<'t>, old: Token<'t>) -> Result<()> {
        for name in [new, old] {
            if !matches!(self.symbol(name.text), Some(Symbol::Func(_))) {
                return Err(self.error(name, &format!("`{}` is not a declared function", name.text)));
            }
        }
        let target = self.symbols[old.text];
        let alias = self.symbols.get_mut(new.text).expect("looked up above");
        if alias.defined {
            return Err(self.error(new, &format!("`{}` has a body and cannot be an alias too", new.text)));
        }
        *alias = target;
        Ok(())
    }
}

fn add_register(function: &mut Function, name: Arc<str>, ty: Type) -> RegId {
    function.regs.push(Register { name, ty });
    RegId(index(function.regs.len() - 1))
}

fn add_var(function: &mut Function, var: Var) -> VarId {
    function.vars.push(var);
    VarId(index(function.vars.len() - 1))
}

fn index(n: usize) -> u32 {
    u32::try_from(n).expect("a text of less than 4 GiB has fewer than 2^32 of anything")
}
