//! What can be asked of a build.

use std::path::{Path, PathBuf};

use crate::arch::NvvmArch;
use crate::error::CudaBuilderError;

/// Builds a crate of kernels to PTX. Make one with [`CudaBuilder::new`], set options, call [`CudaBuilder::build`].
#[derive(Debug, Clone)]
#[must_use = "nothing is built before `build`"]
pub struct CudaBuilder {
    pub(crate) path_to_crate: PathBuf,
    /// Optimise fully (the default). Without it: little optimisation, overflow checks and debug assertions.
    pub release: bool,
    /// Where the PTX is copied to.
    pub ptx_file_copy_path: Option<PathBuf>,
    /// Line tables, so that tools can name source lines. They change no code.
    pub generate_line_info: bool,
    /// The virtual architecture; PTX for it runs on every later GPU.
    pub arch: NvvmArch,
    /// Flush denormal `f32` values to zero.
    pub ftz: bool,
    /// `f32` square roots may be approximate (`sqrt.approx`).
    pub fast_sqrt: bool,
    /// `f32` divisions may be approximate (`div.full`).
    pub fast_div: bool,
    /// Let `a * b + c` become one fused operation where the source allows it.
    pub fma_contraction: bool,
    /// Write LLVM's IR or bitcode beside the PTX.
    pub emit: Option<EmitOption>,
    /// How much debug information goes into the PTX.
    pub debug: DebugInfo,
    /// Further arguments of `cargo rustc`, features for example.
    pub build_args: Vec<String>,
    /// Build `alloc` besides `core`.
    pub alloc: bool,
    pub(crate) refused: Option<(&'static str, &'static str)>,
}

/// How much debug information goes into the PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DebugInfo {
    /// None.
    None,
    /// Line tables: enough for a fault, a profiler or a sanitizer to name the source line.
    #[default]
    LineTables,
}

/// A second output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmitOption {
    /// LLVM's IR as text, `.ll` beside the PTX.
    LlvmIr,
    /// LLVM's bitcode, `.bc` beside the PTX.
    Bitcode,
}

impl CudaBuilder {
    /// A build of the crate at `path_to_crate_root` (relative to the package of the build script), optimised, for
    /// [`NvvmArch::default`].
    pub fn new(path_to_crate_root: impl AsRef<Path>) -> Self {
        Self {
            path_to_crate: path_to_crate_root.as_ref().to_owned(),
            release: true,
            ptx_file_copy_path: None,
            generate_line_info: true,
            arch: NvvmArch::default(),
            ftz: false,
            fast_sqrt: false,
            fast_div: false,
            fma_contraction: true,
            emit: None,
            debug: DebugInfo::default(),
            build_args: Vec::new(),
            alloc: false,
            refused: None,
        }
    }

    /// Sets [`CudaBuilder::release`].
    pub fn release(mut self, release: bool) -> Self {
        self.release = release;
        self
    }

    /// Another name of [`CudaBuilder::release`] for optimisation alone.
    pub fn nvvm_opts(self, optimise: bool) -> Self {
        self.release(optimise)
    }

    /// Copies the PTX to `path`; [`CudaBuilder::build`] then returns that path.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.ptx_file_copy_path = Some(path.as_ref().to_owned());
        self
    }

    /// Sets [`CudaBuilder::generate_line_info`].
    pub fn generate_line_info(mut self, generate: bool) -> Self {
        self.generate_line_info = generate;
        self
    }

    /// Sets [`CudaBuilder::arch`].
    pub fn arch(mut self, arch: NvvmArch) -> Self {
        self.arch = arch;
        self
    }

    /// Sets [`CudaBuilder::ftz`].
    pub fn ftz(mut self, ftz: bool) -> Self {
        self.ftz = ftz;
        self
    }

    /// Sets [`CudaBuilder::fast_sqrt`].
    pub fn fast_sqrt(mut self, fast: bool) -> Self {
        self.fast_sqrt = fast;
        self
    }

    /// Sets [`CudaBuilder::fast_div`].
    pub fn fast_div(mut self, fast: bool) -> Self {
        self.fast_div = fast;
        self
    }

    /// Sets [`CudaBuilder::fma_contraction`].
    pub fn fma_contraction(mut self, contract: bool) -> Self {
        self.fma_contraction = contract;
        self
    }

    /// Writes LLVM's IR beside the PTX.
    pub fn emit_llvm_ir(mut self, emit: bool) -> Self {
        self.emit = emit.then_some(EmitOption::LlvmIr);
        self
    }

    /// Writes LLVM's bitcode beside the PTX.
    pub fn emit_llvm_bitcode(mut self, emit: bool) -> Self {
        self.emit = emit.then_some(EmitOption::Bitcode);
        self
    }

    /// Sets [`CudaBuilder::debug`].
    pub fn debug(mut self, debug: DebugInfo) -> Self {
        self.debug = debug;
        self
    }

    /// Adds arguments of `cargo rustc`, `--features` for example.
    pub fn build_args(mut self, args: &[impl AsRef<str>]) -> Self {
        self.build_args.extend(args.iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets [`CudaBuilder::alloc`].
    pub fn alloc(mut self, alloc: bool) -> Self {
        self.alloc = alloc;
        self
    }

    /// Refused when it is asked for: OptiX takes another dialect of PTX that this back end does not write.
    pub fn optix(self, optix: bool) -> Self {
        self.refuse(optix, "optix", "the NVPTX back end does not write OptiX programs")
    }

    /// Refused when it is asked for: there is no libdevice without a CUDA toolkit.
    pub fn override_libm(self, replace: bool) -> Self {
        self.refuse(replace, "override_libm", "it calls NVIDIA's libdevice, which only a CUDA toolkit has")
    }

    /// Refused when it is asked for: the compiler places `static`s in global memory.
    pub fn use_constant_memory_space(self, constant: bool) -> Self {
        self.refuse(
            constant,
            "use_constant_memory_space",
            "the stable compiler cannot place a `static` in constant memory",
        )
    }

    /// Refused: there is no second, merged module to dump; [`CudaBuilder::emit_llvm_ir`] writes the IR that is compiled.
    pub fn final_module_path(self, _path: impl AsRef<Path>) -> Self {
        self.refuse(true, "final_module_path", "there is one module only: use `emit_llvm_ir`")
    }

    fn refuse(mut self, asked: bool, option: &'static str, reason: &'static str) -> Self {
        if asked {
            self.refused = Some((option, reason));
        }
        self
    }

    /// Builds, tells cargo when to build again, and returns the path of the PTX.
    ///
    /// # Errors
    /// See [`CudaBuilderError`]; each says what to do.
    pub fn build(self) -> Result<PathBuf, CudaBuilderError> {
        crate::build::build(&self)
    }
}
