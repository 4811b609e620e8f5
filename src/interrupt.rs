//! What ends the command from outside: Ctrl-C, a signal to end, a time limit. The terminal as it was, no half-written file,
//! a sentence that says what was going on, and an exit code of its own: 130, 143, 129, 124.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use tempfile::NamedTempFile;

use crate::units::time;

/// What must be put right before the process ends, and what can be said then.
struct Pending {
    bar: Option<ProgressBar>,
    files: Vec<PathBuf>,
    doing: Option<(String, Instant)>,
}

static PENDING: Mutex<Pending> = Mutex::new(Pending { bar: None, files: Vec::new(), doing: None });

fn pending() -> MutexGuard<'static, Pending> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Exit code of a command that its time limit ended; that of `timeout(1)`.
const TIMED_OUT: i32 = 124;

/// From now on a signal cleans up. A second call changes nothing.
#[cfg(unix)]
pub fn install() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // Where no handler can be installed, the system's own ends the process.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            end(128 + signal, "stopped");
        }
    });
}

#[cfg(not(unix))]
pub fn install() {}

/// Ends the process after `limit`, whatever it does then.
pub fn limit(limit: Duration) {
    thread::spawn(move || {
        thread::sleep(limit);
        end(TIMED_OUT, &format!("stopped after {} (--timeout)", time(limit)));
    });
}

/// Cleans up, says what was going on, and ends. A kernel that never ends keeps nobody here: the process goes without
/// waiting for it, and with the process its work on the device.
fn end(code: i32, why: &str) -> ! {
    let mut pending = pending();
    if let Some(bar) = pending.bar.take() {
        bar.finish_and_clear();
    }
    for file in pending.files.drain(..) {
        // It may be gone already.
        let _ = std::fs::remove_file(file);
    }
    let doing = pending.doing.take();
    let doing = doing.map_or(String::new(), |(what, since)| {
        format!(" while {what} was running, for {} by then", time(since.elapsed()))
    });
    // Where that cannot be written, the exit code says it.
    let _ = writeln!(std::io::stderr(), "{why}{doing}");
    // The lock is kept, so that no file is begun behind the clean-up.
    leave(code)
}

#[cfg(unix)]
fn leave(code: i32) -> ! {
    // SAFETY: ends the process without running anything of it, which is what is wanted: handlers of `exit` may wait for a
    // kernel that never ends.
    unsafe { libc::_exit(code) }
}

#[cfg(not(unix))]
fn leave(code: i32) -> ! {
    std::process::exit(code)
}

/// The bar that is on the screen, or none.
pub fn set_bar(bar: Option<ProgressBar>) {
    pending().bar = bar;
}

/// What is going on from now on, for a message about its end.
pub fn set_doing(what: Option<String>) {
    pending().doing = what.map(|what| (what, Instant::now()));
}

/// Makes an unfinished file, which does not stay when the process is ended.
///
/// # Errors
/// Of `make`.
pub fn begin_file(make: impl FnOnce() -> std::io::Result<NamedTempFile>) -> std::io::Result<NamedTempFile> {
    // Nobody is told to end between the making and the note of it.
    let mut pending = pending();
    let file = make()?;
    pending.files.push(file.path().to_owned());
    Ok(file)
}

/// Puts a finished file in its place.
///
/// # Errors
/// When it cannot be renamed; it is gone then.
pub fn finish_file(file: NamedTempFile, path: &std::path::Path) -> std::io::Result<()> {
    let mut pending = pending();
    pending.files.retain(|other| other != file.path());
    file.persist(path).map(drop).map_err(|error| error.error)
}
