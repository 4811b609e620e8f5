//! A module made ready to run: instructions decoded to lane functions, variables given addresses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use gridstride_ptx::{FuncId, Function, LaunchBounds, Linkage, Module, Param, PtxVersion, Space, Symbol, Target};

use crate::code::Code;
use crate::flow;
use crate::lane::Level;
use crate::layout::{Layout, Named};
use crate::memory::{AllocKind, Memory};
use crate::reach;

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

/// Highest compute capability times ten whose PTX the CPU device takes.
pub(crate) const NEWEST_SM: u32 = 121;

/// A loaded module. Dropping it frees its variables.
#[derive(Debug)]
pub struct Program {
    pub(crate) module: Arc<Module>,
    memory: Arc<Memory>,
    infos: Vec<KernelInfo>,
    pub(crate) kernels: Vec<Kernel>,
    variables: Vec<Option<(u64, u64)>>,
    /// Kernels decoded once more for launches that are watched, as they come.
    watched: Mutex<HashMap<usize, Arc<Kernel>>>,
}

/// What a launch of one kernel needs.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    /// Position of the entry in `codes`.
    pub(crate) entry: usize,
    /// Decoded functions by their number in the module; those that the kernel cannot reach are absent.
    pub(crate) codes: Arc<[Option<Arc<Code>>]>,
    pub(crate) static_shared: u32,
    /// Where dynamic shared memory begins.
    dynamic_shared_at: u32,
    /// Local memory a lane, all activations together.
    pub(crate) local_bytes: u32,
    /// Variables by address, for messages; only where the kernel is watched.
    pub(crate) named: Vec<Named>,
}

impl Kernel {
    /// Shared memory of a block of a launch that asks for `dynamic` bytes.
    pub(crate) fn shared_bytes(&self, dynamic: u32) -> u32 {
        if dynamic == 0 { self.static_shared } else { self.dynamic_shared_at.saturating_add(dynamic) }
    }
}

impl Program {
    /// Decodes `module` and gives its variables addresses in `memory`.
    ///
    /// # Errors
    /// See [`LoadError`]; nothing stays allocated.
    pub fn load(module: &Module, memory: &Arc<Memory>) -> Result<Self, LoadError> {
        if module.target.sm > NEWEST_SM {
            return Err(LoadError::Target { target: module.target.to_string(), supported: NEWEST_SM });
        }
        let mut program = Self {
            module: Arc::new(module.clone()),
            memory: memory.clone(),
            infos: Vec::new(),
            kernels: Vec::new(),
            variables: Vec::new(),
            watched: Mutex::default(),
        };
        program.place_variables()?;
        program.initialize()?;
        let mut shared_free = HashMap::new();
        let entries = module.functions.iter().enumerate().filter(|(_, f)| f.is_entry && !f.blocks.is_empty());
        for (at, function) in entries {
            let kernel = program.kernel_of(at, &mut shared_free, false)?;
            program.infos.push(program.info(function, &kernel));
            program.kernels.push(kernel);
        }
        Ok(program)
    }

    /// `.version` of the text.
    #[must_use]
    pub fn version(&self) -> PtxVersion {
        self.module.version
    }

    /// `.target` of the text.
    #[must_use]
    pub fn target(&self) -> Target {
        self.module.target
    }

