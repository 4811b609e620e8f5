//! From classes to steps.

use std::collections::{HashMap, HashSet};

use gridstride_ptx::Function;

use super::classes::{Class, Classes};
use super::{Line, Linear, LinearBlock};
use crate::code::{Code, CodeBlock, End, Guard, Step, Width};
use crate::lane::{Args, Level, Slot};
use crate::ops::linear::{Kind, Rule, check, guarded_by_all, line, pack_strides, spread};

/// How a step of the function runs in linear code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As it is.
    Vector,
    /// In lane 0.
    Scalar,
    /// In lane 0, and then in all lanes.
    Spread,
    /// An access of a whole row.
    Row,
    /// A load of one element for all lanes.
    Same,
}

struct Builder<'a> {
    code: &'a Code,
    function: &'a Function,
    classes: Classes<'a>,
    forms: HashMap<u32, Form>,
    /// Registers in a line that vector code reads, too: they are spread wherever they are written.
    wanted: HashSet<Slot>,
    level: Level,
}

impl Linear {
    /// The linear code of a kernel, if there is anything to gain. `flat` as for [`Classes::of`].
    pub(crate) fn build(function: &Function, code: &Code, level: Level, flat: bool) -> Option<Self> {
        let classes = Classes::of(function, code, level, flat);
        let mut builder = Builder { code, function, classes, forms: HashMap::new(), wanted: HashSet::new(), level };
        builder.choose();
        if !builder.forms.values().any(|form| *form != Form::Vector) {
            return None;
        }
        let live = builder.live();
        let blocks = code.blocks.iter().zip(live).map(|(block, live)| builder.block(block, live)).collect();
        let mut narrow: Vec<Line> =
            builder.lines().filter(|line| line.width != Width::Pred && !builder.wanted.contains(&line.slot)).collect();
        narrow.sort_by_key(|line| line.slot.0);
        Some(Self { blocks, narrow: narrow.into() })
    }
}

