//! The build itself: one child cargo, what it leaves behind, and what is made of that.
//!
//! ```text
//! options --flags--> cargo rustc --emit=asm --> NAME.s --finish--> NAME.ptx --> copy, report
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::arch::NvvmArch;
use crate::compiler::{Compiler, Toolchain};
use crate::error::CudaBuilderError;
use crate::flags::{self, Flags};
use crate::library::Library;
use crate::options::{CudaBuilder, EmitOption};
use crate::place::{self, Place, TARGET};
use crate::{environment, finish, rerun, resources};

/// Between flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

/// A crate and a compiler that were looked at and can be built.
pub(crate) struct Checked {
    compiler: Compiler,
    toolchain: Toolchain,
    pub(crate) library: Library,
}

impl Checked {
    pub(crate) fn new(options: &CudaBuilder) -> Result<Self, CudaBuilderError> {
        if options.emit == Some(EmitOption::Bitcode) && options.final_module_path.is_some() {
            return Err(CudaBuilderError::TwoOutputs);
        }
        let compiler = Compiler::find();
        let toolchain = compiler.check()?;
        let library = Library::find(&compiler, &options.path_to_crate)?;
        Ok(Self { compiler, toolchain, library })
    }

    /// Builds for one architecture, into `copy` if there is one.
    pub(crate) fn build(
        &self,
        options: &CudaBuilder,
        arch: NvvmArch,
        copy: Option<&Path>,
    ) -> Result<PathBuf, CudaBuilderError> {
        let flags = Flags::of(options, arch, &self.library, &self.toolchain);
        let place = Place::of(&self.library, &flags);
        let locked = place.lock();
        let _lock = locked.map_err(|source| CudaBuilderError::NoPlace { path: place.target_dir.clone(), source })?;

        let built = self.compile(options, &flags, &place);
        for key in rerun::keys(&self.library.root, &place.dep_info) {
            println!("cargo::rerun-if-changed={}", key.display());
        }
        built?;

        let assembly = read(&place.assembly)?;
        write(&place.ptx, finish::finish(&assembly).as_bytes())?;
        if let Some((_, extension)) = flags::second_output(options) {
            let second = place.ptx.with_extension(extension);
            if let Some(path) = &options.final_module_path {
                copy_file(&second, path)?;
            }
            if let (Some(copy), Some(_)) = (copy, options.emit) {
                copy_file(&second, &copy.with_extension(extension))?;
            }
        }
        if let Some(report) = &options.resource_report {
            write(report, resources::report(&place.ptx, arch)?.as_bytes())?;
        }
        match copy {
            Some(copy) => copy_file(&place.ptx, copy).map(|()| copy.to_owned()),
            None => Ok(place.ptx),
        }
    }

    fn compile(&self, options: &CudaBuilder, flags: &Flags, place: &Place) -> Result<(), CudaBuilderError> {
        self.run_cargo(options, flags, place)?;
        if !place.assembly.is_file() {
            // Cargo goes by its own records, and does not miss what was deleted behind its back. Start from nothing, once.
            let _ = fs::remove_dir_all(place.target_dir.join(TARGET));
            self.run_cargo(options, flags, place)?;
        }
        Ok(())
    }

    fn run_cargo(&self, options: &CudaBuilder, flags: &Flags, place: &Place) -> Result<(), CudaBuilderError> {
        let root = &self.library.root;
        let mut command = Command::new(&self.compiler.cargo);
        environment::clean(&mut command);
        command.env("RUSTC", &self.compiler.rustc).env("RUSTC_BOOTSTRAP", "1").env("CUDA_ARCH", &flags.cuda_arch);
        command.env("CARGO_ENCODED_RUSTFLAGS", flags.rustflags.join(SEPARATOR));
        // Empty is none, whatever a configuration file says: a wrapper of the host's compiler may not know these flags.
        command.env("RUSTC_WRAPPER", "").env("RUSTC_WORKSPACE_WRAPPER", "");
        // A build directory that a configuration file names would be shared with the outer build, which holds its lock.
        command.env("CARGO_BUILD_BUILD_DIR", &place.target_dir);
        command.current_dir(root).args(["rustc", "--lib", "--release", "--crate-type=cdylib", "--target", TARGET]);
        command.arg("--manifest-path").arg(root.join("Cargo.toml"));
        command.arg("--target-dir").arg(&place.target_dir);
        for setting in &flags.profile {
            command.args(["--config", &format!("profile.release.{setting}")]);
        }
        command.args(&flags.cargo).arg("--").arg(emit("asm", &place.assembly));
        if let Some((kind, extension)) = flags::second_output(options) {
            command.arg(emit(kind, &place.ptx.with_extension(extension)));
        }
        // The outer cargo reads this process's output; the inner one's belongs with the messages.
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
        if !status.map_err(|source| self.compiler.no_cargo(source))?.success() {
            return Err(CudaBuilderError::BuildFailed(root.clone()));
        }
        Ok(())
    }
}

pub(crate) fn build(options: &CudaBuilder) -> Result<PathBuf, CudaBuilderError> {
    Checked::new(options)?.build(options, options.arch, options.ptx_file_copy_path.as_deref())
}

fn emit(kind: &str, path: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from(format!("--emit={kind}="));
    argument.push(path);
    argument
}

fn read(path: &Path) -> Result<String, CudaBuilderError> {
    fs::read_to_string(path).map_err(|source| CudaBuilderError::MissingOutput { path: path.to_owned(), source })
}

pub(crate) fn write(path: &Path, contents: &[u8]) -> Result<(), CudaBuilderError> {
    place::write(path, contents)
        .map_err(|source| CudaBuilderError::FailedToCopyPtxFile { path: path.to_owned(), source })
}

fn copy_file(from: &Path, to: &Path) -> Result<(), CudaBuilderError> {
    let contents = fs::read(from);
    write(to, &contents.map_err(|source| CudaBuilderError::MissingOutput { path: from.to_owned(), source })?)
}