    /// The kernels, in order of the text.
    #[must_use]
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.infos
    }

    /// Position in [`Program::kernels`] of the kernel `name`.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<usize> {
        self.infos.iter().position(|info| &*info.name == name)
    }

    /// Kernel number `kernel`, as launches need it whose every instruction is looked at.
    pub(crate) fn watched(&self, kernel: usize) -> Arc<Kernel> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = self.kernels[kernel].entry;
        let decode = || self.kernel_of(entry, &mut HashMap::new(), true).expect("it could be decoded before");
        watched.entry(kernel).or_insert_with(|| Arc::new(decode())).clone()
    }

    /// Address and size in bytes of the module-scope variable `name` (`.global` or `.const`).
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let at = self.module.globals.iter().position(|global| &*global.name == name)?;
        self.variables[at]
    }

    fn place_variables(&mut self) -> Result<(), LoadError> {
        for at in 0..self.module.globals.len() {
            let global = &self.module.globals[at];
            let place = match (global.space, global.size) {
                (Space::Shared, _) | (_, None) => None,
                _ if global.linkage == Linkage::Extern => None,
                // An address of its own even for a variable of no bytes.
                (Space::Const, Some(size)) => Some((self.memory.alloc(size.max(1), AllocKind::ModuleConstant)?, size)),
                (_, Some(size)) => Some((self.memory.alloc(size.max(1), AllocKind::ModuleGlobal)?, size)),
            };
            self.variables.push(place);
        }
        Ok(())
    }

    fn initialize(&self) -> Result<(), LoadError> {
        for (global, place) in self.module.globals.iter().zip(&self.variables) {
            let (Some(init), Some((address, _))) = (&global.init, place) else { continue };
            let mut bytes = init.bytes.clone();
            for reloc in &init.relocs {
                let target = match reloc.symbol {
                    Symbol::Global(id) => self.variables[id.0 as usize].map(|(address, _)| address),
                    Symbol::Func(id) => Some(function_address(id)),
                    Symbol::Var(_) => None,
                };
                let target = target.ok_or_else(|| LoadError::Undefined {
                    line: global.line,
                    symbol: format!("an address in the initialiser of {}", global.name),
                })?;
                let value = (target.wrapping_add(reloc.addend.cast_unsigned())) >> reloc.shift;
                let (from, width) = (reloc.offset as usize, reloc.width as usize);
                bytes[from..from + width].copy_from_slice(&value.to_le_bytes()[..width]);
            }
            self.memory.write(*address, &bytes)?;
        }
        Ok(())
    }

    /// Decodes what the kernel can reach. Functions that touch no shared variable are decoded once for all kernels.
    fn kernel_of(
        &self,
        entry: usize,
        shared_free: &mut HashMap<usize, Arc<Code>>,
        watched: bool,
    ) -> Result<Kernel, LoadError> {
        let reached = reach::reachable(&self.module, entry);
        if let Some((line, symbol)) = reach::undefined(&self.module, &self.variables, &reached) {
            return Err(LoadError::Undefined { line, symbol });
        }
        let layout = Layout::of(&self.module, &self.variables, &reached);
        let mut codes: Vec<Option<Arc<Code>>> = vec![None; self.module.functions.len()];
        for &at in &reached {
            let function = &self.module.functions[at];
            if function.blocks.is_empty() {
                continue;
            }
            if let Some(code) = shared_free.get(&at) {
                codes[at] = Some(code.clone());
                continue;
            }
            let code = Arc::new(flow::decode(&self.module, at, &layout, Level::detect(), watched)?);
            if !reach::touches_shared(&self.module, function) {
                shared_free.insert(at, code.clone());
            }
            codes[at] = Some(code);
        }
        let local_bytes = reach::local_bytes(&self.module, entry, &codes);
        let named = if watched { layout.named(&self.module) } else { Vec::new() };
        let Layout { static_shared, dynamic_shared_at, .. } = layout;
        Ok(Kernel { entry, codes: codes.into(), static_shared, dynamic_shared_at, local_bytes, named })
    }

    fn info(&self, function: &Function, kernel: &Kernel) -> KernelInfo {
        let params = param_layout(function);
        let bounds = function.bounds;
        let threads = |shape: [u32; 3]| shape.iter().product::<u32>();
        let max_threads = bounds.required_threads.or(bounds.max_threads).map_or(1024, threads).min(1024);
        let words =
            |ty: gridstride_ptx::Type| if ty == gridstride_ptx::Type::Pred { 0 } else { ty.bytes().div_ceil(4) };
        let registers: u32 = function.regs.iter().map(|reg| words(reg.ty)).sum();
        let constant = |g: &&gridstride_ptx::Global| g.space == Space::Const;
        let const_bytes: u64 = self.module.globals.iter().filter(constant).filter_map(|g| g.size).sum();
        KernelInfo {
            name: function.name.clone(),
            param_bytes: params.last().map_or(0, |last| last.offset + last.size),
            params,
            static_shared: kernel.static_shared,
            local_bytes: kernel.local_bytes,
            const_bytes: u32::try_from(const_bytes).unwrap_or(u32::MAX),
            registers: registers.min(255),
            max_threads,
            bounds,
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        for (address, _) in self.variables.iter().flatten() {
            // An error would mean that someone freed it already; there is nothing left to do then.
            let _ = self.memory.free(*address);
        }
    }
}

/// First of the addresses that stand for functions: no memory is there.
const FUNCTIONS: u64 = 3 << 48;

/// What `mov.u64 d, function` gives.
pub(crate) fn function_address(id: FuncId) -> u64 {
    FUNCTIONS + 16 * u64::from(id.0)
}

/// The function that an address stands for.
pub(crate) fn function_at(address: u64) -> Option<usize> {
    let offset = address.checked_sub(FUNCTIONS)?;
    (offset % 16 == 0).then(|| usize::try_from(offset / 16).ok())?
}

/// Where a kernel's parameters lie in its parameter buffer (PTX ISA, "Kernel Function Parameters"): in order, each
/// aligned to itself.
pub(crate) fn param_layout(function: &Function) -> Vec<ParamLayout> {
    let mut end = 0u32;
    let vars = function.params.iter().filter_map(|param| match param {
        Param::Var(id) => function.vars.get(id.0 as usize),
        Param::Reg(_) => None,
    });
    vars.map(|var| {
        let offset = end.next_multiple_of(var.align.max(1));
        let size = u32::try_from(var.size).unwrap_or(u32::MAX / 4);
        end = offset.saturating_add(size);
        ParamLayout { offset, size, align: var.align }
    })
    .collect()
}
