//! Copies of rectangles: boxes of one layer.

use crate::api::copy3d::{copy_box, copy_box_async};
use crate::arg::In;
use crate::entry::driver_functions;
use crate::result::Result;
use crate::types::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUstream};

driver_functions! {
    /// Copies rows of one rectangle into those of another.
    call cuMemcpy2D_v2(copy: *const CUDA_MEMCPY2D) => copy, per thread cuMemcpy2D_v2_ptds;
    /// Copies rows of one rectangle into those of another, whatever the pitch.
    call cuMemcpy2DUnaligned_v2(copy: *const CUDA_MEMCPY2D) => copy, per thread cuMemcpy2DUnaligned_v2_ptds;
    /// Copies rows of one rectangle into those of another, in a stream.
    call cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream) => copy_async,
        per thread cuMemcpy2DAsync_v2_ptsz;
}

/// The same as a box.
fn as_box(copy: CUDA_MEMCPY2D) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: copy.srcXInBytes,
        srcY: copy.srcY,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: copy.srcMemoryType,
        srcHost: copy.srcHost,
        srcDevice: copy.srcDevice,
        srcArray: copy.srcArray,
        reserved0: std::ptr::null_mut(),
        srcPitch: copy.srcPitch,
        srcHeight: 0,
        dstXInBytes: copy.dstXInBytes,
        dstY: copy.dstY,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: copy.dstMemoryType,
        dstHost: copy.dstHost,
        dstDevice: copy.dstDevice,
        dstArray: copy.dstArray,
        reserved1: std::ptr::null_mut(),
        dstPitch: copy.dstPitch,
        dstHeight: 0,
        WidthInBytes: copy.WidthInBytes,
        Height: copy.Height,
        Depth: 1,
    }
}

fn copy(copy: In<CUDA_MEMCPY2D>) -> Result {
    copy_box(&as_box(copy.get()?))
}

fn copy_async(copy: In<CUDA_MEMCPY2D>, stream: CUstream) -> Result {
    copy_box_async(&as_box(copy.get()?), stream)
}
