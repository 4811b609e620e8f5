//! What a reader of PTX hands on: names resolved, registers numbered, labels turned into blocks.
//!
//! The module is still opcode-agnostic: an [`Instr`] is an opcode, its modifiers and its operands as written. Which
//! opcodes exist and what they do is the executor's business, so that adding one touches one place there.
//!
//! ```text
//! text -- lexer --> tokens -- parser --> ast::* -- resolve --> module::* -- cfg --> blocks, post-dominators
//! ```

use std::sync::Arc;

/// A whole PTX module. Indices (`FuncId`, `GlobalId`, …) are positions in its vectors.
#[derive(Debug, Clone)]
pub struct Module {
    /// `.version`: the PTX ISA version that the text is written for.
    pub version: PtxVersion,
    /// `.target`: the virtual architecture.
    pub target: Target,
    /// Module-scope variables, in order of appearance.
    pub globals: Vec<Global>,
    /// Kernels and device functions, declarations included. A declaration that is defined later appears once, defined.
    pub functions: Vec<Function>,
}

/// A PTX ISA version, for example 7.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// Major version.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
}

/// A virtual architecture, for example `sm_90a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Target {
    /// Compute capability times ten: 70, 90, 120.
    pub sm: u32,
    /// `a` (this architecture only) or `f` (this family only), if written.
    pub suffix: Option<char>,
}

/// State spaces (PTX ISA, "State Spaces").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// `.global`
    Global,
    /// `.const`
    Const,
    /// `.shared`
    Shared,
    /// `.local`
    Local,
    /// `.param`
    Param,
}

/// Fundamental types (PTX ISA, "Types"). Vector types are written as arrays of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is the PTX type of its own name")]
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F64,
}

/// Index into [`Module::functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FuncId(pub u32);
/// Index into [`Module::globals`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GlobalId(pub u32);
/// Index into [`Function::regs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RegId(pub u32);
/// Index into [`Function::vars`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VarId(pub u32);
/// Index into [`Function::blocks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockId(pub u32);

/// `.visible`, `.extern`, `.weak`, `.common`, or none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is the linking directive of its own name")]
pub enum Linkage {
    Internal,
    Visible,
    Extern,
    Weak,
    Common,
}

/// A module-scope variable.
#[derive(Debug, Clone)]
pub struct Global {
    /// Name as written.
    pub name: Arc<str>,
    /// Global, const or shared.
    pub space: Space,
    /// Linking directive.
    pub linkage: Linkage,
    /// Alignment in bytes: `.align` if written, else that of the element type.
    pub align: u32,
    /// Size in bytes; `None` for `.extern` arrays without a bound (dynamic shared memory).
    pub size: Option<u64>,
    /// Initial contents, or `None` when the text gives none (then zero).
    pub init: Option<Init>,
    /// Line of the declaration, from 1.
    pub line: u32,
}

/// Initial contents of a variable.
#[derive(Debug, Clone, Default)]
pub struct Init {
    /// The bytes, little-endian; the places that relocations fill are zero. Where there are fewer than the variable's
    /// size, the rest is zero.
    pub bytes: Vec<u8>,
    /// Addresses to be filled in when the module is loaded.
    pub relocs: Vec<Reloc>,
}

/// An address inside an initialiser.
#[derive(Debug, Clone)]
pub struct Reloc {
    /// Byte offset in the variable.
    pub offset: u64,
    /// Bytes written: 8 for a whole address, 1 for a `0xFF(sym)`-masked byte and so on.
    pub width: u32,
    /// Right shift of the address before it is cut to `width` (masked initialisers), else 0.
    pub shift: u32,
    /// What is pointed to.
    pub symbol: Symbol,
    /// Added to the address.
    pub addend: i64,
    /// True for `generic(sym)`: a generic address instead of one in the symbol's own space.
    pub generic: bool,
}

/// A named thing of module or function scope that has an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A module-scope variable.
    Global(GlobalId),
    /// A device function or kernel.
    Func(FuncId),
    /// A variable of the function: `.local`, `.shared`, `.param` declared inside, or one of its parameters.
    Var(VarId),
}

/// A kernel (`.entry`) or a device function (`.func`).
#[derive(Debug, Clone)]
pub struct Function {
    /// Name as written.
    pub name: Arc<str>,
    /// True for `.entry`.
    pub is_entry: bool,
    /// Linking directive.
    pub linkage: Linkage,
    /// Input parameters, as variables in `vars` (space `Param`) or registers.
    pub params: Vec<Param>,
    /// Return parameters.
    pub returns: Vec<Param>,
    /// True where the text says `.noreturn`.
    pub noreturn: bool,
    /// `.maxntid`, `.reqntid`, `.minnctapersm`, `.maxnreg` and what it says of clusters, as written.
    pub bounds: LaunchBounds,
    /// Registers, as far as they are used or declared by name (of a range `%r<100>` those that occur). Names are kept
    /// for messages.
    pub regs: Vec<Register>,
    /// Addressable variables of the function, parameters included.
    pub vars: Vec<Var>,
    /// Instructions in order of the text.
    pub instrs: Vec<Instr>,
    /// Basic blocks in order of the text; block 0 is the entry. Empty for a declaration.
    pub blocks: Vec<Block>,
    /// Line of the declaration, from 1.
    pub line: u32,
}

