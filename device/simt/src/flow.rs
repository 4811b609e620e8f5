//! From the blocks of a PTX function to the engine's: lane functions in a row, and an end.
//!
//! A PTX block is cut behind every instruction that the engine itself must see: calls, barriers, warp-wide operations. One
//! of these under a guard becomes a branch around it.

use gridstride_ptx::{BlockId, Function, Instr, Module, Operand, Symbol, Type};

use crate::check::note::Notes;
use crate::code::{Barrier, BarrierKind, Call, Callee, Code, CodeBlock, End, Guard, Step, System};
use crate::decode::Decoder;
use crate::lane::{Args, Lanes, Level, Slot};
use crate::layout::Layout;
use crate::ops::{self, Decoded, Reason};
use crate::program::LoadError;
use crate::reconverge;

/// Decodes a function. `watched`: with notes for the checks and counters, and a step for each instruction.
pub(crate) fn decode(
    module: &Module,
    at: usize,
    layout: &Layout,
    level: Level,
    watched: bool,
) -> Result<Code, LoadError> {
    let function = &module.functions[at];
    let mut builder = Builder {
        decoder: Decoder::new(module, function, layout, level),
        module,
        function,
        blocks: Vec::new(),
        firsts: Vec::new(),
        steps: Vec::new(),
        cost: 0,
        notes: watched.then(Notes::default),
    };
    for block in 0..function.blocks.len() {
        builder.block(block)?;
    }
    builder.resolve();
    let leaves = |block: &CodeBlock| match &block.end {
        End::Call(call, _) => match call.callee {
            Callee::Direct(id) => module.functions[id as usize].noreturn,
            Callee::System(system) => system == System::AssertFail,
            Callee::Indirect(_) => false,
        },
        _ => false,
    };
    reconverge::find(&mut builder.blocks, leaves);
    let unsupported = |reason: Reason| LoadError::Unsupported {
        line: function.line,
        instruction: ".func".into(),
        function: function.name.to_string(),
        reason,
    };
    let mut places = |params: &[gridstride_ptx::Param]| {
        params.iter().map(|param| builder.decoder.place_of_param(*param)).collect::<Result<Vec<_>, _>>()
    };
    let params = if function.is_entry { Vec::new() } else { places(&function.params).map_err(unsupported)? };
    let returns = places(&function.returns).map_err(unsupported)?;
    let Builder { decoder, blocks, notes, .. } = builder;
    if let Some(notes) = &notes {
        notes.check(&blocks);
    }
    let (frame, regs, local_bytes) = decoder.finish();
    if local_bytes > MOST_LOCAL {
        return Err(unsupported(format!("{local_bytes} bytes of local memory; a thread has {MOST_LOCAL}")));
    }
    Ok(Code {
        name: function.name.clone(),
        function: at,
        frame,
        blocks,
        params,
        returns,
        local_bytes,
        notes,
        regs: regs.into(),
        linear: Default::default(),
    })
}

/// Local memory a thread at most (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const MOST_LOCAL: u32 = 512 << 10;

/// While blocks are made, targets are numbers of PTX blocks with this bit, or of blocks made already.
const PTX_BLOCK: u32 = 1 << 31;

struct Builder<'a> {
    decoder: Decoder<'a>,
    module: &'a Module,
    function: &'a Function,
    blocks: Vec<CodeBlock>,
    /// First block made of each PTX block.
    firsts: Vec<u32>,
    steps: Vec<Step>,
    cost: u32,
    notes: Option<Notes>,
}

