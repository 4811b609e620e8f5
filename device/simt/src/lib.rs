//! Executes PTX on the CPU as a GPU would: a warp is 32 lanes in lockstep under an active mask, blocks spread over all
//! cores.
//!
//! ```text
//! ptx::Module -- Program::load (decode: one function pointer an instruction) --> Program
//! Program + LaunchConfig + parameters -- Device::launch --> Counters | Fault
//! ```

mod barrier;
mod block;
mod call;
mod check;
mod code;
mod control;
mod counters;
mod decode;
mod device;
mod engine;
mod fault;
mod flow;
mod frame;
mod lane;
mod launch;
mod layout;
mod linear;
mod meet;
mod memory;
mod ops;
mod pool;
mod printf;
mod program;
mod reach;
mod reconverge;
mod run;
mod special;
mod system;
mod warp;

pub use check::{Checks, Finding, FindingKind, Findings, Party, Settings};
pub use counters::{Banks, ByClass, Class, Counters, Traffic};
pub use device::{Device, Facts, LaunchConfig};
pub use fault::{Access, Fault, FaultKind};
pub use memory::{AllocKind, Allocation, Memory, MemoryError};
pub use program::{KernelInfo, LoadError, ParamLayout, Program};