/// Launch bounds of a kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// `.maxntid x, y, z`
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid x, y, z`
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`
    pub min_blocks_per_multiprocessor: Option<u32>,
    /// `.maxnreg`
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster x, y, z`: the kernel runs in clusters of so many blocks.
    pub required_cluster: Option<[u32; 3]>,
    /// `.explicitcluster`: the launch must name a cluster shape.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`
    pub max_cluster_rank: Option<u32>,
}

/// Where a parameter lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Param {
    /// In `.param` space, with an address.
    Var(VarId),
    /// In a register (`.func (.reg .b32 r)`).
    Reg(RegId),
}

/// A virtual register.
#[derive(Debug, Clone)]
pub struct Register {
    /// Name as written, for example `%r12`.
    pub name: Arc<str>,
    /// Declared type.
    pub ty: Type,
}

/// An addressable variable of a function.
#[derive(Debug, Clone)]
pub struct Var {
    /// Name as written.
    pub name: Arc<str>,
    /// Local, shared or param. A `.global` or `.const` variable of a function is among the module's, as `function.name`; but
    /// not an `.extern` one.
    pub space: Space,
    /// Element type.
    pub ty: Type,
    /// Alignment in bytes.
    pub align: u32,
    /// Size in bytes (0 for an unsized `.extern .shared` array).
    pub size: u64,
    /// Initial contents, if any.
    pub init: Option<Init>,
}

/// A basic block: `instrs[start..end]`; only its last instruction can transfer control.
#[derive(Debug, Clone)]
pub struct Block {
    /// First instruction, an index into [`Function::instrs`].
    pub start: u32,
    /// One past the last.
    pub end: u32,
    /// Label, if something branches to it. Other labels, those for debuggers, neither begin a block nor are kept.
    pub label: Option<Arc<str>>,
    /// Blocks that may run next: for a branch the target(s) first, then the fall-through. Empty after `ret`, `exit`.
    pub successors: Vec<BlockId>,
    /// Immediate post-dominator, or `None` when the paths from here meet only at the function's exit.
    pub ipdom: Option<BlockId>,
    /// True when a back edge enters here: the block dominates a predecessor, or it is the first block reached of a loop
    /// with several entries. Every cycle has one.
    pub loop_header: bool,
}

/// One instruction, as written.
#[derive(Debug, Clone)]
pub struct Instr {
    /// `@p` or `@!p`.
    pub guard: Option<Guard>,
    /// The opcode up to the first dot: `ld`, `add`, `bar`, `cvt`.
    pub opcode: Arc<str>,
    /// The dotted parts after it, in order and without dots: `["global", "nc", "v4", "f32"]`; `::` parts keep their
    /// colons (`shared::cta`).
    pub modifiers: Vec<Arc<str>>,
    /// The operands in order of the text, destination first.
    pub operands: Vec<Operand>,
    /// Line in the PTX text, from 1.
    pub line: u32,
    /// Source position from the last `.loc`, if any.
    pub loc: Option<Loc>,
}

/// A guard predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// Predicate register.
    pub reg: RegId,
    /// True for `@!p`.
    pub negated: bool,
}

/// A source position (`.file` and `.loc`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loc {
    /// File as the `.file` directive names it.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
}

/// An operand.
#[derive(Debug, Clone)]
pub enum Operand {
    /// A register.
    Reg(RegId),
    /// `!p`
    NotReg(RegId),
    /// Integer constant, sign-extended to 64 bits of two's complement.
    Int(i64),
    /// `0fXXXXXXXX`: the bits of an f32.
    F32(u32),
    /// `0dXXXXXXXXXXXXXXXX` or a decimal floating constant: the bits of an f64.
    F64(u64),
    /// A special register: `%tid.x` is `("tid", Some('x'))`, `%clock64` is `("clock64", None)`; `WARP_SZ` is an `Int`.
    Special(Arc<str>, Option<char>),
    /// The address of a symbol plus an offset, used as a value (`mov.u64 %rd1, sym;`).
    Symbol(Symbol, i64),
    /// `[base+offset]`
    Address(AddressBase, i64),
    /// `{a, b, …}` of a vector load, store or move.
    Vector(Vec<Operand>),
    /// `_`: a result that is thrown away.
    Sink,
    /// `d|p`: a destination with a second (predicate) destination.
    Pair(Box<Operand>, Box<Operand>),
    /// `r.h0`, `r.b3` and the like: a part of a register. An element `v.x` of a vector register (`.reg .v4 .f32 v`) is
    /// a register of its own, and `v` a [`Operand::Vector`] of them.
    Element(RegId, Arc<str>),
    /// A label of this function: the target of a `bra`.
    Label(BlockId),
    /// The name of a `.branchtargets` list: the targets of a `brx.idx`.
    Targets(Arc<[BlockId]>),
    /// `( … )`: the return list or the argument list of a `call`. Also an address with coordinates, as textures and
    /// tensor maps have it: `[map, {x, y}]` is the list of the address and the vector.
    List(Vec<Operand>),
    /// A `.callprototype` label: the shapes of the returns and arguments of an indirect call.
    Prototype(Arc<Prototype>),
}

/// What an address is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressBase {
    /// A register.
    Reg(RegId),
    /// A symbol.
    Symbol(Symbol),
    /// Nothing: the offset is the address.
    Absolute,
}

/// The shape of an indirect call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prototype {
    /// `(align, size)` in bytes of each return parameter.
    pub returns: Vec<(u32, u64)>,
    /// `(align, size)` in bytes of each argument.
    pub params: Vec<(u32, u64)>,
    /// True where the prototype says `.noreturn`.
    pub noreturn: bool,
}
