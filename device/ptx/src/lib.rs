//! Reads PTX: text to tokens to checked module with a control-flow graph.
//!
//! Opcode-agnostic: it knows directives, operands and control flow, and hands instructions on as written.

mod cfg;
mod display;
mod error;
mod lexer;
mod module;
mod parser;
mod types;

pub use error::ParseError;
pub use module::*;
pub use parser::parse;
