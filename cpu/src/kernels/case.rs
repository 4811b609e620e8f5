//! A kernel's arrays and parameters, written down once on the host and then put on a device.
//!
//! ```text
//! Case::new() -- input, output, scratch --> buffers -- launch([parameters]) --> load(device) --> Loaded: Prepared
//! ```

use std::ffi::c_void;

use cust::memory::{CopyDestination, DeviceBuffer};

use super::expected::{Element, Expected};
use super::random::collect;
use super::{Prepared, element_read};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::module::Module;
use crate::shape::LaunchShape;

/// What a kernel is given, and what it should make of it.
#[derive(Default)]
pub(crate) struct Case {
    buffers: Vec<Plan>,
    launches: Vec<Vec<Argument>>,
    /// Buffers that are zeroed before each launch.
    zeroed: Vec<usize>,
}

/// How a buffer comes to be.
struct Plan {
    bytes: usize,
    elements: usize,
    role: Role,
}

enum Role {
    Input(Box<dyn FnOnce() -> Result<DeviceBuffer<u8>>>),
    Output(Box<dyn Check>),
    Scratch,
}

/// A buffer of a [`Case`].
#[derive(Clone, Copy)]
pub(crate) struct Buffer(usize);

impl Buffer {
    /// As `&[T]`: pointer and length.
    pub(crate) fn slice(self) -> Argument {
        Argument::Slice(self.0)
    }

    /// As `*mut T`.
    pub(crate) fn pointer(self) -> Argument {
        Argument::Pointer(self.0)
    }
}

/// A parameter of a kernel.
#[derive(Clone, Copy)]
pub(crate) enum Argument {
    Slice(usize),
    Pointer(usize),
    /// A value's bytes, the rest of the word zero.
    Value(u64),
}

macro_rules! values {
    ($($t:ty)*) => {$(
        impl From<$t> for Argument {
            fn from(value: $t) -> Self {
                let (mut bytes, from) = ([0; 8], value.to_ne_bytes());
                bytes[..from.len()].copy_from_slice(&from);
                Self::Value(u64::from_ne_bytes(bytes))
            }
        }
    )*};
}
values! { f32 f64 i32 u32 u8 usize }

impl Case {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// An array of `len` elements, element `i` being `at(i)`.
    pub(crate) fn input<T: Element>(&mut self, len: usize, at: impl Fn(usize) -> T + Sync + 'static) -> Buffer {
        self.input_from(len, move || collect(len, at))
    }

    /// An array of `len` elements that `make` gives when it is needed.
    pub(crate) fn input_from<T: Element>(&mut self, len: usize, make: impl FnOnce() -> Vec<T> + 'static) -> Buffer {
        let upload = move || upload(&make());
        self.add(len * size_of::<T>(), len, Role::Input(Box::new(upload)))
    }

    /// [`Case::input`] of elements that the kernel sees in packs of `pack`: its slice has as many of those.
    pub(crate) fn input_packed<T: Element>(
        &mut self,
        len: usize,
        pack: usize,
        at: impl Fn(usize) -> T + Sync + 'static,
    ) -> Buffer {
        let buffer = self.input(len, at);
        self.buffers[buffer.0].elements = len / pack;
        buffer
    }

    /// An array that the kernel writes.
    pub(crate) fn output<T: Element>(&mut self, expected: Expected<T>) -> Buffer {
        self.add(expected.len * size_of::<T>(), expected.len, Role::Output(Box::new(expected)))
    }

    /// An array that the kernel adds to: zeroed before each launch, as part of it.
    pub(crate) fn output_zeroed_each_time<T: Element>(&mut self, expected: Expected<T>) -> Buffer {
        let buffer = self.output(expected);
        self.zeroed.push(buffer.0);
        buffer
    }

    /// `bytes` that the kernel finds zero and leaves zero.
    pub(crate) fn scratch(&mut self, bytes: usize) -> Buffer {
        self.add(bytes, bytes, Role::Scratch)
    }

    /// `bytes` that are zeroed before each launch, as part of it.
    pub(crate) fn zeroed_each_time(&mut self, bytes: usize) -> Buffer {
        let buffer = self.add(bytes, bytes, Role::Scratch);
        self.zeroed.push(buffer.0);
        buffer
    }

    /// The kernel's parameters. Called more than once, that many launches follow each other.
    pub(crate) fn launch(&mut self, arguments: impl Into<Vec<Argument>>) {
        self.launches.push(arguments.into());
    }

    fn add(&mut self, bytes: usize, elements: usize, role: Role) -> Buffer {
        self.buffers.push(Plan { bytes, elements, role });
        Buffer(self.buffers.len() - 1)
    }

    /// Puts it on the device whose context is current.
    pub(crate) fn load(self) -> Result<Box<dyn Prepared>> {
        let (mut places, mut outputs) = (Vec::new(), Vec::new());
        for (number, Plan { bytes, elements, role }) in self.buffers.into_iter().enumerate() {
            let buffer = match role {
                Role::Input(upload) => upload()?,
                Role::Output(check) => {
                    outputs.push((number, elements, check));
                    fresh(bytes)?
                }
                Role::Scratch => DeviceBuffer::zeroed(bytes).map_err(putting)?,
            };
            places.push((buffer, elements));
        }
        let launches = self.launches.iter().map(|arguments| words(arguments, &places)).collect();
        let buffers = places.into_iter().map(|(buffer, _)| buffer).collect();
        let mut loaded = Loaded { buffers, launches, outputs, zeroed: self.zeroed };
        loaded.poison()?;
        Ok(Box::new(loaded))
    }
}

