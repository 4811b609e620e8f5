//! Functions: parameters, directives, registers and the instructions of the body.

use std::collections::HashMap;
use std::sync::Arc;

use super::Parser;
use super::cursor::Result;
use super::scope::{Name, Scopes};
use crate::cfg;
use crate::lexer::{Kind, Token};
use crate::module::{
    FuncId, Function, Guard, Instr, LaunchBounds, Linkage, Loc, Operand, Param, Prototype, RegId, Register, Space, Var,
    VarId,
};

/// A function while its body is read.
pub(crate) struct Body<'t> {
    pub(crate) function: Function,
    pub(crate) scopes: Scopes<'t>,
    /// `.branchtargets` lists by label.
    pub(crate) targets: HashMap<&'t str, Vec<&'t str>>,
    waiting: Vec<Waiting<'t>>,
    loc: Option<Loc>,
}

/// An operand that names labels.
struct Waiting<'t> {
    instr: usize,
    operand: usize,
    scope: usize,
    names: Vec<&'t str>,
    token: Token<'t>,
}

impl<'t> Body<'t> {
    pub(crate) fn name(&self) -> &str {
        &self.function.name
    }

    pub(crate) fn wait_for_labels(&mut self, operand: usize, names: Vec<&'t str>, token: Token<'t>) {
        let (instr, scope) = (self.function.instrs.len(), self.scopes.current());
        self.waiting.push(Waiting { instr, operand, scope, names, token });
    }

    fn add_register(&mut self, name: Arc<str>, ty: crate::module::Type) -> RegId {
        self.function.regs.push(Register { name, ty });
        RegId(index(self.function.regs.len() - 1))
    }

    fn add_var(&mut self, var: Var) -> VarId {
        self.function.vars.push(var);
        VarId(index(self.function.vars.len() - 1))
    }
}

fn index(n: usize) -> u32 {
    u32::try_from(n).expect("a text of less than 4 GiB has fewer than 2^32 of anything")
}

impl<'t> Parser<'t> {
    /// A function, after `.entry` or `.func`.
    pub(crate) fn function(&mut self, linkage: Linkage, is_entry: bool, line: u32) -> Result<()> {
        let mut body = Body {
            function: Function {
                name: "".into(),
                is_entry,
                linkage,
                params: Vec::new(),
                returns: Vec::new(),
                noreturn: false,
                bounds: LaunchBounds::default(),
                regs: Vec::new(),
                vars: Vec::new(),
                instrs: Vec::new(),
                blocks: Vec::new(),
                line,
            },
            scopes: Scopes::default(),
            targets: HashMap::new(),
            waiting: Vec::new(),
            loc: None,
        };
        body.scopes.open();
        if self.cursor.eat_dotted("attribute") {
            self.skip_parens()?;
        }
        if self.cursor.is(b'(') {
            body.function.returns = self.params(&mut body)?;
        }
        let name = self.cursor.word("the name of the function")?;
        body.function.name = self.cursor.intern(name.text);
        if self.cursor.is(b'(') {
            body.function.params = self.params(&mut body)?;
        }
        self.function_directives(&mut body.function)?;
        if self.cursor.eat(b';') {
            self.define_function(body.function)?;
            return Ok(());
        }
        // Declared before its body is read, so that it can call itself.
        let declared = Function { blocks: Vec::new(), ..body.function.clone() };
        self.define_function(declared)?;
        self.body(&mut body)?;
        self.finish(body)?;
        Ok(())
    }

    fn function_directives(&mut self, function: &mut Function) -> Result<()> {
        while self.cursor.peek().kind == Kind::Dotted {
            let token = self.cursor.next();
            let bounds = &mut function.bounds;
            match token.text {
                "noreturn" => function.noreturn = true,
                "maxntid" => bounds.max_threads = Some(self.three()?),
                "reqntid" => bounds.required_threads = Some(self.three()?),
                "minnctapersm" | "maxnctapersm" => {
                    bounds.min_blocks_per_multiprocessor = Some(self.cursor.count("it")?)
                }
                "maxnreg" => bounds.max_registers = Some(self.cursor.count("the register limit")?),
                // Hints to the assembler's optimiser; they change no result.
                "pragma" => self.skip_statement()?,
                "abi_preserve" | "abi_preserve_control" => {
                    self.cursor.count("the register count")?;
                }
                other => {
                    let message = format!("the directive `.{other}` of a function is not supported");
                    return Err(self.cursor.error(token, &message));
                }
            }
        }
        Ok(())
    }

