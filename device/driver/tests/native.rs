//! NVIDIA's library as back end, and what happens without it. The library here is a small stand-in, compiled by the test.
//! The back end is picked once a process, so each case runs in a process of its own: this binary again, with one test.

use std::ffi::CStr;
use std::path::PathBuf;
use std::process::Command;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use cust::sys::CUresult::*;
use cust::sys::*;
use gridstride_driver::{Choice, Kind, OpenError, choose, last_counters, last_error_detail, open};

/// Tells a process that it is the one to run the case.
const CASE: &str = "GRIDSTRIDE_TEST_CASE";

/// Runs `case` in a process with these variables, and no others of ours.
fn in_process(name: &str, variables: &[(&str, &str)], case: fn()) {
    if std::env::var_os(CASE).is_some_and(|running| running == name) {
        return case();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(CASE, name);
    command.env_remove("GRIDSTRIDE_DEVICE").env_remove("GRIDSTRIDE_LIBCUDA").envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// The stand-in driver, compiled with `--cfg` for each of `flags`.
fn fake(flags: &[&str]) -> String {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fake-driver-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    });
    let library = folder.join(format!("libcuda-{}.so.1", flags.join("-")));
    // Tests that want the same library must not see it half-written.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if !library.exists() {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_driver.rs");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = Command::new(rustc);
        command
            .args(["--edition=2024", "--crate-type=cdylib", "--crate-name=fake_driver", "-o"])
            .arg(&library)
            .arg(source);
        flags.iter().for_each(|flag| {
            command.args(["--cfg", flag]);
        });
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    library.to_str().unwrap().to_owned()
}

#[test]
fn calls_are_forwarded() {
    let library = if std::env::var_os(CASE).is_none() { fake(&[]) } else { String::new() };
    in_process("calls_are_forwarded", &[("GRIDSTRIDE_LIBCUDA", &library)], || {
        let backend = open().unwrap();
        assert_eq!((backend.kind, backend.driver_version, backend.newest_ptx), (Kind::Gpu, (12, 4), (8, 4)));
        assert!(backend.library.unwrap().to_str().unwrap().contains("fake-driver"));
        assert_eq!(backend.no_gpu, None);
        assert_eq!(choose(Choice::Cpu), Err(OpenError::AlreadyOpen(Kind::Gpu)));
        let (mut address, mut text, mut version) = (0, ptr::null(), 0);
        // SAFETY: pointers to live variables.
        unsafe {
            assert_eq!(cuInit(0), CUDA_SUCCESS);
            assert_eq!(cuDriverGetVersion(&mut version), CUDA_SUCCESS);
            assert_eq!(cuMemAlloc_v2(&mut address, 77), CUDA_SUCCESS);
            assert_eq!(cuMemFree_v2(address), CUDA_ERROR_ILLEGAL_ADDRESS);
            assert_eq!(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &mut text), CUDA_SUCCESS);
            assert_eq!(CStr::from_ptr(text), c"the stand-in says no");
        }
        assert_eq!((address, version), (77_000, 12040));
        assert_eq!(last_counters(), None);
    });
}

#[test]
fn what_an_older_driver_lacks_is_not_supported() {
    let library = if std::env::var_os(CASE).is_none() { fake(&[]) } else { String::new() };
    in_process("what_an_older_driver_lacks_is_not_supported", &[("GRIDSTRIDE_LIBCUDA", &library)], || {
        let mut address = 0;
        // SAFETY: pointers to live variables.
        unsafe {
            assert_eq!(cuInit(0), CUDA_SUCCESS);
            assert_eq!(cuMemAllocAsync(&mut address, 4, ptr::null_mut()), CUDA_ERROR_NOT_SUPPORTED);
        }
        let detail = last_error_detail().unwrap();
        assert!(detail.contains("CUDA 12.4") && detail.contains("cuMemAllocAsync"), "{detail}");
    });
}

