//! NVIDIA's driver library, opened at run time.
//!
//! The library exports the very names that this crate exports. Its functions are therefore looked up in the opened
//! library alone and called through pointers, and a library that turns out to be one of ours (installed as
//! `libcuda.so.1`, or this very one) is passed over.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

use crate::result::CUresult;

/// Names this library as ours to a process that opens it in search of NVIDIA's.
#[unsafe(no_mangle)]
pub extern "C" fn gridstride_driver_marker() {}

const MARKER: &[u8] = b"gridstride_driver_marker\0";

/// Where else the library lies on the systems that NVIDIA supports, for when one of ours stands in the loader's way.
#[cfg(not(windows))]
const NAMES: &[&str] = &[
    "libcuda.so.1",
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
];
#[cfg(windows)]
const NAMES: &[&str] = &["nvcuda.dll", r"C:\Windows\System32\nvcuda.dll"];

/// A function of the driver: its name, and its address once that has been looked up.
#[derive(Debug)]
pub(crate) struct Slot {
    /// With the NUL.
    name: &'static str,
    address: AtomicPtr<c_void>,
}

impl Slot {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name.trim_end_matches('\0')
    }
}

/// The opened library.
#[derive(Debug)]
pub(crate) struct Native {
    library: Library,
    pub(crate) path: PathBuf,
}

/// A driver library with at least one device, and its version.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) native: Native,
    pub(crate) version: (u32, u32),
}

/// Why there is no GPU to use.
#[derive(Debug)]
pub(crate) enum NoGpu {
    /// The library cannot be opened.
    NoLibrary(String),
    /// It can, and has no device to offer.
    NoDevice(PathBuf, String),
}

impl Native {
    /// Opens `path`, or else looks in the usual places. Text: why not.
    fn open(path: Option<&Path>) -> Result<Self, String> {
        if let Some(path) = path {
            return Self::open_one(path)
                .map_err(|error| format!("GRIDSTRIDE_LIBCUDA is `{}`: {error}", path.display()));
        }
        let mut first_error = None;
        for name in NAMES {
            match Self::open_one(Path::new(name)) {
                Ok(native) => return Ok(native),
                Err(error) => first_error.get_or_insert(error),
            };
        }
        Err(first_error.unwrap_or_default())
    }

    fn open_one(path: &Path) -> Result<Self, String> {
        // SAFETY: loading runs the library's initialisers. NVIDIA's are made for being loaded at any time; another path
        // is only opened when the user names it. Symbols stay local to the handle: libloading does not ask for RTLD_GLOBAL.
        let library = unsafe { Library::new(path) }.map_err(|error| error.to_string())?;
        // SAFETY: only the presence of the symbol counts; nothing is called.
        if unsafe { library.get::<*const c_void>(MARKER) }.is_ok() {
            return Err(format!("{} is gridstride's own driver library, not NVIDIA's", path.display()));
        }
        let native = Self { library, path: path.to_path_buf() };
        let Some(init) = native.address("cuInit\0") else {
            return Err(format!("{} is no CUDA driver: it has no cuInit", native.path.display()));
        };
        let path = file_of(init).unwrap_or_else(|| native.path.clone());
        Ok(Self { path, ..native })
    }

    fn address(&self, name: &str) -> Option<NonNull<c_void>> {
        // SAFETY: read as an untyped address; whoever calls it gives it its type.
        let symbol = unsafe { self.library.get::<*mut c_void>(name.as_bytes()) }.ok()?;
        NonNull::new(*symbol)
    }

    /// The driver's function, looked up at the first call.
    pub(crate) fn resolve(&self, slot: &'static Slot) -> Option<NonNull<c_void>> {
        if let Some(known) = NonNull::new(slot.address.load(Ordering::Acquire)) {
            return Some(known);
        }
        let found = self.address(slot.name)?;
        slot.address.store(found.as_ptr(), Ordering::Release);
        Some(found)
    }

