//! Result codes of the Driver API: numbers, names and what they mean, in one table.

use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;

/// What every Driver API function returns. A number and no Rust enum, because a newer driver may return a code that this
/// table does not know.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CUresult(pub i32);

macro_rules! codes {
    ($($code:literal $name:ident $text:literal;)*) => {
        #[allow(dead_code, reason = "the table is complete; the CPU device needs fewer codes")]
        impl CUresult {
            $(pub(crate) const $name: Self = Self($code);)*

            /// `CUDA_ERROR_…`, and a sentence. `None` for a code that is not in the table.
            fn entry(self) -> Option<(&'static CStr, &'static CStr)> {
                match self.0 {
                    0 => Some((c"CUDA_SUCCESS", c"no error")),
                    $($code => {
                        const NAME: &str = concat!("CUDA_ERROR_", stringify!($name), "\0");
                        const TEXT: &str = concat!($text, "\0");
                        Some((c_str(NAME), c_str(TEXT)))
                    })*
                    _ => None,
                }
            }
        }

        #[cfg(test)]
        const ALL: &[i32] = &[0, $($code),*];
    };
}

const fn c_str(text: &str) -> &CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a text of the table holds a NUL"),
    }
}

codes! {
    1 INVALID_VALUE "invalid argument";
    2 OUT_OF_MEMORY "out of memory";
    3 NOT_INITIALIZED "the driver is not initialized: cuInit comes first";
    4 DEINITIALIZED "the driver is shutting down";
    5 PROFILER_DISABLED "the profiler is disabled";
    6 PROFILER_NOT_INITIALIZED "the profiler is not initialized";
    7 PROFILER_ALREADY_STARTED "the profiler was already started";
    8 PROFILER_ALREADY_STOPPED "the profiler was already stopped";
    34 STUB_LIBRARY "this is the stub of the driver library, good for linking only";
    46 DEVICE_UNAVAILABLE "the device is busy or unavailable";
    100 NO_DEVICE "no CUDA device was found";
    101 INVALID_DEVICE "there is no such device";
    102 DEVICE_NOT_LICENSED "the device has no licence for this";
    200 INVALID_IMAGE "not a module that can be loaded";
    201 INVALID_CONTEXT "no context is current, or it is not a valid one";
    202 CONTEXT_ALREADY_CURRENT "the context is already current";
    205 MAP_FAILED "mapping failed";
    206 UNMAP_FAILED "unmapping failed";
    207 ARRAY_IS_MAPPED "the array is mapped";
    208 ALREADY_MAPPED "the resource is already mapped";
    209 NO_BINARY_FOR_GPU "the module holds no code that this device can run";
    210 ALREADY_ACQUIRED "the resource was already acquired";
    211 NOT_MAPPED "the resource is not mapped";
    212 NOT_MAPPED_AS_ARRAY "the resource is not mapped as an array";
    213 NOT_MAPPED_AS_POINTER "the resource is not mapped as a pointer";
    214 ECC_UNCORRECTABLE "uncorrectable memory error";
    215 UNSUPPORTED_LIMIT "the device does not know this limit";
    216 CONTEXT_ALREADY_IN_USE "the context is current in another thread";
    217 PEER_ACCESS_UNSUPPORTED "these devices cannot access each other's memory";
    218 INVALID_PTX "the PTX could not be compiled";
    219 INVALID_GRAPHICS_CONTEXT "invalid OpenGL or Direct3D context";
    220 NVLINK_UNCORRECTABLE "uncorrectable NVLink error";
    221 JIT_COMPILER_NOT_FOUND "the PTX compiler of the driver was not found";
    222 UNSUPPORTED_PTX_VERSION "the PTX is of a newer version than the driver knows";
    223 JIT_COMPILATION_DISABLED "compiling PTX is disabled";
    224 UNSUPPORTED_EXEC_AFFINITY "the device does not support this execution affinity";
    225 UNSUPPORTED_DEVSIDE_SYNC "the module waits for kernels from within kernels, which is not supported";
    226 CONTAINED "an error was contained on the device";
    300 INVALID_SOURCE "the kernel source is invalid";
    301 FILE_NOT_FOUND "file not found";
    302 SHARED_OBJECT_SYMBOL_NOT_FOUND "a symbol of a shared library was not found";
    303 SHARED_OBJECT_INIT_FAILED "a shared library could not be initialized";
    304 OPERATING_SYSTEM "the operating system reported an error";
    400 INVALID_HANDLE "invalid handle";
    401 ILLEGAL_STATE "the resource is not in a state that allows this";
    402 LOSSY_QUERY "the answer would lose information";
    500 NOT_FOUND "the named symbol was not found";
    600 NOT_READY "the work is not finished yet";
    700 ILLEGAL_ADDRESS "a kernel accessed memory that it may not access";
    701 LAUNCH_OUT_OF_RESOURCES "the launch asks for more resources than there are";
    702 LAUNCH_TIMEOUT "the launch timed out";
    703 LAUNCH_INCOMPATIBLE_TEXTURING "the launch uses an incompatible texturing mode";
    704 PEER_ACCESS_ALREADY_ENABLED "peer access is already enabled";
    705 PEER_ACCESS_NOT_ENABLED "peer access is not enabled";
    708 PRIMARY_CONTEXT_ACTIVE "the primary context is already active";
    709 CONTEXT_IS_DESTROYED "the context is destroyed";
    710 ASSERT "an assertion failed in a kernel";
    711 TOO_MANY_PEERS "too many peers";
    712 HOST_MEMORY_ALREADY_REGISTERED "the host memory is already registered";
    713 HOST_MEMORY_NOT_REGISTERED "the host memory is not registered";
    714 HARDWARE_STACK_ERROR "stack error in a kernel";
    715 ILLEGAL_INSTRUCTION "a kernel executed an illegal instruction";
    716 MISALIGNED_ADDRESS "a kernel accessed a misaligned address";
    717 INVALID_ADDRESS_SPACE "a kernel accessed the wrong address space";
    718 INVALID_PC "a kernel jumped to where there is no code";
    719 LAUNCH_FAILED "a kernel failed";
    720 COOPERATIVE_LAUNCH_TOO_LARGE "too many blocks for a cooperative launch";
    721 TENSOR_MEMORY_LEAK "a kernel left tensor memory allocated";
    800 NOT_PERMITTED "this is not permitted here";
    801 NOT_SUPPORTED "this is not supported";
    802 SYSTEM_NOT_READY "the system is not ready";
    803 SYSTEM_DRIVER_MISMATCH "the kernel driver and the library do not match";
    804 COMPAT_NOT_SUPPORTED_ON_DEVICE "forward compatibility is not supported on this device";
    805 MPS_CONNECTION_FAILED "no connection to the MPS control daemon";
    806 MPS_RPC_FAILURE "a call to the MPS server failed";
    807 MPS_SERVER_NOT_READY "the MPS server is not ready";
    808 MPS_MAX_CLIENTS_REACHED "the MPS server has no room for another client";
    809 MPS_MAX_CONNECTIONS_REACHED "the MPS server has no room for another connection";
    810 MPS_CLIENT_TERMINATED "the MPS client was terminated";
    811 CDP_NOT_SUPPORTED "kernels that launch kernels are not supported";
    812 CDP_VERSION_MISMATCH "kernels that launch kernels: versions do not match";
    900 STREAM_CAPTURE_UNSUPPORTED "not allowed while a stream is being captured";
    901 STREAM_CAPTURE_INVALIDATED "the capture of the stream is invalid after an earlier error";
    902 STREAM_CAPTURE_MERGE "this would merge two captures";
    903 STREAM_CAPTURE_UNMATCHED "the capture did not begin in this stream";
    904 STREAM_CAPTURE_UNJOINED "the capture has a fork that was not joined";
    905 STREAM_CAPTURE_ISOLATION "a dependency would cross the border of a capture";
    906 STREAM_CAPTURE_IMPLICIT "an implicit dependency on the legacy stream is not allowed in a capture";
    907 CAPTURED_EVENT "the event was recorded in a capture";
    908 STREAM_CAPTURE_WRONG_THREAD "the capture was begun by another thread";
    909 TIMEOUT "the wait timed out";
    910 GRAPH_EXEC_UPDATE_FAILURE "the executable graph cannot be updated so";
    911 EXTERNAL_DEVICE "an asynchronous error of an external device";
    912 INVALID_CLUSTER_SIZE "invalid cluster size";
    913 FUNCTION_NOT_LOADED "the function is not loaded";
    914 INVALID_RESOURCE_TYPE "invalid resource type";
    915 INVALID_RESOURCE_CONFIGURATION "invalid resource configuration";
    916 KEY_ROTATION "a key rotation is under way";
    999 UNKNOWN "unknown error";
}

