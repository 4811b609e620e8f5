//! Which back end this process uses, and what it has to say beyond the Driver API.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use gridstride_simt::{Counters, Finding, Settings};

use crate::cpu;
use crate::entry;
use crate::native::{self, Native, NoGpu};
use crate::result::CUresult;

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
    /// `GRIDSTRIDE_CHECK` or `GRIDSTRIDE_SCHEDULE_SEED` holds something else than it takes.
    #[error("{0}")]
    BadSetting(String),
    /// Checks were asked for, and a GPU.
    #[error(
        "GRIDSTRIDE_CHECK and GRIDSTRIDE_SCHEDULE_SEED are for the CPU device, and a GPU was asked for: leave one of them out"
    )]
    ChecksOnGpu,
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

impl OpenError {
    /// What `cuInit` returns for it.
    pub(crate) fn code(&self) -> CUresult {
        match self {
            Self::NoDriver { .. } | Self::NoGpu { .. } => CUresult::NO_DEVICE,
            Self::BadVariable(_) | Self::BadSetting(_) | Self::ChecksOnGpu | Self::AlreadyOpen(_) => {
                CUresult::INVALID_VALUE
            }
        }
    }
}

/// The back end in use, and NVIDIA's library where it is that one.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) backend: Backend,
    pub(crate) native: Option<Native>,
}

static OPENED: OnceLock<Opened> = OnceLock::new();

/// What [`default_to`] said.
static DEFAULT: Mutex<Choice> = Mutex::new(Choice::Auto);

/// What [`choose`] said. Locked while the back end is opened, so that it is opened once.
static CHOSEN: Mutex<Option<Choice>> = Mutex::new(None);

/// The back end, if it has been opened.
pub(crate) fn opened() -> Option<&'static Opened> {
    OPENED.get()
}

/// Opens the back end unless that has happened. A failure is not kept: another choice may follow.
pub(crate) fn open_once() -> Result<&'static Opened, OpenError> {
    if let Some(opened) = OPENED.get() {
        return Ok(opened);
    }
    let chosen = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(opened) = OPENED.get() {
        return Ok(opened);
    }
    let choice = match *chosen {
        Some(choice) => choice,
        None => match std::env::var_os("GRIDSTRIDE_DEVICE") {
            Some(variable) => choice_of(&variable)?,
            None => *DEFAULT.lock().unwrap_or_else(PoisonError::into_inner),
        },
    };
    let settings = cpu::checking::of_environment().map_err(OpenError::BadSetting)?;
    let choice = match choice {
        _ if settings == Settings::default() => choice,
        Choice::Gpu => return Err(OpenError::ChecksOnGpu),
        Choice::Auto | Choice::Cpu => Choice::Cpu,
    };
    let library = std::env::var_os("GRIDSTRIDE_LIBCUDA").map(PathBuf::from);
    let new = connect(choice, library.as_deref())?;
    Ok(OPENED.get_or_init(|| new))
}

fn choice_of(variable: &OsStr) -> Result<Choice, OpenError> {
    match variable.to_str() {
        Some("auto" | "") => Ok(Choice::Auto),
        Some("gpu") => Ok(Choice::Gpu),
        Some("cpu") => Ok(Choice::Cpu),
        _ => Err(OpenError::BadVariable(variable.to_string_lossy().into_owned())),
    }
}

fn connect(choice: Choice, library: Option<&Path>) -> Result<Opened, OpenError> {
    if choice == Choice::Cpu {
        return Ok(on_cpu(None));
    }
    match (Native::ready(library), choice) {
        (Ok(ready), _) => Ok(Opened {
            backend: Backend {
                kind: Kind::Gpu,
                driver_version: ready.version,
                newest_ptx: native::newest_ptx(ready.version),
                library: Some(ready.native.path.clone()),
                no_gpu: None,
            },
            native: Some(ready.native),
        }),
        (Err(NoGpu::NoLibrary(reason)), Choice::Gpu) => Err(OpenError::NoDriver { reason }),
        (Err(NoGpu::NoDevice(library, reason)), Choice::Gpu) => Err(OpenError::NoGpu { library, reason }),
        (Err(NoGpu::NoLibrary(reason)), _) => Ok(on_cpu(Some(format!("no NVIDIA driver: {reason}")))),
        (Err(NoGpu::NoDevice(library, reason)), _) => {
            Ok(on_cpu(Some(format!("the NVIDIA driver {} finds no GPU: {reason}", library.display()))))
        }
    }
}

