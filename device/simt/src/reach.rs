//! What a kernel can reach: the functions that it may call, the variables that they name, and how deep calls may nest.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use gridstride_ptx::{Function, Module, Operand, Space, Symbol};

use crate::code::{Code, System};

/// The functions that a kernel can get to.
pub(crate) fn reachable(module: &Module, entry: usize) -> BTreeSet<usize> {
    let pointed: Vec<usize> = (module.globals.iter().filter_map(|g| g.init.as_ref()))
        .flat_map(|init| &init.relocs)
        .filter_map(|reloc| if let Symbol::Func(id) = reloc.symbol { Some(id.0 as usize) } else { None })
        .collect();
    let mut reached = BTreeSet::new();
    let mut waiting = vec![entry];
    let mut pointed = Some(pointed);
    while let Some(at) = waiting.pop() {
        if !reached.insert(at) {
            continue;
        }
        let function = &module.functions[at];
        waiting.extend(named_functions(function));
        // An indirect call may go to any function whose address stands in a variable.
        if function.instrs.iter().any(is_indirect_call) {
            waiting.extend(pointed.take().unwrap_or_default());
        }
    }
    reached
}

fn symbols(function: &Function) -> impl Iterator<Item = Symbol> {
    fn of(operand: &Operand, found: &mut Vec<Symbol>) {
        match operand {
            Operand::Symbol(symbol, _) | Operand::Address(gridstride_ptx::AddressBase::Symbol(symbol), _) => {
                found.push(*symbol);
            }
            Operand::List(parts) | Operand::Vector(parts) => parts.iter().for_each(|part| of(part, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    function.instrs.iter().flat_map(|instr| &instr.operands).for_each(|operand| of(operand, &mut found));
    found.into_iter()
}

pub(crate) fn named_functions(function: &Function) -> impl Iterator<Item = usize> {
    symbols(function).filter_map(|symbol| if let Symbol::Func(id) = symbol { Some(id.0 as usize) } else { None })
}

pub(crate) fn named_globals(function: &Function) -> impl Iterator<Item = u32> {
    symbols(function).filter_map(|symbol| if let Symbol::Global(id) = symbol { Some(id.0) } else { None })
}

/// Line and name of a function or variable that is used and that nothing defines.
pub(crate) fn undefined(
    module: &Module,
    variables: &[Option<(u64, u64)>],
    reached: &BTreeSet<usize>,
) -> Option<(u32, String)> {
    let function = reached.iter().map(|at| &module.functions[*at]);
    let function = { function }.find(|f| f.blocks.is_empty() && System::of(&f.name).is_none());
    let used = reached.iter().flat_map(|at| named_globals(&module.functions[*at]));
    let absent = |id: &u32| module.globals[*id as usize].space != Space::Shared && variables[*id as usize].is_none();
    let global = { used }.find(absent).map(|id| &module.globals[id as usize]);
    function.map(|f| (f.line, f.name.to_string())).or_else(|| global.map(|g| (g.line, g.name.to_string())))
}

pub(crate) fn touches_shared(module: &Module, function: &Function) -> bool {
    function.vars.iter().any(|var| var.space == Space::Shared)
        || named_globals(function).any(|id| module.globals[id as usize].space == Space::Shared)
}

fn is_indirect_call(instr: &gridstride_ptx::Instr) -> bool {
    &*instr.opcode == "call" && instr.operands.iter().any(|operand| matches!(operand, Operand::Reg(_)))
}

/// Local memory for the functions that recursion or indirect calls may nest without a bound known here.
const OPEN_ENDED_STACK: u32 = 16 << 10;

/// Local memory of the longest chain of calls; generous where calls may nest without a bound.
pub(crate) fn local_bytes(module: &Module, entry: usize, codes: &[Option<Arc<Code>>]) -> u32 {
    let mut walk = StackWalk { module, codes, known: HashMap::new(), path: Vec::new(), open: false };
    let bytes = walk.deepest(entry);
    let bytes = if walk.open { bytes + OPEN_ENDED_STACK } else { bytes };
    // An odd number of cache lines: the same variable of the 32 lanes must not fall into one set of the cache.
    if bytes < 1024 { bytes } else { (bytes.div_ceil(64) | 1) * 64 }
}

struct StackWalk<'a> {
    module: &'a Module,
    codes: &'a [Option<Arc<Code>>],
    known: HashMap<usize, u32>,
    path: Vec<usize>,
    open: bool,
}

impl StackWalk<'_> {
    fn deepest(&mut self, at: usize) -> u32 {
        let Some(code) = &self.codes[at] else { return 0 };
        if let Some(known) = self.known.get(&at) {
            return *known;
        }
        if self.path.contains(&at) || self.path.len() > 64 {
            self.open = true;
            return 0;
        }
        let function = &self.module.functions[at];
        self.open |= function.instrs.iter().any(is_indirect_call);
        self.path.push(at);
        let below = named_functions(function).map(|callee| self.deepest(callee)).max().unwrap_or(0);
        self.path.pop();
        let bytes = code.local_bytes + below;
        self.known.insert(at, bytes);
        bytes
    }
}
