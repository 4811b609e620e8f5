//! What a kernel needs of a multiprocessor, as NVIDIA's assembler counts it.

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arch::NvvmArch;
use crate::error::CudaBuilderError;

/// Variables that name a toolkit.
const TOOLKITS: [&str; 4] = ["CUDA_PATH", "CUDA_HOME", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"];

/// What one kernel needs, as `ptxas -v` reports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelResources {
    /// Name of the entry point.
    pub kernel: String,
    /// Registers a thread.
    pub registers: u32,
    /// Bytes of static shared memory a block.
    pub shared: u32,
    /// Bytes of local memory a thread: arrays that are indexed, and spills.
    pub local: u32,
    /// Bytes of constant memory, the parameters among them.
    pub constant: u32,
    /// Bytes of registers that are stored to local memory for want of room.
    pub spill_stores: u32,
    /// Bytes that are loaded back.
    pub spill_loads: u32,
}

/// Assembles a PTX file for an architecture and returns what each kernel needs, in the order of their names. `None` where
/// there is no `ptxas`.
///
/// Where `ptxas` does not know the architecture any more (its release 13 starts at `sm_75`) the next later one stands in, and
/// the second part of the result says which it was.
///
/// # Errors
/// [`CudaBuilderError::Assembler`] when `ptxas` refuses the PTX or cannot be started.
pub fn resources(ptx: &Path, arch: NvvmArch) -> Result<Option<(Vec<KernelResources>, NvvmArch)>, CudaBuilderError> {
    let Some(ptxas) = find() else { return Ok(None) };
    let failed = |message: String| CudaBuilderError::Assembler { ptxas: ptxas.clone(), ptx: ptx.to_owned(), message };
    let later = |other: &&NvvmArch| other.is_base_variant() && other.capability_value() > arch.capability_value();
    for &target in std::iter::once(&arch).chain(NvvmArch::ALL.iter().filter(later)) {
        let mut command = Command::new(&ptxas);
        command.arg("-v").arg(format!("-arch={}", target.target_cpu())).arg("-o").arg(null()).arg(ptx);
        let output = command.output().map_err(|error| failed(error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        if output.status.success() {
            return Ok(Some((parse(&text), target)));
        }
        if !(text.contains("gpu-name") && text.contains("not defined")) {
            return Err(failed(text));
        }
    }
    Err(failed(format!("it knows neither {arch} nor any later architecture")))
}

/// The report as text, for people.
pub(crate) fn report(ptx: &Path, arch: NvvmArch) -> Result<String, CudaBuilderError> {
    for name in TOOLKITS.iter().chain(&["PTXAS"]) {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let Some((kernels, target)) = resources(ptx, arch)? else {
        return Ok(
            "No ptxas was found, so nothing is known of registers and memory. Set PTXAS to it; it is part of the CUDA \
                   toolkit, and of the package nvidia-cuda-nvcc on PyPI.\n"
                .into(),
        );
    };
    let mut text = format!("Resources on {}\n\n", target.target_cpu());
    let width = kernels.iter().map(|k| k.kernel.len()).max().unwrap_or(0).max("kernel".len());
    let _ = writeln!(
        text,
        "{:width$} {:>9} {:>8} {:>7} {:>9} {:>13} {:>12}",
        "kernel", "registers", "shared B", "local B", "const. B", "spill stores B", "spill loads B"
    );
    for k in kernels {
        let _ = writeln!(
            text,
            "{:width$} {:>9} {:>8} {:>7} {:>9} {:>14} {:>13}",
            k.kernel, k.registers, k.shared, k.local, k.constant, k.spill_stores, k.spill_loads
        );
    }
    Ok(text)
}

fn null() -> &'static str {
    if cfg!(windows) { "NUL" } else { "/dev/null" }
}

/// The assembler: where the user says, else of a toolkit, else on the path.
fn find() -> Option<PathBuf> {
    if let Some(set) = env::var_os("PTXAS").filter(|set| !set.is_empty()) {
        return Some(set.into());
    }
    let program = format!("ptxas{}", env::consts::EXE_SUFFIX);
    let toolkits = TOOLKITS.iter().filter_map(env::var_os);
    let toolkits = toolkits.map(PathBuf::from).chain([PathBuf::from("/usr/local/cuda")]).map(|root| root.join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = toolkits.chain(env::split_paths(&path)).collect();
    folders.into_iter().map(|folder| folder.join(&program)).find(|file| file.is_file())
}

/// Reads the output of `ptxas -v`.
fn parse(text: &str) -> Vec<KernelResources> {
    let mut found: Vec<KernelResources> = Vec::new();
    for line in text.lines() {
        if line.contains("Compiling entry function") {
            let kernel = line.split('\'').nth(1).unwrap_or_default().to_owned();
            found.push(KernelResources { kernel, ..KernelResources::default() });
        }
        let Some(kernel) = found.last_mut() else { continue };
        let counts = line.rsplit("info").next().unwrap_or(line).trim_start_matches([' ', ':']);
        for part in counts.split(',').map(str::trim) {
            let Some((number, what)) = part.trim_start_matches("Used ").split_once(' ') else { continue };
            let Ok(number) = number.parse::<u32>() else { continue };
            match what.trim_start_matches("bytes ") {
                "registers" => kernel.registers = number,
                "smem" => kernel.shared = number,
                "stack frame" => kernel.local = number,
                "spill stores" => kernel.spill_stores = number,
                "spill loads" => kernel.spill_loads = number,
                what if what.starts_with("cmem") => kernel.constant += number,
                _ => {}
            }
        }
    }
    found.sort_by(|a, b| a.kernel.cmp(&b.kernel));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_ptxas_says() {
        let text = "ptxas info    : 0 bytes gmem, 40 bytes cmem[4]\n\
            ptxas info    : Compiling entry function 'tile' for 'sm_90'\n\
            ptxas info    : Function properties for tile\n    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
            ptxas info    : Used 28 registers, used 1 barriers, 16 bytes cumulative stack size, 2048 bytes smem, 392 bytes cmem[0], 4 bytes cmem[2]\n\
            ptxas info    : Compile time = 1.0 ms\n\
            ptxas info    : Compiling entry function 'add' for 'sm_90'\n\
            ptxas info    : Function properties for add\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 10 registers, 380 bytes cmem[0]\n";
        let [add, tile] = parse(text).try_into().unwrap();
        assert_eq!((&*add.kernel, add.registers, add.constant), ("add", 10, 380));
        let expected = KernelResources {
            kernel: "tile".into(),
            registers: 28,
            shared: 2048,
            local: 16,
            constant: 396,
            spill_stores: 8,
            spill_loads: 12,
        };
        assert_eq!(tile, expected);
    }
}
