//! What the command can do, one file a verb.

pub mod compare;
pub mod devices;
pub mod ptx;