impl Builder<'_> {
    /// Decides how each step runs, and which registers vector code needs.
    fn choose(&mut self) {
        let code = self.code;
        for step in code.blocks.iter().flat_map(|block| &block.steps) {
            let form = self.classes.rules.get(&step.at).map_or(Form::Vector, |rule| self.form(rule, step));
            self.forms.insert(step.at, form);
        }
        let steps: HashSet<u32> = self.forms.keys().copied().collect();
        for (at, instr) in (0..).zip(&self.function.instrs) {
            let form = self.forms.get(&at).copied().unwrap_or(Form::Vector);
            let mut read = match form {
                Form::Vector => self.classes.sources(instr, !steps.contains(&at)),
                // The values of a store; its address is scalar.
                Form::Row if &*instr.opcode == "st" => self.classes.sources(instr, true),
                Form::Row | Form::Same | Form::Scalar | Form::Spread => continue,
            };
            if form == Form::Row {
                let address = self.step(at).args.slots[0];
                read.retain(|slot| *slot != address || self.stores(at, address));
            }
            read.retain(|slot| self.classes.in_line(*slot) && self.classes.registers[slot] != Width::Pred);
            self.wanted.extend(read);
        }
    }

    fn step(&self, at: u32) -> &Step {
        let mut steps = self.code.blocks.iter().flat_map(|block| &block.steps);
        steps.find(|step| step.at == at).expect("it has a form, so it has a step")
    }

    /// True if the store at `at` stores the register.
    fn stores(&self, at: u32, slot: Slot) -> bool {
        let value = std::slice::from_ref(&self.function.instrs[at as usize].operands[1]);
        let only = gridstride_ptx::Instr { operands: value.to_vec(), ..self.function.instrs[at as usize].clone() };
        self.classes.sources(&only, true).contains(&slot)
    }

    fn form(&self, rule: &Rule, step: &Step) -> Form {
        let result = self.classes.result(rule, step);
        if !self.classes.whole(step.guard) && !matches!(rule.kind, Kind::Compare | Kind::Predicates(_)) {
            return Form::Vector;
        }
        match rule.kind {
            Kind::Predicates(_) => Form::Vector,
            Kind::Compare => {
                let [_, a, b, ..] = step.args.slots;
                let both = [a, b].iter().all(|slot| self.classes.class(*slot).stride().is_some());
                if both { Form::Scalar } else { Form::Vector }
            }
            Kind::Load { bytes, .. } | Kind::Store { bytes } => {
                let load = matches!(rule.kind, Kind::Load { .. });
                match self.classes.class(step.args.slots[0]) {
                    Class::Line(stride) if stride == i64::from(bytes) => Form::Row,
                    Class::Line(0) if load && result == Class::Line(0) => {
                        let out = step.args.slots[1];
                        if self.classes.in_line(out) { Form::Scalar } else { Form::Same }
                    }
                    _ => Form::Vector,
                }
            }
            kind => {
                let Class::Line(_) = result else { return Form::Vector };
                let [out, rest @ ..] = step.args.slots;
                if self.classes.in_line(out) {
                    Form::Scalar
                } else if kind == Kind::Param || rest.iter().any(|slot| self.classes.in_line(*slot)) {
                    // Not for the result's sake: so that what it is computed from need not be spread.
                    match self.classes.registers.get(&out) {
                        Some(Width::W32 | Width::W64) if kind != Kind::Param => Form::Spread,
                        _ => Form::Vector,
                    }
                } else {
                    Form::Vector
                }
            }
        }
    }

    /// All registers in a line, and predicates that are the same in all lanes.
    fn lines(&self) -> impl Iterator<Item = Line> {
        self.classes.registers.iter().filter_map(|(slot, width)| {
            let stride = self.classes.class(*slot).stride()?;
            Some(Line { slot: *slot, width: *width, stride })
        })
    }

    fn block(&self, block: &CodeBlock, live: Vec<Line>) -> LinearBlock {
        let (mut steps, mut resume) = (Vec::new(), Vec::new());
        for (number, step) in (0..).zip(&block.steps) {
            let mut push = |exec, args, guard| {
                steps.push(Step { exec, args, guard, at: step.at });
                resume.push(number);
            };
            let form = self.forms[&step.at];
            if form == Form::Vector {
                push(step.exec, step.args, step.guard);
                let instr = &self.function.instrs[step.at as usize];
                if !self.classes.rules.contains_key(&step.at) && self.classes.takes_result(instr) {
                    // Vector code goes on behind the load if a result is not in line.
                    for slot in self.classes.destinations(instr) {
                        let Some(stride) = self.classes.class(slot).stride() else { continue };
                        let exec = line(self.classes.registers[&slot]);
                        steps.push(Step { exec, args: Args::of(&[slot], stride), guard: step.guard, at: step.at });
                        resume.push(number + 1);
                    }
                }
                continue;
            }
            let rule = &self.classes.rules[&step.at];
            if step.guard != Guard::ALL && rule.kind != Kind::Compare {
                push(guarded_by_all, Args::default(), step.guard);
            }
            if matches!(form, Form::Scalar | Form::Spread) {
                for (kind, slots, stride) in self.classes.checks(rule.kind, step) {
                    push(check(kind, rule.from), Args::of(&slots, stride), step.guard);
                }
            }
            let out = self.out(rule.kind, step);
            let (exec, args) = self.exec(rule, step, out);
            push(exec, args, step.guard);
            let wanted = out.is_some_and(|out| self.wanted.contains(&out)) && !matches!(rule.kind, Kind::Load { .. });
            if let (Some(out), true) = (out, form == Form::Spread || (form == Form::Scalar && wanted)) {
                let Class::Line(stride) = self.classes.result(rule, step) else { unreachable!("scalar results only") };
                let width = self.classes.registers[&out];
                push(spread(width, self.level), Args::of(&[out], stride), step.guard);
            }
        }
        LinearBlock { steps: steps.into(), resume: resume.into(), live: live.into() }
    }

    /// The register that a scalar step writes.
    fn out(&self, kind: Kind, step: &Step) -> Option<Slot> {
        let out = match kind {
            Kind::Compare | Kind::Store { .. } => return None,
            Kind::Load { .. } => step.args.slots[1],
            _ => step.args.slots[0],
        };
        self.classes.registers.contains_key(&out).then_some(out)
    }

    fn exec(&self, rule: &Rule, step: &Step, out: Option<Slot>) -> (crate::lane::ExecFn, Args) {
        let mut args = step.args;
        let mut exec = rule.exec;
        match rule.kind {
            Kind::Compare => {
                let stride = |slot| self.classes.class(slot).stride().unwrap_or(0);
                args.imm = pack_strides(stride(args.slots[1]), stride(args.slots[2]));
            }
            Kind::Load { one: Some([first, all]), .. } if self.forms[&step.at] != Form::Row => {
                let narrow = out.is_some_and(|out| self.classes.in_line(out) && !self.wanted.contains(&out));
                exec = if narrow { first } else { all };
            }
            _ => {}
        }
        (exec, args)
    }

    /// Registers in a line that may be read after the start of each block before they are written.
    fn live(&self) -> Vec<Vec<Line>> {
        let lines: HashMap<Slot, Line> = self.lines().map(|line| (line.slot, line)).collect();
        let count = self.code.blocks.len();
        let mut read: Vec<HashSet<Slot>> = vec![HashSet::new(); count];
        let mut written: Vec<HashSet<Slot>> = vec![HashSet::new(); count];
        for (at, block) in self.code.blocks.iter().enumerate() {
            let steps = block.steps.iter().map(|step| (step.at, false));
            for (instr_at, end) in steps.chain([(block.at, true)]) {
                let instr = &self.function.instrs[instr_at as usize];
                let guard = instr.guard.map(|guard| self.code.regs[guard.reg.0 as usize]);
                let sources = self.classes.sources(instr, end).into_iter().chain(guard);
                let fresh = sources.filter(|slot| !written[at].contains(slot));
                read[at].extend(fresh.filter(|slot| lines.contains_key(slot)).collect::<Vec<_>>());
                let guarded = instr.guard.is_some();
                if !guarded && !end {
                    written[at].extend(self.classes.destinations(instr));
                }
            }
        }
        let mut live = read;
        loop {
            let mut changed = false;
            for at in (0..count).rev() {
                for next in successors(&self.code.blocks[at].end) {
                    let more: Vec<Slot> = live[next as usize]
                        .iter()
                        .filter(|slot| !written[at].contains(slot) && !live[at].contains(slot))
                        .copied()
                        .collect();
                    changed |= !more.is_empty();
                    live[at].extend(more);
                }
            }
            if !changed {
                break;
            }
        }
        live.iter().map(|slots| slots.iter().map(|slot| lines[slot]).collect()).collect()
    }
}

fn successors(end: &End) -> Vec<u32> {
    match end {
        End::Jump(next) | End::Sleep(next) | End::Call(_, next) | End::Barrier(_, next) => vec![*next],
        End::Synced { next, .. } => vec![*next],
        End::Branch { taken, next, .. } => vec![*taken, *next],
        End::Switch { targets, .. } => targets.to_vec(),
        End::Return | End::Exit | End::Trap => Vec::new(),
    }
}
