//! Libraries: modules that belong to no context. Each context that uses one gets a module of its own, the first time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cpu::Cpu;
use crate::cpu::context::{Context, ContextId};
use crate::cpu::module::{Function, Module, load_parsed};
use crate::result::{CUresult, Result};
use crate::types::{CUfunction, CUkernel, CUlibrary};

/// A library.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) handle: CUlibrary,
    ptx: gridstride_ptx::Module,
    modules: Mutex<HashMap<ContextId, Arc<Module>>>,
    /// Handles of the kernels that were asked for: asking again gives the same.
    kernels: Mutex<HashMap<Arc<str>, CUkernel>>,
}

/// A kernel of a library, in whatever context.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) library: Arc<Library>,
    pub(crate) name: Arc<str>,
    /// Attributes that were set, to be set again in contexts to come.
    attributes: Mutex<Vec<(i32, i32)>>,
}

impl Library {
    pub(crate) fn new(ptx: gridstride_ptx::Module) -> Self {
        Self { handle: CUlibrary::NULL, ptx, modules: Mutex::default(), kernels: Mutex::default() }
    }

    /// The same under a handle.
    pub(crate) fn named(self, handle: usize) -> Self {
        Self { handle: CUlibrary(handle), ..self }
    }

    /// Names of its kernels, in the order of the text.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.ptx.functions.iter().filter(|f| f.is_entry && !f.blocks.is_empty()).map(|f| &*f.name)
    }

    /// The library's module in a context.
    pub(crate) fn module(&self, cpu: &Cpu, context: &Context) -> Result<Arc<Module>> {
        let mut modules = lock(&self.modules);
        if let Some(module) = modules.get(&context.id) {
            module.faults.check()?;
            return Ok(module.clone());
        }
        let module = load_parsed(cpu, context, &self.ptx)?;
        modules.insert(context.id, module.clone());
        Ok(module)
    }

    /// Forgets the module of a context that has ended.
    pub(crate) fn leave(&self, context: ContextId) {
        lock(&self.modules).remove(&context);
    }

    /// All its modules, which end with it.
    pub(crate) fn take_modules(&self) -> Vec<Arc<Module>> {
        lock(&self.modules).drain().map(|(_, module)| module).collect()
    }

    /// Handle of the kernel `name`.
    pub(crate) fn kernel(self: &Arc<Self>, cpu: &Cpu, name: &str) -> Result<CUkernel> {
        if !self.names().any(|known| known == name) {
            let names: Vec<&str> = self.names().collect();
            let detail = format!("no kernel `{name}` in the library; it has: {}", names.join(", "));
            return Err(CUresult::NOT_FOUND.because(detail));
        }
        let name: Arc<str> = Arc::from(name);
        Ok(*lock(&self.kernels).entry(name.clone()).or_insert_with(|| {
            let mut handle = CUkernel::NULL;
            cpu.kernels.insert_with(|new| {
                handle = CUkernel(new);
                Arc::new(Kernel { library: self.clone(), name, attributes: Mutex::default() })
            });
            handle
        }))
    }
}

impl Kernel {
    /// The kernel as a function of a context.
    pub(crate) fn function(&self, cpu: &Cpu, context: &Context) -> Result<CUfunction> {
        let module = self.library.module(cpu, context)?;
        let (handle, is_new) = module.function_or_new(cpu, &self.name)?;
        if is_new && let Some(function) = cpu.functions.get(handle.0).live() {
            for &(attribute, value) in &*lock(&self.attributes) {
                function.set_attribute(cpu, attribute, value)?;
            }
        }
        Ok(handle)
    }

    /// Sets an attribute in a context, and in those to come.
    pub(crate) fn set_attribute(&self, cpu: &Cpu, function: &Function, attribute: i32, value: i32) -> Result {
        function.set_attribute(cpu, attribute, value)?;
        lock(&self.attributes).push((attribute, value));
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
