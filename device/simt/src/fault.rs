//! What can go wrong inside a kernel, and where it did.

use std::fmt;
use std::sync::Arc;

use gridstride_ptx::{Loc, Space};

use crate::memory::Allocation;

/// A fault of a running kernel: the launch is over, the process goes on.
#[derive(Debug, Clone)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Kernel that was launched.
    pub kernel: Arc<str>,
    /// `%ctaid`.
    pub block: [u32; 3],
    /// `%tid` of the first lane that faulted; `None` when the fault is the block's (a deadlock).
    pub thread: Option<[u32; 3]>,
    /// Line of the PTX text.
    pub ptx_line: u32,
    /// The instruction as text.
    pub instruction: String,
    /// Source position, where the PTX has line tables.
    pub loc: Option<Loc>,
}

/// What a kernel did wrong.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access that is not inside a live allocation.
    OutOfBounds {
        /// State space of the access.
        space: Space,
        /// Read, write or atomic.
        access: Access,
        /// First byte.
        address: u64,
        /// Bytes.
        size: u32,
        /// The nearest live allocation, if there is one; for global memory.
        nearest: Option<Allocation>,
        /// Bytes that there are, for the other spaces.
        limit: Option<u32>,
    },
    /// An access to global memory that has been freed.
    UseAfterFree {
        /// Read, write or atomic.
        access: Access,
        /// First byte.
        address: u64,
        /// Bytes.
        size: u32,
        /// The allocation as it was.
        allocation: Allocation,
    },
    /// A store to constant memory, or an atomic there.
    ReadOnly {
        /// Write or atomic.
        access: Access,
        /// First byte.
        address: u64,
        /// Bytes.
        size: u32,
        /// The variable's place.
        allocation: Allocation,
    },
    /// An address that is not a multiple of the access size.
    Misaligned {
        /// State space of the access.
        space: Space,
        /// Read, write or atomic.
        access: Access,
        /// First byte.
        address: u64,
        /// Alignment that the access needs, in bytes.
        needed: u32,
    },
    /// `trap`
    Trap,
    /// `__assertfail`: an assertion or a panic.
    Assert {
        /// Message.
        message: String,
        /// File as the kernel says it.
        file: String,
        /// Line.
        line: u32,
        /// Function as the kernel says it.
        function: String,
    },
    /// No thread of the block can go on.
    Deadlock {
        /// What the threads wait for.
        detail: String,
    },
    /// An indirect call or branch to something that is not there.
    BadTarget {
        /// Which.
        detail: String,
    },
    /// Calls nest deeper than the stack allows.
    StackOverflow,
    /// `free` of an address that is not the start of a live allocation.
    InvalidFree {
        /// The address.
        address: u64,
        /// The allocation that was there before.
        freed: Option<Allocation>,
    },
    /// The launch asks for what no device has; nothing ran.
    BadLaunch {
        /// What.
        detail: String,
    },
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Load.
    Read,
    /// Store.
    Write,
    /// Atomic read-modify-write.
    Atomic,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Atomic => "atomic",
        })
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfBounds { space, access, address, size, nearest, limit } => {
                write!(f, "{access} of {size} bytes at {address:#x} is out of bounds of {space} memory")?;
                match (nearest, limit) {
                    (Some(near), _) => write!(f, "; {}", distance(*address, *size, *near)),
                    (None, Some(limit)) => {
                        write!(f, ", of which there are {limit} bytes: {}", beyond(*address, *size, *limit))
                    }
                    (None, None) => Ok(()),
                }
            }
            Self::UseAfterFree { access, address, size, allocation: Allocation { base, size: bytes, .. } } => write!(
                f,
                "{access} of {size} bytes at {address:#x} is in memory that has been freed ({bytes} bytes at {base:#x})"
            ),
            Self::ReadOnly { access, address, size, allocation: Allocation { base, size: bytes, .. } } => write!(
                f,
                "{access} of {size} bytes at {address:#x} is in constant memory (a `.const` variable of {bytes} bytes at \
                 {base:#x}), which kernels can only read; make the variable `.global`, or write to it from the host"
            ),
            Self::Misaligned { space, access, address, needed } => {
                write!(
                    f,
                    "{access} at {address:#x} in {space} memory is misaligned: it needs a multiple of {needed} bytes"
                )
            }
            Self::Trap => f.write_str("the kernel executed a trap"),
            Self::Assert { message, file, line, .. } => write!(f, "{file}:{line}: {message}"),
            Self::Deadlock { detail } => write!(f, "deadlock: no thread of the block can go on; {detail}"),
            Self::BadTarget { detail } | Self::BadLaunch { detail } => f.write_str(detail),
            Self::InvalidFree { address, freed } => {
                let kind = crate::check::FindingKind::InvalidFree { address: *address, freed: *freed };
                fmt::Display::fmt(&kind, f)
            }
            Self::StackOverflow => f.write_str("calls nest deeper than the local memory of a thread allows"),
        }
    }
}

/// Where an access lies as seen from the end of a memory that begins at 0.
fn beyond(address: u64, size: u32, limit: u32) -> String {
    let limit = u64::from(limit);
    if address >= limit {
        format!("it starts {} bytes behind their end", address - limit)
    } else {
        format!("its last {} bytes are behind their end", address.saturating_add(size.into()) - limit)
    }
}

/// Where an access lies as seen from the nearest allocation.
fn distance(address: u64, size: u32, near: Allocation) -> String {
    let Allocation { base, size: bytes, .. } = near;
    let end = base + bytes;
    if address >= end {
        format!(
            "it starts {} bytes behind the end of the nearest allocation ({bytes} bytes at {base:#x})",
            address - end
        )
    } else if address < base {
        format!("it starts {} bytes before the nearest allocation ({bytes} bytes at {base:#x})", base - address)
    } else {
        let over = address + u64::from(size) - end;
        format!("its last {over} bytes are behind the end of the allocation ({bytes} bytes at {base:#x})")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, kernel, block: [bx, by, bz], thread, ptx_line, instruction, loc } = self;
        write!(f, "{kind} (kernel `{kernel}`, block ({bx}, {by}, {bz})")?;
        if let Some([x, y, z]) = thread {
            write!(f, ", thread ({x}, {y}, {z})")?;
        }
        if let Some(loc) = loc {
            write!(f, ", at {}:{}", loc.file, loc.line)?;
        }
        if *ptx_line > 0 {
            write!(f, ", PTX line {ptx_line}: `{instruction}`")?;
        }
        f.write_str(")")
    }
}

impl std::error::Error for Fault {}
