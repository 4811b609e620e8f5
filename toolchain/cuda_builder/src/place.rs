//! Where a build keeps its files, and the lock that keeps two builds apart.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use crate::flags::Flags;
use crate::library::Library;

/// The compiler's name of the target.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

/// The files of one crate and one set of options.
#[derive(Debug)]
pub(crate) struct Place {
    /// Target directory of the inner cargo, one for each crate and set of options: no lock is shared with the outer build,
    /// and two builds that differ do not undo each other's work.
    pub(crate) target_dir: PathBuf,
    /// What the compiler wrote.
    pub(crate) assembly: PathBuf,
    /// What becomes of it.
    pub(crate) ptx: PathBuf,
    /// Cargo's list of the sources.
    pub(crate) dep_info: PathBuf,
}

impl Place {
    pub(crate) fn of(library: &Library, flags: &Flags) -> Self {
        let mut hasher = DefaultHasher::new();
        (&library.root, flags).hash(&mut hasher);
        let name = format!("{}-{}-{:08x}", library.name, flags.cpu, hasher.finish() as u32);
        let target_dir = base(library).join(name);
        let in_target = |extension: &str| target_dir.join(&library.name).with_extension(extension);
        Self {
            assembly: in_target("s"),
            ptx: in_target("ptx"),
            dep_info: target_dir.join(TARGET).join("release").join(&library.name).with_extension("d"),
            target_dir,
        }
    }

    /// Waits until no other build of the same crate and options is at work. Released when it is dropped.
    pub(crate) fn lock(&self) -> io::Result<File> {
        fs::create_dir_all(&self.target_dir)?;
        let file = File::create(self.target_dir.join("cuda-builder.lock"))?;
        file.lock()?;
        Ok(file)
    }
}

/// A folder of the outer build's target directory, so that `cargo clean` finds it.
fn base(library: &Library) -> PathBuf {
    let outer = env::var_os("OUT_DIR").map(PathBuf::from);
    let target = outer.as_deref().and_then(|out| {
        // Cargo marks its target directory. Without the mark: OUT_DIR is <target>/<profile>/build/<package>-<hash>/out.
        let marked = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
        marked.or_else(|| out.ancestors().nth(4)).map(Path::to_owned)
    });
    target.unwrap_or_else(|| library.root.join("target")).join("cuda-builder")
}

/// Writes a file whole or not at all, and leaves one alone that reads so already: whoever includes it need not be compiled
/// again.
pub(crate) fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let unfinished = path.with_file_name(name);
    let written = fs::write(&unfinished, contents).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        // The error is what counts; what is left of the attempt may not even exist.
        let _ = fs::remove_file(&unfinished);
    }
    written
}
