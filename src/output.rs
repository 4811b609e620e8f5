//! Where results go: standard output, or a file that is whole or not there.

use std::fs::{self, OpenOptions};
use std::io::Write;
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
        file: fs::File,
    },
}

impl Output {
    /// Opens `path`, or standard output.
    ///
    /// # Errors
    /// [`Error::Output`] when the file cannot be made.
    pub fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::Stdout) };
        let failed = |source| Error::Output { path: path.to_owned(), source };
        if let Ok(metadata) = fs::metadata(path)
            && !metadata.is_file()
        {
            let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
            return Ok(Self::Special { path: path.to_owned(), file });
        }
        if fs::metadata(path).is_ok() {
            // A file that may not be written is not replaced either.
            OpenOptions::new().append(true).open(path).map_err(failed)?;
        }
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let unfinished = NamedTempFile::new_in(folder).map_err(failed)?;
        interrupt::set_file(Some(unfinished.path().to_owned()));
        Ok(Self::File { path: path.to_owned(), unfinished })
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
            Self::Special { path, mut file } => {
                let plain = anstream::adapter::strip_str(text).to_string();
                file.write_all(plain.as_bytes()).map_err(|source| Error::Output { path, source })
            }
            Self::File { path, mut unfinished } => {
                let failed = |source| Error::Output { path: path.clone(), source };
                let plain = anstream::adapter::strip_str(text).to_string();
                unfinished.write_all(plain.as_bytes()).and_then(|()| unfinished.flush()).map_err(failed)?;
                readable_by_others(&unfinished).map_err(failed)?;
                unfinished.persist(&path).map_err(|e| failed(e.error))?;
                interrupt::set_file(None);
                Ok(())
            }
        }
    }
}

/// Temporary files are private; a result is as readable as any new file of the user's.
#[cfg(unix)]
fn readable_by_others(file: &NamedTempFile) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_others(_: &NamedTempFile) -> std::io::Result<()> {
    Ok(())
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

    #[test]
    fn a_wrong_path_fails_before_the_work() {
        let error = Output::open(Some(Path::new("/no/such/folder/x.json"))).unwrap_err();
        assert!(error.to_string().contains("/no/such/folder/x.json"), "{error}");
        assert_eq!(error.exit_code(), 1);
    }
}
