//! Which registers are in a line: `first + lane * stride` with a stride known beforehand, whatever the lanes do, as long as
//! they all do it together.
//!
//! Registers may have several definitions, so a register's class is what all of its definitions agree on.

use std::collections::{HashMap, HashSet};

use gridstride_ptx::{Function, Instr, Operand, RegId};

use crate::code::{Code, Guard, Special, Step, Width};
use crate::decode::width;
use crate::lane::{LANES, Level, Slot};
use crate::ops::linear::{Check, Kind, Rule, Sign, find};

/// What is known of a register, from nothing (no definition seen) to too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Unseen,
    /// For a predicate, stride 0 says that it is the same in all lanes.
    Line(i64),
    Any,
}

impl Class {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unseen, class) | (class, Self::Unseen) => class,
            (Self::Line(a), Self::Line(b)) if a == b => self,
            _ => Self::Any,
        }
    }

    pub(super) fn stride(self) -> Option<i64> {
        match self {
            Self::Line(stride) => Some(stride),
            _ => None,
        }
    }
}

/// Strides beyond it are not worth following.
const WIDEST: u64 = 1 << 30;

/// The classes of a function's slots, and the rules of its steps.
pub(super) struct Classes<'a> {
    classes: HashMap<Slot, Class>,
    /// Slots with values that never change, and the values of constants.
    constants: HashMap<Slot, Option<u64>>,
    pub(super) rules: HashMap<u32, Rule>,
    pub(super) registers: HashMap<Slot, Width>,
    function: &'a Function,
    regs: &'a [Slot],
}

impl<'a> Classes<'a> {
    /// `flat`: the lanes of a warp differ in `%tid.x` alone, by one from lane to lane.
    pub(super) fn of(function: &'a Function, code: &'a Code, level: Level, flat: bool) -> Self {
        let mut new = Self {
            classes: HashMap::new(),
            constants: HashMap::new(),
            rules: HashMap::new(),
            registers: HashMap::new(),
            function,
            regs: &code.regs,
        };
        for (reg, slot) in function.regs.iter().zip(&code.regs) {
            new.registers.insert(*slot, width(reg.ty));
        }
        new.place_constants(code, flat);
        let mut steps: HashMap<u32, &Step> = HashMap::new();
        let mut several: HashSet<u32> = HashSet::new();
        for step in code.blocks.iter().flat_map(|block| &block.steps) {
            if steps.insert(step.at, step).is_some() {
                several.insert(step.at);
            }
        }
        // A rule is about the one step that an instruction became.
        several.iter().for_each(|at| {
            steps.remove(at);
        });
        for (at, instr) in (0..).zip(&function.instrs) {
            match steps.get(&at).and_then(|_| find(function, instr, level)) {
                Some(rule) => {
                    new.rules.insert(at, rule);
                }
                None if new.takes_result(instr) => {}
                None => new.destinations(instr).into_iter().for_each(|slot| {
                    new.classes.insert(slot, Class::Any);
                }),
            }
        }
        while new.sweep(&steps) {}
        // Of what no rule has told anything by now nothing is known, nor of what is computed from it.
        let unseen: Vec<Slot> =
            new.registers.keys().filter(|slot| new.class(**slot) == Class::Unseen).copied().collect();
        unseen.into_iter().for_each(|slot| {
            new.classes.insert(slot, Class::Any);
        });
        while new.sweep(&steps) {}
        new
    }

    fn place_constants(&mut self, code: &Code, flat: bool) {
        let mut place = |slot: Slot, class, value| {
            self.classes.insert(slot, class);
            self.constants.insert(slot, value);
        };
        for constant in &code.frame.constants {
            place(constant.slot, Class::Line(0), Some(constant.bits));
        }
        for &(slot, _, special) in &code.frame.specials {
            let class = match special {
                Special::Tid(_) if !flat => Class::Any,
                Special::Tid(0) | Special::LaneId => Class::Line(1),
                Special::LaneMaskEq
                | Special::LaneMaskLe
                | Special::LaneMaskLt
                | Special::LaneMaskGe
                | Special::LaneMaskGt => Class::Any,
                _ => Class::Line(0),
            };
            place(slot, class, None);
        }
        for &(slot, ..) in &code.frame.locals {
            place(slot, Class::Line(0), None);
        }
    }

