//! Reads PTX: text to tokens to syntax tree to checked module with a control-flow graph.
//!
//! Opcode-agnostic: it knows directives, operands and control flow, and hands instructions on as written. [`parse`] is
//! the way in, [`Module`] what comes out.
//!
//! ```
//! let text = ".version 7.0 .target sm_70 .address_size 64
//!     .visible .entry twice(.param .u64 .ptr .global .align 4 p) {
//!         .reg .b32 %r<3>; .reg .b64 %rd<2>;
//!         ld.param.u64 %rd1, [p];
//!         ld.global.u32 %r1, [%rd1];
//!         add.u32 %r2, %r1, %r1;
//!         st.global.u32 [%rd1], %r2;
//!         ret;
//!     }";
//! let module = gridstride_ptx::parse(text)?;
//! let twice = module.function("twice").unwrap();
//! assert_eq!(twice.blocks.len(), 1);
//! assert_eq!(module.instr_text(twice, 2), "add.u32 %r2, %r1, %r1");
//! # Ok::<(), gridstride_ptx::ParseError>(())
//! ```

mod ast;
mod cfg;
mod display;
mod error;
mod lexer;
mod module;
mod parser;
mod resolve;
mod types;

pub use error::ParseError;
pub use module::*;

/// Reads a PTX module.
///
/// # Errors
/// The first thing that is not PTX as this crate knows it, with its line and column.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let tokens = lexer::lex(text)?;
    let ast = parser::parse(text, tokens)?;
    resolve::resolve(text, ast)
}
