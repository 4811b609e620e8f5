//! Filling rectangles.

use crate::api::copy::Place;
use crate::cpu::stream::Size;
use crate::cpu::{cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result};
use crate::types::{CUdeviceptr, CUstream};

driver_functions! {
    /// Fills bytes.
    call cuMemsetD2D8_v2(to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize) => bytes,
        per thread cuMemsetD2D8_v2_ptds;
    /// Fills 2-byte elements.
    call cuMemsetD2D16_v2(to: CUdeviceptr, pitch: usize, value: u16, width: usize, height: usize) => halves,
        per thread cuMemsetD2D16_v2_ptds;
    /// Fills 4-byte elements.
    call cuMemsetD2D32_v2(to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize) => words,
        per thread cuMemsetD2D32_v2_ptds;
    /// Fills bytes, in a stream.
    call cuMemsetD2D8Async(to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize, stream: CUstream)
        => bytes_async, per thread cuMemsetD2D8Async_ptsz;
    /// Fills 2-byte elements, in a stream.
    call cuMemsetD2D16Async(to: CUdeviceptr, pitch: usize, value: u16, width: usize, height: usize, stream: CUstream)
        => halves_async, per thread cuMemsetD2D16Async_ptsz;
    /// Fills 4-byte elements, in a stream.
    call cuMemsetD2D32Async(to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize, stream: CUstream)
        => words_async, per thread cuMemsetD2D32Async_ptsz;
}

fn fill<const N: usize>(
    to: CUdeviceptr,
    pitch: usize,
    value: [u8; N],
    width: usize,
    height: usize,
    stream: CUstream,
) -> Result {
    let (context, stream) = current::stream(stream)?;
    if width == 0 || height == 0 {
        return Ok(());
    }
    let row = width.checked_mul(N).ok_or(CUresult::INVALID_VALUE)?;
    let aligned = to.is_multiple_of(N as u64) && (height == 1 || pitch.is_multiple_of(N));
    if !aligned || (height > 1 && pitch < row) {
        let detail = format!("{height} rows of {row} bytes at {to:#x}, {pitch} bytes apart, of elements of {N}");
        return Err(CUresult::INVALID_VALUE.because(detail));
    }
    let span = (height - 1).checked_mul(pitch).and_then(|before| before.checked_add(row));
    let memory = &cpu()?.memory;
    Place::Device(to).check(memory, span.ok_or(CUresult::INVALID_VALUE)?)?;
    context.run(&stream, Size::Large, move || {
        (0..height).try_for_each(|y| Ok(memory.fill(to + (y * pitch) as u64, &value, width as u64)?))
    })
}

fn bytes(to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize) -> Result {
    fill(to, pitch, value.to_ne_bytes(), width, height, CUstream::NULL)
}

fn halves(to: CUdeviceptr, pitch: usize, value: u16, width: usize, height: usize) -> Result {
    fill(to, pitch, value.to_ne_bytes(), width, height, CUstream::NULL)
}

fn words(to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize) -> Result {
    fill(to, pitch, value.to_ne_bytes(), width, height, CUstream::NULL)
}

fn bytes_async(to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize, stream: CUstream) -> Result {
    fill(to, pitch, value.to_ne_bytes(), width, height, stream)
}

fn halves_async(to: CUdeviceptr, pitch: usize, value: u16, width: usize, height: usize, stream: CUstream) -> Result {
    fill(to, pitch, value.to_ne_bytes(), width, height, stream)
}

fn words_async(to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize, stream: CUstream) -> Result {
    fill(to, pitch, value.to_ne_bytes(), width, height, stream)
}