#[test]
fn a_module_that_the_driver_refuses_comes_with_its_log() {
    let library = if std::env::var_os(CASE).is_none() { fake(&[]) } else { String::new() };
    in_process("a_module_that_the_driver_refuses_comes_with_its_log", &[("GRIDSTRIDE_LIBCUDA", &library)], || {
        let mut module = ptr::null_mut();
        // SAFETY: a text with a NUL, and a pointer to a live variable.
        unsafe {
            assert_eq!(cuInit(0), CUDA_SUCCESS);
            let text = c".version 9.5\n.target sm_70\n";
            assert_eq!(cuModuleLoadData(&mut module, text.as_ptr().cast()), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
        }
        let detail = last_error_detail().unwrap();
        assert!(detail.contains("PTX 9.5, and the driver (CUDA 12.4) loads PTX up to 8.4"), "{detail}");
        assert!(detail.contains("log of the stand-in"), "{detail}");
    });
}

#[test]
fn no_device_is_no_gpu() {
    let library = if std::env::var_os(CASE).is_none() { fake(&["no_device"]) } else { String::new() };
    in_process("no_device_is_no_gpu", &[("GRIDSTRIDE_LIBCUDA", &library)], || {
        let backend = open().unwrap();
        assert_eq!(backend.kind, Kind::Cpu);
        let reason = backend.no_gpu.unwrap();
        assert!(reason.contains("CUDA_ERROR_NO_DEVICE"), "{reason}");
    });
}

#[test]
fn no_device_is_an_error_for_who_wants_a_gpu() {
    let library = if std::env::var_os(CASE).is_none() { fake(&["no_device"]) } else { String::new() };
    let variables = [("GRIDSTRIDE_LIBCUDA", library.as_str()), ("GRIDSTRIDE_DEVICE", "gpu")];
    in_process("no_device_is_an_error_for_who_wants_a_gpu", &variables, || {
        assert!(matches!(open(), Err(OpenError::NoGpu { .. })));
        // SAFETY: takes a number.
        assert_eq!(unsafe { cuInit(0) }, CUDA_ERROR_NO_DEVICE);
        assert!(last_error_detail().unwrap().contains("finds no GPU"));
        // Nothing is open, so another choice can follow.
        choose(Choice::Cpu).unwrap();
        // SAFETY: takes a number.
        assert_eq!(unsafe { cuInit(0) }, CUDA_SUCCESS);
        assert_eq!(open().unwrap().kind, Kind::Cpu);
    });
}

#[test]
fn our_own_library_is_passed_over() {
    let library = if std::env::var_os(CASE).is_none() { fake(&["ours"]) } else { String::new() };
    in_process("our_own_library_is_passed_over", &[("GRIDSTRIDE_LIBCUDA", &library)], || {
        let backend = open().unwrap();
        assert_eq!(backend.kind, Kind::Cpu);
        assert!(backend.no_gpu.unwrap().contains("gridstride's own driver library"));
    });
}

#[test]
fn no_library_is_an_error_for_who_wants_a_gpu() {
    let variables = [("GRIDSTRIDE_LIBCUDA", "/nowhere/libcuda.so.1"), ("GRIDSTRIDE_DEVICE", "gpu")];
    in_process("no_library_is_an_error_for_who_wants_a_gpu", &variables, || {
        let error = open().unwrap_err();
        assert!(matches!(error, OpenError::NoDriver { .. }));
        assert!(error.to_string().contains("--device cpu"), "{error}");
    });
}

#[test]
fn a_misspelt_variable_is_named() {
    in_process("a_misspelt_variable_is_named", &[("GRIDSTRIDE_DEVICE", "cuda")], || {
        assert_eq!(open(), Err(OpenError::BadVariable("cuda".into())));
        // SAFETY: takes a number.
        assert_eq!(unsafe { cuInit(0) }, CUDA_ERROR_INVALID_VALUE);
        assert!(last_error_detail().unwrap().contains("`cuda`"));
    });
}

#[test]
fn nothing_works_before_initialisation() {
    in_process("nothing_works_before_initialisation", &[("GRIDSTRIDE_DEVICE", "cpu")], || {
        let (mut count, mut context, mut version) = (0, ptr::null_mut(), 0);
        // SAFETY: pointers to live variables.
        unsafe {
            assert_eq!(cuDeviceGetCount(&mut count), CUDA_ERROR_NOT_INITIALIZED);
            assert_eq!(cuCtxGetCurrent(&mut context), CUDA_ERROR_NOT_INITIALIZED);
            assert_eq!(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
            // As on an H200: the version can be had. Here that opens the back end, and nothing more.
            assert_eq!(cuDriverGetVersion(&mut version), CUDA_SUCCESS);
            assert_eq!(cuDeviceGetCount(&mut count), CUDA_ERROR_NOT_INITIALIZED);
            assert_eq!(cuInit(0), CUDA_SUCCESS);
            assert_eq!(cuDeviceGetCount(&mut count), CUDA_SUCCESS);
        }
        assert_eq!((count, version), (1, 13000));
    });
}

#[test]
fn a_process_ends_with_work_under_way() {
    in_process("a_process_ends_with_work_under_way", &[("GRIDSTRIDE_DEVICE", "cpu")], || {
        unsafe extern "C" fn for_ever(_: *mut std::ffi::c_void) {
            loop {
                std::thread::park();
            }
        }
        let mut context = ptr::null_mut();
        // SAFETY: pointers to live variables, and a function that takes any pointer.
        unsafe {
            assert_eq!(cuInit(0), CUDA_SUCCESS);
            assert_eq!(cuCtxCreate_v2(&mut context, 0, 0), CUDA_SUCCESS);
            assert_eq!(cuLaunchHostFunc(ptr::null_mut(), Some(for_ever), ptr::null_mut()), CUDA_SUCCESS);
        }
    });
}
