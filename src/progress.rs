//! A bar on standard error while long work runs; nothing where that is no terminal.

use std::time::Duration;

use gridstride_cpu::{LaunchShape, Progress};
use indicatif::{ProgressBar, ProgressStyle};

use crate::interrupt;

/// A progress bar over the launches of a comparison.
#[derive(Debug)]
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar with a message in front.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        let style =
            ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}").expect("the template is a constant");
        let bar = ProgressBar::new(0).with_style(style).with_message(message.into());
        bar.enable_steady_tick(Duration::from_millis(100));
        interrupt::set_bar(Some(bar.clone()));
        Self(bar)
    }
}

impl Progress for Bar {
    fn launched(&self, shape: LaunchShape, done: u32, total: u32) {
        self.0.set_message(shape.to_string());
        self.0.set_length(u64::from(total));
        self.0.set_position(u64::from(done));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        interrupt::set_bar(None);
        self.0.finish_and_clear();
    }
}
