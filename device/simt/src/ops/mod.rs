//! The instructions that the CPU device executes: one file a family, one table entry an opcode.
//!
//! A decode function looks at one instruction as written and answers with the lane function that runs it. A modifier
//! that it does not know is an error there, so no form is ever skipped or run as another.

mod approx;
mod atomic;
mod bits;
mod carry;
mod compare;
mod convert;
mod directed;
mod exact;
mod fields;
mod float;
mod half;
mod int;
pub(crate) mod linear;
mod mbarrier;
pub(crate) mod memory;
mod modifiers;
mod mov;
mod packed;
mod relations;
mod select;
mod shape;
mod shuffle;
mod space;
mod video;
mod vote;

use std::collections::HashMap;
use std::sync::OnceLock;

use gridstride_ptx::Instr;

use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, Slot};

/// Why an instruction cannot be decoded; completes the sentence "does not support `…`: ".
pub(crate) type Reason = String;

/// What an instruction became.
#[derive(Debug, Clone)]
pub(crate) enum Decoded {
    /// A lane function.
    Lane(ExecFn, Args),
    /// A lane function that runs when all lanes named by the register `members` have come to it (`shfl.sync` and the
    /// like). It then runs once for all of them.
    Synced {
        /// 32-bit register with the member mask of each lane.
        members: Slot,
        /// The lane function.
        exec: ExecFn,
        /// Its arguments.
        args: Args,
    },
    /// Lane functions that run one after another.
    Several(Vec<(ExecFn, Args)>),
    /// Nothing to do at run time.
    Nothing,
}

/// Decodes an instruction of one opcode.
pub(crate) type DecodeFn = fn(&mut Decoder<'_>, &Instr) -> Result<Decoded, Reason>;

/// The families. Control flow and barriers (`bra`, `brx`, `call`, `ret`, `exit`, `bar`, `barrier`) are the engine's.
const FAMILIES: &[&[(&str, DecodeFn)]] = &[
    approx::OPCODES,
    atomic::OPCODES,
    bits::OPCODES,
    carry::OPCODES,
    compare::OPCODES,
    convert::OPCODES,
    fields::OPCODES,
    float::OPCODES,
    int::OPCODES,
    mbarrier::OPCODES,
    memory::OPCODES,
    mov::OPCODES,
    packed::OPCODES,
    select::OPCODES,
    shuffle::OPCODES,
    space::OPCODES,
    video::OPCODES,
    vote::OPCODES,
];

/// The decode function of an opcode.
pub(crate) fn find(opcode: &str) -> Option<DecodeFn> {
    static TABLE: OnceLock<HashMap<&'static str, DecodeFn>> = OnceLock::new();
    TABLE.get_or_init(|| FAMILIES.iter().copied().flatten().copied().collect()).get(opcode).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_opcode_has_one_place() {
        let mut names: Vec<&str> = FAMILIES.iter().copied().flatten().map(|(name, _)| *name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
