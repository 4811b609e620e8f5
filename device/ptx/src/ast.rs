//! The syntax tree: what is written, names not yet looked up.
//!
//! Made by `parser`, read by `resolve`. Names are tokens, so that an error found later still points at its place.

use std::collections::HashMap;
use std::sync::Arc;

use crate::lexer::Token;
use crate::module::{LaunchBounds, Linkage, PtxVersion, Space, Target, Type};

/// A whole text.
pub(crate) struct Ast<'t> {
    pub(crate) version: PtxVersion,
    pub(crate) target: Target,
    /// `.file` directives; they may stand behind the code whose `.loc`s refer to them.
    pub(crate) files: HashMap<u32, Arc<str>>,
    pub(crate) items: Vec<Item<'t>>,
}

pub(crate) enum Item<'t> {
    Variable(Variable<'t>),
    Function(Box<Function<'t>>),
    /// `.alias new, old;`
    Alias {
        new: Token<'t>,
        old: Token<'t>,
    },
}

/// A variable of any space and scope, parameters included.
pub(crate) struct Variable<'t> {
    pub(crate) name: Token<'t>,
    pub(crate) linkage: Linkage,
    pub(crate) space: Space,
    pub(crate) ty: Type,
    /// 2 or 4 for `.v2`, `.v4`, else 1.
    pub(crate) lanes: u32,
    pub(crate) align: Option<u32>,
    /// `[4][]`: `None` for an empty one.
    pub(crate) dimensions: Vec<Option<u64>>,
    pub(crate) init: Option<Init<'t>>,
}

/// An initialiser or a part of one.
pub(crate) enum Init<'t> {
    List(Vec<Init<'t>>),
    Number(Constant, Token<'t>),
    Address(InitAddress<'t>),
}

/// `sym`, `sym+4`, `generic(sym)+4`, `0xFF00(generic(sym)+4)`.
pub(crate) struct InitAddress<'t> {
    pub(crate) symbol: Token<'t>,
    pub(crate) addend: i64,
    pub(crate) generic: bool,
    pub(crate) mask: Option<u64>,
}

/// The value of a constant expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constant {
    /// 64 bits, of type `.u64` or `.s64`.
    Int { bits: u64, unsigned: bool },
    /// The bits of an f32.
    F32(u32),
    /// The bits of an f64.
    F64(u64),
}

pub(crate) struct Function<'t> {
    pub(crate) name: Token<'t>,
    pub(crate) is_entry: bool,
    pub(crate) linkage: Linkage,
    pub(crate) returns: Vec<Param<'t>>,
    pub(crate) params: Vec<Param<'t>>,
    pub(crate) noreturn: bool,
    pub(crate) bounds: LaunchBounds,
    /// `None` for a declaration.
    pub(crate) body: Option<Vec<Statement<'t>>>,
}

pub(crate) enum Param<'t> {
    Var(Variable<'t>),
    Reg { name: Token<'t>, ty: Type },
}

/// The body of a function is flat: scopes are a pair of statements, so depth costs no stack.
pub(crate) enum Statement<'t> {
    Open,
    Close,
    Label(Token<'t>),
    Registers { ty: Type, lanes: u32, names: Vec<RegisterName<'t>> },
    Variable(Variable<'t>),
    BranchTargets { name: Token<'t>, labels: Vec<Token<'t>> },
    CallTargets { name: Token<'t>, functions: Vec<Token<'t>> },
    CallPrototype { name: Token<'t>, returns: Vec<Param<'t>>, params: Vec<Param<'t>>, noreturn: bool },
    Loc { file: u32, line: u32, column: u32 },
    Instr(Instr<'t>),
}

/// `%p` or, with a count, `%r<10>`.
pub(crate) struct RegisterName<'t> {
    pub(crate) name: Token<'t>,
    pub(crate) count: Option<u32>,
}

pub(crate) struct Instr<'t> {
    pub(crate) guard: Option<Guard<'t>>,
    pub(crate) opcode: Token<'t>,
    pub(crate) modifiers: Vec<&'t str>,
    pub(crate) operands: Vec<Operand<'t>>,
}

pub(crate) struct Guard<'t> {
    pub(crate) name: Token<'t>,
    pub(crate) negated: bool,
}

pub(crate) enum Operand<'t> {
    Name(Token<'t>),
    /// `!p`
    Not(Token<'t>),
    /// `r.x`
    Element(Token<'t>, Token<'t>),
    /// `sym+4`
    Offset(Token<'t>, i64),
    Constant(Constant),
    /// `[base+offset]`
    Address(Option<Token<'t>>, i64),
    /// `{ … }`
    Vector(Vec<Operand<'t>>),
    /// `( … )`, or what stands in brackets beside an address: `[tex, {x, y}]`.
    List(Vec<Operand<'t>>),
    /// `_`
    Sink,
    /// `d|p`
    Pair(Box<[Operand<'t>; 2]>),
}
