//! Copies of rectangles.

use gridstride_simt::Memory;

use crate::api::copy::{Place, transfer};
use crate::arg::In;
use crate::cpu::{cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUDA_MEMCPY2D};

driver_functions! {
    /// Copies rows of one rectangle into those of another.
    call cuMemcpy2D_v2(copy: *const CUDA_MEMCPY2D) => copy;
    /// Copies rows of one rectangle into those of another, whatever the pitch.
    call cuMemcpy2DUnaligned_v2(copy: *const CUDA_MEMCPY2D) => copy;
}

/// A rectangle of bytes in memory: where its first row starts, and how far apart rows are.
#[derive(Debug, Clone, Copy)]
struct Rows {
    first: Place,
    pitch: usize,
}

impl Rows {
    /// The rectangle at (`x`, `y`) of memory of kind `kind`, `width` bytes wide.
    fn new(memory: &Memory, kind: CEnum, pointers: (*mut u8, u64), at: (usize, usize), pitch: usize) -> Result<Self> {
        let (host, device) = pointers;
        let base = match kind {
            1 => Place::of_host(memory, host)?,
            2 => Place::Device(device),
            4 => Place::anywhere(memory, device)?,
            3 => return Err(CUresult::NOT_SUPPORTED.because("the CPU device does not support arrays in cuMemcpy2D")),
            _ => return fail(CUresult::INVALID_VALUE),
        };
        let (x, y) = at;
        let start = y.checked_mul(pitch).and_then(|bytes| bytes.checked_add(x)).ok_or(CUresult::INVALID_VALUE)?;
        Ok(Self { first: base.offset(start), pitch })
    }

    /// `INVALID_VALUE` unless the rows are apart, and all inside memory.
    fn check(self, memory: &Memory, x: usize, width: usize, height: usize) -> Result {
        let row_end = x.checked_add(width).ok_or(CUresult::INVALID_VALUE)?;
        if height > 1 && self.pitch < row_end {
            return Err(
                CUresult::INVALID_VALUE.because(format!("a pitch of {} bytes for rows of {row_end}", self.pitch))
            );
        }
        let bytes = (height - 1).checked_mul(self.pitch).and_then(|bytes| bytes.checked_add(width));
        self.first.check(memory, bytes.ok_or(CUresult::INVALID_VALUE)?)
    }
}

fn copy(copy: In<CUDA_MEMCPY2D>) -> Result {
    let copy = copy.get()?;
    let context = current::context()?;
    let memory = &cpu()?.memory;
    let (width, height) = (copy.WidthInBytes, copy.Height);
    if width == 0 || height == 0 {
        return Ok(());
    }
    let from_at = (copy.srcXInBytes, copy.srcY);
    let from_pointers = (copy.srcHost.cast_mut().cast(), copy.srcDevice);
    let from = Rows::new(memory, copy.srcMemoryType, from_pointers, from_at, copy.srcPitch)?;
    let to_at = (copy.dstXInBytes, copy.dstY);
    let to = Rows::new(memory, copy.dstMemoryType, (copy.dstHost.cast(), copy.dstDevice), to_at, copy.dstPitch)?;
    from.check(memory, copy.srcXInBytes, width, height)?;
    to.check(memory, copy.dstXInBytes, width, height)?;
    context.run_here(context.legacy(), || {
        for row in 0..height {
            let (to, from) = (to.first.offset(row * to.pitch), from.first.offset(row * from.pitch));
            // SAFETY: the caller of cuMemcpy2D says that the rectangles are valid; rows lie inside them.
            unsafe { transfer(memory, to, from, width) }?;
        }
        Ok(())
    })
}