    fn three(&mut self) -> Result<[u32; 3]> {
        let mut found = [1; 3];
        for (place, value) in found.iter_mut().enumerate() {
            if place > 0 && !self.cursor.eat(b',') {
                break;
            }
            *value = self.cursor.count("the number of threads")?;
        }
        Ok(found)
    }

    fn params(&mut self, body: &mut Body<'t>) -> Result<Vec<Param>> {
        self.cursor.expect(b'(')?;
        let mut found = Vec::new();
        while !self.cursor.eat(b')') {
            found.push(self.param(body)?);
            if !self.cursor.eat(b',') {
                self.cursor.expect(b')')?;
                break;
            }
        }
        Ok(found)
    }

    /// `.param .u64 .ptr .global .align 8 name`, `.param .align 4 .b8 name[12]`, `.reg .b32 name`.
    fn param(&mut self, body: &mut Body<'t>) -> Result<Param> {
        if self.cursor.eat_dotted("reg") {
            let ty = self.cursor.ty()?;
            let token = self.cursor.word("the name of the register")?;
            let name = self.cursor.intern(token.text);
            let reg = body.add_register(name, ty);
            let name = self.cursor.intern(token.text);
            body.scopes.define(name, Name::Reg(reg));
            return Ok(Param::Reg(reg));
        }
        let var = self.param_var()?;
        let name = var.name.clone();
        let var = body.add_var(var);
        if !body.scopes.define(name, Name::Var(var)) {
            return Err(self.cursor.expected("a parameter name that is not taken"));
        }
        Ok(Param::Var(var))
    }

    fn param_var(&mut self) -> Result<Var> {
        if !self.cursor.eat_dotted("param") {
            return Err(self.cursor.expected("`.param`"));
        }
        let mut align = None;
        if self.cursor.eat_dotted("align") {
            align = Some(self.cursor.count("the alignment")?);
        }
        let ty = self.cursor.ty()?;
        if self.cursor.eat_dotted("ptr") {
            // What the pointer points to; nothing here depends on it.
            while self.cursor.peek().kind == Kind::Dotted {
                if self.cursor.next().text == "align" {
                    self.cursor.count("the alignment")?;
                }
            }
        }
        let token = self.cursor.word("the name of a parameter")?;
        let name = self.cursor.intern(token.text);
        let mut size = u64::from(ty.bytes());
        if self.cursor.eat(b'[') {
            let count = if self.cursor.is(b']') { 0 } else { self.cursor.count("the size of the parameter")? };
            self.cursor.expect(b']')?;
            size *= u64::from(count);
        }
        let align = align.unwrap_or(ty.bytes());
        if !align.is_power_of_two() {
            return Err(self.cursor.error(token, "the alignment of a parameter is a power of two"));
        }
        Ok(Var { name, space: Space::Param, ty, align, size, init: None })
    }

    fn body(&mut self, body: &mut Body<'t>) -> Result<()> {
        let open = self.cursor.peek();
        self.cursor.expect(b'{')?;
        loop {
            let token = self.cursor.peek();
            match token.kind {
                Kind::Punct(b'{') => {
                    self.cursor.next();
                    body.scopes.open();
                }
                Kind::Punct(b'}') => {
                    self.cursor.next();
                    if !body.scopes.close() {
                        return Ok(());
                    }
                }
                Kind::Punct(b';') => {
                    self.cursor.next();
                }
                Kind::Punct(b'@') | Kind::Word => self.label_or_instr(body)?,
                Kind::Dotted => self.body_directive(body)?,
                Kind::End => {
                    let message = format!("the body of `{}`, which opens here, is not closed", body.name());
                    return Err(self.cursor.error(open, &message));
                }
                _ => {
                    return Err(self.cursor.expected("an instruction, a label or a directive"));
                }
            }
        }
    }

