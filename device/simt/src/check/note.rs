//! What the checks and the counters need to know of an instruction, read from its text once when a kernel is first watched.
//!
//! The notes stand beside the decoded code and not in it: code that nobody watches has none, and pays for none.

use gridstride_ptx::{Instr, Operand, Space, Type};

use crate::code::{CodeBlock, Width};
use crate::counters::Class;
use crate::decode::{Decoder, width};
use crate::fault::Access;
use crate::lane::Slot;

/// Notes on a function.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// By position in the function's instructions.
    instrs: Vec<Note>,
    /// By block of code: how many instructions of each class stand in it.
    classes: Vec<Vec<(Class, u32)>>,
    /// The block that is being made.
    open: Vec<(Class, u32)>,
}

/// Notes on an instruction.
#[derive(Debug)]
pub(crate) struct Note {
    /// Its class; `None` for loads and stores by generic addresses, which have that of the space they reach.
    pub(crate) class: Option<Class>,
    pub(crate) access: Option<Box<Accessing>>,
    /// Where `cp.async` reads.
    pub(crate) source: Option<Box<Accessing>>,
    pub(crate) effect: Effect,
}

/// What an instruction orders, without an access of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Nothing,
    /// `fence`, `membar`. `wide`: for other blocks, too.
    Fence {
        wide: bool,
    },
    /// `bar.warp.sync`
    WarpBarrier,
    /// Another operation that names the lanes which take part.
    WarpWide,
}

/// How a load, store or atomic operation finds its memory, and what it promises.
#[derive(Debug)]
pub(crate) struct Accessing {
    pub(crate) slot: Slot,
    pub(crate) offset: i64,
    /// The address register has 32 bits.
    pub(crate) narrow: bool,
    /// `None` is generic.
    pub(crate) space: Option<Space>,
    /// Bytes a lane.
    pub(crate) size: u64,
    /// Bytes of an element.
    pub(crate) element: u64,
    pub(crate) access: Access,
    pub(crate) strength: Strength,
    pub(crate) acquires: bool,
    pub(crate) releases: bool,
    /// An atomic operation that gives, and gets nothing: an arrival at an `mbarrier`.
    pub(crate) arrives: bool,
    /// What is stored, an element each.
    pub(crate) values: Vec<(Slot, Width)>,
}

/// Whether an access may race (PTX ISA, "Memory Consistency Model").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strength {
    /// A plain access.
    Weak,
    /// Relaxed or stronger, towards the threads of its own block.
    Block,
    /// Relaxed or stronger, towards all threads; `volatile` included.
    Device,
}

/// An address operand as the decoder found it: register, offset, 32 bits wide, space.
pub(crate) type Addressed = (Slot, i64, bool, Option<Space>);

impl Notes {
    /// Takes down an instruction; `places` are its address operands, in order.
    pub(crate) fn push(&mut self, decoder: &mut Decoder<'_>, instr: &Instr, places: &[Addressed]) {
        let note = note(decoder, instr, places);
        if let Some(class) = note.class {
            match self.open.iter_mut().find(|(known, _)| *known == class) {
                Some((_, times)) => *times += 1,
                None => self.open.push((class, 1)),
            }
        }
        self.instrs.push(note);
    }

    /// A block of code ends here.
    pub(crate) fn close_block(&mut self) {
        self.classes.push(std::mem::take(&mut self.open));
    }

    pub(crate) fn of(&self, at: u32) -> &Note {
        &self.instrs[at as usize]
    }

    /// Instructions of the block by class, but for those of generic loads and stores.
    pub(crate) fn classes(&self, block: u32) -> &[(Class, u32)] {
        &self.classes[block as usize]
    }

    /// Every block of code has its classes.
    pub(crate) fn check(&self, blocks: &[CodeBlock]) {
        debug_assert_eq!(self.classes.len(), blocks.len());
    }
}

