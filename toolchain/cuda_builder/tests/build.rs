//! Real builds of a small device crate.
//!
//! Building `core` takes seconds, so what can share a build does. Each build runs in a process of its own, because a build
//! script's environment is the process's, and because what it prints is part of the result.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cuda_builder::{CudaBuilder, CudaBuilderError, DebugInfo, NvvmArch};
use support::{KERNELS, device_crate};

/// The crate that the child process builds.
const CRATE: &str = "CUDA_BUILDER_TEST_CRATE";
/// Where it copies the PTX.
const COPY: &str = "CUDA_BUILDER_TEST_COPY";
/// What it asks for: `everything` or `images`.
const ASK: &str = "CUDA_BUILDER_TEST_ASK";

/// Not a test by itself: what the child processes run.
#[test]
#[ignore = "what the other tests run in processes of their own"]
fn child() {
    let Some(root) = std::env::var_os(CRATE) else { return };
    let mut builder = CudaBuilder::new(root).arch(NvvmArch::Compute75).build_args(&["--quiet"]);
    if let Some(copy) = std::env::var_os(COPY) {
        builder = builder.copy_to(copy);
    }
    let result = match std::env::var(ASK).as_deref() {
        Ok("everything") => {
            let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
            let builder = builder.debug(DebugInfo::Full).emit_llvm_ir(true).final_module_path(out.join("whole.ll"));
            let builder = builder.fast_sqrt(true).fast_div(true).fma_contraction(true).release(false).nvvm_opts(true);
            builder.resource_report(out.join("resources.txt")).arch(NvvmArch::Compute90a).build()
        }
        Ok("images") => builder.build_images(&[NvvmArch::Compute75, NvvmArch::Compute90a, NvvmArch::Compute75]),
        _ => builder.build(),
    };
    match result {
        Ok(path) => println!("built {}", path.display()),
        Err(error) => println!("failed {error}"),
    }
}

fn build(root: &Path, out_dir: &Path, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "child", "--nocapture"]).env(CRATE, root).env("OUT_DIR", out_dir);
    command.env("CARGO_MANIFEST_DIR", "/").envs(variables.iter().copied());
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn built(output: &Output) -> PathBuf {
    let text = stdout(output);
    let line = text.lines().find_map(|line| line.split_once("built ").map(|(_, path)| path.to_owned()));
    line.unwrap_or_else(|| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr))).into()
}

/// NVIDIA's assembler, where there is one.
fn ptxas() -> Option<PathBuf> {
    let found = std::env::var_os("PTXAS").map(PathBuf::from);
    if found.is_none() {
        eprintln!("PTXAS is not set: the PTX of this test was not assembled");
    }
    found
}

#[test]
fn builds_a_crate_whatever_surrounds_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = device_crate(folder.path());
    let out_dir = folder.path().join("target/debug/build/app-0123/out");
    fs::create_dir_all(&out_dir).unwrap();
    // What an outer build may have set: flags and wrappers of a host build.
    let hostile = [
        ("RUSTFLAGS", "-Ctarget-cpu=native"),
        ("CARGO_ENCODED_RUSTFLAGS", "--cfg\u{1f}nonsense"),
        ("CARGO_TARGET_DIR", "/nowhere"),
        ("CARGO_BUILD_TARGET", "wasm32-unknown-unknown"),
        ("CARGO_BUILD_BUILD_DIR", "/nowhere"),
        ("RUSTC_WRAPPER", "/no/such/sccache"),
        ("RUSTC_WORKSPACE_WRAPPER", "/no/such/clippy-driver"),
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ];
    let output = build(&root, &out_dir, &hostile);
    let ptx = fs::read_to_string(built(&output)).unwrap();

    assert!(ptx.contains(".version 7.0") && ptx.contains(".target sm_75"), "{ptx}");
    assert!(ptx.contains(".visible .entry triple("));
    assert!(ptx.contains(")\n.maxntid 128, 1, 1\n.minnctapersm 2\n{"), "{ptx}");
    assert!(ptx.contains("from_75") && !ptx.contains("from_80"), "the compute_XX cfgs are wrong");
    assert!(ptx.contains("mul.rn.f32") && ptx.contains("add.rn.f32") && !ptx.contains("fma"), "{ptx}");
    assert!(ptx.contains("div.rn.f32") && ptx.contains("sqrt.rn.f32"), "{ptx}");
    // Line tables, with paths relative to the workspace.
    assert!(ptx.contains(".loc") && ptx.contains("\"my kernels/src/lib.rs\""), "{ptx}");
    assert_eq!(machine_paths(&ptx, folder.path()), Vec::<&str>::new());
    let barriers = ptx.lines().filter(|line| line.trim().starts_with("bar")).count();
    assert_eq!(barriers, 1, "{ptx}");

    // Rerun keys: both sources, both manifests, the lock file, and nothing of the compiler or the target directory.
    let text = stdout(&output);
    let keys: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("cargo::rerun-if-changed=")).map(|(_, key)| key).collect();
    for needed in
        ["maths/src/lib.rs", "my kernels/src/lib.rs", "maths/Cargo.toml", "my kernels/Cargo.toml", "Cargo.lock"]
    {
        assert!(keys.iter().any(|key| key.ends_with(needed)), "{needed} is not watched: {keys:?}");
    }
    assert!(keys.iter().all(|key| !key.contains("rustlib") && !key.contains("/target/")), "{keys:?}");
    // The inner target directory is beside the outer one's profile, where `cargo clean` finds it.
    assert!(built(&output).starts_with(folder.path().join("target/cuda-builder")));

    rebuilds_only_what_changed(&root, &out_dir);
    what_was_deleted_comes_back(&root, &out_dir);
    two_at_once(&root, &out_dir);
    several_architectures(&root, &out_dir);
    everything_that_can_be_asked_for(&root, &out_dir, folder.path());
    compile_errors_point_into_the_kernel(&root, &out_dir);
}

