//! `gridstride doctor`: what works on this machine, what does not, and the command that mends it.

use std::path::{Path, PathBuf};
use std::process::Command;

use gridstride_cpu::{Choice, Device, Dtype, Error as Host, Facts, LaunchShape, Module, Plan, Runs, compare, kernels};

use crate::args::{DeviceArg, OutputArgs};
use crate::error::{Error, Result};
use crate::findings::doctor::{Diagnosis, Finding, State};
use crate::output::Output;
use crate::{PTX, report};

/// Look at compiler, driver, device and PTX versions, run a kernel, and say what mends what does not work
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub device: DeviceArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs the verb.
///
/// # Errors
/// [`Error::Failed`] behind the report, when no kernel can be run here.
pub fn run(args: &Args) -> Result<()> {
    let output = Output::open(args.output.output.as_deref())?;
    let mut findings = compiler();
    findings.extend(variables());
    let device = Device::open(args.device.device.map(Choice::from));
    let runs = match &device {
        Ok(device) => {
            findings.extend(driver(device.facts()));
            findings.push(versions(device.facts()));
            works(device)
        }
        Err(error) => Finding::new("device", State::Fails, error.to_string(), "gridstride doctor --device cpu"),
    };
    let failed = runs.state == State::Fails;
    findings.push(runs);
    output.write(&report::write(args.output.format, &Diagnosis { findings }))?;
    if failed { Err(Error::Failed("no kernel can be run here".to_owned())) } else { Ok(()) }
}

/// First version that keeps barriers where the source has them; see cuda_builder.
const OLDEST_RUSTC: (u32, u32) = (1, 97);

/// What compiling kernels of one's own needs. Running those of the command needs none of it.
fn compiler() -> Vec<Finding> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let Some(verbose) = ask(&PathBuf::from(&rustc), &["-vV"]) else {
        let found = format!("`{}` cannot be started: kernels of your own cannot be compiled", rustc.display());
        return vec![Finding::new("compiler", State::Lacks, found, "install Rust from https://rustup.rs")];
    };
    let field = |name: &str| verbose.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("").trim().to_owned();
    let (release, host) = (field("release:"), field("host:"));
    let mut findings = vec![match version(&release) {
        Some(found) if found >= OLDEST_RUSTC => Finding::works("compiler", format!("rustc {release}")),
        _ => {
            let found = format!("rustc {release}: before 1.97 it may move a barrier");
            Finding::new("compiler", State::Lacks, found, "rustup update")
        }
    }];
    let rustlib = PathBuf::from(ask(&PathBuf::from(&rustc), &["--print", "sysroot"]).unwrap_or_default().trim())
        .join("lib/rustlib");
    let suffix = std::env::consts::EXE_SUFFIX;
    let tools = rustlib.join(host).join("bin");
    for (component, path) in [
        ("rust-src", rustlib.join("src/rust/library/core/src/lib.rs")),
        ("llvm-tools", tools.join(format!("llvm-ar{suffix}"))),
        ("llvm-bitcode-linker", tools.join(format!("self-contained/llvm-bitcode-linker{suffix}"))),
    ] {
        findings.push(match path.exists() {
            true => Finding::works(component, "installed".to_owned()),
            false => Finding::new(
                component,
                State::Lacks,
                "not installed: kernels of your own cannot be compiled".to_owned(),
                &format!("rustup component add {component}"),
            ),
        });
    }
    findings
}

/// What a program prints, if it can be started and is content.
fn ask(program: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(['.', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Variables that change what the command does.
fn variables() -> Vec<Finding> {
    let set = |name: &'static str| {
        let value = std::env::var_os(name)?;
        Some(Finding::new(name, State::Note, format!("is set to `{}`", value.display()), ""))
    };
    ["GRIDSTRIDE_DEVICE", "GRIDSTRIDE_LIBCUDA", "GRIDSTRIDE_CPU_THREADS"].into_iter().filter_map(set).collect()
}

fn driver(facts: &Facts) -> Vec<Finding> {
    if facts.is_gpu() {
        let (major, minor) = facts.capability;
        let gpu =
            format!("{}, compute capability {major}.{minor}, {} multiprocessors", facts.name, facts.multiprocessors);
        let driver = format!("CUDA {}.{}", facts.driver.0, facts.driver.1);
        return vec![Finding::works("driver", driver), Finding::works("GPU", gpu)];
    }
    let cores = format!("{} cores, built in, needs nothing", facts.multiprocessors);
    let none = match &facts.no_gpu {
        Some(reason) => Finding::new(
            "GPU",
            State::Note,
            format!("{reason}. Kernels run on the CPU device"),
            "with a GPU: install the NVIDIA driver, then `nvidia-smi` must list it",
        ),
        None => {
            Finding::new("GPU", State::Note, "not looked for: the CPU device was asked for".to_owned(), "--device auto")
        }
    };
    vec![none, Finding::works("CPU device", cores)]
}

fn versions(facts: &Facts) -> Finding {
    let ((major, minor), version) = (facts.newest_ptx, report::ptx_version(PTX));
    Finding::works("PTX", format!("the kernels are PTX {version}, and the device takes up to {major}.{minor}"))
}

/// Launches a kernel and verifies it: what everything else is for.
fn works(device: &Device) -> Finding {
    let launched = || {
        let module = Module::load(device, PTX)?;
        let runs = Runs { warmup: 0, timed: 1, patience: None };
        let shapes = vec![LaunchShape::linear(3, 96)];
        let plan = Plan { kernel: kernels::find("add")?, dtype: Dtype::F32, n: 10_007, seed: 1, runs, shapes };
        compare(device, &module, &plan, &()).map(drop)
    };
    match launched() {
        Ok(()) => Finding::works("a kernel", "add over 10,007 elements ran, and gave the host's result".to_owned()),
        Err(error @ (Host::PtxTooNew { .. } | Host::TargetTooNew { .. })) => {
            Finding::new("a kernel", State::Fails, error.to_string(), "--device cpu runs it here")
        }
        Err(error) => Finding::new("a kernel", State::Fails, error.to_string(), "gridstride doctor --device cpu"),
    }
}
