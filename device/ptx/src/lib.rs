//! Reads PTX: text to syntax tree to checked module to control-flow graph.
//!
//! Opcode-agnostic: it knows directives, operands and control flow, and hands instructions on as written.

mod module;

pub use module::*;
