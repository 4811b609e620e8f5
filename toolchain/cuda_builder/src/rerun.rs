//! When the build script must run again: when a source that went into the PTX changes, and only then.
//!
//! Cargo writes a dependency file beside the artifact, with every source of the crate and of its path dependencies. Their
//! manifests and the lock file are added. Before the first build that succeeds there is no such file; then the crate's own
//! folder stands in, so that mending a kernel starts a new build.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The lines for cargo.
pub(crate) fn keys(crate_root: &Path, dep_info: &Path) -> BTreeSet<PathBuf> {
    let mut keys = BTreeSet::from([crate_root.join("Cargo.toml")]);
    let sources = fs::read_to_string(dep_info).map(|text| sources(&text)).unwrap_or_default();
    if sources.is_empty() {
        keys.insert(crate_root.join("src"));
    }
    for source in sources {
        if source.components().any(|part| part.as_os_str() == "rustlib") {
            continue; // `core` comes with the compiler; a new one is a new build anyway.
        }
        let manifest = source.ancestors().map(|dir| dir.join("Cargo.toml")).find(|path| path.is_file());
        keys.extend(manifest);
        keys.insert(source);
    }
    keys.extend(crate_root.ancestors().map(|dir| dir.join("Cargo.lock")).find(|path| path.is_file()));
    keys
}

/// The prerequisites of a dependency file as make reads it: `target: a b\ c`.
fn sources(text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Some((_, list)) = text.lines().find_map(|line| line.split_once(": ")) else {
        return found;
    };
    let mut name = String::new();
    let mut chars = list.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.as_str().starts_with(' ') => name.extend(chars.next()),
            ' ' => found.push(PathBuf::from(std::mem::take(&mut name))),
            c => name.push(c),
        }
    }
    found.push(PathBuf::from(name));
    found.retain(|path| !path.as_os_str().is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_with_spaces() {
        let found = sources("/t/x.ptx: /a/my\\ kernels/src/lib.rs /b/src/lib.rs\n");
        assert_eq!(found, [PathBuf::from("/a/my kernels/src/lib.rs"), PathBuf::from("/b/src/lib.rs")]);
    }

    #[test]
    fn a_crate_that_was_never_built_is_watched_whole() {
        let found = keys(Path::new("/no/such/crate"), Path::new("/no/such/file.d"));
        assert!(found.contains(Path::new("/no/such/crate/src")));
    }
}
