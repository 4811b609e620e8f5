//! What the checks report.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use gridstride_ptx::{Loc, Space};

use crate::memory::Allocation;

/// Something that a kernel, or the program around it, did wrong without failing.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// The kernel that was launched; `None` for what the host did.
    pub kernel: Option<Arc<str>>,
    /// Who, earliest first: two for a race, one for a read, as many as there are places for a barrier.
    pub parties: Vec<Party>,
    /// How often it was seen, with the same instructions.
    pub times: u64,
}

/// One side of a finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Party {
    /// `%ctaid`
    pub block: [u32; 3],
    /// `%tid`, of the first one where there are several.
    pub thread: [u32; 3],
    /// What it did: `write`, `64 threads wait`.
    pub what: String,
    /// Line of the PTX text; 0 where there is none.
    pub ptx_line: u32,
    /// The instruction as text.
    pub instruction: String,
    /// Source position, where the PTX has line tables.
    pub loc: Option<Loc>,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FindingKind {
    /// Two accesses to the same bytes, one of them a write, that nothing orders.
    Race {
        /// Shared or global.
        space: Space,
        /// Address, or offset in shared memory, of the word.
        address: u64,
        /// The variable that it is in, and the bytes from its start.
        variable: Option<(Arc<str>, u64)>,
        /// Both write, and the same value: harmless if that is meant.
        same_value: bool,
        /// Both are atomic, but the scope of one does not include the other's block.
        scope: bool,
    },
    /// A read of bytes that nothing wrote.
    Uninitialised {
        /// Where.
        space: Space,
        /// Address, or offset in the space.
        address: u64,
        /// Bytes.
        size: u32,
        /// The variable that it is in, and the bytes from its start.
        variable: Option<(Arc<str>, u64)>,
        /// The allocation, for global memory.
        allocation: Option<Allocation>,
    },
    /// A barrier opened for fewer threads than the block has: the others had exited.
    BarrierMissed {
        /// Its number.
        barrier: u32,
        /// Threads that came.
        arrived: u32,
        /// Threads that had exited.
        exited: u32,
    },
    /// Threads of a block met at a barrier by different instructions.
    BarrierLines {
        /// Its number.
        barrier: u32,
    },
    /// A warp-wide operation whose mask leaves out a lane that executes it.
    MaskWithoutSelf {
        /// The mask.
        members: u32,
    },
    /// Memory that was still allocated when its owner ended.
    Leak {
        /// The allocation.
        allocation: Allocation,
        /// Which one it was, from 1.
        number: u64,
    },
    /// An address was given back that is not the start of a live allocation.
    InvalidFree {
        /// The address.
        address: u64,
        /// The allocation that was there before.
        freed: Option<Allocation>,
    },
    /// The end of a launch depends on the order in which warps and blocks run.
    OrderDependent {
        /// The memory that differs.
        allocation: Allocation,
        /// The first byte that differs, from its start.
        offset: u64,
        /// Bytes that differ in it.
        bytes: u64,
        /// Two orders that differ.
        seeds: [u64; 2],
    },
}

impl FindingKind {
    /// The check that it belongs to, as `GRIDSTRIDE_CHECK` names it.
    #[must_use]
    pub fn check(&self) -> &'static str {
        match self {
            Self::Race { .. } => "race",
            Self::Uninitialised { .. } => "init",
            Self::BarrierMissed { .. } | Self::BarrierLines { .. } | Self::MaskWithoutSelf { .. } => "sync",
            Self::Leak { .. } => "leak",
            Self::InvalidFree { .. } => "memory",
            Self::OrderDependent { .. } => "schedule",
        }
    }
}

