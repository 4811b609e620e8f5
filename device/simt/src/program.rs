//! A module made ready to run: instructions decoded to lane functions, variables given addresses.

use std::sync::Arc;

use gridstride_ptx::{LaunchBounds, Module, PtxVersion, Target};

use crate::memory::Memory;

/// Why a module cannot be loaded. Every case names the line, and the instruction and kernel where there is one.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// An instruction form that the CPU device does not execute.
    #[error("line {line}: the CPU device does not support `{instruction}` in `{function}`: {reason}")]
    Unsupported {
        /// Line of the PTX text.
        line: u32,
        /// The instruction as text.
        instruction: String,
        /// Kernel or function.
        function: String,
        /// What exactly is not supported.
        reason: String,
    },
    /// A symbol that no function or variable of the module defines.
    #[error("line {line}: `{symbol}` is declared `.extern` but nothing defines it")]
    Undefined {
        /// Line of the declaration.
        line: u32,
        /// The symbol.
        symbol: String,
    },
    /// The module is for an architecture that the device does not have.
    #[error("the module is for {target}, and the CPU device runs up to sm_{supported}")]
    Target {
        /// As the module says it.
        target: String,
        /// Highest that runs.
        supported: u32,
    },
    /// The module's variables do not fit.
    #[error(transparent)]
    Memory(#[from] crate::memory::MemoryError),
}

/// Size and place of a kernel parameter in the parameter buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamLayout {
    /// Byte offset.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
}

/// What is known of a kernel before it runs.
#[derive(Debug, Clone)]
pub struct KernelInfo {
    /// Name in the PTX.
    pub name: Arc<str>,
    /// Parameters in order.
    pub params: Vec<ParamLayout>,
    /// Size of the parameter buffer in bytes.
    pub param_bytes: u32,
    /// Bytes of `.shared` variables that the kernel and what it calls use.
    pub static_shared: u32,
    /// Bytes of `.local` memory a thread.
    pub local_bytes: u32,
    /// Bytes of `.const` memory of the module.
    pub const_bytes: u32,
    /// 32-bit registers a thread (virtual registers that are live at once is not computed: an upper estimate).
    pub registers: u32,
    /// Most threads a block that the kernel allows (1024, or less by `.maxntid`/`.reqntid`).
    pub max_threads: u32,
    /// `.maxntid` and others as written.
    pub bounds: LaunchBounds,
}

/// A loaded module. Dropping it frees its variables.
#[derive(Debug)]
pub struct Program {}

impl Program {
    /// Decodes `module` and gives its variables addresses in `memory`.
    ///
    /// # Errors
    /// See [`LoadError`]; nothing stays allocated.
    pub fn load(module: &Module, memory: &Arc<Memory>) -> Result<Self, LoadError> {
        let _ = (module, memory);
        todo!()
    }
    /// `.version` of the text.
    #[must_use]
    pub fn version(&self) -> PtxVersion {
        todo!()
    }
    /// `.target` of the text.
    #[must_use]
    pub fn target(&self) -> Target {
        todo!()
    }
    /// The kernels, in order of the text.
    #[must_use]
    pub fn kernels(&self) -> &[KernelInfo] {
        todo!()
    }
    /// Position in [`Program::kernels`] of the kernel `name`.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<usize> {
        let _ = name;
        todo!()
    }
    /// Address and size in bytes of the module-scope variable `name` (`.global` or `.const`).
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let _ = name;
        todo!()
    }
}
