//! The CPU device as the Driver API shows it: devices, their contexts, and all that hangs on them.

pub(crate) mod allocations;
pub(crate) mod checking;
pub(crate) mod context;
pub(crate) mod counting;
pub(crate) mod current;
pub(crate) mod event;
pub(crate) mod function;
pub(crate) mod handles;
pub(crate) mod jit;
pub(crate) mod library;
pub(crate) mod module;
pub(crate) mod pool;
pub(crate) mod stream;

use std::ffi::OsStr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use gridstride_simt::{Device, Memory};

use crate::result::{CUresult, Result, fail};
use crate::types::CUdevice;
use allocations::Allocations;
use context::{Context, ContextId};
use event::Event;
use handles::Table;
use library::{Kernel, Library};
use module::{Function, Link, Module};
use pool::Pools;
use stream::Stream;

/// The version of CUDA whose Driver API the CPU device follows.
pub(crate) const DRIVER_VERSION: (u32, u32) = (13, 0);
/// Newest PTX that the CPU device reads. Newer than its Driver API: PTX of the newest compilers runs.
pub(crate) const NEWEST_PTX: (u32, u32) = (9, 5);
/// What clients compile for. The CPU device runs PTX for newer architectures too, but compilers for those use instructions
/// (of tensor memory, of clusters) that it does not have.
pub(crate) const COMPUTE_CAPABILITY: (i32, i32) = (9, 0);

/// All state of the CPU device.
#[derive(Debug)]
pub(crate) struct Cpu {
    pub(crate) memory: Arc<Memory>,
    pub(crate) device: Device,
    pub(crate) contexts: Table<Context>,
    pub(crate) streams: Table<Stream>,
    pub(crate) events: Table<Event>,
    pub(crate) modules: Table<Module>,
    pub(crate) functions: Table<Function>,
    pub(crate) links: Table<Link>,
    pub(crate) libraries: Table<Library>,
    pub(crate) kernels: Table<Kernel>,
    pub(crate) pools: Pools,
    pub(crate) allocations: Allocations,
    /// One for each device. The devices are alike, and share cores and memory.
    primaries: Vec<Mutex<Primary>>,
}

/// A device's primary context.
#[derive(Debug, Default)]
pub(crate) struct Primary {
    /// The handle, from the first retain on; it stays the same from then on.
    handle: Option<usize>,
    retained: u32,
    pub(crate) flags: u32,
}

static CPU: OnceLock<Cpu> = OnceLock::new();

/// The CPU device, once `cuInit` has been called.
pub(crate) fn cpu() -> Result<&'static Cpu> {
    CPU.get().ok_or_else(|| CUresult::NOT_INITIALIZED.because("cuInit has not been called"))
}

/// `cuInit`
pub(crate) fn initialise() -> Result {
    let devices = devices(std::env::var_os("GRIDSTRIDE_DEVICES").as_deref())?;
    CPU.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let memory = Arc::new(Memory::new(host_memory()));
        let cpu = Cpu {
            device: Device::new(threads, memory.clone()),
            memory,
            contexts: Table::new(0x10),
            streams: Table::new(0x20),
            events: Table::new(0x30),
            modules: Table::new(0x40),
            functions: Table::new(0x50),
            links: Table::new(0x60),
            libraries: Table::new(0x70),
            kernels: Table::new(0x80),
            pools: Pools::default(),
            allocations: Allocations::default(),
            primaries: (0..devices).map(|_| Mutex::default()).collect(),
        };
        checking::begin(&cpu);
        cpu
    });
    Ok(())
}

/// How many devices `GRIDSTRIDE_DEVICES` asks for.
fn devices(variable: Option<&OsStr>) -> Result<u32> {
    let Some(variable) = variable else {
        return Ok(1);
    };
    match variable.to_str().and_then(|text| text.trim().parse().ok()) {
        Some(devices @ 1..=64) => Ok(devices),
        _ => Err(CUresult::INVALID_VALUE
            .because(format!("GRIDSTRIDE_DEVICES is `{}`: it takes a number from 1 to 64", variable.display()))),
    }
}

