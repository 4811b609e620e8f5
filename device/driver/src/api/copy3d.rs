//! Copies of boxes.

use gridstride_simt::Memory;

use crate::api::copy::{Place, transfer};
use crate::arg::In;
use crate::cpu::stream::Size;
use crate::cpu::{cpu, current};
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUDA_MEMCPY3D, CUstream};

driver_functions! {
    /// Copies rows of one box into those of another.
    call cuMemcpy3D_v2(copy: *const CUDA_MEMCPY3D) => copy, per thread cuMemcpy3D_v2_ptds;
    /// Copies rows of one box into those of another, in a stream.
    call cuMemcpy3DAsync_v2(copy: *const CUDA_MEMCPY3D, stream: CUstream) => copy_async,
        per thread cuMemcpy3DAsync_v2_ptsz;
}

/// A box of bytes in memory: where its first row starts, and how far apart rows and layers are.
#[derive(Debug, Clone, Copy)]
struct Rows {
    first: Place,
    pitch: usize,
    layer: usize,
}

/// One side of a copy, as the caller says it.
struct Side {
    kind: CEnum,
    host: *mut u8,
    device: u64,
    /// Bytes, rows and layers before the box.
    at: [usize; 3],
    pitch: usize,
    /// Rows of a layer.
    height: usize,
}

impl Side {
    /// Where the memory starts that the box is in.
    fn base(&self, memory: &Memory) -> Result<Place> {
        match self.kind {
            1 => Place::of_host(memory, self.host),
            2 => Ok(Place::Device(self.device)),
            4 => Place::anywhere(memory, self.device),
            3 => Err(CUresult::NOT_SUPPORTED.because("the CPU device does not support arrays in copies")),
            _ => fail(CUresult::INVALID_VALUE),
        }
    }

    /// The box, if it is all inside memory and its rows are apart. `size`: bytes a row, rows, layers, each at least 1.
    fn rows(&self, base: Place, memory: &Memory, size: [usize; 3]) -> Result<Rows> {
        let ([x, y, z], [width, height, depth]) = (self.at, size);
        let row_end = x.checked_add(width).ok_or(CUresult::INVALID_VALUE)?;
        let column_end = y.checked_add(height).ok_or(CUresult::INVALID_VALUE)?;
        if (height > 1 || depth > 1) && self.pitch < row_end {
            let detail = format!("a pitch of {} bytes for rows of {row_end}", self.pitch);
            return Err(CUresult::INVALID_VALUE.because(detail));
        }
        if depth > 1 && self.height < column_end {
            let detail = format!("layers of {} rows, and the copy needs {column_end}", self.height);
            return Err(CUresult::INVALID_VALUE.because(detail));
        }
        let layer = self.pitch.checked_mul(self.height).ok_or(CUresult::INVALID_VALUE)?;
        let offset = |z: usize, y: usize, x: usize| {
            z.checked_mul(layer)?.checked_add(y.checked_mul(self.pitch)?)?.checked_add(x)
        };
        let first = base.offset(offset(z, y, x).ok_or(CUresult::INVALID_VALUE)?);
        first.check(memory, offset(depth - 1, height - 1, width).ok_or(CUresult::INVALID_VALUE)?)?;
        Ok(Rows { first, pitch: self.pitch, layer })
    }
}

/// Both sides of a copy, and its size; `None` when there is nothing to copy.
fn sides(memory: &Memory, copy: &CUDA_MEMCPY3D) -> Result<Option<(Rows, Rows, [usize; 3])>> {
    let size = [copy.WidthInBytes, copy.Height, copy.Depth];
    if size.contains(&0) {
        return Ok(None);
    }
    if (copy.srcLOD, copy.dstLOD) != (0, 0) {
        return fail(CUresult::INVALID_VALUE);
    }
    let from = Side {
        kind: copy.srcMemoryType,
        host: copy.srcHost.cast_mut().cast(),
        device: copy.srcDevice,
        at: [copy.srcXInBytes, copy.srcY, copy.srcZ],
        pitch: copy.srcPitch,
        height: copy.srcHeight,
    };
    let to = Side {
        kind: copy.dstMemoryType,
        host: copy.dstHost.cast(),
        device: copy.dstDevice,
        at: [copy.dstXInBytes, copy.dstY, copy.dstZ],
        pitch: copy.dstPitch,
        height: copy.dstHeight,
    };
    let (from_base, to_base) = (from.base(memory)?, to.base(memory)?);
    Ok(Some((to.rows(to_base, memory, size)?, from.rows(from_base, memory, size)?, size)))
}

/// Copies now.
///
/// # Safety
/// Host places are valid for what their box spans.
unsafe fn transfer_rows(memory: &Memory, to: Rows, from: Rows, [width, height, depth]: [usize; 3]) -> Result {
    for (layer, row) in (0..depth).flat_map(|layer| (0..height).map(move |row| (layer, row))) {
        let at = |rows: Rows| rows.first.offset(layer * rows.layer + row * rows.pitch);
        // SAFETY: rows lie inside their box.
        unsafe { transfer(memory, at(to), at(from), width) }?;
    }
    Ok(())
}

/// Copies in the order of the default stream, and waits.
pub(crate) fn copy_box(copy: &CUDA_MEMCPY3D) -> Result {
    let (context, stream) = current::stream(CUstream::NULL)?;
    let memory = &cpu()?.memory;
    let Some((to, from, size)) = sides(memory, copy)? else {
        return Ok(());
    };
    // SAFETY: the caller of the Driver API function says that the boxes are valid, and this runs before it returns.
    context.run_here(&stream, || unsafe { transfer_rows(memory, to, from, size) })
}

/// Copies in the order of a stream, without waiting where both sides are the device's.
pub(crate) fn copy_box_async(copy: &CUDA_MEMCPY3D, stream: CUstream) -> Result {
    let (context, stream) = current::stream(stream)?;
    let memory = &cpu()?.memory;
    let Some((to, from, size)) = sides(memory, copy)? else {
        return Ok(());
    };
    match (to.first, from.first) {
        (Place::Device(to_address), Place::Device(from_address)) => context.run(&stream, Size::Large, move || {
            let to = Rows { first: Place::Device(to_address), ..to };
            let from = Rows { first: Place::Device(from_address), ..from };
            // SAFETY: there are no host places; device memory is checked when it is used.
            unsafe { transfer_rows(memory, to, from, size) }
        }),
        // SAFETY: the caller of the Driver API function says that the boxes are valid, and this runs before it returns.
        _ => context.run_here(&stream, || unsafe { transfer_rows(memory, to, from, size) }),
    }
}

fn copy(copy: In<CUDA_MEMCPY3D>) -> Result {
    copy_box(&copy.get()?)
}

fn copy_async(copy: In<CUDA_MEMCPY3D>, stream: CUstream) -> Result {
    copy_box_async(&copy.get()?, stream)
}