fn putting(error: cust::error::CudaError) -> Error {
    Error::driver("putting the inputs on the device", error)
}

fn fresh(bytes: usize) -> Result<DeviceBuffer<u8>> {
    // SAFETY: poisoned or written before anything reads it, and any bytes are a u8.
    unsafe { DeviceBuffer::uninitialized(bytes) }.map_err(putting)
}

fn upload<T: Element>(host: &[T]) -> Result<DeviceBuffer<u8>> {
    let bytes = size_of_val(host);
    let mut buffer = fresh(bytes)?;
    // SAFETY: elements have no padding, so each of their bytes is initialised.
    let host = unsafe { std::slice::from_raw_parts(host.as_ptr().cast::<u8>(), bytes) };
    if bytes > 0 {
        buffer.copy_from(host).map_err(putting)?;
    }
    Ok(buffer)
}

/// The words that the driver is given for arguments.
fn words(arguments: &[Argument], places: &[(DeviceBuffer<u8>, usize)]) -> Vec<u64> {
    let pointer = |at: usize| places[at].0.as_device_ptr().as_raw();
    let each = |argument: &Argument| match *argument {
        Argument::Slice(at) => vec![pointer(at), places[at].1 as u64],
        Argument::Pointer(at) => vec![pointer(at)],
        Argument::Value(word) => vec![word],
    };
    arguments.iter().flat_map(each).collect()
}

/// A case on a device.
struct Loaded {
    buffers: Vec<DeviceBuffer<u8>>,
    /// Words of the parameters of each launch.
    launches: Vec<Vec<u64>>,
    /// Buffers that are checked, with their elements.
    outputs: Vec<(usize, usize, Box<dyn Check>)>,
    /// Buffers that are zeroed before a launch.
    zeroed: Vec<usize>,
}

/// An [`Expected`] of some type.
trait Check {
    fn element_bytes(&self) -> usize;
    fn check(&self, buffer: &DeviceBuffer<u8>) -> Result<std::result::Result<(), String>>;
}

impl<T: Element> Check for Expected<T> {
    fn element_bytes(&self) -> usize {
        size_of::<T>()
    }

    fn check(&self, buffer: &DeviceBuffer<u8>) -> Result<std::result::Result<(), String>> {
        let mut got = vec![T::default(); self.len];
        if self.len > 0 {
            // SAFETY: a T has no padding and any bytes are one, so its memory may be seen and written as bytes.
            let bytes = unsafe { std::slice::from_raw_parts_mut(got.as_mut_ptr().cast::<u8>(), size_of_val(&*got)) };
            buffer.copy_to(bytes).map_err(|e| Error::driver("reading the result", e))?;
        }
        Ok((self.check)(&got))
    }
}

/// Fills a buffer, on the device's stream where one is given.
fn memset(device: Option<&Device>, buffer: &DeviceBuffer<u8>, value: u8, call: &'static str) -> Result<()> {
    let (at, bytes) = (buffer.as_device_ptr().as_raw(), buffer.len());
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the whole buffer, and nothing else; whoever drops it has synchronised before.
    let code = unsafe {
        match device {
            Some(device) => cust::sys::cuMemsetD8Async(at, value, bytes, device.stream.as_inner()),
            None => cust::sys::cuMemsetD8_v2(at, value, bytes),
        }
    };
    if code == cust::sys::cudaError_enum::CUDA_SUCCESS {
        return Ok(());
    }
    let reason = gridstride_driver::last_error_detail().unwrap_or(format!("{code:?}"));
    Err(Error::Driver { call, reason })
}

impl Prepared for Loaded {
    fn launch(&mut self, device: &Device, module: &Module, entry: &str, shape: LaunchShape) -> Result<()> {
        for at in &self.zeroed {
            memset(Some(device), &self.buffers[*at], 0, "zeroing the kernel's scratch memory")?;
        }
        for words in &mut self.launches {
            let args: Vec<*mut c_void> = words.iter_mut().map(|word| (&raw mut *word).cast()).collect();
            // SAFETY: the arguments are those that the kernel's case names, whose buffers are as long as it says and live until
            // the stream is synchronised, which every caller does before it drops `self`.
            unsafe { module.launch(device, entry, shape, &args) }?;
        }
        Ok(())
    }

    fn poison(&mut self) -> Result<()> {
        // 0xFF everywhere is a NaN, and -1 or the largest integer.
        let poison = |(at, ..): &(usize, _, _)| memset(None, &self.buffers[*at], 0xFF, "poisoning the output");
        self.outputs.iter().try_for_each(poison)
    }

    fn read_one(&mut self) -> Result<()> {
        let Some((at, elements, check)) = self.outputs.first() else { return Ok(()) };
        let Some(element) = element_read(*elements as u64) else { return Ok(()) };
        let (size, from) = (check.element_bytes(), element as usize * check.element_bytes());
        let mut one = [0; 8];
        let place = self.buffers[*at].index(from..from + size);
        place.copy_to(&mut one[..size]).map_err(|e| Error::driver("reading one element", e))
    }

    fn verify(&self) -> Result<std::result::Result<(), String>> {
        for (at, _, check) in &self.outputs {
            let verdict = check.check(&self.buffers[*at])?;
            if verdict.is_err() {
                return Ok(verdict);
            }
        }
        Ok(Ok(()))
    }
}
