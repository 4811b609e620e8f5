//! Compiles the kernels in `gpu/` to PTX, which `src/lib.rs` embeds.

use std::path::Path;
use std::process::ExitCode;

use cuda_builder::CudaBuilder;

fn main() -> ExitCode {
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    println!("cargo::rerun-if-changed=build.rs");
    match CudaBuilder::new("gpu").copy_to(Path::new(&out).join("gridstride.ptx")).build() {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
