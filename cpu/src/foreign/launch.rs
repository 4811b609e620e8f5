//! Launches a kernel of which only its PTX is known: once for its results, some more times for its speed, and on the CPU
//! device once more for the counters. Every launch begins with the same bytes in the buffers.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use cust::memory::{CopyDestination, DeviceBuffer};
use gridstride_driver::Counters;

use super::Signature;
use crate::array::Array;
use crate::copy::{elapsed, event};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::measure::{Progress, Runs, Timing};
use crate::memory;
use crate::module::{KernelFacts, Module};
use crate::shape::LaunchShape;

/// An argument of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// The bytes of a value.
    Value(Vec<u8>),
    /// A buffer on the device with these elements in it; the kernel gets its address.
    Buffer(Array),
}

impl Argument {
    /// Bytes that the parameter has.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Value(bytes) => bytes.len() as u64,
            Self::Buffer(_) => 8,
        }
    }
}

/// What to launch.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// The kernel.
    pub kernel: &'a Signature,
    /// Blocks and threads.
    pub shape: LaunchShape,
    /// Bytes of dynamic shared memory a block.
    pub shared: u32,
    /// One for each parameter.
    pub arguments: &'a [Argument],
    /// How often.
    pub runs: Runs,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Launched {
    /// For each argument that is a buffer, its elements after one launch.
    pub outputs: Vec<Option<Array>>,
    /// How long the first launch call took.
    pub first_call: Duration,
    /// How long the wait took for what it began.
    pub first_wait: Duration,
    /// Timed launches; `read` has no samples.
    pub timing: Timing,
    /// What the device needs for a thread and a block of it.
    pub kernel: KernelFacts,
    /// What the CPU device counted; `None` on a GPU.
    pub counters: Option<Counters>,
}

/// Launches it.
///
/// # Errors
/// [`Error::Arguments`] when the arguments are not those of the kernel, [`Error::Driver`] when the launch or the kernel fails.
pub fn launch(device: &Device, module: &Module, launch: &Launch<'_>, progress: &dyn Progress) -> Result<Launched> {
    launch.shape.check(device.facts())?;
    check(launch)?;
    let bytes = launch.arguments.iter().map(|argument| match argument {
        Argument::Buffer(array) => array.bytes().len() as u64,
        Argument::Value(_) => 0,
    });
    // The host has the elements before and after.
    memory::check_room(device, bytes.sum(), 2)?;
    let mut ready = Ready { device, module, launch, buffers: buffers(launch.arguments)? };
    progress.started(launch.shape);
    let began = Instant::now();
    ready.begin()?;
    let first_call = began.elapsed();
    let began = Instant::now();
    device.synchronize()?;
    let first_wait = began.elapsed();
    let outputs = ready.outputs()?;
    let (warmup, timed) = launch.runs.affordable(first_call + first_wait);
    let counted = !device.facts().is_gpu();
    let total = 1 + warmup + timed + u32::from(counted);
    let mut timing = Timing::default();
    for run in 0..warmup + timed {
        progress.launched(launch.shape, 1 + run, total);
        ready.refill()?;
        ready.once((run >= warmup).then_some(&mut timing))?;
    }
    let counters = if counted { ready.count()? } else { None };
    progress.launched(launch.shape, total, total);
    let kernel = module.kernel_facts(&launch.kernel.name, launch.shape, launch.shared)?;
    Ok(Launched { outputs, first_call, first_wait, timing, kernel, counters })
}

/// The driver reads as many bytes of each argument as the parameter has.
fn check(launch: &Launch<'_>) -> Result<()> {
    let Signature { name, parameters, .. } = launch.kernel;
    let wrong = |reason| Err(Error::Arguments { kernel: name.clone(), reason });
    if parameters.len() != launch.arguments.len() {
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        let takes = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        return wrong(format!("it takes {}{takes}, and {} are given", parameters.len(), launch.arguments.len()));
    }
    for (at, (parameter, argument)) in parameters.iter().zip(launch.arguments).enumerate() {
        if parameter.bytes != argument.bytes() {
            let (has, given) = (parameter.bytes, argument.bytes());
            return wrong(format!(
                "parameter {at} (`{}`) has {has} bytes, and the argument given has {given}",
                parameter.name
            ));
        }
    }
    Ok(())
}

