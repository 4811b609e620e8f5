//! `gridstride new`: a project of one's own, with a kernel, its host side and a test that needs no GPU.
//!
//! The files are in `template/`. They are written to a folder beside the final place, which takes that place when it is
//! complete: whatever goes wrong, nothing half-written is left.

mod source;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::output::Output;
use source::Source;

/// Make a project with a kernel, its host side and a test that needs no GPU
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Name of the project; its folder is made here. A path makes it elsewhere
    pub name: PathBuf,
    /// Take gridstride's crates from this checkout [default: the one that this command was built in]
    #[arg(long, value_name = "CHECKOUT", conflicts_with = "git")]
    pub path: Option<PathBuf>,
    /// Take gridstride's crates from this git repository
    #[arg(long, value_name = "URL")]
    pub git: Option<String>,
}

/// Path in the project, text.
const FILES: [(&str, &str); 11] = [
    ("Cargo.toml", include_str!("template/Cargo.toml.in")),
    ("build.rs", include_str!("template/build.rs.in")),
    ("kernels/Cargo.toml", include_str!("template/kernels/Cargo.toml.in")),
    ("kernels/src/lib.rs", include_str!("template/kernels/src/lib.rs.in")),
    ("src/lib.rs", include_str!("template/src/lib.rs.in")),
    ("src/main.rs", include_str!("template/src/main.rs.in")),
    ("tests/saxpy.rs", include_str!("template/tests/saxpy.rs.in")),
    (".cargo/config.toml", include_str!("template/config.toml.in")),
    (".gitignore", "/target\n"),
    // The compiler and what `cust` links to are those of this project.
    ("rust-toolchain.toml", include_str!("../../../rust-toolchain.toml")),
    ("link/lib64/libcuda.so", include_str!("../../../device/driver/link/lib64/libcuda.so")),
];

/// Runs the verb.
///
/// # Errors
/// [`Error::Usage`] for a name that cannot be one, a folder that exists, or crates that are not where they should be;
/// [`Error::Output`] when something cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let name = project_name(&args.name)?;
    if fs::symlink_metadata(&args.name).is_ok() {
        let message = format!("`{}` exists already: give the project another name, or remove it", args.name.display());
        return Err(Error::Usage(message));
    }
    let source = Source::find(args.path.as_deref(), args.git.as_deref())?;
    let failed = |source| Error::Output { path: args.name.clone(), source };
    write(&args.name, &name, &source).map_err(failed)?;
    let folder = args.name.display();
    let text = format!(
        "{folder} is there: a kernel in kernels/, its host side in src/, a test in tests/.\n\n    cd {folder}\n    cargo test\n    \
         cargo run\n"
    );
    Output::open(None)?.write(&text)
}

fn write(folder: &Path, name: &str, source: &Source) -> io::Result<()> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unfinished = tempfile::Builder::new().prefix(".gridstride-new-").tempdir_in(parent)?;
    for (path, text) in FILES {
        let path = unfinished.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(unfinished.path()))?;
        fs::write(path, fill(text, name, source))?;
    }
    #[cfg(unix)]
    fs::set_permissions(unfinished.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    fs::rename(unfinished.path(), folder)?;
    // It is not there any more under that name, so there is nothing to remove.
    let _ = unfinished.keep();
    Ok(())
}

fn fill(text: &str, name: &str, source: &Source) -> String {
    let text = text.replace("{{name}}", name).replace("{{crate}}", &name.replace('-', "_"));
    source::CRATES
        .iter()
        .fold(text, |text, (krate, _)| text.replace(&format!("{{{{{krate}}}}}"), &source.dependency(krate)))
}

/// Names that a package of two crates cannot have: those of crates that it uses, and the words that cargo refuses.
const TAKEN: [&str; 12] = [
    "core",
    "std",
    "alloc",
    "test",
    "proc-macro",
    "proc_macro",
    "build",
    "deps",
    "examples",
    "incremental",
    "cust",
    "kernels",
];

/// The last part of the path, if it can be the name of a package.
fn project_name(path: &Path) -> Result<String> {
    let wrong = |why: &str| Error::Usage(format!("`{}` cannot be the name of a project: {why}", path.display()));
    let name =
        path.file_name().and_then(|name| name.to_str()).ok_or_else(|| wrong("it has no last part that is text"))?;
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(wrong("it must begin with a letter"));
    }
    if let Some(c) = name.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '-' && *c != '_') {
        return Err(wrong(&format!("`{c}` is none of the letters a to z, digits, `-` and `_`")));
    }
    let krate = name.replace('-', "_");
    let ours = source::CRATES.iter().any(|(taken, _)| taken.replace('-', "_") == krate);
    if TAKEN.contains(&name) || ours || KEYWORDS.contains(&&*krate) {
        return Err(wrong("the name is taken, by Rust or by a crate that the project uses"));
    }
    Ok(name.to_owned())
}

/// Words that no crate can be called.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "Self", "self", "static", "struct", "super", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cannot_be() {
        for (name, why) in [
            ("", "no last part"),
            ("..", "no last part"),
            ("1st", "begin with a letter"),
            ("-x", "begin with a letter"),
            ("my project", "` ` is none"),
            ("größe", "`ö` is none"),
            ("match", "taken"),
            ("core", "taken"),
            ("cuda-std", "taken"),
        ] {
            let error = project_name(Path::new(name)).unwrap_err();
            assert!(error.to_string().contains(why), "{name}: {error}");
            assert_eq!(error.exit_code(), 2);
        }
        assert_eq!(project_name(Path::new("/some/where/my-kernels2")).unwrap(), "my-kernels2");
    }

    #[test]
    fn nothing_of_the_template_is_left_open() {
        let source = Source::Git("https://example.org/gridstride".into());
        for (path, text) in FILES {
            let text = fill(text, "my-project", &source);
            assert!(!text.contains("{{"), "{path}: {text}");
        }
    }
}