    /// True for the load of a called function's result. Behind a call all is vector code for a while; so rather than that the
    /// result keeps a register out of line, it is looked at when it comes.
    pub(super) fn takes_result(&self, instr: &Instr) -> bool {
        let param = &*instr.opcode == "ld" && instr.modifiers.first().is_some_and(|word| &**word == "param");
        let whole = |slot: &Slot| matches!(self.registers.get(slot), Some(Width::W32 | Width::W64));
        param && instr.guard.is_none() && self.destinations(instr).iter().all(whole)
    }

    /// Derives every step's result once more. True if something changed.
    fn sweep(&mut self, steps: &HashMap<u32, &Step>) -> bool {
        let mut changed = false;
        let rules: Vec<(u32, Rule)> = self.rules.iter().map(|(at, rule)| (*at, *rule)).collect();
        for (at, rule) in rules {
            let step = steps[&at];
            let mut result = self.result(&rule, step);
            if result != Class::Unseen && !self.whole(step.guard) {
                result = Class::Any;
            }
            for slot in self.destinations(&self.function.instrs[at as usize]) {
                // Lane 0 alone is kept of 32 and 64 bits; predicates are kept as they are.
                let fits = matches!(self.registers.get(&slot), Some(Width::W32 | Width::W64 | Width::Pred));
                let old = self.class(slot);
                let new = old.join(if fits || result == Class::Unseen { result } else { Class::Any });
                changed |= old != new;
                self.classes.insert(slot, new);
            }
        }
        changed
    }

    pub(super) fn class(&self, slot: Slot) -> Class {
        self.classes.get(&slot).copied().unwrap_or(Class::Unseen)
    }

    /// True if the register is one of the program's (not a constant) and in a line.
    pub(super) fn in_line(&self, slot: Slot) -> bool {
        self.registers.contains_key(&slot) && self.class(slot).stride().is_some()
    }

    /// True if a guard lets all lanes pass or none.
    pub(super) fn whole(&self, guard: Guard) -> bool {
        guard.slot().is_none_or(|slot| self.class(slot) == Class::Line(0))
    }

    fn constant(&self, slot: Slot) -> Option<u64> {
        self.constants.get(&slot).copied().flatten()
    }

    /// The class of what a step computes.
    pub(super) fn result(&self, rule: &Rule, step: &Step) -> Class {
        let sources = sources(rule.kind);
        let classes: Vec<Class> = step.args.slots[sources].iter().map(|slot| self.class(*slot)).collect();
        if classes.contains(&Class::Unseen) {
            return Class::Unseen;
        }
        let strides: Option<Vec<i64>> = classes.iter().map(|class| class.stride()).collect();
        match (strides, rule.kind) {
            (_, Kind::Param) => Class::Line(0),
            (Some(strides), kind) => match self.stride(kind, rule.from, &strides, step) {
                Some(stride) if stride.unsigned_abs() <= WIDEST => Class::Line(stride),
                _ => Class::Any,
            },
            (None, _) => Class::Any,
        }
    }

    fn stride(&self, kind: Kind, from: Width, strides: &[i64], step: &Step) -> Option<i64> {
        let uniform = strides.iter().all(|stride| *stride == 0);
        let [_, a, b, ..] = step.args.slots;
        let product = |sign| self.product(strides, [a, b], from, sign);
        match kind {
            Kind::Same | Kind::Widen(_) => Some(strides[0]),
            Kind::Add => Some(strides[0] + strides[1]),
            Kind::Sub => Some(strides[0] - strides[1]),
            Kind::Mul => product(Sign::Signed),
            Kind::MulWide(sign) => product(sign),
            Kind::Mad => Some(product(Sign::Signed)? + strides[2]),
            Kind::MadWide(sign) => Some(product(sign)? + strides[2]),
            Kind::Shl if uniform => Some(0),
            Kind::Shl => self.constant(b).filter(|by| *by < 31).map(|by| strides[0] << by),
            Kind::Or if uniform => Some(0),
            Kind::Or => match strides {
                [stride, 0] | [0, stride] if *stride > 0 => Some(*stride),
                _ => None,
            },
            Kind::And | Kind::Shr(_) if uniform => Some(0),
            // The ends must at least have a chance to be in the same place.
            Kind::And => {
                let mask = self.constant(b)?;
                let fits = strides[0] > 0 && mask & (mask.wrapping_add(1)) == 0 && mask >= reach(strides[0]);
                fits.then_some(strides[0])
            }
            Kind::Shr(_) => {
                let by = self.constant(b).filter(|by| *by < 63)?;
                (strides[0] > 0 && reach(strides[0]) < 1 << by).then_some(0)
            }
            Kind::Uniform(_) | Kind::Select | Kind::Compare | Kind::Predicates(_) => uniform.then_some(0),
            Kind::Load { one, .. } => (uniform && one.is_some()).then_some(0),
            Kind::Store { .. } | Kind::Param => Some(0),
        }
    }

