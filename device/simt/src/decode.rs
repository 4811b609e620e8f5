//! From a function of the PTX module to lane functions: frame layout, constants, operands.

use gridstride_ptx::{Instr, Operand, RegId, Type};

use crate::lane::{Level, Slot};
use crate::ops::Reason;

/// Decodes one function: gives registers and constants their slots, and hands operands to the families in `ops`.
pub(crate) struct Decoder<'a> {
    _function: &'a gridstride_ptx::Function,
    level: Level,
}

impl Decoder<'_> {
    /// Which copies of the lane functions to use.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// The operands, if there are exactly `N`.
    pub(crate) fn operands<'i, const N: usize>(&self, instr: &'i Instr) -> Result<[&'i Operand; N], Reason> {
        let found = instr.operands.len();
        let all: Vec<&Operand> = instr.operands.iter().collect();
        all.try_into().map_err(|_| format!("{N} operands expected, {found} found"))
    }

    /// Slot of a value to be read as `ty`: a register of that width, an immediate, a special register, an address.
    /// For `Type::Pred` a predicate register (a mask slot); `!p` is an error here, see [`Decoder::src_pred`].
    pub(crate) fn src(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Reason> {
        let _ = (operand, ty);
        todo!()
    }

    /// Slot of a register of any width, and its declared type (operands that may be wider than the instruction type).
    pub(crate) fn src_any(&mut self, operand: &Operand, ty: Type) -> Result<(Slot, Type), Reason> {
        let _ = (operand, ty);
        todo!()
    }

    /// Slot of a predicate operand and whether it is negated (`p`, `!p`, or a constant).
    pub(crate) fn src_pred(&mut self, operand: &Operand) -> Result<(Slot, bool), Reason> {
        let _ = operand;
        todo!()
    }

    /// Slot of a destination of exactly `ty`'s width; for `_` a scratch slot.
    pub(crate) fn dst(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Reason> {
        let _ = (operand, ty);
        todo!()
    }

    /// Slot and declared type of a destination that may be wider than `ty` (`ld`, `cvt`); for `_` a scratch slot of `ty`.
    pub(crate) fn dst_any(&mut self, operand: &Operand, ty: Type) -> Result<(Slot, Type), Reason> {
        let _ = (operand, ty);
        todo!()
    }

    /// Declared type of a register.
    pub(crate) fn type_of(&self, reg: RegId) -> Type {
        let _ = reg;
        todo!()
    }

    /// A slot for the function's own use inside one instruction.
    pub(crate) fn scratch(&mut self, ty: Type) -> Slot {
        let _ = ty;
        todo!()
    }

    /// `[base+offset]` in a state space: a slot of 64-bit (or 32-bit, see the flag) addresses and a byte offset to add.
    /// Addresses of variables are already resolved: for `.shared` the offset in the block's shared memory, for `.local`
    /// and function-scope `.param` the offset in the lane's local memory, for `.global` and `.const` the address. The
    /// parameters of a *kernel* are the exception: see [`MemoryOperand::KernelParam`].
    pub(crate) fn address(
        &mut self,
        operand: &Operand,
        space: Option<gridstride_ptx::Space>,
    ) -> Result<MemoryOperand, Reason> {
        let _ = (operand, space);
        todo!()
    }
}

/// A decoded address operand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MemoryOperand {
    /// Register (or constant) slot plus offset. `wide`: 64-bit elements, else 32-bit ones.
    Based {
        /// Base address.
        slot: Slot,
        /// True for 64-bit elements.
        wide: bool,
        /// Added to each.
        offset: i64,
    },
    /// Byte offset in the kernel's parameter buffer (`LaunchContext::params`).
    KernelParam(u32),
}