/// `INVALID_DEVICE` unless there is such a device.
pub(crate) fn check_device(device: CUdevice) -> Result<&'static Cpu> {
    let cpu = cpu()?;
    if (0..cpu.devices()).contains(&device) { Ok(cpu) } else { fail(CUresult::INVALID_DEVICE) }
}

impl Cpu {
    /// The context, if it has not ended.
    pub(crate) fn context_by_id(&self, id: ContextId) -> Option<Arc<Context>> {
        self.contexts.find(|context| context.id == id)
    }

    /// Makes the primary context active, if it is not, and counts one more user of it.
    pub(crate) fn retain_primary(&self, device: CUdevice) -> Arc<Context> {
        let mut primary = self.primary(device);
        primary.retained += 1;
        let flags = primary.flags;
        let Some(handle) = primary.handle else {
            let context = self.contexts.insert_with(|handle| Context::new(handle, device, true, flags));
            primary.handle = Some(context.handle.0);
            return context;
        };
        self.contexts.get(handle).live().unwrap_or_else(|| {
            let context = Context::new(handle, device, true, flags);
            self.contexts.refill(handle, context.clone());
            context
        })
    }

    /// How many devices there are.
    pub(crate) fn devices(&self) -> CUdevice {
        self.primaries.len() as CUdevice
    }

    /// Counts one user less; the last one ends the context.
    pub(crate) fn release_primary(&self, device: CUdevice) -> Result {
        let mut primary = self.primary(device);
        if primary.retained == 0 {
            return Err(CUresult::INVALID_CONTEXT.because("the primary context is not retained"));
        }
        primary.retained -= 1;
        let over = (primary.retained == 0).then_some(primary.handle).flatten();
        if let Some(context) = over.and_then(|handle| self.contexts.vacate(handle)) {
            self.clear(&context);
        }
        Ok(())
    }

    /// Ends the primary context whoever uses it; the count of users stays, as on a GPU.
    pub(crate) fn reset_primary(&self, device: CUdevice) {
        let primary = self.primary(device);
        if let Some(context) = primary.handle.and_then(|handle| self.contexts.vacate(handle)) {
            self.clear(&context);
        }
    }

    /// The primary context, if it is active.
    pub(crate) fn active_primary(&self, primary: &Primary) -> Option<Arc<Context>> {
        self.contexts.get(primary.handle?).live()
    }

    /// What is known of the primary context of a device that exists ([`check_device`]).
    pub(crate) fn primary(&self, device: CUdevice) -> MutexGuard<'_, Primary> {
        self.primaries[device as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a context that has been taken out of the table: waits for its work, frees what it owns.
    pub(crate) fn clear(&self, context: &Context) {
        context.close();
        let id = context.id;
        checking::before_end(self, id);
        let owns = |stream: &Stream| std::ptr::eq(stream.context.as_ptr(), context);
        self.streams.remove_all(owns);
        self.events.remove_all(|event| event.context == id);
        self.functions.remove_all(|function| function.module.context == id);
        self.modules.remove_all(|module| module.context == id);
        self.libraries.for_each(|library| library.leave(id));
        self.links.remove_all(|link| link.context == id);
        self.allocations.free_all(&self.memory, id);
    }
}

/// Three quarters of the machine's memory: a device that took all of it would take the host down with it.
fn host_memory() -> u64 {
    let fallback = 8 << 30;
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    // A container may be allowed less.
    let allowed = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    let total = total.map_or(fallback, |kibibytes| kibibytes << 10).min(allowed.unwrap_or(u64::MAX));
    (total / 4 * 3) & !0xfff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_says_how_many_devices_there_are() {
        let of = |text| devices(Some(OsStr::new(text))).map_err(|error| error.code);
        assert_eq!(devices(None).unwrap(), 1);
        assert_eq!(of("4"), Ok(4));
        assert_eq!([of("0"), of("65"), of("many"), of("")], [Err(CUresult::INVALID_VALUE); 4]);
    }
}
