//! What each verb found, as words, tables and figures: one file a verb.

pub mod bench;
pub mod check;
pub mod compare;
pub mod counters;
pub mod devices;
pub mod doctor;
pub mod explain;
pub mod profile;
pub mod run;
#[cfg(test)]
pub mod sample;
pub mod sweep;

use gridstride_cpu::Facts;

use crate::units::plural;

/// Which device it is, in a few words; the CPU device by what it is and not by a name that could be a GPU's.
#[must_use]
pub fn title(facts: &Facts) -> String {
    let processors = u64::from(facts.multiprocessors);
    match facts.is_gpu() {
        true => format!("{} ({})", facts.name, plural(processors, "multiprocessor")),
        false => format!("the CPU device ({})", plural(processors, "core")),
    }
}
