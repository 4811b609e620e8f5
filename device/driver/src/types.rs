//! The types of the Driver API as C sees them. Handles are opaque numbers of pointer size: nothing here is ever
//! dereferenced as a handle.

use std::ffi::c_void;

macro_rules! handles {
    ($($(#[doc = $doc:literal])* $name:ident)*) => {
        $(
            $(#[doc = $doc])*
            #[repr(transparent)]
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub struct $name(pub usize);

            #[allow(dead_code, reason = "not every kind of handle has a use for both")]
            impl $name {
                pub(crate) const NULL: Self = Self(0);

                pub(crate) fn is_null(self) -> bool {
                    self == Self::NULL
                }
            }
        )*
    };
}

handles! {
    /// A context.
    CUcontext
    /// A module.
    CUmodule
    /// A kernel.
    CUfunction
    /// A stream.
    CUstream
    /// An event.
    CUevent
    /// A linker invocation.
    CUlinkState
    /// An array.
    CUarray
    /// A graph.
    CUgraph
    /// A node of a graph.
    CUgraphNode
    /// External memory.
    CUexternalMemory
    /// A library: a module that any context can use.
    CUlibrary
    /// A kernel of a library.
    CUkernel
    /// A pool of memory.
    CUmemoryPool
}

/// A device.
pub type CUdevice = i32;
/// An address in device memory.
pub type CUdeviceptr = u64;
/// A texture object.
pub type CUtexObject = u64;
/// A surface object.
pub type CUsurfObject = u64;
/// A C enumeration.
pub type CEnum = i32;
/// What `cuLaunchHostFunc` runs.
pub type CUhostFn = Option<unsafe extern "C" fn(*mut c_void)>;
/// What `cuStreamAddCallback` runs.
pub type CUstreamCallback = Option<unsafe extern "C" fn(CUstream, crate::result::CUresult, *mut c_void)>;
/// Says how much dynamic shared memory a block of a given size needs.
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(i32) -> usize>;

/// The legacy default stream, by its own name.
pub(crate) const STREAM_LEGACY: CUstream = CUstream(1);
/// The default stream of the calling thread.
pub(crate) const STREAM_PER_THREAD: CUstream = CUstream(2);

/// `CUdevprop`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUdevprop {
    pub(crate) max_threads_per_block: i32,
    pub(crate) max_threads_dim: [i32; 3],
    pub(crate) max_grid_size: [i32; 3],
    pub(crate) shared_per_block: i32,
    pub(crate) constant_memory: i32,
    pub(crate) warp_size: i32,
    pub(crate) pitch: i32,
    pub(crate) registers_per_block: i32,
    pub(crate) clock_rate: i32,
    pub(crate) texture_alignment: i32,
}

/// `CUuuid`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUuuid {
    pub(crate) bytes: [u8; 16],
}

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(non_snake_case)]
pub struct CUDA_MEMCPY2D {
    pub(crate) srcXInBytes: usize,
    pub(crate) srcY: usize,
    pub(crate) srcMemoryType: CEnum,
    pub(crate) srcHost: *const c_void,
    pub(crate) srcDevice: CUdeviceptr,
    pub(crate) srcArray: CUarray,
    pub(crate) srcPitch: usize,
    pub(crate) dstXInBytes: usize,
    pub(crate) dstY: usize,
    pub(crate) dstMemoryType: CEnum,
    pub(crate) dstHost: *mut c_void,
    pub(crate) dstDevice: CUdeviceptr,
    pub(crate) dstArray: CUarray,
    pub(crate) dstPitch: usize,
    pub(crate) WidthInBytes: usize,
    pub(crate) Height: usize,
}

/// `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(non_snake_case)]
pub struct CUDA_MEMCPY3D {
    pub(crate) srcXInBytes: usize,
    pub(crate) srcY: usize,
    pub(crate) srcZ: usize,
    pub(crate) srcLOD: usize,
    pub(crate) srcMemoryType: CEnum,
    pub(crate) srcHost: *const c_void,
    pub(crate) srcDevice: CUdeviceptr,
    pub(crate) srcArray: CUarray,
    pub(crate) reserved0: *mut c_void,
    pub(crate) srcPitch: usize,
    pub(crate) srcHeight: usize,
    pub(crate) dstXInBytes: usize,
    pub(crate) dstY: usize,
    pub(crate) dstZ: usize,
    pub(crate) dstLOD: usize,
    pub(crate) dstMemoryType: CEnum,
    pub(crate) dstHost: *mut c_void,
    pub(crate) dstDevice: CUdeviceptr,
    pub(crate) dstArray: CUarray,
    pub(crate) reserved1: *mut c_void,
    pub(crate) dstPitch: usize,
    pub(crate) dstHeight: usize,
    pub(crate) WidthInBytes: usize,
    pub(crate) Height: usize,
    pub(crate) Depth: usize,
}

/// `CUlaunchConfig`
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(non_snake_case)]
pub struct CUlaunchConfig {
    pub(crate) gridDimX: u32,
    pub(crate) gridDimY: u32,
    pub(crate) gridDimZ: u32,
    pub(crate) blockDimX: u32,
    pub(crate) blockDimY: u32,
    pub(crate) blockDimZ: u32,
    pub(crate) sharedMemBytes: u32,
    pub(crate) hStream: CUstream,
    pub(crate) attrs: *const CUlaunchAttribute,
    pub(crate) numAttrs: u32,
}

/// `CUlaunchAttribute`: a name, and a value of which each name uses another part.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUlaunchAttribute {
    pub(crate) id: CEnum,
    pub(crate) pad: [u8; 4],
    pub(crate) value: [u32; 16],
}

/// `CUmemLocation`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CUmemLocation {
    pub(crate) kind: CEnum,
    pub(crate) id: i32,
}

/// The part of `CUmemPoolProps` that says what the pool is for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemPoolProps {
    pub(crate) alloc_type: CEnum,
    pub(crate) handle_types: CEnum,
    pub(crate) location: CUmemLocation,
}

/// `CUmemAccessDesc`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemAccessDesc {
    pub(crate) location: CUmemLocation,
    pub(crate) flags: CEnum,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the C compiler lays them out on 64-bit systems.
    #[test]
    fn structures_have_the_sizes_of_cuda_h() {
        assert_eq!(size_of::<CUDA_MEMCPY2D>(), 128);
        assert_eq!(size_of::<CUDA_MEMCPY3D>(), 200);
        assert_eq!(size_of::<CUlaunchAttribute>(), 72);
        assert_eq!(size_of::<CUlaunchConfig>(), 56);
        assert_eq!(size_of::<CUmemAccessDesc>(), 12);
    }
}