    fn body_directive(&mut self, body: &mut Body<'t>) -> Result<()> {
        let token = self.cursor.next();
        match token.text {
            "reg" => self.registers(body),
            "loc" => self.loc(body),
            "file" => self.file(),
            "pragma" => self.skip_statement(),
            "local" | "shared" | "param" | "global" | "const" => {
                let space = Space::from_name(token.text).expect("named above");
                self.local_variables(body, space)
            }
            // `.extern .shared .align 16 .b8 name[];` inside a function.
            "extern" => Ok(()),
            other => {
                let message = format!("the directive `.{other}` is not known in a function");
                Err(self.cursor.error(token, &message))
            }
        }
    }

    fn local_variables(&mut self, body: &mut Body<'t>, space: Space) -> Result<()> {
        let at = self.cursor.peek();
        for variable in self.variables(space)? {
            let super::variable::Variable { name, ty, align, size, init, .. } = variable;
            let var = body.add_var(Var { name: name.clone(), space, ty, align, size, init });
            if !body.scopes.define(name.clone(), Name::Var(var)) {
                return Err(self.cursor.error(at, &format!("`{name}` is already declared in this scope")));
            }
        }
        Ok(())
    }

    fn registers(&mut self, body: &mut Body<'t>) -> Result<()> {
        let at = self.cursor.peek();
        if matches!(at.text, "v2" | "v4") && at.kind == Kind::Dotted {
            return Err(self.cursor.error(at, "vector registers are not supported; no current compiler writes them"));
        }
        let ty = self.cursor.ty()?;
        loop {
            let token = self.cursor.word("the name of a register")?;
            let count = if self.cursor.eat(b'<') {
                let count = self.cursor.count("the number of registers")?;
                self.cursor.expect(b'>')?;
                Some(count)
            } else {
                None
            };
            match count {
                None => {
                    let name = self.cursor.intern(token.text);
                    self.register(body, token, name, ty)?;
                }
                Some(count) if count > 1_000_000 => {
                    return Err(self.cursor.error(token, "more than a million registers"));
                }
                Some(count) => {
                    for number in 0..count {
                        self.register(body, token, format!("{}{number}", token.text).into(), ty)?;
                    }
                }
            }
            if self.cursor.eat(b';') {
                return Ok(());
            }
            self.cursor.expect(b',')?;
        }
    }

    fn register(&mut self, body: &mut Body<'t>, at: Token<'t>, name: Arc<str>, ty: crate::module::Type) -> Result<()> {
        let reg = body.add_register(name.clone(), ty);
        if body.scopes.define(name.clone(), Name::Reg(reg)) {
            return Ok(());
        }
        Err(self.cursor.error(at, &format!("`{name}` is already declared in this scope")))
    }

    /// `.loc file line column[, function_name label[+n]][, inlined_at file line column]`, with no semicolon.
    fn loc(&mut self, body: &mut Body<'t>) -> Result<()> {
        let file = self.cursor.count("the file number")?;
        let line = self.cursor.count("the line")?;
        let column = self.cursor.count("the column")?;
        let file = self.files.get(&file).cloned().unwrap_or_else(|| format!("file {file}").into());
        body.loc = (line > 0).then_some(Loc { file, line, column });
        while self.cursor.eat(b',') {
            let word = self.cursor.word("`function_name` or `inlined_at`")?;
            if word.text == "function_name" {
                self.cursor.word("a label")?;
                if self.cursor.is(b'+') {
                    self.cursor.integer()?;
                }
            } else {
                for _ in 0..3 {
                    self.cursor.integer()?;
                }
            }
        }
        Ok(())
    }

    fn label_or_instr(&mut self, body: &mut Body<'t>) -> Result<()> {
        let token = self.cursor.peek();
        if token.kind != Kind::Word || self.cursor.peek_at(1).kind != Kind::Punct(b':') {
            return self.instr(body);
        }
        self.cursor.next();
        self.cursor.next();
        if self.cursor.eat_dotted("branchtargets") {
            let mut labels = vec![self.cursor.word("a label")?.text];
            while self.cursor.eat(b',') {
                labels.push(self.cursor.word("a label")?.text);
            }
            body.targets.insert(token.text, labels);
            return self.cursor.expect(b';');
        }
        if self.cursor.eat_dotted("callprototype") {
            let prototype = Arc::new(self.prototype()?);
            let name = self.cursor.intern(token.text);
            body.scopes.define(name, Name::Prototype(prototype));
            return Ok(());
        }
        // Names functions an indirect call may reach; a hint only.
        if self.cursor.eat_dotted("calltargets") {
            return self.skip_statement();
        }
        let at = index(body.function.instrs.len());
        if !body.scopes.define_label(token.text, at) {
            return Err(self.cursor.error(token, &format!("the label `{}` is already defined", token.text)));
        }
        Ok(())
    }

