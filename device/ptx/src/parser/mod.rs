//! Tokens to module: directives at module scope here, functions, operands and initialisers in their own files.
//!
//! Names are resolved as they are read (PTX declares before use); only labels and functions declared later wait for the
//! end of their scope.

mod cursor;
mod function;
mod init;
mod operand;
mod scope;
mod variable;

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::ParseError;
use crate::lexer::{self, Kind, Token};
use crate::module::{FuncId, Function, Global, GlobalId, Linkage, Module, PtxVersion, Space, Symbol, Target};
use cursor::{Cursor, Result};

/// Reads a PTX module.
///
/// # Errors
/// The first thing that is not PTX as this crate knows it, with its line and column.
pub fn parse(text: &str) -> std::result::Result<Module, ParseError> {
    let tokens = lexer::lex(text)?;
    let files = files(&tokens);
    let mut parser = Parser {
        cursor: Cursor::new(text, tokens),
        module: Module {
            version: PtxVersion { major: 0, minor: 0 },
            target: Target { sm: 0, suffix: None },
            globals: Vec::new(),
            functions: Vec::new(),
        },
        symbols: HashMap::new(),
        files,
    };
    parser.module()?;
    Ok(parser.module)
}

/// The `.file` directives. LLVM writes them behind the code whose `.loc`s refer to them, hence a pass of its own.
fn files(tokens: &[Token<'_>]) -> HashMap<u32, Arc<str>> {
    let entry = |window: &[Token<'_>]| {
        let [directive, number, name] = window else {
            return None;
        };
        let file = directive.kind == Kind::Dotted && directive.text == "file" && name.kind == Kind::Text;
        file.then(|| Some((number.text.parse().ok()?, name.text.into()))).flatten()
    };
    tokens.windows(3).filter_map(entry).collect()
}

pub(crate) struct Parser<'t> {
    pub(crate) cursor: Cursor<'t>,
    pub(crate) module: Module,
    /// Names of module scope.
    pub(crate) symbols: HashMap<Arc<str>, Symbol>,
    /// `.file` directives.
    pub(crate) files: HashMap<u32, Arc<str>>,
}