    /// Calls a function of the type `CUresult (*)(A)`.
    fn call_with<A>(&self, name: &str, arg: A) -> Result<(), String> {
        let shown = name.trim_end_matches('\0');
        let Some(address) = self.address(name) else {
            return Err(format!("{shown} is missing"));
        };
        // SAFETY: private, and used below with functions of exactly this shape.
        let function: unsafe extern "C" fn(A) -> CUresult = unsafe { std::mem::transmute(address) };
        // SAFETY: the arguments below are a number, or a pointer to a live number.
        match unsafe { function(arg) } {
            CUresult::SUCCESS => Ok(()),
            code => Err(format!("{shown} says {code}")),
        }
    }

    /// Opens the library, initialises it and sees whether it has a device.
    pub(crate) fn ready(path: Option<&Path>) -> Result<Ready, NoGpu> {
        let native = Self::open(path).map_err(NoGpu::NoLibrary)?;
        match native.version_and_devices() {
            Ok((_, 0)) => Err(NoGpu::NoDevice(native.path, "it counts 0 devices".into())),
            Ok((version, _)) => Ok(Ready { version: split(version), native }),
            Err(reason) => Err(NoGpu::NoDevice(native.path, reason)),
        }
    }

    fn version_and_devices(&self) -> Result<(i32, i32), String> {
        let (mut version, mut devices) = (0, 0);
        self.call_with("cuInit\0", 0_u32)?;
        self.call_with("cuDriverGetVersion\0", &raw mut version)?;
        self.call_with("cuDeviceGetCount\0", &raw mut devices)?;
        Ok((version, devices))
    }
}

/// 13010 -> (13, 1)
fn split(version: i32) -> (u32, u32) {
    let version = version.unsigned_abs();
    (version / 1000, version % 1000 / 10)
}

/// Newest PTX ISA version that a driver of this CUDA version loads. Of a driver newer than the table it is only known
/// that it loads what the last one did.
pub(crate) fn newest_ptx(driver: (u32, u32)) -> (u32, u32) {
    match driver {
        (..9, _) => (5, 0),
        (9, minor) => (6, minor.min(2)),
        (10, minor) => (6, 3 + minor.min(2)),
        (11, minor) => (7, minor.min(8)),
        (12, minor @ 0..=5) => (8, minor),
        (12, minor) => (8, minor.min(9) - 1),
        (13, minor) => (9, minor.min(5)),
        (14.., _) => (9, 5),
    }
}

/// The file that a loaded function is from.
#[cfg(target_os = "linux")]
fn file_of(function: NonNull<c_void>) -> Option<PathBuf> {
    let address = function.as_ptr() as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let holds = |line: &&str| -> bool {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let bound = |text| usize::from_str_radix(text, 16);
        matches!(range.map(|(low, high)| (bound(low), bound(high))), Some((Ok(low), Ok(high))) if (low..high).contains(&address))
    };
    let line = maps.lines().find(holds)?;
    line.find('/').map(|start| PathBuf::from(&line[start..]))
}

#[cfg(not(target_os = "linux"))]
fn file_of(_: NonNull<c_void>) -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_version_gives_its_ptx_version() {
        assert_eq!(newest_ptx((11, 0)), (7, 0));
        assert_eq!(newest_ptx((11, 8)), (7, 8));
        assert_eq!(newest_ptx((12, 5)), (8, 5));
        assert_eq!(newest_ptx((12, 6)), (8, 5));
        assert_eq!(newest_ptx((12, 9)), (8, 8));
        assert_eq!(newest_ptx((13, 0)), (9, 0));
        assert_eq!(newest_ptx((15, 0)), (9, 5));
        assert_eq!(split(13010), (13, 1));
    }

    #[test]
    fn what_is_no_driver_says_so() {
        let error = Native::open(Some(Path::new("/nowhere/libcuda.so.1"))).unwrap_err();
        assert!(error.contains("/nowhere/libcuda.so.1"), "{error}");
    }
}