impl Builder<'_> {
    fn block(&mut self, number: usize) -> Result<(), LoadError> {
        let block = &self.function.blocks[number];
        self.firsts.push(self.next_number());
        let fall = PTX_BLOCK | u32::try_from(number + 1).expect("few blocks");
        for at in block.start..block.end {
            let instr = &self.function.instrs[at as usize];
            self.cost += 1;
            if self.notes.is_some() {
                self.note(instr, at)?;
            }
            self.instr(instr, at, fall).map_err(|reason| self.unsupported(instr, at, reason))?;
        }
        let last = &self.function.instrs[block.end as usize - 1];
        if !matches!(&*last.opcode, "bra" | "brx" | "ret" | "exit" | "trap") {
            self.close(End::Jump(fall), block.end - 1);
        }
        Ok(())
    }

    /// Takes down what the checks need to know. Before the instruction is decoded, because some end a block of code.
    fn note(&mut self, instr: &Instr, at: u32) -> Result<(), LoadError> {
        self.decoder.addressed.clear();
        if let Some(decode) = ops::find(&instr.opcode) {
            decode(&mut self.decoder, instr).map_err(|reason| self.unsupported(instr, at, reason))?;
        }
        let addressed = std::mem::take(&mut self.decoder.addressed);
        if let Some(notes) = &mut self.notes {
            notes.push(&mut self.decoder, instr, &addressed);
        }
        Ok(())
    }

    fn unsupported(&self, instr: &Instr, at: u32, reason: Reason) -> LoadError {
        LoadError::Unsupported {
            line: instr.line,
            instruction: self.module.instr_text(self.function, at as usize),
            function: self.function.name.to_string(),
            reason,
        }
    }

    fn instr(&mut self, instr: &Instr, at: u32, fall: u32) -> Result<(), Reason> {
        let guard = match &instr.guard {
            None => Guard::ALL,
            Some(guard) => Guard::of(self.decoder.src(&Operand::Reg(guard.reg), Type::Pred)?, guard.negated),
        };
        match &*instr.opcode {
            "bra" => {
                only_modifiers(instr, &["uni"])?;
                let [Operand::Label(BlockId(target))] = &instr.operands[..] else { return Err("no label".into()) };
                let taken = target | PTX_BLOCK;
                let end = if guard == Guard::ALL { End::Jump(taken) } else { End::Branch { guard, taken, next: fall } };
                self.close(end, at);
            }
            "brx" => {
                let [index, Operand::Targets(targets)] = &instr.operands[..] else { return Err("no targets".into()) };
                let targets = targets.iter().map(|BlockId(id)| id | PTX_BLOCK).collect();
                let index = self.decoder.src(index, Type::U32)?;
                self.guarded(guard, End::Switch { index, targets }, at, fall);
            }
            "ret" => self.guarded(guard, End::Return, at, fall),
            "exit" => self.guarded(guard, End::Exit, at, fall),
            "trap" => self.guarded(guard, End::Trap, at, fall),
            // Without a debugger that waits for it, a breakpoint ends the kernel.
            "brkpt" => {
                let next = self.next_number() + if guard == Guard::ALL { 1 } else { 2 };
                self.guarded(guard, End::Trap, at, next);
            }
            "nanosleep" => {
                let next = self.next_number() + if guard == Guard::ALL { 1 } else { 2 };
                self.guarded(guard, End::Sleep(next), at, next);
            }
            "call" => {
                let call = Box::new(self.call(instr)?);
                if matches!(call.callee, Callee::Indirect(_)) && !self.steps.is_empty() {
                    // Lanes that call different functions run this block once each, so nothing else may stand in it.
                    let here = self.next_number() + 1;
                    self.close(End::Jump(here), at);
                }
                let next = self.next_number() + if guard == Guard::ALL { 1 } else { 2 };
                self.guarded(guard, End::Call(call, next), at, next);
            }
            "bar" | "barrier" if !instr.modifiers.iter().any(|m| &**m == "warp") => {
                let barrier = Box::new(self.barrier(instr)?);
                let next = self.next_number() + if guard == Guard::ALL { 1 } else { 2 };
                self.guarded(guard, End::Barrier(barrier, next), at, next);
            }
            "bar" | "barrier" => {
                // `bar.warp.sync`: a meeting, and nothing to do there.
                if instr.modifiers.iter().map(|m| &**m).ne(["warp", "sync"]) {
                    return Err("a barrier of the warp that is not `bar.warp.sync`".into());
                }
                let [members] = &instr.operands[..] else { return Err("a mask of lanes expected".into()) };
                let members = self.decoder.src(members, Type::U32)?;
                self.synced(guard, members, Step { exec: nothing, args: Args::default(), guard: Guard::ALL, at });
            }
            opcode => {
                let decode = ops::find(opcode).ok_or("the opcode is not known")?;
                match decode(&mut self.decoder, instr)? {
                    Decoded::Lane(exec, args) => self.steps.push(Step { exec, args, guard, at }),
                    Decoded::Several(all) => {
                        self.steps.extend(all.into_iter().map(|(exec, args)| Step { exec, args, guard, at }));
                    }
                    Decoded::Synced { members, exec, args } => {
                        self.synced(guard, members, Step { exec, args, guard: Guard::ALL, at });
                    }
                    Decoded::Nothing => {}
                }
            }
        }
        Ok(())
    }

    fn synced(&mut self, guard: Guard, members: Slot, step: Step) {
        let next = self.next_number() + if guard == Guard::ALL { 1 } else { 2 };
        self.guarded(guard, End::Synced { members, step, next }, step.at, next);
    }

    /// Ends the block with `end`, under `guard`: lanes that do not pass go to `next`.
    fn guarded(&mut self, guard: Guard, end: End, at: u32, next: u32) {
        if guard != Guard::ALL {
            let inner = self.next_number() + 1;
            self.close(End::Branch { guard, taken: inner, next }, at);
        }
        self.close(end, at);
    }

    fn close(&mut self, end: End, at: u32) {
        let steps = std::mem::take(&mut self.steps).into_boxed_slice();
        let cost = std::mem::take(&mut self.cost);
        self.blocks.push(CodeBlock { steps, end, cost, meet: None, at });
        if let Some(notes) = &mut self.notes {
            notes.close_block();
        }
    }

    fn next_number(&self) -> u32 {
        u32::try_from(self.blocks.len()).expect("fewer than 2^31 blocks")
    }

    /// Numbers of PTX blocks become numbers of the blocks made of them.
    fn resolve(&mut self) {
        let firsts = &self.firsts;
        let real = |target: &mut u32| {
            if *target & PTX_BLOCK != 0 {
                *target = firsts[(*target & !PTX_BLOCK) as usize];
            }
        };
        for block in &mut self.blocks {
            match &mut block.end {
                End::Jump(next) | End::Sleep(next) | End::Call(_, next) | End::Barrier(_, next) => real(next),
                End::Synced { next, .. } => real(next),
                End::Branch { taken, next, .. } => {
                    real(taken);
                    real(next);
                }
                End::Switch { targets, .. } => targets.iter_mut().for_each(real),
                End::Return | End::Exit | End::Trap => {}
            }
        }
    }

    fn call(&mut self, instr: &Instr) -> Result<Call, Reason> {
        only_modifiers(instr, &["uni"])?;
        let mut operands = &instr.operands[..];
        let mut returns = Vec::new();
        if let [Operand::List(list), rest @ ..] = operands {
            returns = list.iter().map(|operand| self.decoder.place_of_result(operand)).collect::<Result<_, _>>()?;
            operands = rest;
        }
        let [callee, rest @ ..] = operands else { return Err("nothing to call".into()) };
        let args = match rest {
            [] | [Operand::Prototype(_)] => Vec::new(),
            [Operand::List(list)] | [Operand::List(list), Operand::Prototype(_)] => self.places(list)?,
            _ => return Err("operands of a call that are not its arguments".into()),
        };
        let callee = match callee {
            Operand::Symbol(Symbol::Func(id), 0) => {
                let function = &self.module.functions[id.0 as usize];
                match System::of(&function.name) {
                    Some(system) if function.blocks.is_empty() => Callee::System(system),
                    _ => Callee::Direct(id.0),
                }
            }
            Operand::Reg(_) => Callee::Indirect(self.decoder.src(callee, Type::U64)?),
            _ => return Err("what is called is neither a function nor a register".into()),
        };
        Ok(Call { callee, args, returns })
    }

    fn places(&mut self, list: &[Operand]) -> Result<Vec<crate::code::Place>, Reason> {
        list.iter().map(|operand| self.decoder.place_of(operand)).collect()
    }

    /// `bar.sync a{, b}`, `bar.arrive a, b`, `bar.red.op.type d, a{, b}, {!}c`; `barrier` likewise.
    fn barrier(&mut self, instr: &Instr) -> Result<Barrier, Reason> {
        let words: Vec<&str> =
            instr.modifiers.iter().map(|m| &**m).filter(|m| !matches!(*m, "cta" | "aligned")).collect();
        let operands = &instr.operands[..];
        let (kind, rest) = match (&words[..], operands) {
            (["sync"], rest) => (BarrierKind::Sync, rest),
            (["arrive"], rest) => (BarrierKind::Arrive, rest),
            (["red", op, ty], [out, rest @ .., predicate]) => {
                let predicate = self.decoder.src_pred(predicate)?;
                let kind = match (*op, *ty) {
                    ("popc", "u32") => BarrierKind::Popc { out: self.decoder.dst(out, Type::U32)?, predicate },
                    ("and", "pred") => BarrierKind::And { out: self.decoder.dst(out, Type::Pred)?, predicate },
                    ("or", "pred") => BarrierKind::Or { out: self.decoder.dst(out, Type::Pred)?, predicate },
                    _ => return Err(format!("`.red.{op}.{ty}`")),
                };
                (kind, rest)
            }
            _ => return Err(format!("`.{}`", words.join("."))),
        };
        let mut number = |operand: &Operand| -> Result<Slot, Reason> { self.decoder.src(operand, Type::U32) };
        let (id, count) = match rest {
            [id] => (number(id)?, None),
            [id, count] => (number(id)?, Some(number(count)?)),
            _ => return Err("the number of a barrier, and a count of threads, expected".into()),
        };
        Ok(Barrier { id, count, kind })
    }
}

/// What a warp does at a `bar.warp.sync` once all have come. Memory needs nothing: lanes of a warp run on one core.
unsafe fn nothing(_: &mut Lanes<'_>, _: &Args) -> crate::lane::Step {
    Ok(())
}

fn only_modifiers(instr: &Instr, known: &[&str]) -> Result<(), Reason> {
    match instr.modifiers.iter().find(|m| !known.contains(&&***m)) {
        Some(other) => Err(format!("the modifier `.{other}`")),
        None => Ok(()),
    }
}
