//! Real builds of small device crates.
//!
//! Building `core` takes seconds, so what can share a crate does. Each build runs in a process of its own, because a build
//! script's environment is the process's, and because what it prints is part of the result.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch};

/// The crate that the child process builds.
const CRATE: &str = "CUDA_BUILDER_TEST_CRATE";
/// Where it copies the PTX.
const COPY: &str = "CUDA_BUILDER_TEST_COPY";

/// Not a test by itself: what the child processes run.
#[test]
#[ignore = "what the other tests run in processes of their own"]
fn child() {
    let Some(root) = std::env::var_os(CRATE) else { return };
    let builder = CudaBuilder::new(root).arch(NvvmArch::Compute75).build_args(&["--quiet"]);
    let result = match std::env::var_os(COPY) {
        Some(copy) => builder.copy_to(copy).build(),
        None => builder.build(),
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

/// A workspace of a device crate and a path dependency, in a folder with a space in its name.
fn device_crate(folder: &Path) -> PathBuf {
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    // A profile that would spoil the build if it were used.
    write(
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"my kernels\", \"maths\"]\n[profile.release]\nopt-level = 0\nlto = false\n",
    );
    write("maths/Cargo.toml", "[package]\nname = \"maths\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    write("maths/src/lib.rs", "#![no_std]\npub fn triple(x: f32) -> f32 { 3.0 * x }\n");
    write(
        "my kernels/Cargo.toml",
        "[package]\nname = \"my-kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n[dependencies]\nmaths = { path = \"../maths\" }\n",
    );
    write("my kernels/src/lib.rs", KERNELS);
    folder.join("my kernels")
}

/// A barrier between two branches on one condition: a compiler that duplicates it deadlocks (rust-lang/rust#137086).
const KERNELS: &str = r#"#![no_std]
use core::arch::nvptx::{_syncthreads, _thread_idx_x, trap};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! { unsafe { trap() } }

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn triple(x: *mut f32) {
    unsafe { *x = maths::triple(*x) }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn two_branches(flags: &[u32; 1024], out: *mut u32) {
    unsafe {
        let i = _thread_idx_x() as usize;
        if flags[i] == 7 { *out.add(i) = 1; }
        _syncthreads();
        if flags[i] == 7 { *out.add(i + 1024) = *out.add(i ^ 1); }
    }
}

#[cfg(target_feature = "compute_75")]
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn from_75() {}

#[cfg(target_feature = "compute_80")]
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn from_80() {}
"#;

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
        ("RUSTC_WORKSPACE_WRAPPER", "/no/such/clippy-driver"),
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ];
    let output = build(&root, &out_dir, &hostile);
    let ptx = fs::read_to_string(built(&output)).unwrap();

    assert!(ptx.contains(".target sm_75"), "{ptx}");
    assert!(ptx.contains(".visible .entry triple("));
    assert!(ptx.contains("from_75") && !ptx.contains("from_80"), "the compute_XX cfgs are wrong");
    // Line tables, with paths relative to the workspace.
    assert!(ptx.contains(".loc") && ptx.contains("\"my kernels/src/lib.rs\""), "{ptx}");
    assert!(!ptx.contains(folder.path().to_str().unwrap()));
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
    two_at_once(&root, &out_dir);
    compile_errors_point_into_the_kernel(&root, &out_dir);
}

fn rebuilds_only_what_changed(root: &Path, out_dir: &Path) {
    let copy = out_dir.join("copy/kernels.ptx");
    let variables = [(COPY, copy.to_str().unwrap())];
    assert_eq!(built(&build(root, out_dir, &variables)), copy);
    let written = fs::metadata(&copy).unwrap().modified().unwrap();
    build(root, out_dir, &variables);
    assert_eq!(fs::metadata(&copy).unwrap().modified().unwrap(), written, "written again although nothing changed");
}

fn two_at_once(root: &Path, out_dir: &Path) {
    std::thread::scope(|scope| {
        let builds: Vec<_> = (0..2).map(|_| scope.spawn(|| built(&build(root, out_dir, &[])))).collect();
        let paths: Vec<PathBuf> = builds.into_iter().map(|build| build.join().unwrap()).collect();
        assert_eq!(paths[0], paths[1]);
    });
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
fn what_cannot_be_offered_says_why() {
    for builder in [
        CudaBuilder::new(".").optix(true),
        CudaBuilder::new(".").override_libm(true),
        CudaBuilder::new(".").use_constant_memory_space(true),
        CudaBuilder::new(".").final_module_path("x.ll"),
    ] {
        let error = builder.build().unwrap_err();
        assert!(matches!(error, CudaBuilderError::NotOffered { .. }), "{error}");
    }
}

#[test]
fn an_old_compiler_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let root = device_crate(folder.path());
    let fake = folder.path().join("rustc");
    fs::write(&fake, "#!/bin/sh\necho 'release: 1.95.0'\necho 'host: x86_64-unknown-linux-gnu'\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = build(&root, folder.path(), &[("RUSTC", fake.to_str().unwrap())]);
    let text = stdout(&output);
    assert!(text.contains("rustc 1.95.0 is too old") && text.contains("rustup update"), "{text}");
    let output = build(&root, folder.path(), &[("RUSTC", "/no/such/rustc")]);
    assert!(stdout(&output).contains("`/no/such/rustc` cannot be started"), "{}", stdout(&output));
}
