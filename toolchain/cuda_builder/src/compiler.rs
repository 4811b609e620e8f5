//! Which compiler is used, and whether it can compile for the GPU.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::environment;
use crate::error::CudaBuilderError;

/// First version that keeps barriers where the source has them.
const OLDEST: (u32, u32) = (1, 97);

/// The compiler of the outer build.
#[derive(Debug)]
pub(crate) struct Compiler {
    pub(crate) cargo: OsString,
    pub(crate) rustc: OsString,
}

/// What a compiler says of itself.
#[derive(Debug)]
pub(crate) struct Toolchain {
    pub(crate) sysroot: PathBuf,
    /// Of the compiler's sources.
    pub(crate) commit: String,
}

impl Compiler {
    /// The `cargo` and `rustc` of the build script at hand, else those on the path.
    pub(crate) fn find() -> Self {
        Self {
            cargo: env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
            rustc: env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()),
        }
    }

    /// Checks its version and components.
    pub(crate) fn check(&self) -> Result<Toolchain, CudaBuilderError> {
        let verbose = self.ask(&["-vV"])?;
        let field = |name: &str| verbose.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("").trim();
        let release = field("release:");
        if version(release).is_none_or(|found| found < OLDEST) {
            return Err(CudaBuilderError::CompilerTooOld { found: release.to_owned() });
        }
        let host = field("host:").to_owned();
        let sysroot = PathBuf::from(self.ask(&["--print", "sysroot"])?.trim());
        let rustlib = sysroot.join("lib/rustlib");
        let linker = format!("llvm-bitcode-linker{}", env::consts::EXE_SUFFIX);
        let needed = [
            ("rust-src", rustlib.join("src/rust/library/core/src/lib.rs")),
            ("llvm-bitcode-linker", rustlib.join(&host).join("bin/self-contained").join(linker)),
            ("llvm-tools", rustlib.join(&host).join("bin").join(format!("llvm-ar{}", env::consts::EXE_SUFFIX))),
        ];
        for (component, path) in needed {
            if !path.exists() {
                return Err(CudaBuilderError::MissingComponent { component, sysroot });
            }
        }
        // A distribution's own build may not know its commit; its version says enough.
        let commit = match field("commit-hash:") {
            "" | "unknown" => release,
            commit => commit,
        };
        Ok(Toolchain { sysroot, commit: commit.to_owned() })
    }

    /// Why cargo gave no answer.
    pub(crate) fn no_cargo(&self, source: io::Error) -> CudaBuilderError {
        CudaBuilderError::NoCompiler { program: PathBuf::from(&self.cargo), variable: "CARGO", source }
    }

    fn ask(&self, args: &[&str]) -> Result<String, CudaBuilderError> {
        let mut command = Command::new(&self.rustc);
        environment::clean(&mut command);
        let output = command.args(args).output().map_err(|source| CudaBuilderError::NoCompiler {
            program: PathBuf::from(&self.rustc),
            variable: "RUSTC",
            source,
        })?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(['.', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(version("1.100.0-nightly") > Some(OLDEST));
        assert!(version("1.96.2") < Some(OLDEST));
        assert_eq!(version("who knows"), None);
    }
}
