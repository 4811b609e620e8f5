//! Every check against kernels with a bug that it is there for, and against the same kernels repaired; the seeded
//! scheduler; the counters. One file a check.

mod barrier;
mod counters;
mod init;
mod memory;
mod order;
mod race;
#[path = "../rig/mod.rs"]
mod rig;
mod schedule;

use gridstride_simt::{Checks, Fault, Finding, LaunchConfig, Settings};

use crate::rig::Rig;

/// A device that checks all that there is to check.
pub fn checking() -> Rig {
    let rig = Rig::unchecked(2);
    rig.device.watch(Settings { checks: Checks::ALL, ..Settings::default() });
    rig
}

/// A device that looks for races only.
pub fn racing() -> Rig {
    let rig = Rig::unchecked(2);
    rig.device.watch(Settings { checks: Checks { race: true, ..Checks::default() }, ..Settings::default() });
    rig
}

/// What is found in a launch that comes to its end.
pub fn findings(rig: &Rig, text: &str, config: LaunchConfig, args: &[u64]) -> Vec<Finding> {
    rig.launch(text, config, args).unwrap_or_else(|fault| panic!("{fault}"));
    rig.device.findings().take()
}

/// The only finding there is, as text.
pub fn only(found: &[Finding]) -> String {
    assert_eq!(found.len(), 1, "{}", listed(found));
    found[0].to_string()
}

/// Nothing was found.
pub fn clean(found: &[Finding]) {
    assert!(found.is_empty(), "{}", listed(found));
}

fn listed(found: &[Finding]) -> String {
    found.iter().map(|finding| format!("{finding}\n")).collect()
}

/// The fault of a launch that must not come to its end.
pub fn fault(rig: &Rig, text: &str, config: LaunchConfig, args: &[u64]) -> Box<Fault> {
    rig.launch(text, config, args).expect_err("the kernel cannot come to its end")
}
