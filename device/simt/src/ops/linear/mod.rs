//! Lane functions for registers whose 32 values are known from the first: `first + lane * stride`.
//!
//! They read and write lane 0 only; see [`crate::linear`] for when that is enough. [`find`] says of an instruction which
//! function runs it so, and how the stride of the result follows from those of the operands. An instruction that is not
//! listed here runs as vector code.

mod arithmetic;
mod checks;
mod compare;

use gridstride_ptx::{Function, Instr, Operand, Type};

use crate::code::Width;
use crate::decode::width;
use crate::lane::{ExecFn, Lane, LaneFault, Lanes, Level, Slot};
use crate::ops::memory;

pub(crate) use checks::{Check, check, guarded_by_all, in_line, line, spread};
pub(crate) use compare::pack_strides;

/// How an instruction runs on lane 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) exec: ExecFn,
    pub(crate) kind: Kind,
    /// Width of the operands that may wrap.
    pub(crate) from: Width,
}

/// What becomes of strides. Operands are those of the lane function: the destination in slot 0, `a`, `b`, `c` behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// That of `a`.
    Same,
    Add,
    Sub,
    Mul,
    Mad,
    /// That of `a`, if no lane of it wraps; likewise for the next two.
    Widen(Sign),
    MulWide(Sign),
    MadWide(Sign),
    Shl,
    Shr(Sign),
    And,
    Or,
    /// The same in all lanes if so many operands are.
    Uniform(usize),
    /// `p ? a : b` of predicate slot 3.
    Select,
    /// A predicate by comparison of `a` and `b`.
    Compare,
    /// A predicate from so many predicates: runs as it is.
    Predicates(usize),
    /// From the kernel's parameters.
    Param,
    /// From or to memory, by the address in slot 0, `bytes` a lane.
    Load {
        bytes: u32,
        one: Option<[ExecFn; 2]>,
    },
    Store {
        bytes: u32,
    },
}

/// Whether a 32-bit value is read as a signed number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Signed,
    Unsigned,
}

impl Sign {
    fn of(ty: Type) -> Self {
        if ty.is_signed() { Self::Signed } else { Self::Unsigned }
    }
}

/// The first lane's value.
///
/// # Safety
/// As for [`Lanes::get`].
#[inline(always)]
pub(crate) unsafe fn first<T: Lane>(lanes: &Lanes<'_>, slot: Slot) -> T {
    // SAFETY: by the caller, the slot holds elements of T's size.
    unsafe { lanes.frame.add(slot.0 as usize).cast::<T>().read() }
}

/// Stores the first lane's value.
///
/// # Safety
/// As for [`Lanes::get`].
#[inline(always)]
pub(crate) unsafe fn put<T: Lane>(lanes: &mut Lanes<'_>, slot: Slot, value: T) {
    // SAFETY: by the caller, the slot holds elements of T's size; the frame belongs to this warp alone.
    unsafe { lanes.frame.add(slot.0 as usize).cast::<T>().write(value) }
}

/// Stands in a fault's place for the lane when nothing is wrong, only that the lanes' values are not in a line.
const NO_LANE: u32 = u32::MAX;

/// What a lane function returns when lane 0 is not enough: from this step on it must be vector code.
#[cold]
#[inline(never)]
pub(crate) fn leave() -> crate::lane::Step {
    Err(Box::new(LaneFault { lane: NO_LANE, kind: crate::FaultKind::Trap }))
}

/// True for what [`leave`] returns.
pub(crate) fn leaves(fault: &LaneFault) -> bool {
    fault.lane == NO_LANE
}

/// The rule of an instruction, if it has one.
pub(crate) fn find(function: &Function, instr: &Instr, level: Level) -> Option<Rule> {
    let words: Vec<&str> = instr.modifiers.iter().map(|word| &**word).collect();
    let ty = words.last().and_then(|word| Type::from_name(word))?;
    let rule = |exec, kind| Some(Rule { exec, kind, from: width(ty) });
    match (&*instr.opcode, &words[..]) {
        ("ld", _) => load(function, instr, level),
        ("st", _) => {
            let (exec, bytes) = memory::linear::store(function, instr, level)?;
            rule(exec, Kind::Store { bytes })
        }
        ("mov", [_]) if moves(instr) => match width(ty) {
            Width::Pred => None,
            _ => rule(arithmetic::copy(ty)?, Kind::Same),
        },
        ("cvt", [_, _]) => convert(function, instr, &words),
        ("cvta", _) => rule(arithmetic::SHIFT, Kind::Same),
        ("setp", [op, _]) if matches!(instr.operands[0], Operand::Reg(_)) && instr.operands.len() == 3 => {
            rule(compare::find(op, ty)?, Kind::Compare)
        }
        ("and" | "or" | "xor", ["pred"]) => rule(arithmetic::NOTHING, Kind::Predicates(2)),
        ("not", ["pred"]) => rule(arithmetic::NOTHING, Kind::Predicates(1)),
        ("selp", [_]) if !matches!(instr.operands.get(3), Some(Operand::NotReg(_))) => {
            rule(arithmetic::select(ty)?, Kind::Select)
        }
        (opcode, [form @ .., _]) => {
            let (exec, kind) = arithmetic::find(opcode, form, ty)?;
            rule(exec, kind)
        }
        _ => None,
    }
}

/// A move of a whole register, or of a value that stays.
fn moves(instr: &Instr) -> bool {
    match &instr.operands[..] {
        [Operand::Reg(_), Operand::Special(name, axis)] => crate::special::find(name, *axis).is_some(),
        [Operand::Reg(_), from] => !matches!(from, Operand::Vector(_) | Operand::Element(..)),
        _ => false,
    }
}

/// A whole-number conversion between registers of just those types.
fn convert(function: &Function, instr: &Instr, words: &[&str]) -> Option<Rule> {
    let [to, from] = [Type::from_name(words[0])?, Type::from_name(words[1])?];
    let fits = |operand: &Operand, ty: Type| match operand {
        Operand::Reg(reg) => function.regs[reg.0 as usize].ty.bytes() == ty.bytes(),
        Operand::Special(name, axis) => crate::special::find(name, *axis).is_some(),
        _ => false,
    };
    let [d, a] = &instr.operands[..] else { return None };
    let whole = |ty: Type| !ty.is_float() && matches!(ty.bytes(), 4 | 8);
    if !(whole(to) && whole(from) && fits(d, to) && fits(a, from)) {
        return None;
    }
    let kind = if to.bytes() > from.bytes() { Kind::Widen(Sign::of(from)) } else { Kind::Same };
    Some(Rule { exec: arithmetic::convert(to, from), kind, from: width(from) })
}

fn load(function: &Function, instr: &Instr, level: Level) -> Option<Rule> {
    if let Some(exec) = memory::linear::param(function, instr) {
        return Some(Rule { exec, kind: Kind::Param, from: Width::W64 });
    }
    let (exec, bytes, one) = memory::linear::load(function, instr, level)?;
    Some(Rule { exec, kind: Kind::Load { bytes, one }, from: Width::W64 })
}
