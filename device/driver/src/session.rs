//! Which back end this process uses, and what it has to say beyond the Driver API.

use std::path::PathBuf;

use gridstride_simt::Counters;

/// Which back end the user wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// A GPU if there is one, else the CPU device.
    #[default]
    Auto,
    /// A GPU, or an error that says why there is none.
    Gpu,
    /// The CPU device.
    Cpu,
}

/// Which back end is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// NVIDIA's driver.
    Gpu,
    /// The CPU device.
    Cpu,
}

/// The back end in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    /// GPU or CPU.
    pub kind: Kind,
    /// `cuDriverGetVersion` of the driver, as major and minor: (13, 0). The CPU device answers with the version whose API it follows.
    pub driver_version: (u32, u32),
    /// Newest PTX ISA version that the back end can load, as major and minor.
    pub newest_ptx: (u32, u32),
    /// The driver library that was opened.
    pub library: Option<PathBuf>,
    /// Why there is no GPU, where the CPU device was picked because of that.
    pub no_gpu: Option<String>,
}

/// Why no back end can be opened. The text says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// `GRIDSTRIDE_DEVICE` is not one of `auto`, `gpu`, `cpu`.
    #[error("GRIDSTRIDE_DEVICE is `{0}`: it takes `auto`, `gpu` or `cpu`")]
    BadVariable(String),
    /// A GPU was asked for, and the driver library cannot be opened.
    #[error("no NVIDIA driver: {reason}. Install the NVIDIA driver, or use the CPU device (`--device cpu`)")]
    NoDriver {
        /// What the loader said.
        reason: String,
    },
    /// A GPU was asked for, and the driver has none.
    #[error("the NVIDIA driver {} is there but finds no GPU: {reason}", library.display())]
    NoGpu {
        /// The library.
        library: PathBuf,
        /// What the driver said.
        reason: String,
    },
    /// The back end was already picked, as another kind.
    #[error("the device was already opened as {0:?}; it is picked once a process")]
    AlreadyOpen(Kind),
}

/// Says which back end to use. Wins over `GRIDSTRIDE_DEVICE`; call it before the first Driver API call.
///
/// # Errors
/// [`OpenError::AlreadyOpen`] when another kind is already in use.
pub fn choose(choice: Choice) -> Result<(), OpenError> {
    let _ = choice;
    todo!()
}

/// Opens the back end if that has not happened yet, and says which it is.
///
/// # Errors
/// See [`OpenError`].
pub fn open() -> Result<Backend, OpenError> {
    todo!()
}

/// From now on, launches on the CPU device also count memory requests, sectors and bank conflicts (slower).
pub fn count_memory(on: bool) {
    let _ = on;
    todo!()
}

/// What the CPU device counted in the launch that finished last in this process. `None` on a GPU, or before any.
#[must_use]
pub fn last_counters() -> Option<Counters> {
    todo!()
}

/// A sentence about the call that failed last on this thread (or the kernel fault that it reports), where there is more
/// to say than the error code does: the load log of a module, the kernel, block and thread of a fault.
#[must_use]
pub fn last_error_detail() -> Option<String> {
    todo!()
}
