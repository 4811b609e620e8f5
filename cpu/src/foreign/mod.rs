//! Kernels of somebody else's: PTX that this project has never seen, launched with arguments given at run time.
//!
//! ```text
//! PTX text -- signatures() --> Signature -- Launch { arguments, shape } -- launch() --> Launched (outputs, times, counters)
//! ```

mod launch;
mod signature;

pub use launch::{Argument, Launch, Launched, launch};
pub use signature::{Parameter, Signature, signatures};
