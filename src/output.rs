//! Where results go: standard output, or a file that is whole or not there.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};
use crate::interrupt;

/// An output that was opened before the work began, so that a wrong path fails at once.
#[derive(Debug)]
pub enum Output {
    Stdout,
    /// A new file beside its final place, which takes that place when it is complete.
    File {
        path: PathBuf,
        unfinished: NamedTempFile,
    },
    /// Something that exists and is no regular file, a pipe or `/dev/null`: written to as it is.
    Special {
        path: PathBuf,
        file: File,
    },
}

impl Output {
    /// Opens `path`, or standard output.
    ///
    /// # Errors
    /// [`Error::Output`] when the file cannot be made.
    pub fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::Stdout) };
        Self::open_file(path).map_err(|source| Error::Output { path: path.to_owned(), source })
    }

    fn open_file(path: &Path) -> io::Result<Self> {
        // Behind a link it is the file that is replaced, not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let existing = fs::metadata(&path).ok();
        if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            let file = OpenOptions::new().write(true).open(&path)?;
            return Ok(Self::Special { path, file });
        }
        if existing.is_some() {
            // A file that may not be written is not replaced either.
            OpenOptions::new().append(true).open(&path)?;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let unfinished = interrupt::begin_file(|| new_file(folder, existing.map(|existing| existing.permissions())))?;
        Ok(Self::File { path, unfinished })
    }

    /// Writes the whole text. Colours stay only where a terminal shows them.
    ///
    /// # Errors
    /// When it cannot be written; a file is left as it was then.
    pub fn write(self, text: &str) -> Result<()> {
        match self {
            Self::Stdout => {
                let mut stdout = anstream::stdout().lock();
                stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Stdout)
            }
            file => file.write_bytes(anstream::adapter::strip_str(text).to_string().as_bytes()),
        }
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// As for [`Output::write`].
    pub fn write_bytes(self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(Error::Stdout)
            }
            Self::Special { path, mut file } => file.write_all(bytes).map_err(|source| Error::Output { path, source }),
            Self::File { path, mut unfinished } => {
                let failed = |source| Error::Output { path: path.clone(), source };
                unfinished.write_all(bytes).and_then(|()| unfinished.flush()).map_err(failed)?;
                interrupt::finish_file(unfinished, &path).map_err(failed)
            }
        }
    }
}

/// A file as readable as the one it replaces, or as any new file of the user's: temporary files are private otherwise.
fn new_file(folder: &Path, like: Option<Permissions>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder)?;
    if let Some(permissions) = like {
        fs::set_permissions(file.path(), permissions)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.txt");
        fs::write(&path, "old").unwrap();
        let output = Output::open(Some(&path)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        output.write("\x1b[1mnew\x1b[0m").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        drop(Output::open(Some(&path)).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay_as_they_were() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("private.txt"), folder.path().join("link.txt"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        symlink(&file, &link).unwrap();
        Output::open(Some(&link)).unwrap().write("new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_wrong_path_fails_before_the_work() {
        let error = Output::open(Some(Path::new("/no/such/folder/x.json"))).unwrap_err();
        assert!(error.to_string().contains("/no/such/folder/x.json"), "{error}");
        assert_eq!(error.exit_code(), 1);
    }
}