fn on_cpu(no_gpu: Option<String>) -> Opened {
    let backend = Backend {
        kind: Kind::Cpu,
        driver_version: cpu::DRIVER_VERSION,
        newest_ptx: cpu::NEWEST_PTX,
        library: None,
        no_gpu,
    };
    Opened { backend, native: None }
}

/// Says which back end to use. Wins over `GRIDSTRIDE_DEVICE`; call it before the first Driver API call.
///
/// # Errors
/// [`OpenError::AlreadyOpen`] when another kind is already in use.
pub fn choose(choice: Choice) -> Result<(), OpenError> {
    let mut chosen = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner);
    match (OPENED.get().map(|opened| opened.backend.kind), choice) {
        (None, _) => {
            *chosen = Some(choice);
            Ok(())
        }
        (Some(_), Choice::Auto) | (Some(Kind::Gpu), Choice::Gpu) | (Some(Kind::Cpu), Choice::Cpu) => Ok(()),
        (Some(kind), _) => Err(OpenError::AlreadyOpen(kind)),
    }
}

/// Says which back end to use where neither [`choose`] nor `GRIDSTRIDE_DEVICE` says. [`Choice::Auto`] unless called.
pub fn default_to(choice: Choice) {
    *DEFAULT.lock().unwrap_or_else(PoisonError::into_inner) = choice;
}

/// Opens the back end if that has not happened yet, and says which it is.
///
/// # Errors
/// See [`OpenError`].
pub fn open() -> Result<Backend, OpenError> {
    open_once().map(|opened| opened.backend.clone())
}

/// From now on, launches on the CPU device also count memory requests, sectors and bank conflicts (slower).
pub fn count_memory(on: bool) {
    cpu::counting::count_memory(on);
}

/// From now on, launches on the CPU device, and memory that is allocated there, are watched as these settings say. Wins
/// over `GRIDSTRIDE_CHECK` and `GRIDSTRIDE_SCHEDULE_SEED`. A back end that is opened afterwards is the CPU device.
pub fn watch(settings: Settings) {
    cpu::checking::watch(settings);
}

/// What the checks have found since they were asked last. Launches that have not ended may still add to it.
#[must_use]
pub fn take_findings() -> Vec<Finding> {
    cpu::cpu().map(|cpu| cpu.device.findings().take()).unwrap_or_default()
}

/// What the CPU device counted in the launch that finished last in this process. `None` on a GPU, or before any.
#[must_use]
pub fn last_counters() -> Option<Counters> {
    cpu::counting::last()
}

/// A sentence about the call that failed last on this thread (or the kernel fault that it reports), where there is more
/// to say than the error code does: the load log of a module, the kernel, block and thread of a fault.
#[must_use]
pub fn last_error_detail() -> Option<String> {
    entry::detail()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_takes_three_words() {
        assert_eq!(choice_of(OsStr::new("auto")), Ok(Choice::Auto));
        assert_eq!(choice_of(OsStr::new("cpu")), Ok(Choice::Cpu));
        assert_eq!(choice_of(OsStr::new("gpu")), Ok(Choice::Gpu));
        assert_eq!(choice_of(OsStr::new("GPU")), Err(OpenError::BadVariable("GPU".into())));
    }

    #[test]
    fn auto_falls_to_the_cpu_device_and_says_why() {
        let missing = Path::new("/nowhere/libcuda.so.1");
        let opened = connect(Choice::Auto, Some(missing)).unwrap();
        assert_eq!(opened.backend.kind, Kind::Cpu);
        assert!(opened.backend.no_gpu.unwrap().contains("/nowhere/libcuda.so.1"));
        assert!(matches!(connect(Choice::Gpu, Some(missing)), Err(OpenError::NoDriver { .. })));
        assert_eq!(connect(Choice::Cpu, Some(missing)).unwrap().backend.no_gpu, None);
    }
}
