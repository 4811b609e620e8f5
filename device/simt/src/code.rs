//! Decoded functions: what the engine runs.
//!
//! ```text
//! Code -- blocks --> CodeBlock -- steps --> Step (a lane function and its operands)
//!                              `- end ----> End  (who runs next, and with which lanes)
//! ```

use std::sync::{Arc, OnceLock};

use gridstride_ptx::Function;

use crate::check::note::Notes;
use crate::lane::{Args, ExecFn, LANES, Level, Slot};
use crate::linear::Linear;

/// A decoded function.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) name: Arc<str>,
    /// Position in the module's functions, for messages.
    pub(crate) function: usize,
    pub(crate) frame: FrameLayout,
    pub(crate) blocks: Vec<CodeBlock>,
    /// Where arguments arrive and results are left.
    pub(crate) params: Vec<Place>,
    pub(crate) returns: Vec<Place>,
    /// Bytes of local memory an activation needs for itself.
    pub(crate) local_bytes: u32,
    /// For the checks and counters; only in code that is watched.
    pub(crate) notes: Option<Notes>,
    /// Slots of the function's registers, by their number.
    pub(crate) regs: Box<[Slot]>,
    /// Code for warps that run together, made when it is first asked for: for blocks in which `%tid.x` alone differs between
    /// the lanes of a warp, and for others.
    pub(crate) linear: [OnceLock<Option<Linear>>; 2],
}

impl Code {
    /// The linear code for blocks of this shape, if there is anything to gain by it. `function` is the one decoded here.
    pub(crate) fn linear(&self, function: &Function, block: [u32; 3]) -> Option<&Linear> {
        let flat = block[1] * block[2] == 1 || block[0].is_multiple_of(LANES as u32);
        let build = || Linear::build(function, self, Level::detect(), flat);
        self.linear[usize::from(flat)].get_or_init(build).as_ref()
    }
}

/// What a frame holds besides registers.
#[derive(Debug, Default)]
pub(crate) struct FrameLayout {
    pub(crate) bytes: u32,
    /// Constants, written once when the frame is made.
    pub(crate) constants: Vec<Constant>,
    /// Special registers, written when a warp takes the frame.
    pub(crate) specials: Vec<(Slot, Width, Special)>,
    /// Addresses in local memory, relative to the activation's own part of it.
    pub(crate) locals: Vec<(Slot, Width, u32)>,
    /// Where in local memory a kernel keeps a copy of its parameters, if it takes the address of one.
    pub(crate) param_copy: Option<u32>,
}

/// A constant spread over the lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Constant {
    pub(crate) slot: Slot,
    pub(crate) width: Width,
    pub(crate) bits: u64,
}

/// Size of a register's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Width {
    Pred,
    W16,
    W32,
    W64,
    W128,
}

impl Width {
    /// Bytes of the whole register.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Self::Pred => 4,
            Self::W16 => 64,
            Self::W32 => 128,
            Self::W64 => 256,
            Self::W128 => 512,
        }
    }
}

/// A special register that does not change while a warp runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
    LaneId,
    WarpId,
    NWarpId,
    SmId,
    NSmId,
    GridId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    DynamicShared,
    TotalShared,
    /// Half of the address of what grid-wide barriers count in (`%envreg1`, `%envreg2`): the upper one, or the lower.
    Workspace {
        upper: bool,
    },
    Zero,
    One,
}

/// Where a parameter or a result is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// Bytes in the local memory of the activation.
    Local { offset: u32, size: u32 },
    /// A register.
    Reg(Slot, Width),
}

/// Straight-line code and what comes behind it.
#[derive(Debug)]
pub(crate) struct CodeBlock {
    pub(crate) steps: Box<[Step]>,
    pub(crate) end: End,
    /// Instructions of the text that the block stands for, its end included.
    pub(crate) cost: u32,
    /// Where lanes that part at the end meet again.
    pub(crate) meet: Option<u32>,
    /// The instruction that the end was made from.
    pub(crate) at: u32,
}

/// One instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) exec: ExecFn,
    pub(crate) args: Args,
    pub(crate) guard: Guard,
    /// Position in the function's instructions, for messages.
    pub(crate) at: u32,
}

/// Which lanes take part: all, or those whose predicate is set (or not).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Guard {
    /// `u32::MAX` for all.
    slot: u32,
    flip: u32,
}

impl Guard {
    pub(crate) const ALL: Self = Self { slot: u32::MAX, flip: 0 };

    pub(crate) fn of(slot: Slot, negated: bool) -> Self {
        Self { slot: slot.0, flip: if negated { u32::MAX } else { 0 } }
    }

    /// The predicate, if there is one.
    pub(crate) fn slot(self) -> Option<Slot> {
        (self != Self::ALL).then_some(Slot(self.slot))
    }

    /// The lanes of `mask` that pass.
    ///
    /// # Safety
    /// `frame` must be a frame of the function that the guard stands in.
    #[inline(always)]
    pub(crate) unsafe fn lanes(self, frame: *const u8, mask: u32) -> u32 {
        if self.slot == u32::MAX {
            return mask;
        }
        // SAFETY: a guard's slot is that of a predicate, by the decoder.
        let predicate = unsafe { frame.add(self.slot as usize).cast::<u32>().read() };
        mask & (predicate ^ self.flip)
    }
}

/// Who runs next. Numbers are positions in [`Code::blocks`].
#[derive(Debug)]
pub(crate) enum End {
    Jump(u32),
    Branch {
        guard: Guard,
        taken: u32,
        next: u32,
    },
    Switch {
        index: Slot,
        targets: Box<[u32]>,
    },
    Return,
    Exit,
    Trap,
    Call(Box<Call>, u32),
    Barrier(Box<Barrier>, u32),
    /// A lane function for which all lanes named by `members` must have come.
    Synced {
        members: Slot,
        step: Step,
        next: u32,
    },
    Sleep(u32),
}

/// A call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) args: Vec<Place>,
    pub(crate) returns: Vec<Place>,
}

/// What is called.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Callee {
    /// A function of the module.
    Direct(u32),
    /// A 64-bit register with the address of a function.
    Indirect(Slot),
    System(System),
}

/// Functions that CUDA's device runtime offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    AssertFail,
    Vprintf,
    Malloc,
    Free,
}

impl System {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "__assertfail" => Some(Self::AssertFail),
            "vprintf" => Some(Self::Vprintf),
            "malloc" => Some(Self::Malloc),
            "free" => Some(Self::Free),
            _ => None,
        }
    }
}

/// A barrier instruction.
#[derive(Debug)]
pub(crate) struct Barrier {
    /// 32-bit register with the number of the barrier, 0 to 15.
    pub(crate) id: Slot,
    /// 32-bit register with the number of threads, or all of the block.
    pub(crate) count: Option<Slot>,
    pub(crate) kind: BarrierKind,
}

/// What a barrier does besides counting.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    /// Threads whose predicate is set, into a 32-bit register.
    Popc {
        out: Slot,
        predicate: Guard,
    },
    /// All threads' predicates, into a predicate.
    And {
        out: Slot,
        predicate: Guard,
    },
    /// Any thread's predicate, into a predicate.
    Or {
        out: Slot,
        predicate: Guard,
    },
}