fn note(decoder: &mut Decoder<'_>, instr: &Instr, places: &[Addressed]) -> Note {
    let opcode = &*instr.opcode;
    let mut note = Note { class: Some(Class::of(instr)), access: None, source: None, effect: effect(instr) };
    match (opcode, places) {
        ("ld" | "ldu" | "st", []) => note.class = Some(Class::Parameter),
        ("ld" | "ldu" | "st", [place, ..]) => {
            note.class = place.3.map(Class::of_space);
            let access = if opcode == "st" { Access::Write } else { Access::Read };
            let mut accessing = accessing(instr, *place, access, Strength::Weak);
            if opcode == "st" {
                accessing.values = values(decoder, instr, accessing.element);
            }
            note.access = Some(Box::new(accessing));
        }
        ("atom" | "red", [place, ..]) => {
            note.access = Some(Box::new(accessing(instr, *place, Access::Atomic, Strength::Device)));
        }
        ("mbarrier", [place, ..]) => note.access = Some(Box::new(mbarrier(instr, *place))),
        ("cp", [to, from, ..]) => {
            let size = match instr.operands.get(2) {
                Some(Operand::Int(size)) => size.cast_unsigned(),
                _ => 4,
            };
            let of = |place, access| {
                Box::new(Accessing { size, element: 4, ..accessing(instr, place, access, Strength::Weak) })
            };
            note.access = Some(of(*to, Access::Write));
            note.source = Some(of(*from, Access::Read));
        }
        _ => {}
    }
    note
}

fn effect(instr: &Instr) -> Effect {
    let has = |words: &[&str]| instr.modifiers.iter().any(|modifier| words.contains(&&**modifier));
    match &*instr.opcode {
        "fence" | "membar" if has(&["proxy"]) => Effect::Nothing,
        "fence" | "membar" => Effect::Fence { wide: !has(&["cta"]) },
        "bar" | "barrier" if has(&["warp"]) => Effect::WarpBarrier,
        "shfl" | "vote" | "match" | "redux" | "elect" if has(&["sync"]) => Effect::WarpWide,
        _ => Effect::Nothing,
    }
}

/// `plain`: how strong the access is if it says nothing of it.
fn accessing(instr: &Instr, place: Addressed, access: Access, plain: Strength) -> Accessing {
    let has = |words: &[&str]| instr.modifiers.iter().any(|modifier| words.contains(&&**modifier));
    let (slot, offset, narrow, space) = place;
    let ordered = has(&["volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"]);
    let strength = match (ordered || plain != Strength::Weak, has(&["cta"])) {
        (false, _) => Strength::Weak,
        (true, true) => Strength::Block,
        (true, false) => Strength::Device,
    };
    // The last type: `atom.add.noftz.f16x2`, `ld.global.v2.u64`.
    let ty = instr.modifiers.iter().rev().find_map(|modifier| Type::from_name(modifier));
    let element = u64::from(ty.map_or(4, Type::bytes));
    let count = if has(&["v8"]) {
        8
    } else if has(&["v4"]) {
        4
    } else if has(&["v2"]) {
        2
    } else {
        1
    };
    Accessing {
        slot,
        offset,
        narrow,
        space,
        size: element * count,
        element,
        access,
        strength,
        acquires: has(&["acquire", "acq_rel"]),
        releases: has(&["release", "acq_rel"]),
        arrives: false,
        values: Vec::new(),
    }
}

/// Arrivals release, waits acquire; both within the block unless they say otherwise.
fn mbarrier(instr: &Instr, place: Addressed) -> Accessing {
    let has = |word: &str| instr.modifiers.iter().any(|modifier| &**modifier == word);
    let strength = if has("cluster") { Strength::Device } else { Strength::Block };
    let waits = has("test_wait") || has("try_wait");
    let (access, strength) = match (has("init") || has("inval"), waits) {
        (true, _) => (Access::Write, Strength::Weak),
        (false, true) => (Access::Read, strength),
        (false, false) => (Access::Atomic, strength),
    };
    let (acquires, releases) = (waits && !has("relaxed"), access == Access::Atomic && !has("relaxed"));
    let arrives = access == Access::Atomic;
    Accessing {
        strength,
        acquires,
        releases,
        arrives,
        size: 8,
        element: 8,
        ..accessing(instr, place, access, strength)
    }
}

/// The registers that a store stores.
fn values(decoder: &mut Decoder<'_>, instr: &Instr, element: u64) -> Vec<(Slot, Width)> {
    let ty = instr.modifiers.iter().rev().find_map(|modifier| Type::from_name(modifier)).unwrap_or(Type::B32);
    let operands = match instr.operands.get(1) {
        Some(Operand::Vector(parts)) => parts.iter().collect(),
        Some(one) => vec![one],
        None => vec![],
    };
    debug_assert_eq!(u64::from(ty.bytes()), element);
    // The decoder gave these operands their slots already, and gives the same ones again.
    let slots = operands.into_iter().filter_map(|operand| decoder.src_any(operand, ty).ok());
    slots.map(|(slot, register)| (slot, width(register))).collect()
}
