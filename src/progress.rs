//! A bar on standard error while long work runs; nothing where that is no terminal.

use std::time::Duration;

use gridstride_cpu::{LaunchShape, Progress};
use indicatif::{ProgressBar, ProgressStyle};

use crate::interrupt;

/// While nobody knows how much there is to do: inputs are made, a first launch runs.
const OPEN: &str = "{spinner} {msg} {elapsed}";
/// Once the number of launches is known.
const COUNTED: &str = "{spinner} {msg} {wide_bar} {pos}/{len} {eta}";

/// A progress bar over the launches of a comparison.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    /// True where the shapes are counted, and not the launches of each.
    shapes: bool,
}

impl Bar {
    /// A bar with a message in front.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        let bar = ProgressBar::new_spinner().with_style(style(OPEN)).with_message(message.into());
        Self::show(bar, false)
    }

    /// A bar over so many launch shapes.
    #[must_use]
    pub fn over(shapes: u64) -> Self {
        let bar = ProgressBar::new(shapes).with_style(style(COUNTED)).with_message("preparing");
        Self::show(bar, true)
    }

    fn show(bar: ProgressBar, shapes: bool) -> Self {
        bar.enable_steady_tick(Duration::from_millis(100));
        interrupt::set_bar(Some(bar.clone()));
        Self { bar, shapes }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are constants")
}

impl Progress for Bar {
    fn started(&self, shape: LaunchShape) {
        if self.shapes {
            self.bar.set_message(shape.to_string());
        } else {
            self.bar.set_style(style(OPEN));
            self.bar.reset();
            self.bar.set_message(format!("{shape}, first launch"));
        }
        interrupt::set_doing(Some(format!("the first launch of {shape}")));
    }

    fn launched(&self, shape: LaunchShape, done: u32, total: u32) {
        interrupt::set_doing(Some(format!("launch {} of {total} of {shape}", (done + 1).min(total))));
        if self.shapes {
            self.bar.inc(u64::from(done == total));
            return;
        }
        self.bar.set_message(shape.to_string());
        self.bar.set_length(u64::from(total));
        self.bar.set_position(u64::from(done));
        if done == 1 {
            self.bar.set_style(style(COUNTED));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        interrupt::set_bar(None);
        interrupt::set_doing(None);
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_good_and_a_bar_goes_through_a_measurement() {
        let bar = Bar::new("preparing");
        let shape = LaunchShape::single_thread();
        bar.started(shape);
        bar.launched(shape, 1, 2);
        assert_eq!((bar.bar.position(), bar.bar.length()), (1, Some(2)));
        bar.started(shape);
        assert_eq!(bar.bar.position(), 0);
        let bar = Bar::over(2);
        bar.started(shape);
        bar.launched(shape, 1, 2);
        bar.launched(shape, 2, 2);
        assert_eq!((bar.bar.position(), bar.bar.length()), (1, Some(2)));
    }
}
