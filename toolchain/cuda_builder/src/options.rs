//! What can be asked of a build.

use std::path::{Path, PathBuf};

use crate::arch::NvvmArch;
use crate::error::CudaBuilderError;

/// Builds a crate of kernels to PTX. Make one with [`CudaBuilder::new`], set options, call [`CudaBuilder::build`].
#[derive(Debug, Clone)]
#[must_use = "nothing is built before `build`"]
pub struct CudaBuilder {
    pub(crate) path_to_crate: PathBuf,
    /// Without overflow checks and debug assertions (the default).
    pub release: bool,
    /// Optimise fully (the default), or little.
    pub nvvm_opts: bool,
    /// Where the PTX is copied to.
    pub ptx_file_copy_path: Option<PathBuf>,
    /// Line tables, so that tools can name source lines (the default). They change no code.
    pub generate_line_info: bool,
    /// The virtual architecture; PTX for it runs on every later GPU.
    pub arch: NvvmArch,
    /// `f32` square roots may be approximate (`sqrt.approx`).
    pub fast_sqrt: bool,
    /// `f32` divisions may be approximate (`div.full`).
    pub fast_div: bool,
    /// Let every `a * b + c` become one fused operation, rounded once. Off, unlike in Rust-CUDA: in Rust the two operations
    /// round separately, on the host as on the GPU, so that results can be compared; `mul_add` fuses by name.
    pub fma_contraction: bool,
    /// Write LLVM's IR or bitcode beside the PTX.
    pub emit: Option<EmitOption>,
    /// Where LLVM's IR of the whole program is written, as text.
    pub final_module_path: Option<PathBuf>,
    /// How much debug information goes into the PTX.
    pub debug: DebugInfo,
    /// Where the table of each kernel's registers and memory is written.
    pub resource_report: Option<PathBuf>,
    /// Further arguments of `cargo rustc`, features for example.
    pub build_args: Vec<String>,
    /// Build `alloc` besides `core`.
    pub alloc: bool,
}

/// How much debug information goes into the PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DebugInfo {
    /// None.
    None,
    /// Line tables: enough for a fault, a profiler or a sanitizer to name the source line.
    #[default]
    LineTables,
    /// Types and variables as well (DWARF 2), for a debugger. The PTX is marked `debug`, which makes the driver compile it
    /// without optimisation; it is several times as long.
    Full,
}

/// A second output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmitOption {
    /// LLVM's IR as text, `.ll` beside the PTX.
    LlvmIr,
    /// LLVM's bitcode, `.bc` beside the PTX.
    Bitcode,
}

/// Setters of fields that are named like them.
macro_rules! setters {
    ($($name:ident: $t:ty,)*) => {
        impl CudaBuilder {$(
            #[doc = concat!("Sets [`CudaBuilder::", stringify!($name), "`](struct@CudaBuilder#structfield.", stringify!($name), ").")]
            pub fn $name(mut self, $name: $t) -> Self {
                self.$name = $name;
                self
            }
        )*}
    };
}

setters! {
    nvvm_opts: bool,
    generate_line_info: bool,
    arch: NvvmArch,
    fast_sqrt: bool,
    fast_div: bool,
    fma_contraction: bool,
    debug: DebugInfo,
    alloc: bool,
}

impl CudaBuilder {
    /// A build of the crate at `path_to_crate_root` (relative to the package of the build script), optimised, for
    /// [`NvvmArch::default`].
    pub fn new(path_to_crate_root: impl AsRef<Path>) -> Self {
        Self {
            path_to_crate: path_to_crate_root.as_ref().to_owned(),
            release: true,
            nvvm_opts: true,
            ptx_file_copy_path: None,
            generate_line_info: true,
            arch: NvvmArch::default(),
            fast_sqrt: false,
            fast_div: false,
            fma_contraction: false,
            emit: None,
            final_module_path: None,
            debug: DebugInfo::default(),
            resource_report: None,
            build_args: Vec::new(),
            alloc: false,
        }
    }

    /// Sets `release` and `nvvm_opts`.
    pub fn release(mut self, release: bool) -> Self {
        self.release = release;
        self.nvvm_opts = release;
        self
    }

    /// Copies the PTX to `path`; [`CudaBuilder::build`] then returns that path.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.ptx_file_copy_path = Some(path.as_ref().to_owned());
        self
    }

    /// Writes LLVM's IR beside the PTX that [`CudaBuilder::build`] returns, as `.ll`.
    pub fn emit_llvm_ir(mut self, emit: bool) -> Self {
        self.emit = emit.then_some(EmitOption::LlvmIr);
        self
    }

    /// Writes LLVM's bitcode beside the PTX that [`CudaBuilder::build`] returns, as `.bc`.
    pub fn emit_llvm_bitcode(mut self, emit: bool) -> Self {
        self.emit = emit.then_some(EmitOption::Bitcode);
        self
    }

    /// Writes LLVM's IR of the whole program, optimised, to `path`. Not together with [`CudaBuilder::emit_llvm_bitcode`].
    pub fn final_module_path(mut self, path: impl AsRef<Path>) -> Self {
        self.final_module_path = Some(path.as_ref().to_owned());
        self
    }

    /// Assembles the PTX with NVIDIA's `ptxas` and writes to `path` what each kernel needs: registers, shared and local
    /// memory, spills. PTX that `ptxas` refuses fails the build, with its message. Where there is no `ptxas` the file says so:
    /// it is looked for in the variable `PTXAS`, in a CUDA toolkit (`CUDA_PATH`, `CUDA_HOME`) and on the path.
    pub fn resource_report(mut self, path: impl AsRef<Path>) -> Self {
        self.resource_report = Some(path.as_ref().to_owned());
        self
    }

    /// Adds arguments of `cargo rustc`: `--features`, `--locked`, `--offline` for example.
    pub fn build_args(mut self, args: &[impl AsRef<str>]) -> Self {
        self.build_args.extend(args.iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Builds, tells cargo when to build again, and returns the path of the PTX.
    ///
    /// # Errors
    /// See [`CudaBuilderError`]; each says what to do.
    pub fn build(self) -> Result<PathBuf, CudaBuilderError> {
        crate::build::build(&self)
    }

    /// Builds once for each architecture and returns the path of a Rust file with all of them, an expression of type
    /// `cuda_launch::Images`: the host includes it, and picks what is best for the device when it loads it.
    ///
    /// The file is written to where [`CudaBuilder::copy_to`] says, else to `OUT_DIR` as `<library>.rs`; the PTX files lie beside
    /// it. [`CudaBuilder::arch`] is not used.
    ///
    /// ```no_run
    /// # use cuda_builder::{CudaBuilder, NvvmArch};
    /// // build.rs; the host writes `static KERNELS: Images = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));`
    /// CudaBuilder::new("kernels").build_images(&[NvvmArch::Compute70, NvvmArch::Compute90])?;
    /// # Ok::<(), cuda_builder::CudaBuilderError>(())
    /// ```
    ///
    /// # Errors
    /// See [`CudaBuilderError`]; each says what to do.
    pub fn build_images(self, archs: &[NvvmArch]) -> Result<PathBuf, CudaBuilderError> {
        crate::images::build(&self, archs)
    }
}
