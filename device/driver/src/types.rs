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
/// Says how much dynamic shared memory a block of a given size needs.
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(i32) -> usize>;

/// The legacy default stream, by its own name.
pub(crate) const STREAM_LEGACY: CUstream = CUstream(1);
/// The default stream of the calling thread.
pub(crate) const STREAM_PER_THREAD: CUstream = CUstream(2);

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
