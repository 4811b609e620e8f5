//! The build itself: one child cargo, its flags, and what it leaves behind.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::compiler::Compiler;
use crate::error::CudaBuilderError;
use crate::options::{CudaBuilder, DebugInfo, EmitOption};
use crate::{environment, rerun};

const TARGET: &str = "nvptx64-nvidia-cuda";

/// Unstable features that device crates get without asking: the kernel ABI, the special registers, inline PTX, barriers
/// and shuffles as LLVM intrinsics.
const FEATURES: &str = "feature(abi_ptx,stdarch_nvptx,asm_experimental_arch,link_llvm_intrinsics)";

/// Between flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

pub(crate) fn build(options: &CudaBuilder) -> Result<PathBuf, CudaBuilderError> {
    if let Some((option, reason)) = options.refused {
        return Err(CudaBuilderError::NotOffered { option, reason });
    }
    let root = crate_root(&options.path_to_crate)?;
    let compiler = Compiler::find();
    compiler.check()?;
    let library = Library::find(&compiler, &root)?;
    let place = Place::of(options, &library);

    let built = run_cargo(&compiler, options, &library, &place);
    for key in rerun::keys(&root, &place.dep_info) {
        println!("cargo::rerun-if-changed={}", key.display());
    }
    built?;

    let Some(copy) = &options.ptx_file_copy_path else {
        return Ok(place.ptx);
    };
    let failed = |source| CudaBuilderError::FailedToCopyPtxFile { path: copy.clone(), source };
    let text =
        fs::read(&place.ptx).map_err(|source| CudaBuilderError::MissingOutput { path: place.ptx.clone(), source })?;
    // Left alone where nothing changed, so that whoever includes it is not compiled again.
    if fs::read(copy).ok().as_ref() != Some(&text) {
        if let Some(parent) = copy.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(copy, text).map_err(failed)?;
    }
    Ok(copy.clone())
}

fn crate_root(path: &Path) -> Result<PathBuf, CudaBuilderError> {
    let path = match env::var_os("CARGO_MANIFEST_DIR") {
        Some(package) => Path::new(&package).join(path),
        None => path.to_owned(),
    };
    if !path.join("Cargo.toml").is_file() {
        return Err(CudaBuilderError::CratePathDoesntExist(path));
    }
    // Absolute, but not canonical: on Windows that form confuses cargo.
    std::path::absolute(&path).map_err(|_| CudaBuilderError::CratePathDoesntExist(path))
}

/// The library that becomes PTX.
struct Library {
    root: PathBuf,
    name: String,
    /// Where the paths in messages and line tables are relative to.
    workspace: PathBuf,
}

impl Library {
    /// The library of the crate at `root`, checked to be a `cdylib`.
    fn find(compiler: &Compiler, root: &Path) -> Result<Self, CudaBuilderError> {
        let mut command = Command::new(&compiler.cargo);
        environment::clean(&mut command);
        command.args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"]).arg(root.join("Cargo.toml"));
        let output = command.env("RUSTC", &compiler.rustc).output().map_err(|source| no_cargo(compiler, source))?;
        let failed = |message: String| CudaBuilderError::Manifest { path: root.to_owned(), message };
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let metadata: Metadata = serde_json::from_slice(&output.stdout).map_err(|e| failed(e.to_string()))?;
        let manifest = root.join("Cargo.toml");
        let package = metadata.packages.iter().find(|p| same_file(Path::new(&p.manifest_path), &manifest));
        let target = package.and_then(|package| package.targets.iter().find(|target| target.is_library()));
        let target = target.ok_or_else(|| CudaBuilderError::NotALibrary(root.to_owned()))?;
        if !target.kind.iter().any(|kind| kind == "cdylib") {
            return Err(CudaBuilderError::NotACdylib(root.to_owned()));
        }
        Ok(Self { root: root.to_owned(), name: target.name.replace('-', "_"), workspace: metadata.workspace_root })
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

#[derive(serde::Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_root: PathBuf,
}

#[derive(serde::Deserialize)]
struct Package {
    manifest_path: String,
    targets: Vec<Target>,
}

#[derive(serde::Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Target {
    fn is_library(&self) -> bool {
        self.kind.iter().any(|kind| matches!(&**kind, "lib" | "rlib" | "cdylib" | "dylib" | "staticlib"))
    }
}

/// Where a build keeps its files.
struct Place {
    /// Target directory of the inner cargo, one for each crate and set of options: no lock is shared with the outer build,
    /// and two builds that differ do not undo each other's work.
    target_dir: PathBuf,
    ptx: PathBuf,
    dep_info: PathBuf,
}

