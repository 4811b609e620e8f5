//! The device: opened once, with the facts that everything else depends on.

use cust::context::{Context, CurrentContext};
use cust::device::{Device as CudaDevice, DeviceAttribute};
use cust::stream::{Stream, StreamFlags};
use gridstride_driver::{Backend, Choice, Kind};

use crate::error::{Error, Result};

/// What is known of a device.
#[derive(Debug, Clone)]
pub struct Facts {
    /// As the driver names it.
    pub name: String,
    /// GPU or CPU device.
    pub kind: Kind,
    /// Multiprocessors; on the CPU device, cores.
    pub multiprocessors: u32,
    /// Lanes a warp.
    pub warp_size: u32,
    /// Bytes of device memory.
    pub memory_bytes: u64,
    /// Compute capability.
    pub capability: (u32, u32),
    /// Driver version, (13, 0).
    pub driver: (u32, u32),
    /// Newest PTX ISA version that the driver takes.
    pub newest_ptx: (u32, u32),
    /// Threads a block at most.
    pub max_threads_per_block: u32,
    /// Threads that a multiprocessor holds at a time.
    pub max_threads_per_multiprocessor: u32,
    /// Threads a block at most along each axis.
    pub max_block: [u32; 3],
    /// Blocks at most along each axis.
    pub max_grid: [u32; 3],
    /// Why this is not a GPU, where a GPU would have been preferred.
    pub no_gpu: Option<String>,
}

impl Facts {
    /// True for a real GPU.
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        self.kind == Kind::Gpu
    }

    /// One word for files: `gpu` or `cpu`.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Gpu => "gpu",
            Kind::Cpu => "cpu",
        }
    }
}

/// An open device with its context and a stream.
#[derive(Debug)]
pub struct Device {
    facts: Facts,
    pub(crate) stream: Stream,
    // Dropped last: the stream and all buffers belong to it.
    _context: Context,
}

impl Device {
    /// Opens the first device of the kind asked for; with `None`, of the kind that `GRIDSTRIDE_DEVICE` asks for.
    ///
    /// # Errors
    /// [`Error::Open`] when there is none, [`Error::Driver`] when the driver refuses.
    pub fn open(choice: impl Into<Option<Choice>>) -> Result<Self> {
        let backend = backend(choice.into())?;
        let device = CudaDevice::get_device(0).map_err(|e| Error::driver("opening the device", e))?;
        let facts = facts(device, backend).map_err(|e| Error::driver("asking the device for its facts", e))?;
        let context = Context::new(device).map_err(|e| Error::driver("making a context", e))?;
        let stream = Stream::new(StreamFlags::DEFAULT, None).map_err(|e| Error::driver("making a stream", e))?;
        Ok(Self { facts, stream, _context: context })
    }

    /// What is known of every device of that kind, in the driver's order; [`Device::open`] opens the first.
    ///
    /// # Errors
    /// As for [`Device::open`].
    pub fn list(choice: impl Into<Option<Choice>>) -> Result<Vec<Facts>> {
        let backend = backend(choice.into())?;
        let failed = |e| Error::driver("listing the devices", e);
        let devices = CudaDevice::devices().map_err(failed)?;
        devices.map(|device| facts(device.map_err(failed)?, backend.clone()).map_err(failed)).collect()
    }

    /// What is known of it.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Bytes of device memory that are free now.
    ///
    /// # Errors
    /// When the driver refuses, after a kernel's fault for example.
    pub fn free_memory(&self) -> Result<u64> {
        cust::memory::mem_get_info()
            .map(|(free, _)| free as u64)
            .map_err(|e| Error::driver("asking for free memory", e))
    }

    /// Checks that buffers of `bytes` in all fit the device and the host.
    ///
    /// # Errors
    /// [`Error::NoRoom`], with the sizes.
    pub fn check_room(&self, bytes: u64) -> Result<()> {
        crate::memory::check_room(self, bytes, 2)
    }

    /// Waits until everything that was asked of the device is done.
    ///
    /// # Errors
    /// The fault of a kernel, if there was one.
    pub fn synchronize(&self) -> Result<()> {
        CurrentContext::synchronize().map_err(|e| Error::driver("waiting for the device", e))
    }
}

fn backend(choice: Option<Choice>) -> Result<Backend> {
    if let Some(choice) = choice {
        gridstride_driver::choose(choice)?;
    }
    let backend = gridstride_driver::open()?;
    cust::init(cust::CudaFlags::empty()).map_err(|e| Error::driver("opening the device", e))?;
    Ok(backend)
}

fn facts(device: CudaDevice, backend: Backend) -> cust::error::CudaResult<Facts> {
    let ask = |attribute| device.get_attribute(attribute).map(|value| u32::try_from(value).unwrap_or(0));
    use DeviceAttribute as A;
    Ok(Facts {
        name: device.name()?,
        kind: backend.kind,
        multiprocessors: ask(A::MultiprocessorCount)?,
        warp_size: ask(A::WarpSize)?,
        memory_bytes: device.total_memory()? as u64,
        capability: (ask(A::ComputeCapabilityMajor)?, ask(A::ComputeCapabilityMinor)?),
        driver: backend.driver_version,
        newest_ptx: backend.newest_ptx,
        max_threads_per_block: ask(A::MaxThreadsPerBlock)?,
        max_threads_per_multiprocessor: ask(A::MaxThreadsPerMultiprocessor)?,
        max_block: [ask(A::MaxBlockDimX)?, ask(A::MaxBlockDimY)?, ask(A::MaxBlockDimZ)?],
        max_grid: [ask(A::MaxGridDimX)?, ask(A::MaxGridDimY)?, ask(A::MaxGridDimZ)?],
        no_gpu: backend.no_gpu,
    })
}

#[cfg(test)]
pub(crate) fn test_facts() -> Facts {
    Facts {
        name: "a CPU device".into(),
        kind: Kind::Cpu,
        multiprocessors: 2,
        warp_size: 32,
        memory_bytes: 1 << 30,
        capability: (9, 0),
        driver: (13, 0),
        newest_ptx: (9, 0),
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: 2048,
        max_block: [1024, 1024, 64],
        max_grid: [i32::MAX as u32, 65535, 65535],
        no_gpu: None,
    }
}