    /// `( … ) _ ( … ) [.noreturn];`
    fn prototype(&mut self) -> Result<Prototype> {
        let returns = if self.cursor.is(b'(') { self.prototype_params()? } else { Vec::new() };
        self.cursor.word("`_`")?;
        let params = if self.cursor.is(b'(') { self.prototype_params()? } else { Vec::new() };
        let noreturn = self.cursor.eat_dotted("noreturn");
        self.cursor.expect(b';')?;
        Ok(Prototype { returns, params, noreturn })
    }

    fn prototype_params(&mut self) -> Result<Vec<(u32, u64)>> {
        self.cursor.expect(b'(')?;
        let mut found = Vec::new();
        while !self.cursor.eat(b')') {
            if self.cursor.eat_dotted("reg") {
                let ty = self.cursor.ty()?;
                self.cursor.word("`_`")?;
                found.push((ty.bytes(), u64::from(ty.bytes())));
            } else {
                let var = self.param_var()?;
                found.push((var.align, var.size));
            }
            if !self.cursor.eat(b',') {
                self.cursor.expect(b')')?;
                break;
            }
        }
        Ok(found)
    }

    fn instr(&mut self, body: &mut Body<'t>) -> Result<()> {
        let guard = if self.cursor.eat(b'@') { Some(self.guard(body)?) } else { None };
        let token = self.cursor.word("an instruction")?;
        let opcode = self.cursor.intern(token.text);
        let mut modifiers = Vec::new();
        while self.cursor.peek().kind == Kind::Dotted {
            let modifier = self.cursor.next();
            modifiers.push(self.cursor.intern(modifier.text));
        }
        let operands = match token.text {
            "bra" => self.branch_operands(body, false)?,
            "brx" => self.branch_operands(body, true)?,
            _ => self.plain_operands(body)?,
        };
        let loc = body.loc.clone();
        body.function.instrs.push(Instr { guard, opcode, modifiers, operands, line: token.line, loc });
        Ok(())
    }

    fn plain_operands(&mut self, body: &mut Body<'t>) -> Result<Vec<Operand>> {
        let mut operands = Vec::new();
        while !self.cursor.eat(b';') {
            operands.push(self.operand(body)?);
            if !self.cursor.eat(b',') {
                self.cursor.expect(b';')?;
                break;
            }
        }
        Ok(operands)
    }

    fn guard(&mut self, body: &mut Body<'t>) -> Result<Guard> {
        let negated = self.cursor.eat(b'!');
        let token = self.cursor.word("a predicate register")?;
        match self.resolve(body, token)? {
            Operand::Reg(reg) => Ok(Guard { reg, negated }),
            _ => Err(self.cursor.error(token, "a guard is a predicate register")),
        }
    }

    fn finish(&mut self, mut body: Body<'t>) -> Result<FuncId> {
        let labels: Vec<(&str, u32)> = body.scopes.labels().collect();
        let starts = cfg::split(&mut body.function, &labels);
        for waiting in std::mem::take(&mut body.waiting) {
            let mut blocks = Vec::with_capacity(waiting.names.len());
            for name in &waiting.names {
                let Some(at) = body.scopes.find_label(waiting.scope, name) else {
                    let near = body.scopes.nearest(name).map_or(String::new(), |near| format!("; `{near}` is"));
                    let message = format!("the label `{name}` is not defined in `{}`{near}", body.name());
                    return Err(self.cursor.error(waiting.token, &message));
                };
                blocks.push(starts[at as usize]);
            }
            let operand = &mut body.function.instrs[waiting.instr].operands[waiting.operand];
            *operand = match operand {
                Operand::Label(_) => Operand::Label(blocks[0]),
                _ => Operand::Targets(blocks.into()),
            };
        }
        cfg::connect(&mut body.function);
        self.define_function(body.function)
    }
}
