//! Numba's CUDA target on this library: kernels that Numba and NVIDIA's NVVM compile, checked against NumPy.
//!
//! Needs a Python with the packages of `tests/numba/setup`: that of `GRIDSTRIDE_NUMBA_PYTHON`, or `python3`.
#![cfg(target_os = "linux")]

mod support;

use std::process::Command;

#[test]
fn kernels_that_numba_compiles() {
    let named = std::env::var_os("GRIDSTRIDE_NUMBA_PYTHON");
    let python = named.clone().unwrap_or_else(|| "python3".into());
    let has_numba = Command::new(&python)
        .args(["-c", "import cuda.bindings, numba_cuda, numpy; from cuda.bindings import nvvm; nvvm.version()"])
        .output();
    if !has_numba.is_ok_and(|output| output.status.success()) {
        assert!(named.is_none(), "GRIDSTRIDE_NUMBA_PYTHON has no numba-cuda with NVVM: see tests/numba/setup");
        eprintln!("DID NOT RUN: python3 has no numba-cuda with NVVM (tests/numba/setup makes one that has)");
        return;
    }
    let output = Command::new(&python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/numba/kernels.py"))
        .env("LD_LIBRARY_PATH", support::folder("numba"))
        .env_remove("GRIDSTRIDE_DEVICE")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("on gridstride CPU device"), "{text}");
    assert_eq!(text.matches("passed test_").count(), 12, "{text}");
}
