//! The flags of the inner build: profile settings, rustc's, and LLVM's.

use std::env;
use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use crate::arch::NvvmArch;
use crate::compiler::Toolchain;
use crate::library::Library;
use crate::options::{CudaBuilder, DebugInfo, EmitOption};

/// Unstable features that device crates get without asking: the kernel ABI, the special registers, inline PTX, barriers
/// and shuffles as LLVM intrinsics.
const FEATURES: &str = "feature(abi_ptx,stdarch_nvptx,asm_experimental_arch,link_llvm_intrinsics)";

/// Everything that decides what a build makes of a source.
#[derive(Debug, Hash)]
pub(crate) struct Flags {
    /// `sm_70`
    pub(crate) cpu: String,
    /// Lines of `[profile.release]`.
    pub(crate) profile: Vec<String>,
    pub(crate) rustflags: Vec<String>,
    /// Arguments of cargo, the user's among them.
    pub(crate) cargo: Vec<String>,
    /// `CUDA_ARCH`, as crates for Rust-CUDA know it: the capability times hundred.
    pub(crate) cuda_arch: String,
}

impl Flags {
    pub(crate) fn of(options: &CudaBuilder, arch: NvvmArch, library: &Library, toolchain: &Toolchain) -> Self {
        let mut cargo = vec![format!("-Zbuild-std={}", if options.alloc { "core,alloc" } else { "core" })];
        cargo.extend(options.build_args.iter().cloned());
        Self {
            cpu: arch.target_cpu(),
            profile: profile(options),
            rustflags: rustflags(options, arch, library, toolchain),
            cargo,
            cuda_arch: (arch.capability_value() * 10).to_string(),
        }
    }
}

/// What `--emit` takes for a second output, and its extension.
pub(crate) fn second_output(options: &CudaBuilder) -> Option<(&'static str, &'static str)> {
    match options.emit {
        Some(EmitOption::Bitcode) => Some(("llvm-bc", "bc")),
        Some(EmitOption::LlvmIr) => Some(("llvm-ir", "ll")),
        None if options.final_module_path.is_some() => Some(("llvm-ir", "ll")),
        None => None,
    }
}

/// Settings of the release profile, whatever the user's workspace says: one optimised unit without unwinding.
fn profile(options: &CudaBuilder) -> Vec<String> {
    let debug = match options.debug {
        DebugInfo::Full => "2",
        DebugInfo::LineTables if options.generate_line_info => r#""line-directives-only""#,
        DebugInfo::LineTables | DebugInfo::None => "0",
    };
    let checks = !options.release;
    vec![
        r#"lto="fat""#.into(),
        "codegen-units=1".into(),
        r#"panic="abort""#.into(),
        format!("opt-level={}", if options.nvvm_opts { 3 } else { 1 }),
        format!("debug-assertions={checks}"),
        format!("overflow-checks={checks}"),
        format!("debug={debug}"),
        r#"strip="none""#.into(),
        "incremental=false".into(),
    ]
}

fn rustflags(options: &CudaBuilder, arch: NvvmArch, library: &Library, toolchain: &Toolchain) -> Vec<String> {
    let mut flags: Vec<String> = paths(library, toolchain);
    flags.extend([
        format!("-Zcrate-attr={FEATURES}"),
        "-Aunused_features".into(),
        "-Ainternal_features".into(),
        "-Aexplicit_builtin_cfgs_in_flags".into(),
        format!("-Ctarget-cpu={}", arch.target_cpu()),
    ]);
    if options.debug == DebugInfo::Full {
        // The newest version of DWARF that the PTX assembler takes.
        flags.push("-Cdwarf-version=2".into());
    }
    for arch in arch.all_target_features() {
        flags.extend(["--cfg".into(), format!("target_feature=\"{}\"", arch.target_feature())]);
    }
    let llvm = [
        (options.fast_sqrt, "-nvptx-prec-sqrtf32=0"),
        (options.fast_div, "-nvptx-prec-divf32=1"),
        (options.fma_contraction, "-nvptx-fma-level=2"),
    ];
    let llvm: Vec<&str> = llvm.into_iter().filter_map(|(wanted, flag)| wanted.then_some(flag)).collect();
    if !llvm.is_empty() {
        flags.push(format!("-Cllvm-args={}", llvm.join(" ")));
    }
    flags
}

/// Line tables and panics name files so that nothing of the machine that built them is in the PTX: those of the workspace
/// by their place in it, others by package, the compiler's own as its releases do. Of two that fit, rustc takes the later.
fn paths(library: &Library, toolchain: &Toolchain) -> Vec<String> {
    let mut map: Vec<(PathBuf, String)> = Vec::new();
    if let Some(home) = cargo_home() {
        map.push((home.join("git").join("checkouts"), "git/".into()));
        let sources = fs::read_dir(home.join("registry").join("src")).into_iter().flatten().flatten();
        map.extend(sources.map(|registry| (registry.path(), String::new())));
    }
    let compiler = toolchain.sysroot.join("lib").join("rustlib").join("src").join("rust");
    map.push((compiler, format!("/rustc/{}/", toolchain.commit)));
    for other in &library.others {
        let name = other.file_name().map(|name| name.to_string_lossy().into_owned());
        map.push((other.clone(), name.map_or(String::new(), |name| format!("{name}/"))));
    }
    map.push((library.workspace.clone(), String::new()));
    map.into_iter().map(|(from, to)| format!("--remap-path-prefix={}{MAIN_SEPARATOR}={to}", from.display())).collect()
}

fn cargo_home() -> Option<PathBuf> {
    let set = env::var_os("CARGO_HOME").map(PathBuf::from);
    set.or_else(|| env::home_dir().map(|home| home.join(".cargo")))
        .filter(|home| home.is_absolute() && home != Path::new("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn flags(options: &CudaBuilder) -> Flags {
        let library = Library {
            root: "/w/k".into(),
            name: "k".into(),
            workspace: "/w".into(),
            others: BTreeSet::from(["/elsewhere/std".into()]),
        };
        let toolchain = Toolchain { sysroot: "/sys".into(), commit: "abc".into() };
        Flags::of(options, options.arch, &library, &toolchain)
    }

    #[test]
    fn every_option_changes_the_build() {
        let default = || CudaBuilder::new(".");
        let changed = [
            default().release(false),
            default().nvvm_opts(false),
            default().generate_line_info(false),
            default().debug(DebugInfo::None).alloc(true),
            default().debug(DebugInfo::Full),
            default().arch(NvvmArch::Compute90a),
            default().fast_sqrt(true),
            default().fast_div(true),
            default().fma_contraction(true),
            default().build_args(&["--features=x"]),
            default(),
        ];
        let all: BTreeSet<String> = changed.iter().map(|options| format!("{:?}", flags(options))).collect();
        assert_eq!(all.len(), changed.len());
    }

    #[test]
    fn paths_of_this_machine_are_mapped_and_the_workspace_wins() {
        let flags = flags(&CudaBuilder::new(".")).rustflags;
        let at = |flag: &str| flags.iter().position(|f| f == flag).unwrap_or_else(|| panic!("{flag}: {flags:?}"));
        at("--remap-path-prefix=/sys/lib/rustlib/src/rust/=/rustc/abc/");
        assert!(at("--remap-path-prefix=/elsewhere/std/=std/") < at("--remap-path-prefix=/w/="));
    }
}