impl Parser<'_> {
    fn module(&mut self) -> Result<()> {
        self.header()?;
        while self.cursor.peek().kind != Kind::End {
            self.item()?;
        }
        Ok(())
    }

    fn header(&mut self) -> Result<()> {
        if !self.cursor.eat_dotted("version") {
            return Err(self.cursor.expected("`.version`, with which every PTX module begins"));
        }
        self.module.version = self.version()?;
        if !self.cursor.eat_dotted("target") {
            return Err(self.cursor.expected("`.target`"));
        }
        self.target()?;
        if self.cursor.eat_dotted("address_size") {
            let at = self.cursor.peek();
            if self.cursor.count("the address size")? != 64 {
                return Err(self.cursor.error(at, "only 64-bit addresses are supported (`.address_size 64`)"));
            }
        }
        Ok(())
    }

    fn version(&mut self) -> Result<PtxVersion> {
        let token = self.cursor.peek();
        let parts = token.text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let Some((major, minor)) = parts else {
            return Err(self.cursor.expected("a version such as `7.0`"));
        };
        self.cursor.next();
        Ok(PtxVersion { major, minor })
    }

    fn target(&mut self) -> Result<()> {
        loop {
            let token = self.cursor.word("a target such as `sm_70`")?;
            if let Some(sm) = token.text.strip_prefix("sm_") {
                let digits = sm.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                let number = digits.parse();
                let suffix = sm[digits.len()..].chars().next();
                let (Ok(sm), true) = (number, sm.len() - digits.len() <= 1) else {
                    return Err(self.cursor.error(token, &format!("`{}` is not a target", token.text)));
                };
                self.module.target = Target { sm, suffix };
            }
            if !self.cursor.eat(b',') {
                return Ok(());
            }
        }
    }

    fn item(&mut self) -> Result<()> {
        // Debug sections may be followed by a label that marks their end.
        if self.cursor.peek().kind == Kind::Word && self.cursor.peek_at(1).kind == Kind::Punct(b':') {
            self.cursor.next();
            self.cursor.next();
            return Ok(());
        }
        let mut linkage = Linkage::Internal;
        loop {
            let token = self.cursor.dotted("a directive")?;
            match token.text {
                "visible" => linkage = Linkage::Visible,
                "extern" => linkage = Linkage::Extern,
                "weak" => linkage = Linkage::Weak,
                "common" => linkage = Linkage::Common,
                "entry" => return self.function(linkage, true, token.line),
                "func" => return self.function(linkage, false, token.line),
                "alias" => return self.alias(),
                "file" => return self.file(),
                "section" => return self.section(),
                "pragma" => return self.skip_statement(),
                "global" | "const" | "shared" => {
                    let space = Space::from_name(token.text).expect("named above");
                    return self.globals(space, linkage);
                }
                other => {
                    let message = format!("the directive `.{other}` is not known at module scope");
                    return Err(self.cursor.error(token, &message));
                }
            }
        }
    }

    pub(crate) fn file(&mut self) -> Result<()> {
        let index = self.cursor.count("the file number")?;
        let name = self.cursor.next();
        if name.kind != Kind::Text {
            return Err(self.cursor.error(name, "a file name in quotes belongs here"));
        }
        self.files.insert(index, name.text.into());
        while self.cursor.eat(b',') {
            self.cursor.integer()?;
        }
        Ok(())
    }

    fn section(&mut self) -> Result<()> {
        // `.section .debug_info { … }`; some writers put a tab-separated name without a dot.
        self.cursor.next();
        self.cursor.skip_braces()
    }

    pub(crate) fn skip_statement(&mut self) -> Result<()> {
        loop {
            match self.cursor.next().kind {
                Kind::Punct(b';') => return Ok(()),
                Kind::End => return Err(self.cursor.expected("`;`")),
                _ => {}
            }
        }
    }

    /// `.alias new, old;`: calls of `new` go to `old`.
    fn alias(&mut self) -> Result<()> {
        let new = self.cursor.word("the name of a function")?;
        self.cursor.expect(b',')?;
        let old = self.cursor.word("the name of a function")?;
        self.cursor.expect(b';')?;
        let Some(&Symbol::Func(target)) = self.symbols.get(old.text) else {
            return Err(self.cursor.error(old, &format!("`{}` is not a function", old.text)));
        };
        let Some(&Symbol::Func(alias)) = self.symbols.get(new.text) else {
            return Err(self.cursor.error(new, &format!("`{}` is not a declared function", new.text)));
        };
        // The declaration becomes a copy of the definition, so users of either name see a body.
        let mut body: Function = self.module.functions[target.0 as usize].clone();
        body.name = self.cursor.intern(new.text);
        self.module.functions[alias.0 as usize] = body;
        Ok(())
    }

    fn globals(&mut self, space: Space, linkage: Linkage) -> Result<()> {
        let line = self.cursor.peek().line;
        for variable in self.variables(space)? {
            let global = Global {
                name: variable.name,
                space,
                linkage,
                align: variable.align,
                size: (!variable.unsized_array).then_some(variable.size),
                init: variable.init,
                line,
            };
            self.define_global(global)?;
        }
        Ok(())
    }

    fn define_global(&mut self, global: Global) -> Result<()> {
        if let Some(known) = self.symbols.get(&global.name) {
            let &Symbol::Global(id) = known else {
                let message = format!("`{}` is already the name of a function", global.name);
                return Err(self.cursor.error_at_line(global.line, &message));
            };
            let declared = &mut self.module.globals[id.0 as usize];
            if global.linkage == Linkage::Extern {
                return Ok(());
            }
            if declared.linkage != Linkage::Extern {
                let message = format!("`{}` is already defined on line {}", global.name, declared.line);
                return Err(self.cursor.error_at_line(global.line, &message));
            }
            *declared = global;
            return Ok(());
        }
        let id = GlobalId(u32::try_from(self.module.globals.len()).expect("fewer than 2^32 variables fit a text"));
        self.symbols.insert(global.name.clone(), Symbol::Global(id));
        self.module.globals.push(global);
        Ok(())
    }

    /// Adds a function, or completes its earlier declaration.
    pub(crate) fn define_function(&mut self, function: Function) -> Result<FuncId> {
        match self.symbols.get(&function.name) {
            None => {
                let next = u32::try_from(self.module.functions.len()).expect("fewer than 2^32 functions fit a text");
                self.symbols.insert(function.name.clone(), Symbol::Func(FuncId(next)));
                self.module.functions.push(function);
                Ok(FuncId(next))
            }
            Some(&Symbol::Func(id)) => {
                let known = &mut self.module.functions[id.0 as usize];
                if !known.blocks.is_empty() && !function.blocks.is_empty() {
                    let message = format!("`{}` is already defined on line {}", function.name, known.line);
                    return Err(self.cursor.error_at_line(function.line, &message));
                }
                if known.blocks.is_empty() {
                    *known = function;
                }
                Ok(id)
            }
            Some(_) => {
                let message = format!("`{}` is already the name of a variable", function.name);
                Err(self.cursor.error_at_line(function.line, &message))
            }
        }
    }
}
