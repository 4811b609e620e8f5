//! Looks for what a kernel does wrong without failing: races, reads of memory that nothing wrote, barriers that not all
//! threads reach. And counts what it does, where that costs time.
//!
//! A launch that is watched runs on one core, through a loop of its own (`observe`) over code that carries notes (`note`).
//! Which loop is decided when a warp starts to run; the loads and stores of other launches know nothing of all this.
//!
//! ```text
//! note     what an instruction accesses and orders      touch    where its lanes go
//! clock    who knows of whose past                      shadow   who touched a word
//! race     both together: races                         bits     which bytes have been written
//! block    what is watched of a block: barriers too     finding  what is reported
//! schedule the order of warps and blocks                orders   what a launch leaves, order by order
//! ```

mod bits;
mod block;
mod clock;
mod finding;
pub(crate) mod note;
mod observe;
mod observer;
mod orders;
mod race;
mod schedule;
mod settings;
mod shadow;
mod touch;

pub(crate) use bits::{Bits, SharedBits};
pub(crate) use block::{Arrival, BlockWatch};
pub use finding::{Finding, FindingKind, Findings, Party};
pub(crate) use observer::Observer;
pub(crate) use orders::Orders;
pub(crate) use schedule::Schedule;
pub use settings::{Checks, Settings};

/// An instruction: its function's number in the module, and its position there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Site {
    pub(crate) function: u32,
    pub(crate) at: u32,
}
