//! The crate that becomes PTX, as cargo describes it, and the folders that its sources lie in.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::compiler::Compiler;
use crate::environment;
use crate::error::CudaBuilderError;

/// The library that becomes PTX.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) root: PathBuf,
    /// As the compiler writes it, without hyphens.
    pub(crate) name: String,
    /// Where the paths in messages and line tables are relative to.
    pub(crate) workspace: PathBuf,
    /// Workspaces outside of that one, of which it has path dependencies.
    pub(crate) others: BTreeSet<PathBuf>,
}

impl Library {
    /// The library of the crate at `path`, checked to be a `cdylib`.
    pub(crate) fn find(compiler: &Compiler, path: &Path) -> Result<Self, CudaBuilderError> {
        let root = crate_root(path)?;
        let metadata = metadata(compiler, &root)?;
        let manifest = root.join("Cargo.toml");
        let package = metadata.packages.iter().find(|p| same_file(Path::new(&p.manifest_path), &manifest));
        let target = package.and_then(|package| package.targets.iter().find(|target| target.is_library()));
        let target = target.ok_or_else(|| CudaBuilderError::NotALibrary(root.clone()))?;
        if !target.kind.iter().any(|kind| kind == "cdylib") {
            return Err(CudaBuilderError::NotACdylib(root));
        }
        let name = target.name.replace('-', "_");
        let others = other_workspaces(compiler, &metadata);
        Ok(Self { root, name, workspace: metadata.workspace_root, others })
    }
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

/// What cargo says of the workspace of a crate. Asks no registry and needs no lock file.
fn metadata(compiler: &Compiler, root: &Path) -> Result<Metadata, CudaBuilderError> {
    let mut command = Command::new(&compiler.cargo);
    environment::clean(&mut command);
    command.args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"]).arg(root.join("Cargo.toml"));
    // In the crate's folder, so that its `.cargo/config.toml` is the one that is read, as it is when it is built.
    let output = command.current_dir(root).env("RUSTC", &compiler.rustc).output();
    let output = output.map_err(|source| compiler.no_cargo(source))?;
    let failed = |message: String| CudaBuilderError::Manifest { path: root.to_owned(), message };
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| failed(e.to_string()))
}

/// The other workspaces that path dependencies lead to, and those from there. One that cannot be read is left out: if it
/// matters, the build itself says what is wrong with it.
fn other_workspaces(compiler: &Compiler, metadata: &Metadata) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open: Vec<PathBuf> = metadata.paths_outside().collect();
    while let Some(path) = open.pop() {
        if found.iter().any(|known: &PathBuf| path.starts_with(known)) {
            continue;
        }
        if let Ok(other) = self::metadata(compiler, &path) {
            open.extend(other.paths_outside().filter(|path| !path.starts_with(&metadata.workspace_root)));
            found.insert(other.workspace_root);
        }
    }
    found.remove(&metadata.workspace_root);
    found
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

#[derive(serde::Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_root: PathBuf,
}

impl Metadata {
    /// Path dependencies that lie outside of the workspace.
    fn paths_outside(&self) -> impl Iterator<Item = PathBuf> {
        let paths = self.packages.iter().flat_map(|package| &package.dependencies).filter_map(|on| on.path.clone());
        paths.filter(|path| !path.starts_with(&self.workspace_root))
    }
}

#[derive(serde::Deserialize)]
struct Package {
    manifest_path: String,
    targets: Vec<Target>,
    dependencies: Vec<Dependency>,
}

#[derive(serde::Deserialize)]
struct Dependency {
    path: Option<PathBuf>,
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