fn buffers(arguments: &[Argument]) -> Result<Vec<Option<DeviceBuffer<u8>>>> {
    let buffer = |argument: &Argument| match argument {
        Argument::Value(_) => Ok(None),
        Argument::Buffer(array) => DeviceBuffer::from_slice(array.bytes()).map(Some),
    };
    let buffers = arguments.iter().map(buffer).collect::<cust::error::CudaResult<_>>();
    buffers.map_err(|e| Error::driver("putting the arguments on the device", e))
}

/// A launch with its buffers on the device.
struct Ready<'a> {
    device: &'a Device,
    module: &'a Module,
    launch: &'a Launch<'a>,
    /// As many as there are arguments.
    buffers: Vec<Option<DeviceBuffer<u8>>>,
}

impl Ready<'_> {
    /// Launches and does not wait.
    fn begin(&self) -> Result<()> {
        let Launch { kernel, shape, shared, arguments, .. } = self.launch;
        let addresses: Vec<u64> = self
            .buffers
            .iter()
            .map(|buffer| buffer.as_ref().map_or(0, |buffer| buffer.as_device_ptr().as_raw()))
            .collect();
        let pointers = arguments.iter().zip(&addresses).map(|(argument, address)| match argument {
            Argument::Value(bytes) => bytes.as_ptr().cast_mut().cast::<c_void>(),
            Argument::Buffer(_) => std::ptr::from_ref(address).cast_mut().cast(),
        });
        let pointers: Vec<*mut c_void> = pointers.collect();
        // SAFETY: `check` compared number and sizes of the arguments with the kernel's parameters. What the kernel does with
        // them is its author's business and stays on the device: the buffers are device memory, no host address is handed
        // out, and they live until `self` goes, before which every caller waits for the device.
        unsafe { self.module.launch_shared(self.device, &kernel.name, *shape, *shared, &pointers) }
    }

    /// Puts the first bytes back.
    fn refill(&mut self) -> Result<()> {
        for (buffer, argument) in self.buffers.iter_mut().zip(self.launch.arguments) {
            if let (Some(buffer), Argument::Buffer(array)) = (buffer, argument)
                && !array.is_empty()
            {
                buffer.copy_from(array.bytes()).map_err(|e| Error::driver("refilling a buffer", e))?;
            }
        }
        Ok(())
    }

    fn once(&self, timing: Option<&mut Timing>) -> Result<()> {
        let failed = |e| Error::driver("timing the kernel", e);
        let (start, end) = (event()?, event()?);
        self.device.synchronize()?;
        start.record(&self.device.stream).map_err(failed)?;
        let before = Instant::now();
        self.begin()?;
        let returned = before.elapsed();
        end.record(&self.device.stream).map_err(failed)?;
        self.device.synchronize()?;
        if let Some(timing) = timing {
            timing.finished.push(before.elapsed());
            timing.returned.push(returned);
            timing.kernel.push(elapsed(&start, &end)?);
        }
        Ok(())
    }

    /// A launch of its own, so that counting costs none of the others anything.
    fn count(&mut self) -> Result<Option<Counters>> {
        self.refill()?;
        gridstride_driver::count_memory(true);
        let done = self.begin().and_then(|()| self.device.synchronize());
        gridstride_driver::count_memory(false);
        done?;
        Ok(gridstride_driver::last_counters())
    }

    fn outputs(&self) -> Result<Vec<Option<Array>>> {
        let output = |(buffer, argument): (&Option<DeviceBuffer<u8>>, &Argument)| match (buffer, argument) {
            (Some(buffer), Argument::Buffer(array)) => {
                let mut bytes = vec![0; array.bytes().len()];
                if !bytes.is_empty() {
                    buffer.copy_to(&mut bytes).map_err(|e| Error::driver("reading a buffer", e))?;
                }
                Ok(Some(Array::from_bytes(array.element(), bytes)))
            }
            _ => Ok(None),
        };
        self.buffers.iter().zip(self.launch.arguments).map(output).collect()
    }
}