    /// The stride of `a * b`: one of them must be a constant, unless both are the same in all lanes.
    fn product(&self, strides: &[i64], [a, b]: [Slot; 2], from: Width, sign: Sign) -> Option<i64> {
        let times = |stride: i64, constant: Option<u64>| {
            // Narrow constants are kept without their sign.
            let value = match (from, sign) {
                (Width::W64, _) => constant?.cast_signed(),
                (_, Sign::Signed) => i64::from(constant? as i32),
                (_, Sign::Unsigned) => i64::from(constant? as u32),
            };
            stride.checked_mul(value).filter(|stride| stride.unsigned_abs() <= WIDEST)
        };
        match (strides[0], strides[1]) {
            (0, 0) => Some(0),
            (stride, 0) => times(stride, self.constant(b)),
            (0, stride) => times(stride, self.constant(a)),
            _ => None,
        }
    }

    /// What must be made sure of before a step's lane 0 speaks for all: the check, its slots and its stride.
    pub(super) fn checks(&self, kind: Kind, step: &Step) -> Vec<(Check, [Slot; 2], i64)> {
        let [_, a, b, ..] = step.args.slots;
        let stride = |slot| self.class(slot).stride().unwrap_or(0);
        let (by_a, by_b) = (stride(a), stride(b));
        let signed = |sign| sign == Sign::Signed;
        let mut checks = Vec::new();
        match kind {
            Kind::Widen(sign) if by_a != 0 => checks.push((Check::Wraps { signed: signed(sign) }, [a, a], by_a)),
            Kind::MulWide(sign) | Kind::MadWide(sign) => {
                for (slot, by) in [(a, by_a), (b, by_b)].into_iter().filter(|(_, by)| *by != 0) {
                    checks.push((Check::Wraps { signed: signed(sign) }, [slot, slot], by));
                }
            }
            Kind::Or if by_a != 0 => checks.push((Check::Disjoint, [a, b], by_a)),
            Kind::Or if by_b != 0 => checks.push((Check::Disjoint, [b, a], by_b)),
            Kind::And if by_a != 0 => checks.push((Check::LowBits, [a, b], by_a)),
            Kind::Shr(sign) if by_a != 0 => checks.push((Check::SameShifted { signed: signed(sign) }, [a, b], by_a)),
            _ => {}
        }
        checks
    }

    /// Registers that an instruction writes.
    pub(super) fn destinations(&self, instr: &Instr) -> Vec<Slot> {
        let mut found = Vec::new();
        // What stands first is written, unless it is an address.
        if let Some(first) = instr.operands.first() {
            self.registers_of(first, false, &mut found);
        }
        found
    }

    /// Registers that an instruction reads, its guard aside. `also_first`: what stands first is read, too.
    pub(super) fn sources(&self, instr: &Instr, also_first: bool) -> Vec<Slot> {
        let mut found = Vec::new();
        for (at, operand) in instr.operands.iter().enumerate() {
            if at > 0 || also_first || matches!(operand, Operand::Address(..)) {
                self.registers_of(operand, true, &mut found);
            }
        }
        found
    }

    fn registers_of(&self, operand: &Operand, addresses: bool, found: &mut Vec<Slot>) {
        let mut add = |reg: RegId| found.push(self.regs[reg.0 as usize]);
        match operand {
            Operand::Reg(reg) | Operand::NotReg(reg) | Operand::Element(reg, _) => add(*reg),
            Operand::Address(gridstride_ptx::AddressBase::Reg(reg), _) if addresses => add(*reg),
            Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter().for_each(|part| self.registers_of(part, addresses, found));
            }
            Operand::Pair(a, b) => {
                self.registers_of(a, addresses, found);
                self.registers_of(b, addresses, found);
            }
            _ => {}
        }
    }
}

/// Lane 31's distance from lane 0.
fn reach(stride: i64) -> u64 {
    stride.unsigned_abs() * (LANES as u64 - 1)
}

/// Operands of a lane function that decide the stride of its result.
fn sources(kind: Kind) -> std::ops::Range<usize> {
    match kind {
        Kind::Same | Kind::Widen(_) => 1..2,
        Kind::Mad | Kind::MadWide(_) | Kind::Select => 1..4,
        Kind::Uniform(count) | Kind::Predicates(count) => 1..1 + count,
        Kind::Load { .. } | Kind::Store { .. } => 0..1,
        Kind::Param => 0..0,
        _ => 1..3,
    }
}