fn place(space: Space, address: u64, variable: &Option<(Arc<str>, u64)>) -> String {
    let at = match space {
        Space::Global | Space::Const => format!("{space} memory at {address:#x}"),
        _ => format!("{space} memory at byte {address}"),
    };
    match variable {
        Some((name, 0)) => format!("{at} (`{name}`)"),
        Some((name, offset)) => format!("{at} (`{name}` + {offset})"),
        None => at,
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Race { space, address, variable, same_value: true, .. } => {
                write!(f, "race in {} between two writes of the same value", place(*space, *address, variable))
            }
            Self::Race { space, address, variable, scope: true, .. } => write!(
                f,
                "race in {} between atomic accesses of two blocks, of which one is for its own block only (`.cta`)",
                place(*space, *address, variable)
            ),
            Self::Race { space, address, variable, .. } => {
                write!(f, "race in {}: nothing orders these two accesses", place(*space, *address, variable))
            }
            Self::Uninitialised { space, address, size, variable, allocation } => {
                write!(f, "read of {size} bytes that nothing wrote, in {}", place(*space, *address, variable))?;
                match allocation {
                    Some(Allocation { base, size, .. }) => {
                        write!(f, " (byte {} of the {size} bytes at {base:#x})", address - base)
                    }
                    None => Ok(()),
                }
            }
            Self::BarrierMissed { barrier, arrived, exited } => write!(
                f,
                "barrier {barrier} was reached by {arrived} threads of the block; {exited} had exited without it"
            ),
            Self::BarrierLines { barrier } => {
                write!(f, "threads of one block met at barrier {barrier} by different instructions")
            }
            Self::MaskWithoutSelf { members } => {
                write!(f, "the mask {members:#010x} leaves out a lane that executes the operation")
            }
            Self::Leak { allocation: Allocation { base, size, kind }, number } => {
                write!(f, "{size} bytes of {kind:?} memory at {base:#x} (allocation {number}) were never freed")
            }
            Self::InvalidFree { address, freed: Some(Allocation { base, size, .. }) } if base == address => {
                write!(f, "double free: {address:#x} ({size} bytes) has been freed before")
            }
            Self::InvalidFree { address, .. } => {
                write!(f, "free of {address:#x}, which is not the start of an allocation")
            }
            Self::OrderDependent { allocation: Allocation { base, size, .. }, offset, bytes, seeds: [a, b] } => write!(
                f,
                "the result depends on the order of warps and blocks: with seeds {a} and {b}, {bytes} of the {size} bytes \
                 at {base:#x} differ, from byte {offset} on"
            ),
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block: [bx, by, bz], thread: [x, y, z], what, ptx_line, instruction, loc } = self;
        write!(f, "{what}: block ({bx}, {by}, {bz}), thread ({x}, {y}, {z})")?;
        if let Some(loc) = loc {
            write!(f, ", at {}:{}", loc.file, loc.line)?;
        }
        if *ptx_line > 0 {
            write!(f, ", PTX line {ptx_line}: `{instruction}`")?;
        }
        Ok(())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(kernel) = &self.kernel {
            write!(f, " (kernel `{kernel}`)")?;
        }
        for party in &self.parties {
            write!(f, "\n    {party}")?;
        }
        if self.times > 1 {
            write!(f, "\n    and {} more like it", self.times - 1)?;
        }
        Ok(())
    }
}

/// Findings as they come from launches.
#[derive(Debug, Default)]
pub struct Findings(Mutex<Vec<Finding>>);

/// Findings that differ in more than numbers, at most, for a program that nobody reads the findings of.
const MOST: usize = 1000;

impl Findings {
    /// Adds findings; those that there are already are counted.
    pub fn add(&self, new: impl IntoIterator<Item = Finding>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for finding in new {
            let like = |old: &&mut Finding| {
                let lines = |finding: &Finding| -> Vec<u32> { finding.parties.iter().map(|p| p.ptx_line).collect() };
                !finding.parties.is_empty()
                    && std::mem::discriminant(&old.kind) == std::mem::discriminant(&finding.kind)
                    && old.kernel == finding.kernel
                    && lines(old) == lines(&finding)
            };
            if let Some(old) = all.iter_mut().find(like) {
                old.times += finding.times;
            } else if all.len() < MOST {
                all.push(finding);
            }
        }
    }

    /// All findings so far, which are forgotten here.
    #[must_use]
    pub fn take(&self) -> Vec<Finding> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
