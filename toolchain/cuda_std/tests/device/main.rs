//! The kernels of `tests/fixtures/kernels`, built by `cuda_builder`: what their PTX says, and what they do on the CPU device.

mod atomics;
mod floats;
mod launch;
mod prints;
mod ptx;
mod safe;
mod shared;

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use cuda_builder::{CudaBuilder, NvvmArch};

/// The PTX of the fixtures, built once.
static PTX: LazyLock<String> = LazyLock::new(|| built("plain"));

/// The same for sm_80, with a heap and panics that pass on their message.
static SPEAKING: LazyLock<String> = LazyLock::new(|| built("speaking"));

/// The same without panics.
static UNCHECKED: LazyLock<String> = LazyLock::new(|| built("unchecked"));

fn built(variant: &str) -> String {
    // In a process of its own, with the environment of a build script: the inner target directory goes where cargo keeps
    // the files of tests.
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("profile/build/fixtures/out");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "build", "--nocapture"]).env("OUT_DIR", out).env(VARIANT, variant);
    let output = command.env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let path = text.lines().find_map(|line| line.split_once("built ").map(|(_, path)| path));
    let path = path.unwrap_or_else(|| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)));
    std::fs::read_to_string(path).unwrap()
}

const VARIANT: &str = "CUDA_STD_FIXTURES";

/// Not a test: what the process of its own runs.
#[test]
#[ignore = "what the other tests run in a process of its own"]
fn build() {
    let builder = CudaBuilder::new("tests/fixtures/kernels").build_args(&["--quiet"]);
    let builder = match std::env::var(VARIANT).as_deref() {
        Ok("speaking") => builder.arch(NvvmArch::Compute80).alloc(true).build_args(&["--features", "speaking"]),
        Ok("unchecked") => builder.build_args(&["--features", "unchecked"]),
        _ => builder,
    };
    match builder.build() {
        Ok(path) => println!("built {}", path.display()),
        Err(error) => println!("failed {error}"),
    }
}
