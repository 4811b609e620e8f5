//! Filling memory.

use crate::api::copy::{Place, SMALL};
use crate::cpu::stream::Size;
use crate::cpu::{cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result};
use crate::types::{CUdeviceptr, CUstream};

driver_functions! {
    /// Fills bytes.
    call cuMemsetD8_v2(to: CUdeviceptr, value: u8, count: usize) => bytes, per thread cuMemsetD8_v2_ptds;
    /// Fills 2-byte elements.
    call cuMemsetD16_v2(to: CUdeviceptr, value: u16, count: usize) => halves, per thread cuMemsetD16_v2_ptds;
    /// Fills 4-byte elements.
    call cuMemsetD32_v2(to: CUdeviceptr, value: u32, count: usize) => words, per thread cuMemsetD32_v2_ptds;
    /// Fills bytes, in a stream.
    call cuMemsetD8Async(to: CUdeviceptr, value: u8, count: usize, stream: CUstream) => bytes_async, per thread cuMemsetD8Async_ptsz;
    /// Fills 2-byte elements, in a stream.
    call cuMemsetD16Async(to: CUdeviceptr, value: u16, count: usize, stream: CUstream) => halves_async, per thread cuMemsetD16Async_ptsz;
    /// Fills 4-byte elements, in a stream.
    call cuMemsetD32Async(to: CUdeviceptr, value: u32, count: usize, stream: CUstream) => words_async, per thread cuMemsetD32Async_ptsz;
}

/// Submits a fill to a stream. Without `Async` in the name that is the legacy default stream; the call does not wait then
/// either, as on a GPU.
fn fill<const N: usize>(to: CUdeviceptr, value: [u8; N], count: usize, stream: CUstream) -> Result {
    let (context, stream) = current::stream(stream)?;
    if count == 0 {
        return Ok(());
    }
    if !to.is_multiple_of(N as u64) {
        return Err(CUresult::INVALID_VALUE.because(format!("{to:#x} is not a multiple of {N}")));
    }
    let memory = &cpu()?.memory;
    let size = count.checked_mul(N).ok_or(CUresult::INVALID_VALUE)?;
    Place::Device(to).check(memory, size)?;
    let extent = if size <= SMALL { Size::Small } else { Size::Large };
    context.run(&stream, extent, move || Ok(memory.fill(to, &value, count as u64)?))
}

fn bytes(to: CUdeviceptr, value: u8, count: usize) -> Result {
    fill(to, value.to_ne_bytes(), count, CUstream::NULL)
}

fn halves(to: CUdeviceptr, value: u16, count: usize) -> Result {
    fill(to, value.to_ne_bytes(), count, CUstream::NULL)
}

fn words(to: CUdeviceptr, value: u32, count: usize) -> Result {
    fill(to, value.to_ne_bytes(), count, CUstream::NULL)
}

fn bytes_async(to: CUdeviceptr, value: u8, count: usize, stream: CUstream) -> Result {
    fill(to, value.to_ne_bytes(), count, stream)
}

fn halves_async(to: CUdeviceptr, value: u16, count: usize, stream: CUstream) -> Result {
    fill(to, value.to_ne_bytes(), count, stream)
}

fn words_async(to: CUdeviceptr, value: u32, count: usize, stream: CUstream) -> Result {
    fill(to, value.to_ne_bytes(), count, stream)
}
