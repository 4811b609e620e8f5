//! `add`: `out[i] = a[i] + b[i]`.

use std::ffi::c_void;
use std::fmt::Debug;

use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy};

use super::{Kernel, Prepared, element_read};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::module::Module;
use crate::shape::LaunchShape;

/// The kernels of `gpu/src/add.rs`.
pub(super) struct Add {
    /// 16 bytes at a time, or one element.
    pub(super) vector: bool,
}

impl Kernel for Add {
    fn name(&self) -> &'static str {
        if self.vector { "add" } else { "add_scalar" }
    }

    fn summary(&self) -> &'static str {
        if self.vector {
            "out[i] = a[i] + b[i], 16 bytes at a time"
        } else {
            "out[i] = a[i] + b[i], one element at a time"
        }
    }

    fn dtypes(&self) -> &'static [Dtype] {
        Dtype::ALL
    }

    fn entry(&self, dtype: Dtype) -> String {
        format!("{}_{dtype}", self.name())
    }

    fn bytes(&self, dtype: Dtype, n: u64) -> u64 {
        n.saturating_mul(3 * dtype.bytes())
    }

    fn device_bytes(&self, dtype: Dtype, n: u64) -> u64 {
        self.bytes(dtype, n)
    }

    fn iterations(&self, dtype: Dtype, n: u64) -> u64 {
        if self.vector { n.div_ceil(16 / dtype.bytes()) } else { n }
    }

    fn prepare(&self, device: &Device, dtype: Dtype, n: usize, seed: u64) -> Result<Box<dyn Prepared>> {
        match dtype {
            Dtype::F32 => Sum::prepare(device, n, seed, |rng| rng.f32() * 2.0 - 1.0, |a: f32, b| a + b),
            Dtype::F64 => Sum::prepare(device, n, seed, |rng| rng.f64() * 2.0 - 1.0, |a: f64, b| a + b),
            Dtype::I32 => Sum::prepare(device, n, seed, |rng| rng.i32(..), i32::wrapping_add),
        }
    }
}

/// An element whose bits can be compared.
trait Element: DeviceCopy + Debug + Default + PartialEq + 'static {
    fn same_bits(&self, other: &Self) -> bool;
}
impl Element for f32 {
    fn same_bits(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}
impl Element for f64 {
    fn same_bits(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}
impl Element for i32 {
    fn same_bits(&self, other: &Self) -> bool {
        self == other
    }
}

struct Sum<T: Element> {
    a: DeviceBuffer<T>,
    b: DeviceBuffer<T>,
    out: DeviceBuffer<T>,
    /// The sums as the host computes them, rounded once as the kernel's are.
    expected: Vec<T>,
}

impl<T: Element> Sum<T> {
    fn prepare(
        _device: &Device,
        n: usize,
        seed: u64,
        mut random: impl FnMut(&mut fastrand::Rng) -> T,
        sum: impl Fn(T, T) -> T,
    ) -> Result<Box<dyn Prepared>> {
        let failed = |e| Error::driver("putting the inputs on the device", e);
        let mut rng = fastrand::Rng::with_seed(seed);
        let host_a: Vec<T> = (0..n).map(|_| random(&mut rng)).collect();
        let host_b: Vec<T> = (0..n).map(|_| random(&mut rng)).collect();
        let a = DeviceBuffer::from_slice(&host_a).map_err(failed)?;
        let b = DeviceBuffer::from_slice(&host_b).map_err(failed)?;
        // The reference replaces an input, so that the host holds two arrays and not three.
        let expected = host_a.into_iter().zip(host_b).map(|(a, b)| sum(a, b)).collect();
        // SAFETY: never read before it is poisoned or written by a kernel; any bytes are a T.
        let out = unsafe { DeviceBuffer::uninitialized(n) }.map_err(failed)?;
        let mut prepared = Self { a, b, out, expected };
        prepared.poison()?;
        Ok(Box::new(prepared))
    }
}

impl<T: Element> Prepared for Sum<T> {
    fn launch(&mut self, device: &Device, module: &Module, entry: &str, shape: LaunchShape) -> Result<()> {
        let n = self.a.len();
        let (a, b, out) = (self.a.as_device_ptr(), self.b.as_device_ptr(), self.out.as_device_ptr());
        // `&[T]` is two parameters: pointer, then length.
        let args: [*mut c_void; 5] = [
            (&raw const a).cast_mut().cast(),
            (&raw const n).cast_mut().cast(),
            (&raw const b).cast_mut().cast(),
            (&raw const n).cast_mut().cast(),
            (&raw const out).cast_mut().cast(),
        ];
        // SAFETY: the parameters are those of `add_*` in gpu/src/add.rs; all three buffers have `n` elements, do not overlap,
        // and live until the stream is synchronised, which every caller does before it drops `self`.
        unsafe { module.launch(device, entry, shape, &args) }
    }

    fn poison(&mut self) -> Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        let bytes = self.out.len() * size_of::<T>();
        // 0xFF everywhere is a NaN, which no sum of finite floats is, and -1.
        // SAFETY: the whole buffer, and nothing else.
        let code = unsafe { cust::sys::cuMemsetD8_v2(self.out.as_device_ptr().as_raw(), 0xFF, bytes) };
        if code == cust::sys::cudaError_enum::CUDA_SUCCESS {
            return Ok(());
        }
        Err(Error::Driver {
            call: "poisoning the output",
            reason: gridstride_driver::last_error_detail().unwrap_or(format!("{code:?}")),
        })
    }

    fn read_one(&mut self) -> Result<()> {
        let Some(at) = element_read(self.out.len() as u64) else { return Ok(()) };
        let at = at as usize;
        let mut one = [T::default()];
        self.out.index(at..at + 1).copy_to(&mut one).map_err(|e| Error::driver("reading one element", e))
    }

    fn verify(&self) -> Result<std::result::Result<(), String>> {
        if self.out.is_empty() {
            return Ok(Ok(()));
        }
        let mut got = vec![T::default(); self.expected.len()];
        self.out.copy_to(&mut got).map_err(|e| Error::driver("reading the result", e))?;
        let wrong = got.iter().zip(&self.expected).position(|(got, expected)| !got.same_bits(expected));
        Ok(match wrong {
            None => Ok(()),
            Some(at) => Err(format!("out[{at}] is {:?}, and {:?} is right", got[at], self.expected[at])),
        })
    }
}
