//! Modules and their kernels: PTX text that has been read and made ready to run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex, PoisonError};

use gridstride_simt::{KernelInfo, LoadError, Program};

use crate::arg::Out;
use crate::cpu::context::{Context, ContextId};
use crate::cpu::stream::Faults;
use crate::cpu::{Cpu, NEWEST_PTX};
use crate::result::{CUresult, Error, Result};
use crate::types::{CUdeviceptr, CUfunction, CUmodule};

/// A loaded module.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) context: ContextId,
    pub(crate) faults: Arc<Faults>,
    pub(crate) handle: CUmodule,
    pub(crate) program: Arc<Program>,
    /// Handles of the kernels that were asked for: asking again gives the same.
    functions: Mutex<HashMap<usize, CUfunction>>,
}

/// A kernel of a loaded module.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) module: Arc<Module>,
    /// Its number in the program.
    pub(crate) kernel: usize,
    /// Bytes of dynamic shared memory that a launch may ask for.
    pub(crate) max_dynamic_shared: AtomicU32,
}

/// A linker invocation: the PTX that was handed in.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) context: ContextId,
    pub(crate) handle: usize,
    /// With the NUL. Kept as long as the handle lives, because the caller is given a pointer to it.
    pub(crate) text: Mutex<Option<Vec<u8>>>,
    /// The text has been handed out, and must not change.
    pub(crate) is_complete: AtomicBool,
}

impl Function {
    pub(crate) fn info(&self) -> &KernelInfo {
        &self.module.program.kernels()[self.kernel]
    }
}

impl Module {
    /// Handle of the kernel `name`.
    pub(crate) fn function(self: &Arc<Self>, cpu: &Cpu, name: &str) -> Result<CUfunction> {
        self.function_or_new(cpu, name).map(|(handle, _)| handle)
    }

    /// Handle of the kernel `name`, and whether it was made just now.
    pub(crate) fn function_or_new(self: &Arc<Self>, cpu: &Cpu, name: &str) -> Result<(CUfunction, bool)> {
        let Some(kernel) = self.program.kernel(name) else {
            let names: Vec<&str> = self.program.kernels().iter().map(|kernel| &*kernel.name).collect();
            return Err(
                CUresult::NOT_FOUND.because(format!("no kernel `{name}` in the module; it has: {}", names.join(", ")))
            );
        };
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_new = false;
        let handle = *functions.entry(kernel).or_insert_with(|| {
            is_new = true;
            let mut handle = CUfunction::NULL;
            cpu.functions.insert_with(|new| {
                handle = CUfunction(new);
                let room = cpu.device.facts().shared_per_block;
                let left = room.saturating_sub(self.program.kernels()[kernel].static_shared);
                Arc::new(Function { module: self.clone(), kernel, max_dynamic_shared: AtomicU32::new(left) })
            });
            handle
        });
        Ok((handle, is_new))
    }

    /// Hands out address and size of the variable `name`.
    pub(crate) fn global(&self, address: Out<CUdeviceptr>, size: Out<usize>, name: &str) -> Result {
        let variable = self.program.variable(name);
        let (at, bytes) =
            variable.ok_or_else(|| CUresult::NOT_FOUND.because(format!("no variable `{name}` in the module")))?;
        address.set_if_wanted(at);
        size.set_if_wanted(bytes as usize);
        Ok(())
    }
}

/// Makes a module of PTX text, or says why not. The detail is the whole of the load log.
pub(crate) fn load(cpu: &Cpu, context: &Context, image: &[u8]) -> Result<Arc<Module>> {
    load_parsed(cpu, context, &read(image)?)
}

/// Makes a module of PTX that has been read.
pub(crate) fn load_parsed(cpu: &Cpu, context: &Context, ptx: &gridstride_ptx::Module) -> Result<Arc<Module>> {
    let program = Arc::new(program(cpu, ptx)?);
    Ok(cpu.modules.insert_with(|handle| {
        Arc::new(Module {
            context: context.id,
            faults: context.faults.clone(),
            handle: CUmodule(handle),
            program,
            functions: Mutex::default(),
        })
    }))
}

fn program(cpu: &Cpu, ptx: &gridstride_ptx::Module) -> Result<Program> {
    Program::load(ptx, &cpu.memory).map_err(|error| {
        let code = match &error {
            LoadError::Memory(_) => CUresult::OUT_OF_MEMORY,
            LoadError::Unsupported { .. } => CUresult::NOT_SUPPORTED,
            // As a GPU says of an undefined symbol, and of an architecture that is newer than it.
            _ => CUresult::INVALID_PTX,
        };
        code.because(error.to_string())
    })
}

/// Reads PTX text; what looks like none is `INVALID_IMAGE`, as on a GPU.
pub(crate) fn read(image: &[u8]) -> Result<gridstride_ptx::Module> {
    let text = std::str::from_utf8(image).map_err(|_| CUresult::INVALID_IMAGE.because("the module is not text"))?;
    let Some(version) = version(text) else {
        return Err(CUresult::INVALID_IMAGE.because("the module is no PTX: it has no `.version`"));
    };
    if version > NEWEST_PTX {
        let ((major, minor), (newest_major, newest_minor)) = (version, NEWEST_PTX);
        return Err(CUresult::UNSUPPORTED_PTX_VERSION.because(format!(
            "the module is PTX {major}.{minor}, and the CPU device reads PTX up to {newest_major}.{newest_minor}"
        )));
    }
    gridstride_ptx::parse(text).map_err(|error| CUresult::INVALID_PTX.because(error.to_string()))
}

/// `.version` of PTX text. Looked at before the text is parsed: newer PTX may not parse, and the version is the reason.
pub(crate) fn version(text: &str) -> Option<(u32, u32)> {
    let line = text.lines().map(str::trim_start).find_map(|line| line.strip_prefix(".version"))?;
    let (major, minor) = line.split_whitespace().next()?.split_once('.')?;
    Some((major.parse().ok()?, minor.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?))
}

/// Why an image that is machine code cannot run here. `None` for text.
pub(crate) fn machine_code(start: &[u8]) -> Option<Error> {
    let what = match start {
        [0x7f, b'E', b'L', b'F', ..] => "a cubin",
        [0x50, 0xed, 0x55, 0xba, ..] => "a fat binary",
        _ => return None,
    };
    Some(CUresult::NO_BINARY_FOR_GPU.because(format!(
        "the module is {what}: machine code for NVIDIA GPUs. The CPU device runs PTX text; load that"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_without_parsing() {
        assert_eq!(version("//\n// Generated\n.version 9.5\n.target sm_90"), Some((9, 5)));
        assert_eq!(version("  .version 10.0 // x"), Some((10, 0)));
        assert_eq!(version("hello world"), None);
    }

    #[test]
    fn what_is_no_ptx_gets_the_code_that_a_gpu_gives() {
        assert_eq!(read(b"hello world").unwrap_err().code, CUresult::INVALID_IMAGE);
        assert_eq!(read(b"").unwrap_err().code, CUresult::INVALID_IMAGE);
        let newer = read(b".version 9.9\n.target sm_70\n").unwrap_err();
        assert_eq!(newer.code, CUresult::UNSUPPORTED_PTX_VERSION);
        assert_eq!(newer.detail.as_deref(), Some("the module is PTX 9.9, and the CPU device reads PTX up to 9.5"));
        assert_eq!(machine_code(b"\x7fELF").unwrap().code, CUresult::NO_BINARY_FOR_GPU);
        assert!(machine_code(b".version").is_none());
    }
}
