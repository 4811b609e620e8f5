//! What ends the command early, and with which exit code.

use std::io::{self, Write};
use std::path::PathBuf;

/// Result of the command's parts.
pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// From the host side.
    #[error(transparent)]
    Host(#[from] gridstride_cpu::Error),
    /// The output file cannot be written.
    #[error("`{}` cannot be written: {source}", path.display())]
    Output { path: PathBuf, source: io::Error },
    /// Standard output cannot be written.
    #[error("standard output cannot be written: {0}")]
    Stdout(io::Error),
    /// No entry point of that name in the PTX.
    #[error("the PTX has no kernel `{name}`{} (known: {known})", .nearest.as_ref().map_or(String::new(), |n| format!(": did you mean `{n}`?")))]
    NoEntry { name: String, nearest: Option<String>, known: String },
    /// The user asked for something that cannot be, in a verb's own words.
    #[error("{0}")]
    Usage(String),
    /// Something went wrong, in a verb's own words.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// 2 where the user asked for something that cannot be, 1 where something went wrong.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        use gridstride_cpu::Error as Host;
        match self {
            Self::Host(Host::Shape(_) | Host::NoKernel { .. } | Host::NoDtype { .. } | Host::TooLarge { .. }) => 2,
            Self::Host(Host::NoRoom { .. } | Host::Arguments { .. }) => 2,
            Self::NoEntry { .. } | Self::Usage(_) => 2,
            Self::Stdout(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            _ => 1,
        }
    }

    /// Says what went wrong on standard error and returns the exit code. Whoever closed our standard output has seen what
    /// they wanted: nothing is said then.
    pub fn report(&self) -> u8 {
        let code = self.exit_code();
        if code != 0 {
            let style = anstyle::AnsiColor::Red.on_default().bold();
            // Where even that cannot be written, the exit code is all that is left to say.
            let _ = writeln!(anstream::stderr(), "{style}error:{style:#} {self}");
        }
        code
    }
}