/// Lines that name a folder of this machine: the crate's, the compiler's, cargo's.
fn machine_paths<'a>(ptx: &'a str, folder: &Path) -> Vec<&'a str> {
    let home = std::env::home_dir().unwrap();
    let places = [folder, &home, Path::new(env!("CARGO_MANIFEST_DIR"))].map(|place| place.display().to_string());
    ptx.lines().filter(|line| places.iter().any(|place| place != "/" && line.contains(place))).collect()
}

fn rebuilds_only_what_changed(root: &Path, out_dir: &Path) {
    let copy = out_dir.join("copy/kernels.ptx");
    let variables = [(COPY, copy.to_str().unwrap())];
    assert_eq!(built(&build(root, out_dir, &variables)), copy);
    let written = fs::metadata(&copy).unwrap().modified().unwrap();
    build(root, out_dir, &variables);
    assert_eq!(fs::metadata(&copy).unwrap().modified().unwrap(), written, "written again although nothing changed");
}

fn what_was_deleted_comes_back(root: &Path, out_dir: &Path) {
    let ptx = built(&build(root, out_dir, &[]));
    let before = fs::read(&ptx).unwrap();
    fs::remove_file(&ptx).unwrap();
    fs::remove_file(ptx.with_extension("s")).unwrap();
    assert_eq!(built(&build(root, out_dir, &[])), ptx);
    assert!(fs::read(&ptx).unwrap() == before, "a second build of one source differs");
}

fn two_at_once(root: &Path, out_dir: &Path) {
    std::thread::scope(|scope| {
        let builds: Vec<_> = (0..2).map(|_| scope.spawn(|| built(&build(root, out_dir, &[])))).collect();
        let paths: Vec<PathBuf> = builds.into_iter().map(|build| build.join().unwrap()).collect();
        assert_eq!(paths[0], paths[1]);
    });
}

fn several_architectures(root: &Path, out_dir: &Path) {
    let file = built(&build(root, out_dir, &[(ASK, "images")]));
    assert_eq!(file, out_dir.join("my_kernels.rs"));
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(text.matches("Image::new(").count(), 2, "{text}");
    assert!(text.contains("Image::new(75, None, include_str!(\"my_kernels.sm_75.ptx\"))"), "{text}");
    assert!(text.contains("Image::new(90, Some('a'), include_str!(\"my_kernels.sm_90a.ptx\"))"), "{text}");
    let newer = fs::read_to_string(out_dir.join("my_kernels.sm_90a.ptx")).unwrap();
    assert!(newer.contains(".target sm_90a") && newer.contains("from_80"), "{newer}");
}

