//! Ctrl-C: the terminal as it was, no half-written file, exit code 130.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use indicatif::ProgressBar;

/// What must be put right before the process ends.
#[derive(Default)]
struct Pending {
    bar: Option<ProgressBar>,
    file: Option<PathBuf>,
}

static PENDING: Mutex<Pending> = Mutex::new(Pending { bar: None, file: None });

/// From now on an interrupt cleans up. A second call changes nothing.
pub fn install() {
    // An error means that a handler is there already.
    let _ = ctrlc::set_handler(|| {
        let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = pending.bar.take() {
            bar.finish_and_clear();
        }
        if let Some(file) = pending.file.take() {
            // It may be gone already.
            let _ = std::fs::remove_file(file);
        }
        std::process::exit(130);
    });
}

/// The bar that is on the screen, or none.
pub fn set_bar(bar: Option<ProgressBar>) {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner).bar = bar;
}

/// The unfinished file that must not stay, or none.
pub fn set_file(file: Option<PathBuf>) {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner).file = file;
}
