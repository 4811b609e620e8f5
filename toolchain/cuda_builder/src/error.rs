//! What can go wrong, and the command that mends it.

use std::io;
use std::path::PathBuf;

/// Why there is no PTX. The text is meant for the person who builds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CudaBuilderError {
    /// The path given to `CudaBuilder::new` is not that of a crate.
    #[error("there is no crate at `{}`: no Cargo.toml is there. The path is relative to the package of the build script", .0.display())]
    CratePathDoesntExist(PathBuf),
    /// The manifest of the device crate cannot be used.
    #[error("cargo cannot read the manifest of `{}`:\n{message}", path.display())]
    Manifest {
        /// The crate.
        path: PathBuf,
        /// What cargo said.
        message: String,
    },
    /// The device crate has no library that can become PTX.
    #[error("`{}` has no library target: a crate of kernels has a src/lib.rs, and in its Cargo.toml\n\n    [lib]\n    crate-type = [\"cdylib\", \"rlib\"]\n", .0.display())]
    NotALibrary(PathBuf),
    /// The library's crate types do not include `cdylib`.
    #[error("`{}` is not a `cdylib`, the only crate type that becomes PTX. Write in its Cargo.toml\n\n    [lib]\n    crate-type = [\"cdylib\", \"rlib\"]\n", .0.display())]
    NotACdylib(PathBuf),
    /// `cargo` or `rustc` cannot be started.
    #[error(
        "`{program}` cannot be started: {source}. Install Rust from https://rustup.rs, or set `{variable}` to the program"
    )]
    NoCompiler {
        /// What was to be run.
        program: PathBuf,
        /// The variable that names it.
        variable: &'static str,
        /// Why it could not.
        source: io::Error,
    },
    /// The compiler is too old to compile barriers right.
    #[error(
        "rustc {found} is too old for GPU code: before 1.97 it may duplicate or move a barrier (rust-lang/rust#137086). \
             Run `rustup update`, or pin a newer one in rust-toolchain.toml"
    )]
    CompilerTooOld {
        /// Its version.
        found: String,
    },
    /// A component that compiling for the GPU needs is not installed.
    #[error("the Rust toolchain in {} has no `{component}`, which compiling for the GPU needs. \
             Run `rustup component add {component}`", sysroot.display())]
    MissingComponent {
        /// As rustup calls it.
        component: &'static str,
        /// Where it was looked for.
        sysroot: PathBuf,
    },
    /// The kernels do not compile. rustc's own messages are on standard error.
    #[error("the kernels in `{}` do not compile; the compiler's messages are above", .0.display())]
    BuildFailed(PathBuf),
    /// Bitcode and IR were both asked for.
    #[error("`emit_llvm_bitcode` and `final_module_path` cannot be asked for together: a build has one second output")]
    TwoOutputs,
    /// No architecture to build for.
    #[error("`build_images` was given no architecture to build for")]
    NoArchitecture,
    /// Nobody said where the result goes.
    #[error("`build_images` runs in a build script, where OUT_DIR is set, or needs `copy_to`")]
    NoOutDir,
    /// The folder of the build cannot be made.
    #[error("the folder `{}` of the build cannot be used: {source}", path.display())]
    NoPlace {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The assembler refuses the PTX.
    #[error("`{}` does not assemble `{}`:\n{message}", ptxas.display(), ptx.display())]
    Assembler {
        /// The program.
        ptxas: PathBuf,
        /// The file.
        ptx: PathBuf,
        /// What it said.
        message: String,
    },
    /// A result cannot be written to where it was asked for.
    #[error("`{}` cannot be written: {source}", path.display())]
    FailedToCopyPtxFile {
        /// `copy_to`
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that the build should have made cannot be read.
    #[error("`{}` cannot be read after a build that succeeded: {source}", path.display())]
    MissingOutput {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
