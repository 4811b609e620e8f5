//! Compiles the kernels in `gpu/` to PTX, which `src/lib.rs` embeds.

use std::path::Path;
use std::process::ExitCode;

use cuda_builder::CudaBuilder;

fn main() -> ExitCode {
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    println!("cargo::rerun-if-changed=build.rs");
    let ptx = Path::new(&out).join("gridstride.ptx");
    let built = CudaBuilder::new("gpu").copy_to(&ptx).build().map_err(|error| error.to_string());
    match built.and_then(|_| cap_registers(&ptx).map_err(|error| format!("{}: {error}", ptx.display()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Registers a thread at most. A multiprocessor has 65,536: with 64 each, a block of 1024 threads, the largest there is, can be
/// launched, and there are always 1024 threads at work. Without a limit ptxas takes what makes one thread fastest.
const REGISTERS: u32 = 64;

/// Kernels that keep their work in registers and pay for it in threads.
const WITH_MORE: &[(&str, u32)] = &[("matmul_f32", 128)];

/// Writes the limits into the heads of the entry points (PTX ISA, ".maxnreg"), for which Rust has no attribute.
fn cap_registers(ptx: &Path) -> std::io::Result<()> {
    let mut text = String::new();
    let mut kernel = None;
    for line in std::fs::read_to_string(ptx)?.lines() {
        if let Some(name) = line.strip_prefix(".visible .entry ") {
            kernel = name.split('(').next();
        } else if line == "{"
            && let Some(name) = kernel.take()
        {
            let more = WITH_MORE.iter().find(|(known, _)| *known == name);
            text += &format!(".maxnreg {}\n", more.map_or(REGISTERS, |(_, registers)| *registers));
        }
        text += line;
        text.push('\n');
    }
    std::fs::write(ptx, text)
}
