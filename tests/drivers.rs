//! Drivers that cannot run the kernels, as stand-ins that the test compiles: the command says which versions meet.

use std::path::{Path, PathBuf};
use std::process::Command as Process;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

/// The stand-in, compiled with `--cfg` for each of `flags`.
fn driver(folder: &Path, flags: &[&str]) -> PathBuf {
    let library = folder.join("libcuda.so.1");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Process::new(rustc);
    command.args(["--edition=2024", "--crate-type=cdylib", "--crate-name=old_driver", "-o"]).arg(&library);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/old_driver.rs"));
    flags.iter().for_each(|flag| {
        command.args(["--cfg", flag]);
    });
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}

fn gridstride(library: &Path) -> Command {
    let mut command = Command::cargo_bin("gridstride").unwrap();
    command.env_remove("GRIDSTRIDE_DEVICE").env("GRIDSTRIDE_LIBCUDA", library).env("NO_COLOR", "1");
    command
}

#[test]
fn a_driver_too_old_for_the_ptx_is_told_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    let library = driver(folder.path(), &[]);
    gridstride(&library)
        .args(["--device", "gpu", "-n", "100"])
        .assert()
        .code(1)
        .stdout("")
        .stderr(contains("PTX ISA 7.0").and(contains("10.2")).and(contains("An old GPU")).and(contains("6.5")));
}

#[test]
fn a_gpu_too_old_for_the_target_is_told_both() {
    let folder = tempfile::tempdir().unwrap();
    let library = driver(folder.path(), &["pascal"]);
    let told = contains("sm_70").and(contains("compute capability 6.1")).and(contains("An old GPU"));
    gridstride(&library).args(["--device", "gpu", "-n", "100"]).assert().code(1).stdout("").stderr(told);
}

#[test]
fn a_driver_without_a_device_is_no_gpu() {
    let folder = tempfile::tempdir().unwrap();
    let library = driver(folder.path(), &["no_device"]);
    gridstride(&library).args(["--device", "gpu"]).assert().code(1).stderr(contains("finds no GPU"));
    // Without the wish for a GPU, the CPU device runs and says why.
    gridstride(&library)
        .args(["-n", "100", "--runs", "1"])
        .assert()
        .success()
        .stdout(contains("on the CPU device").and(contains("finds no GPU")));
}