impl Place {
    fn of(options: &CudaBuilder, library: &Library) -> Self {
        let Library { root, name: library, .. } = library;
        let mut hasher = DefaultHasher::new();
        (root, rustflags(options, root), profile(options), options.alloc, &options.build_args).hash(&mut hasher);
        let name = format!("{library}-{}-{:08x}", options.arch.target_cpu(), hasher.finish() as u32);
        // OUT_DIR is <target>/<profile>/build/<package>-<hash>/out.
        let outer = env::var_os("OUT_DIR").map(PathBuf::from);
        let base = match outer.as_deref().and_then(|out| out.ancestors().nth(4)) {
            Some(target) => target.join("cuda-builder"),
            None => root.join("target").join("cuda-builder"),
        };
        let target_dir = base.join(name);
        let dep_info = target_dir.join(TARGET).join("release").join(format!("{library}.d"));
        Self { ptx: target_dir.join(format!("{library}.ptx")), dep_info, target_dir }
    }
}

fn run_cargo(
    compiler: &Compiler,
    options: &CudaBuilder,
    library: &Library,
    place: &Place,
) -> Result<(), CudaBuilderError> {
    let root = &library.root;
    let mut command = Command::new(&compiler.cargo);
    environment::clean(&mut command);
    command.env("RUSTC", &compiler.rustc).env("RUSTC_BOOTSTRAP", "1");
    command.env("CARGO_ENCODED_RUSTFLAGS", rustflags(options, &library.workspace).join(SEPARATOR));
    command.current_dir(root).args(["rustc", "--lib", "--release", "--crate-type=cdylib", "--target", TARGET]);
    command.arg(if options.alloc { "-Zbuild-std=core,alloc" } else { "-Zbuild-std=core" });
    command.arg("--manifest-path").arg(root.join("Cargo.toml"));
    command.arg("--target-dir").arg(&place.target_dir);
    for setting in profile(options) {
        command.args(["--config", &format!("profile.release.{setting}")]);
    }
    command.args(&options.build_args).arg("--");
    command.arg(format!("--emit=asm={}", place.ptx.display()));
    match options.emit {
        Some(EmitOption::LlvmIr) => command.arg(format!("--emit=llvm-ir={}", place.ptx.with_extension("ll").display())),
        Some(EmitOption::Bitcode) => {
            command.arg(format!("--emit=llvm-bc={}", place.ptx.with_extension("bc").display()))
        }
        None => &mut command,
    };
    // The outer cargo reads this process's output; the inner one's belongs with the messages.
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().map_err(|e| no_cargo(compiler, e))?;
    if !status.success() {
        return Err(CudaBuilderError::BuildFailed(root.clone()));
    }
    if let Err(source) = fs::metadata(&place.ptx) {
        return Err(CudaBuilderError::MissingOutput { path: place.ptx.clone(), source });
    }
    Ok(())
}

fn no_cargo(compiler: &Compiler, source: std::io::Error) -> CudaBuilderError {
    CudaBuilderError::NoCompiler { program: PathBuf::from(&compiler.cargo), variable: "CARGO", source }
}

/// Settings of the release profile, whatever the user's workspace says: one optimised unit without unwinding.
fn profile(options: &CudaBuilder) -> Vec<String> {
    let lines = options.generate_line_info && options.debug == DebugInfo::LineTables;
    let checks = !options.release;
    vec![
        r#"lto="fat""#.into(),
        "codegen-units=1".into(),
        r#"panic="abort""#.into(),
        format!("opt-level={}", if options.release { 3 } else { 1 }),
        format!("debug-assertions={checks}"),
        format!("overflow-checks={checks}"),
        format!("debug={}", if lines { r#""line-directives-only""# } else { "0" }),
        r#"strip="none""#.into(),
        "incremental=false".into(),
    ]
}

fn rustflags(options: &CudaBuilder, workspace: &Path) -> Vec<String> {
    let mut flags = vec![
        // Line tables name files as the workspace does, and nothing of the machine that built them.
        format!("--remap-path-prefix={}{}=", workspace.display(), std::path::MAIN_SEPARATOR),
        format!("-Zcrate-attr={FEATURES}"),
        "-Aunused_features".into(),
        "-Ainternal_features".into(),
        "-Aexplicit_builtin_cfgs_in_flags".into(),
        format!("-Ctarget-cpu={}", options.arch.target_cpu()),
    ];
    for arch in options.arch.all_target_features() {
        flags.extend(["--cfg".into(), format!("target_feature=\"{}\"", arch.target_feature())]);
    }
    let mut llvm = Vec::new();
    if options.ftz {
        llvm.push("-nvptx-f32ftz");
    }
    if options.fast_sqrt {
        llvm.push("-nvptx-prec-sqrtf32=0");
    }
    if options.fast_div {
        llvm.push("-nvptx-prec-divf32=1");
    }
    if !options.fma_contraction {
        llvm.push("-nvptx-fma-level=0");
    }
    if !llvm.is_empty() {
        flags.push(format!("-Cllvm-args={}", llvm.join(" ")));
    }
    flags
}