impl CUresult {
    pub(crate) const SUCCESS: Self = Self(0);

    /// `CUDA_ERROR_…`.
    pub(crate) fn name(self) -> Option<&'static CStr> {
        self.entry().map(|(name, _)| name)
    }

    /// A sentence.
    pub(crate) fn text(self) -> Option<&'static CStr> {
        self.entry().map(|(_, text)| text)
    }

    /// An error with more to say than its code.
    pub(crate) fn because(self, detail: impl Into<String>) -> Error {
        Error { code: self, detail: Some(Arc::from(detail.into())) }
    }
}

impl fmt::Display for CUresult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry() {
            Some((name, text)) => write!(f, "{} ({}): {}", name.to_string_lossy(), self.0, text.to_string_lossy()),
            None => write!(f, "error {}", self.0),
        }
    }
}

impl fmt::Debug for CUresult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a call on the CPU device failed.
#[derive(Debug, Clone)]
pub(crate) struct Error {
    pub(crate) code: CUresult,
    /// For [`crate::last_error_detail`].
    pub(crate) detail: Option<Arc<str>>,
}

pub(crate) type Result<T = (), E = Error> = std::result::Result<T, E>;

impl From<CUresult> for Error {
    fn from(code: CUresult) -> Self {
        Self { code, detail: None }
    }
}

/// An error that is a code and nothing more.
pub(crate) fn fail<T>(code: CUresult) -> Result<T> {
    Err(code.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_name_and_a_sentence() {
        for &code in ALL {
            let name = CUresult(code).name().unwrap().to_str().unwrap();
            assert!(name.starts_with("CUDA_"), "{name}");
            assert!(!CUresult(code).text().unwrap().is_empty());
        }
        assert!(CUresult(12345).name().is_none());
        assert_eq!(CUresult::ILLEGAL_ADDRESS.name(), Some(c"CUDA_ERROR_ILLEGAL_ADDRESS"));
    }
}
