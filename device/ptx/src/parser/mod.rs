//! Tokens to syntax tree: module scope here, functions, variables, operands and constants in their own files.
//!
//! Nothing is looked up here; what a name means is for `resolve` to say.

mod constant;
mod cursor;
mod function;
mod instr;
mod number;
mod variable;

use std::collections::HashMap;

use crate::ast::{Ast, Item};
use crate::error::ParseError;
use crate::lexer::{Kind, Token};
use crate::module::{Linkage, PtxVersion, Space, Target};
use cursor::Cursor;

pub(crate) type Result<T> = std::result::Result<T, ParseError>;

/// The syntax tree of the tokens of `text`.
pub(crate) fn parse<'t>(text: &'t str, tokens: Vec<Token<'t>>) -> Result<Ast<'t>> {
    let ast = Ast {
        version: PtxVersion { major: 0, minor: 0 },
        target: Target { sm: 0, suffix: None },
        files: HashMap::new(),
        items: Vec::new(),
    };
    let mut parser = Parser { cursor: Cursor::new(text, tokens), ast };
    parser.header()?;
    while parser.cursor.peek().kind != Kind::End {
        parser.item()?;
    }
    Ok(parser.ast)
}

pub(crate) struct Parser<'t> {
    pub(crate) cursor: Cursor<'t>,
    pub(crate) ast: Ast<'t>,
}

impl Parser<'_> {
    fn header(&mut self) -> Result<()> {
        if !self.cursor.eat_dotted("version") {
            return Err(self.cursor.expected("`.version`, with which every PTX module begins"));
        }
        let token = self.cursor.peek();
        let parts = token.text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let Some((major, minor)) = parts else {
            return Err(self.cursor.expected("a version such as `7.0`"));
        };
        self.cursor.next();
        self.ast.version = PtxVersion { major, minor };
        if !self.cursor.eat_dotted("target") {
            return Err(self.cursor.expected("`.target`"));
        }
        self.target()?;
        if self.ast.target.sm == 0 {
            return Err(self.cursor.expected("a target such as `sm_70`"));
        }
        Ok(())
    }

    /// `sm_90a, debug`: the options say nothing about what instructions do, save one of the first GPUs.
    fn target(&mut self) -> Result<()> {
        loop {
            let token = self.cursor.word("a target such as `sm_70`")?;
            match token.text {
                "debug" | "texmode_unified" | "texmode_independent" => {}
                name => {
                    let Some(target) = architecture(name) else {
                        return Err(self.cursor.error(token, &format!("`{name}` is not a target; `sm_70` is one")));
                    };
                    self.ast.target = target;
                }
            }
            if !self.cursor.eat(b',') {
                return Ok(());
            }
        }
    }

    fn address_size(&mut self) -> Result<()> {
        let at = self.cursor.peek();
        if self.cursor.count("the address size")? == 64 {
            return Ok(());
        }
        Err(self.cursor.error(at, "only 64-bit addresses are supported (`.address_size 64`)"))
    }

    fn item(&mut self) -> Result<()> {
        // Labels between debug sections mark their ends.
        if self.cursor.peek().kind == Kind::Word && self.cursor.is_at(1, b':') {
            self.cursor.next();
            return self.cursor.expect(b':');
        }
        let mut linkage = Linkage::Internal;
        loop {
            let token = self.cursor.dotted("a directive such as `.entry`")?;
            match token.text {
                "visible" => linkage = Linkage::Visible,
                "extern" => linkage = Linkage::Extern,
                "weak" => linkage = Linkage::Weak,
                "common" => linkage = Linkage::Common,
                "entry" | "func" => {
                    let function = self.function(linkage, token.text == "entry")?;
                    self.ast.items.push(Item::Function(Box::new(function)));
                    return Ok(());
                }
                "global" | "const" | "shared" => {
                    let space = Space::from_name(token.text).expect("named above");
                    let variables = self.variables(space, linkage)?;
                    self.ast.items.extend(variables.into_iter().map(Item::Variable));
                    return Ok(());
                }
                "address_size" => return self.address_size(),
                "alias" => return self.alias(),
                "file" => return self.file(),
                "pragma" => return self.pragma(),
                other => {
                    let message = format!("the directive `.{other}` is not supported at module scope");
                    return Err(self.cursor.error(token, &message));
                }
            }
        }
    }

    /// `.file 1 "name", time, size`; DWARF 5 writers put the folder before the name.
    pub(crate) fn file(&mut self) -> Result<()> {
        let index = self.cursor.count("the number of the file")?;
        let mut name = self.cursor.string("the name of the file")?.text.to_owned();
        if self.cursor.peek().kind == Kind::Text {
            name = format!("{name}/{}", self.cursor.next().text);
        }
        self.ast.files.insert(index, name.into());
        while self.cursor.eat(b',') {
            self.cursor.number("a time or a size")?;
        }
        Ok(())
    }

    /// `.pragma "…", "…";`: hints to the assembler's optimiser; none changes a result.
    pub(crate) fn pragma(&mut self) -> Result<()> {
        loop {
            self.cursor.string("the pragma")?;
            if !self.cursor.eat(b',') {
                return self.cursor.expect(b';');
            }
        }
    }

    fn alias(&mut self) -> Result<()> {
        let new = self.cursor.word("the name of a function")?;
        self.cursor.expect(b',')?;
        let old = self.cursor.word("the name of a function")?;
        self.cursor.expect(b';')?;
        self.ast.items.push(Item::Alias { new, old });
        Ok(())
    }
}

/// `sm_90a`
fn architecture(name: &str) -> Option<Target> {
    let name = name.strip_prefix("sm_")?;
    let digits = name.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let mut letters = name[digits.len()..].chars();
    let target = Target { sm: digits.parse().ok()?, suffix: letters.next() };
    letters.next().is_none().then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Ast<'_>> {
        parse(text, crate::lexer::lex(text)?)
    }

    #[test]
    fn reads_the_header() {
        let ast = read(".version 8.10\n.target sm_90a, debug\n.address_size 64\n").unwrap();
        assert_eq!((ast.version.major, ast.version.minor), (8, 10));
        assert_eq!(ast.target, Target { sm: 90, suffix: Some('a') });
    }

    #[test]
    fn says_what_is_wrong_with_a_header() {
        let message = |text: &str| read(text).err().unwrap().message;
        assert!(message("").contains("expected `.version`, with which every PTX module begins, found the end"));
        assert!(message(".version 7").contains("a version such as `7.0`"));
        assert!(message(".version 7.0 .target sm_7x0").contains("`sm_7x0` is not a target"));
        assert!(message(".version 7.0 .target debug").contains("a target such as `sm_70`"));
        assert!(message(".version 7.0 .target sm_70 .address_size 32").contains("only 64-bit addresses"));
        assert!(message(".version 7.0 .target sm_70 .tex").contains("`.tex` is not supported at module scope"));
    }

    #[test]
    fn reads_files_wherever_they_stand() {
        let ast = read(".version 7.0 .target sm_70 .file 1 \"a.rs\" .file 2 \"b\" \"c.cu\", 17, 0x10").unwrap();
        assert_eq!((&*ast.files[&1], &*ast.files[&2]), ("a.rs", "b/c.cu"));
    }
}
