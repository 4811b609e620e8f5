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
        /// `read`, `write` or `atomic`.
        access: Access,
        /// First byte.
        address: u64,
        /// Bytes.
        size: u32,
        /// The nearest live allocation, if there is one.
        nearest: Option<Allocation>,
    },
    /// An address that is not a multiple of the access size.
    Misaligned {
        /// State space of the access.
        space: Space,
        /// `read`, `write` or `atomic`.
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

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = f;
        todo!()
    }
}

impl std::error::Error for Fault {}
