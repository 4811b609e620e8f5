//! From an exported symbol to the back end: the macro that declares Driver API functions, and what all of them share.
//!
//! ```text
//! C caller -> cuX -> session: which back end? -> NVIDIA's cuX, through a pointer looked up once
//!                                             -> the area's Rust function, panics caught, detail kept
//! ```

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::cpu::stream::in_host_function;
use crate::native::Slot;
use crate::result::{CUresult, Error, Result};
use crate::session::{self, Opened};

/// An exported function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Symbol {
    pub(crate) name: &'static str,
    pub(crate) address: *const (),
}

/// Declares Driver API functions, one entry each:
///
/// ```text
/// /// What it does.
/// call cuName(arg: Type, …) => function_for_the_cpu_device;
/// ```
///
/// `call` needs an opened back end, `open` opens it, `any` works without. An entry without `=>` is
/// `CUDA_ERROR_NOT_SUPPORTED` on the CPU device. The Rust function takes the lifted arguments ([`crate::arg::FromC`]).
/// `explained by f` runs `f` after a failure of NVIDIA's driver, with the code and the raw arguments, to say more about it.
/// `per thread cuName_ptsz` also exports the function under that name; there, no stream is the default stream of the thread.
/// `also cuOldName` exports it under the name of an earlier version whose arguments were the same.
macro_rules! driver_functions {
    ($(
        $(#[doc = $doc:literal])*
        $mode:ident $name:ident $args:tt $(=> $cpu:ident)? $(, explained by $explain:path)?
            $(, per thread $per_thread:ident)? $(, also $other:ident)*;
    )*) => {
        $($crate::entry::driver_function! {
            [$(#[doc = $doc])*] $mode $args [$($cpu)?] [$($explain)?]
            [shared $name, $(per_thread $per_thread,)? $(shared $other,)*]
        })*

        /// What this file exports.
        pub(crate) const TABLE: &[$crate::entry::Symbol] = &[
            $(
                $crate::entry::Symbol { name: stringify!($name), address: $name as *const () },
                $($crate::entry::Symbol { name: stringify!($per_thread), address: $per_thread as *const () },)?
                $($crate::entry::Symbol { name: stringify!($other), address: $other as *const () },)*
            )*
        ];
    };
}

macro_rules! driver_function {
    ($docs:tt $mode:ident $args:tt $cpu:tt $explain:tt []) => {};
    (
        [$($doc:tt)*] $mode:ident ($($arg:ident: $ty:ty),* $(,)?) [$($cpu:ident)?] [$($explain:path)?]
        [$default_stream:ident $name:ident, $($more:tt)*]
    ) => {
        $crate::entry::driver_function! {
            [$($doc)*] $mode ($($arg: $ty),*) [$($cpu)?] [$($explain)?] [$($more)*]
        }

        $($doc)*
        ///
        /// # Safety
        /// As the CUDA Driver API says of this function: each pointer is null or valid for what the function does with it.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "the names are NVIDIA's")]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $crate::result::CUresult {
            static SLOT: $crate::native::Slot = $crate::native::Slot::new(concat!(stringify!($name), "\0"));
            $crate::entry::$mode(
                &SLOT,
                |symbol| {
                    type Function = unsafe extern "C" fn($($ty),*) -> $crate::result::CUresult;
                    // SAFETY: the driver's function of this name has this signature; the arguments are the caller's,
                    // who keeps its contract as if calling it directly.
                    unsafe { std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, Function>(symbol)($($arg),*) }
                },
                |_code| $crate::entry::explain_call!([$($explain)?] _code $($arg),*),
                || $crate::cpu::current::$default_stream(|| $crate::entry::cpu_call!([$($cpu)?] $($arg),*)),
            )
        }
    };
}

macro_rules! cpu_call {
    ([$cpu:ident] $($arg:ident),*) => {{
        // By another name: an argument may have the function's.
        use self::$cpu as on_the_cpu_device;
        // SAFETY: the contract of the exported function is the one that `lift` asks for.
        on_the_cpu_device($(unsafe { $crate::arg::FromC::lift($arg) }),*)
    }};
    ([] $($arg:ident),*) => {{
        $(let _ = $arg;)*
        Err($crate::entry::unsupported(SLOT.name()))
    }};
}

macro_rules! explain_call {
    ([$explain:path] $code:ident $($arg:ident),*) => {
        // SAFETY: the contract of the exported function is the one that `lift` asks for.
        $explain($code, $(unsafe { $crate::arg::FromC::lift($arg) }),*)
    };
    ([] $code:ident $($arg:ident),*) => { () };
}

/// Declares Driver API functions that are exported and not supported.
macro_rules! not_supported_functions {
    ($($name:ident)*) => {
        $(
            /// Not supported.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "the names are NVIDIA's")]
            pub extern "C" fn $name() -> $crate::result::CUresult {
                $crate::entry::refuse(stringify!($name))
            }
        )*

        /// What this file exports.
        pub(crate) const TABLE: &[$crate::entry::Symbol] = &[
            $($crate::entry::Symbol { name: stringify!($name), address: $name as *const () }),*
        ];
    };
}

pub(crate) use {cpu_call, driver_function, driver_functions, explain_call, not_supported_functions};

/// A function that is not supported on either back end.
pub(crate) fn refuse(name: &'static str) -> CUresult {
    match session::opened() {
        Some(opened) if opened.native.is_some() => {
            report(CUresult::NOT_SUPPORTED.because(format!("{name} is not handed on to NVIDIA's driver")))
        }
        Some(_) => report(unsupported(name)),
        None => report(CUresult::NOT_INITIALIZED.because(format!("{name}: cuInit has not been called"))),
    }
}

/// A function that needs an opened back end.
pub(crate) fn call(
    slot: &'static Slot,
    native: impl FnOnce(NonNull<c_void>) -> CUresult,
    explain: impl FnOnce(CUresult),
    cpu: impl FnOnce() -> Result,
) -> CUresult {
    match session::opened() {
        Some(opened) => dispatch(opened, slot, native, explain, cpu),
        None => report(CUresult::NOT_INITIALIZED.because(format!("{}: cuInit has not been called", slot.name()))),
    }
}

/// A function that opens the back end.
pub(crate) fn open(
    slot: &'static Slot,
    native: impl FnOnce(NonNull<c_void>) -> CUresult,
    explain: impl FnOnce(CUresult),
    cpu: impl FnOnce() -> Result,
) -> CUresult {
    match catch_unwind(session::open_once) {
        Ok(Ok(opened)) => dispatch(opened, slot, native, explain, cpu),
        Ok(Err(error)) => report(error.code().because(error.to_string())),
        Err(_) => report(internal(slot.name())),
    }
}

/// A function that works without a back end too.
pub(crate) fn any(
    slot: &'static Slot,
    native: impl FnOnce(NonNull<c_void>) -> CUresult,
    explain: impl FnOnce(CUresult),
    cpu: impl FnOnce() -> Result,
) -> CUresult {
    match session::opened() {
        Some(opened) if opened.native.is_some() => dispatch(opened, slot, native, explain, cpu),
        _ => guarded(slot.name(), cpu),
    }
}

fn dispatch(
    opened: &'static Opened,
    slot: &'static Slot,
    native: impl FnOnce(NonNull<c_void>) -> CUresult,
    explain: impl FnOnce(CUresult),
    cpu: impl FnOnce() -> Result,
) -> CUresult {
    let Some(library) = &opened.native else {
        if in_host_function() && !ALLOWED_IN_HOST_FUNCTION.contains(&slot.name()) {
            return report(CUresult::NOT_PERMITTED.because(format!("{} called from a host function", slot.name())));
        }
        return guarded(slot.name(), cpu);
    };
    let Some(symbol) = library.resolve(slot) else {
        let (major, minor) = opened.backend.driver_version;
        return report(CUresult::NOT_SUPPORTED.because(format!(
            "the NVIDIA driver (CUDA {major}.{minor}) has no {}: a newer driver is needed",
            slot.name()
        )));
    };
    let code = native(symbol);
    if code != CUresult::SUCCESS && code != CUresult::NOT_READY {
        set_detail(None);
        // Saying more is an extra: when it panics, the code alone has to do.
        let _ = catch_unwind(AssertUnwindSafe(|| explain(code)));
    }
    code
}

/// As on a GPU, where these alone were seen to work from a host function.
const ALLOWED_IN_HOST_FUNCTION: &[&str] =
    &["cuDriverGetVersion", "cuEventQuery", "cuStreamQuery", "cuGetErrorName", "cuGetErrorString"];

/// A panic must not cross into C.
fn guarded(name: &str, cpu: impl FnOnce() -> Result) -> CUresult {
    match catch_unwind(AssertUnwindSafe(cpu)) {
        Ok(Ok(())) => CUresult::SUCCESS,
        Ok(Err(error)) => report(error),
        Err(_) => report(internal(name)),
    }
}

fn internal(name: &str) -> Error {
    CUresult::UNKNOWN.because(format!("internal error of the CPU device in {name}: please report it"))
}

/// The CPU device does not do this yet.
pub(crate) fn unsupported(name: &str) -> Error {
    CUresult::NOT_SUPPORTED.because(format!("the CPU device does not support {name}"))
}

fn report(error: Error) -> CUresult {
    // Not ready is an answer, not a failure.
    if error.code != CUresult::NOT_READY {
        set_detail(error.detail);
    }
    error.code
}

thread_local! {
    static DETAIL: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// Keeps what there is to say about the failure of this thread's last call.
pub(crate) fn set_detail(detail: Option<Arc<str>>) {
    // A call from a destructor of another thread-local may come too late to keep anything.
    let _ = DETAIL.try_with(|slot| *slot.borrow_mut() = detail);
}

/// What was kept last.
pub(crate) fn detail() -> Option<String> {
    DETAIL.try_with(|slot| slot.borrow().as_deref().map(String::from)).ok().flatten()
}