fn everything_that_can_be_asked_for(root: &Path, out_dir: &Path, folder: &Path) {
    let copy = out_dir.join("copy/everything.ptx");
    let none = folder.join("no-ptxas");
    fs::create_dir_all(&none).unwrap();
    let variables = [(ASK, "everything"), (COPY, copy.to_str().unwrap())];
    let output = match ptxas() {
        Some(ptxas) => build(root, out_dir, &[&variables[..], &[("PTXAS", ptxas.to_str().unwrap())]].concat()),
        None => build(root, out_dir, &variables),
    };
    let ptx = fs::read_to_string(built(&output)).unwrap();
    for word in ["sqrt.approx.f32", "div.full.f32", "fma.rn.f32", ".debug_info", "sm_90a, debug"] {
        assert!(ptx.contains(word), "no {word}: {ptx}");
    }
    assert!(!ptx.contains("aranges") && !ptx.contains("$L__sec_end"));
    gridstride_ptx::parse(&ptx).unwrap_or_else(|error| panic!("{error}"));
    for ir in [copy.with_extension("ll"), out_dir.join("whole.ll")] {
        let ir = fs::read_to_string(ir).unwrap();
        assert!(ir.contains("define ptx_kernel void @triple("), "{ir}");
    }
    let report = fs::read_to_string(out_dir.join("resources.txt")).unwrap();
    if ptxas().is_some() {
        assert!(report.starts_with("Resources on sm_90a") && report.contains("\ntwo_branches"), "{report}");
    } else if !report.starts_with("Resources on") {
        assert!(report.contains("No ptxas was found"), "{report}");
    }
}

fn compile_errors_point_into_the_kernel(root: &Path, out_dir: &Path) {
    fs::write(root.join("src/lib.rs"), format!("{KERNELS}\npub fn wrong() -> u32 {{ \"text\" }}\n")).unwrap();
    let output = build(root, out_dir, &[]);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.contains("mismatched types") && messages.contains("src/lib.rs:"), "{messages}");
    let text = stdout(&output);
    assert!(text.contains("failed the kernels in") && text.contains("do not compile"), "{text}");
    // Mending the kernel must start a new build.
    assert!(text.contains("cargo::rerun-if-changed=") && text.contains("src/lib.rs"), "{text}");
}

#[test]
fn a_crate_that_cannot_become_ptx_is_told_how() {
    let folder = tempfile::tempdir().unwrap();
    let message = |builder: CudaBuilder| builder.build().unwrap_err().to_string();

    let missing = message(CudaBuilder::new(folder.path().join("nothing")));
    assert!(missing.contains("no Cargo.toml"), "{missing}");

    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(
        folder.path().join("Cargo.toml"),
        "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
    )
    .unwrap();
    fs::write(folder.path().join("src/main.rs"), "fn main() {}\n").unwrap();
    let binary = message(CudaBuilder::new(folder.path()));
    assert!(binary.contains("no library target"), "{binary}");

    fs::write(folder.path().join("src/lib.rs"), "").unwrap();
    let rlib = message(CudaBuilder::new(folder.path()));
    assert!(rlib.contains("crate-type = [\"cdylib\", \"rlib\"]"), "{rlib}");

    fs::write(folder.path().join("Cargo.toml"), "[package\n").unwrap();
    let broken = message(CudaBuilder::new(folder.path()));
    assert!(broken.contains("cannot read the manifest") && broken.contains("Cargo.toml"), "{broken}");
}

#[test]
fn contradictions_are_refused() {
    let both = CudaBuilder::new(".").emit_llvm_bitcode(true).final_module_path("x.ll");
    assert!(matches!(both.build(), Err(CudaBuilderError::TwoOutputs)));
    assert!(matches!(CudaBuilder::new(".").build_images(&[]), Err(CudaBuilderError::NoArchitecture)));
}

/// The compiler's architectures and ours are the same.
#[test]
fn knows_every_architecture_of_the_compiler() {
    let output = Command::new("rustc").args(["--print", "target-cpus", "--target", "nvptx64-nvidia-cuda"]).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let mut compilers: Vec<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("sm_")?.split(' ').next()).collect();
    let mut ours: Vec<&str> =
        NvvmArch::ALL.iter().map(|arch| arch.target_feature().strip_prefix("compute_").unwrap()).collect();
    compilers.sort_unstable();
    ours.sort_unstable();
    assert_eq!(ours, compilers);
}

#[test]
fn an_old_compiler_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let root = device_crate(folder.path());
    let fake = folder.path().join("rustc");
    fs::write(&fake, "#!/bin/sh\necho 'release: 1.95.0'\necho 'host: x86_64-unknown-linux-gnu'\n").unwrap();
    executable(&fake);
    let output = build(&root, folder.path(), &[("RUSTC", fake.to_str().unwrap())]);
    let text = stdout(&output);
    assert!(text.contains("rustc 1.95.0 is too old") && text.contains("rustup update"), "{text}");
    let output = build(&root, folder.path(), &[("RUSTC", "/no/such/rustc")]);
    assert!(stdout(&output).contains("`/no/such/rustc` cannot be started"), "{}", stdout(&output));
}

fn executable(file: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
