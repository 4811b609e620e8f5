//! Where a new project takes gridstride's crates from. They are not on crates.io under names of their own yet, so it is a
//! checkout or a git repository.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The crates that the template uses, and where they are in a checkout.
pub const CRATES: [(&str, &str); 4] = [
    ("cuda_std", "toolchain/cuda_std"),
    ("cuda_builder", "toolchain/cuda_builder"),
    ("cuda_launch", "toolchain/cuda_launch"),
    ("gridstride-driver", "device/driver"),
];

#[derive(Debug)]
pub enum Source {
    /// A checkout, as an absolute path.
    Path(PathBuf),
    /// A repository.
    Git(String),
}

impl Source {
    /// What the user named, else the checkout that this program lies in.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is none.
    pub fn find(path: Option<&Path>, git: Option<&str>) -> Result<Self> {
        if let Some(url) = git {
            // It stands between quotes in a manifest.
            if url.is_empty() || url.contains(['"', '\\']) || url.chars().any(char::is_control) {
                return Err(Error::Usage(format!("`{url}` cannot be the address of a repository")));
            }
            return Ok(Self::Git(url.to_owned()));
        }
        if let Some(path) = path {
            let missing = CRATES.iter().find(|(_, at)| !path.join(at).join("Cargo.toml").is_file());
            return match missing {
                None => {
                    let absolute =
                        fs::canonicalize(path).map_err(|e| Error::Usage(format!("`{}`: {e}", path.display())))?;
                    Ok(Self::Path(absolute))
                }
                Some((_, at)) => Err(Error::Usage(format!(
                    "`{}` is no checkout of gridstride: it has no {at}/Cargo.toml",
                    path.display()
                ))),
            };
        }
        let exe = env::current_exe().ok();
        let checkout = exe.as_deref().into_iter().flat_map(Path::ancestors).find(|folder| is_checkout(folder));
        checkout.map(|folder| Self::Path(folder.to_owned())).ok_or_else(|| {
            Error::Usage(
                "gridstride's crates are not on crates.io: say where they are, `--path CHECKOUT` or `--git URL`".into(),
            )
        })
    }

    /// What stands between the braces of a dependency.
    pub fn dependency(&self, krate: &str) -> String {
        match self {
            Self::Git(url) => format!("git = \"{url}\""),
            Self::Path(checkout) => {
                let at = CRATES.iter().find(|(name, _)| *name == krate).map_or("", |(_, at)| at);
                // A literal string: no character in it means anything else.
                format!("path = '{}'", checkout.join(at).display())
            }
        }
    }
}

fn is_checkout(folder: &Path) -> bool {
    CRATES.iter().all(|(_, at)| folder.join(at).join("Cargo.toml").is_file())
}
