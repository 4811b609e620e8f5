//! Functions: parameters, directives and the statements of the body.

use super::{Parser, Result};
use crate::ast::{Function, Param, RegisterName, Statement};
use crate::lexer::{Kind, Token};
use crate::module::{LaunchBounds, Linkage, Space};

/// Nested `{ }` that no compiler writes.
const MAX_DEPTH: u32 = 500;

impl<'t> Parser<'t> {
    /// A function, after `.entry` or `.func`.
    pub(crate) fn function(&mut self, linkage: Linkage, is_entry: bool) -> Result<Function<'t>> {
        if self.cursor.eat_dotted("attribute") {
            self.cursor.skip_parens()?;
        }
        let returns = if self.cursor.is(b'(') { self.params()? } else { Vec::new() };
        let name = self.cursor.word("the name of the function")?;
        let params = if self.cursor.is(b'(') { self.params()? } else { Vec::new() };
        let bounds = LaunchBounds::default();
        let mut function = Function { name, is_entry, linkage, returns, params, noreturn: false, bounds, body: None };
        while self.cursor.peek().kind == Kind::Dotted {
            self.function_directive(&mut function)?;
        }
        if !self.cursor.eat(b';') {
            function.body = Some(self.body(name)?);
        }
        Ok(function)
    }

    fn function_directive(&mut self, function: &mut Function<'t>) -> Result<()> {
        let token = self.cursor.next();
        let bounds = &mut function.bounds;
        match token.text {
            "noreturn" => function.noreturn = true,
            "maxntid" => bounds.max_threads = Some(self.extent("the number of threads")?),
            "reqntid" => bounds.required_threads = Some(self.extent("the number of threads")?),
            // The older name of the same.
            "minnctapersm" | "maxnctapersm" => {
                bounds.min_blocks_per_multiprocessor = Some(self.cursor.count("the number of blocks")?);
            }
            "maxnreg" => bounds.max_registers = Some(self.cursor.count("the number of registers")?),
            "reqnctapercluster" => bounds.required_cluster = Some(self.extent("the number of blocks")?),
            "explicitcluster" => bounds.explicit_cluster = true,
            "maxclusterrank" => bounds.max_cluster_rank = Some(self.cursor.count("the number of blocks")?),
            // Which registers a callee saves, and hints: they change no result.
            "abi_preserve" | "abi_preserve_control" => self.cursor.count("the number of registers").map(drop)?,
            "pragma" => self.pragma()?,
            "attribute" => self.cursor.skip_parens()?,
            other => {
                let message = format!("the directive `.{other}` of a function is not supported");
                return Err(self.cursor.error(token, &message));
            }
        }
        Ok(())
    }

    /// One to three numbers; those left out are 1.
    fn extent(&mut self, what: &str) -> Result<[u32; 3]> {
        let mut found = [1; 3];
        for (place, value) in found.iter_mut().enumerate() {
            if place > 0 && !self.cursor.eat(b',') {
                break;
            }
            *value = self.cursor.count(what)?;
        }
        Ok(found)
    }

    fn params(&mut self) -> Result<Vec<Param<'t>>> {
        self.cursor.expect(b'(')?;
        let mut found = Vec::new();
        while !self.cursor.eat(b')') {
            found.push(self.param()?);
            if !self.cursor.eat(b',') {
                self.cursor.expect(b')')?;
                break;
            }
        }
        Ok(found)
    }

    fn param(&mut self) -> Result<Param<'t>> {
        if self.cursor.eat_dotted("param") {
            return Ok(Param::Var(self.param_variable()?));
        }
        if !self.cursor.eat_dotted("reg") {
            return Err(self.cursor.expected("`.param` or `.reg`"));
        }
        // `.reg .align 4 .b32 r`: the alignment of a register means nothing.
        if self.cursor.eat_dotted("align") {
            self.cursor.count("the alignment")?;
        }
        let ty = self.cursor.ty()?;
        Ok(Param::Reg { name: self.cursor.word("the name of a register")?, ty })
    }

    fn body(&mut self, function: Token<'t>) -> Result<Vec<Statement<'t>>> {
        let open = self.cursor.peek();
        self.cursor.expect(b'{')?;
        let mut statements = Vec::new();
        let mut depth = 0u32;
        loop {
            let token = self.cursor.peek();
            match token.kind {
                Kind::Punct(b'{') => {
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Err(self.cursor.expected("scopes nested less deeply"));
                    }
                    self.cursor.next();
                    statements.push(Statement::Open);
                }
                Kind::Punct(b'}') => {
                    self.cursor.next();
                    if depth == 0 {
                        return Ok(statements);
                    }
                    depth -= 1;
                    statements.push(Statement::Close);
                }
                Kind::Punct(b';') => drop(self.cursor.next()),
                Kind::Word if self.cursor.is_at(1, b':') => statements.push(self.labelled()?),
                Kind::Punct(b'@') | Kind::Word => statements.push(Statement::Instr(self.instr()?)),
                Kind::Dotted => self.body_directive(&mut statements)?,
                Kind::End => {
                    let message = format!("the body of `{}`, which opens here, is not closed", function.text);
                    return Err(self.cursor.error(open, &message));
                }
                _ => return Err(self.cursor.expected("an instruction, a label or a directive")),
            }
        }
    }

    fn body_directive(&mut self, statements: &mut Vec<Statement<'t>>) -> Result<()> {
        let token = self.cursor.next();
        match token.text {
            "reg" => statements.push(self.registers()?),
            "loc" => statements.push(self.loc()?),
            "file" => self.file()?,
            "pragma" => self.pragma()?,
            "local" | "shared" | "param" | "global" | "const" => {
                let space = Space::from_name(token.text).expect("named above");
                let variables = self.variables(space, Linkage::Internal)?;
                statements.extend(variables.into_iter().map(Statement::Variable));
            }
            // `.extern .shared .align 16 .b8 name[];` inside a function.
            "extern" if self.cursor.is_dotted("shared") => {
                self.cursor.next();
                let variables = self.variables(Space::Shared, Linkage::Extern)?;
                statements.extend(variables.into_iter().map(Statement::Variable));
            }
            other => {
                let message = format!("the directive `.{other}` is not supported in a function");
                return Err(self.cursor.error(token, &message));
            }
        }
        Ok(())
    }

    /// `.b32 %a, %r<10>;` after `.reg`.
    fn registers(&mut self) -> Result<Statement<'t>> {
        let lanes = self.lanes().unwrap_or(1);
        let ty = self.cursor.ty()?;
        let mut names = Vec::new();
        loop {
            let name = self.cursor.word("the name of a register")?;
            let mut count = None;
            if self.cursor.eat(b'<') {
                count = Some(self.cursor.count("the number of registers")?);
                self.cursor.expect(b'>')?;
            }
            names.push(RegisterName { name, count });
            if self.cursor.eat(b';') {
                return Ok(Statement::Registers { ty, lanes, names });
            }
            self.cursor.expect(b',')?;
        }
    }

    /// `1 20 5, function_name $L__info_string0, inlined_at 1 9 3` after `.loc`, with no semicolon.
    fn loc(&mut self) -> Result<Statement<'t>> {
        let file = self.cursor.count("the number of the file")?;
        let line = self.cursor.count("the line")?;
        let column = self.cursor.count("the column")?;
        loop {
            // An instruction may follow: only the words of a `.loc` belong to it.
            match (self.cursor.peek().text, self.cursor.peek_at(1).text) {
                (",", "function_name") => {
                    self.cursor.next();
                    self.cursor.next();
                    self.cursor.word("a label of a debug section")?;
                    self.offset()?;
                }
                (",", "inlined_at") => {
                    self.cursor.next();
                    self.cursor.next();
                    for what in ["the number of the file", "the line", "the column"] {
                        self.cursor.count(what)?;
                    }
                }
                ("prologue_end" | "epilogue_begin" | "basic_block", _) => drop(self.cursor.next()),
                ("is_stmt" | "discriminator" | "isa", _) => {
                    self.cursor.next();
                    self.cursor.count("a number")?;
                }
                _ => return Ok(Statement::Loc { file, line, column }),
            }
        }
    }

    /// A label, or what a label names: branch targets, the targets or the shape of an indirect call.
    fn labelled(&mut self) -> Result<Statement<'t>> {
        let name = self.cursor.next();
        self.cursor.expect(b':')?;
        if self.cursor.eat_dotted("branchtargets") {
            return Ok(Statement::BranchTargets { name, labels: self.names("a label")? });
        }
        if self.cursor.eat_dotted("calltargets") {
            return Ok(Statement::CallTargets { name, functions: self.names("the name of a function")? });
        }
        if !self.cursor.eat_dotted("callprototype") {
            return Ok(Statement::Label(name));
        }
        let returns = if self.cursor.is(b'(') { self.params()? } else { Vec::new() };
        self.cursor.word("`_`")?;
        let params = if self.cursor.is(b'(') { self.params()? } else { Vec::new() };
        let mut noreturn = false;
        while !self.cursor.eat(b';') {
            if self.cursor.eat_dotted("noreturn") {
                noreturn = true;
            } else if self.cursor.eat_dotted("abi_preserve") || self.cursor.eat_dotted("abi_preserve_control") {
                self.cursor.count("the number of registers")?;
            } else {
                return Err(self.cursor.expected("`;`"));
            }
        }
        Ok(Statement::CallPrototype { name, returns, params, noreturn })
    }

    /// `a, b, c;`
    fn names(&mut self, what: &str) -> Result<Vec<Token<'t>>> {
        let mut found = vec![self.cursor.word(what)?];
        while self.cursor.eat(b',') {
            found.push(self.cursor.word(what)?);
        }
        self.cursor.expect(b';')?;
        Ok(found)
    }
}
