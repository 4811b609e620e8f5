//! The sentences under the table: why the two launches differ, with the numbers of this device and this run.
//!
//! Each rule looks at a comparison and is silent where it does not apply.

use gridstride_cpu::{Comparison, Measured};

use crate::units::{count, digits, plural, time};

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A launch leaves lanes or multiprocessors without work.
    IdleHardware,
    /// The call returned long before the kernel had finished.
    Asynchronous,
    /// What the full grid reaches of what the device can.
    Bandwidth,
    /// The samples lie far apart.
    Noisy,
    /// The figures are not a GPU's.
    CpuDevice,
}

impl Rule {
    /// All rules, in the order in which their sentences are printed.
    pub const ALL: &[Self] = &[Self::IdleHardware, Self::Asynchronous, Self::Bandwidth, Self::Noisy, Self::CpuDevice];

    /// The rule's sentence about a comparison, if it has one.
    #[must_use]
    pub fn sentence(self, comparison: &Comparison) -> Option<String> {
        match self {
            Self::IdleHardware => idle_hardware(comparison),
            Self::Asynchronous => asynchronous(comparison),
            Self::Bandwidth => bandwidth(comparison),
            Self::Noisy => noisy(comparison),
            Self::CpuDevice => cpu_device(comparison),
        }
    }
}

/// What a multiprocessor is called on this device.
fn processor(comparison: &Comparison) -> &'static str {
    if comparison.facts.is_gpu() { "multiprocessor" } else { "core" }
}

/// CUDA C++ Programming Guide, "Hardware Implementation": a warp issues one instruction for all of its lanes, and a block runs
/// on one multiprocessor.
fn idle_hardware(comparison: &Comparison) -> Option<String> {
    let first = comparison.launches.first()?;
    let facts = &comparison.facts;
    let (blocks, threads) = (first.shape.blocks(), first.shape.threads_per_block());
    let warp = u64::from(facts.warp_size);
    let idle_lanes = (warp - threads % warp) % warp;
    let idle_processors = u64::from(facts.multiprocessors).saturating_sub(blocks);
    if threads >= warp || idle_lanes == 0 {
        return None;
    }
    let processors = match idle_processors {
        0 => String::new(),
        idle => format!(", and {} of {} {}s have no block", count(idle), facts.multiprocessors, processor(comparison)),
    };
    let last = comparison.launches.last().filter(|last| last.shape != first.shape);
    let other = last.map_or(String::new(), |last| {
        let shape = last.shape;
        let each = shape.blocks() as f64 / f64::from(facts.multiprocessors);
        format!(
            " {shape} has {}: {} a {}, all {warp} lanes of each warp at work.",
            plural(shape.threads(), "thread"),
            plural(each.ceil() as u64, "block"),
            processor(comparison),
        )
    });
    Some(format!(
        "{} runs {}: {idle_lanes} of the {warp} lanes of a warp do nothing{processors}.{other}",
        first.shape,
        plural(first.shape.threads(), "thread"),
    ))
}

/// CUDA C++ Programming Guide, "Asynchronous Concurrent Execution": a launch returns before the device has done it.
fn asynchronous(comparison: &Comparison) -> Option<String> {
    let slowest = comparison.launches.iter().max_by_key(|measured| measured.timing.kernel.median())?;
    let (call, kernel) = (slowest.naive.call, slowest.timing.kernel.median());
    if kernel < call * 2 {
        return None;
    }
    Some(format!(
        "The launch call returned after {}, the kernel ran for {}: a launch is asynchronous, and reading out[2] right behind it \
         took {} because the read waits for the kernel. Once the kernel has finished, the same read takes {}.",
        time(call),
        time(kernel),
        time(slowest.naive.read),
        time(slowest.timing.read.median()),
    ))
}

fn bandwidth(comparison: &Comparison) -> Option<String> {
    let last = comparison.launches.last()?;
    let (reached, copy) = (last.gb_per_s(), comparison.copy.gb_per_s());
    let counters = last.counters.and_then(|counters| {
        let sectors = counters.sectors_per_request()?;
        let lanes = counters.active_lanes_percent()?;
        Some(format!(
            " Its memory requests touch {} sectors of 32 bytes each, and {} % of its lanes are active.",
            digits(sectors),
            digits(lanes)
        ))
    });
    (reached > 0.0 && copy > 0.0).then(|| {
        format!(
            "{} moves {} GB/s, {:.0} % of what a device-to-device copy moved in this run ({} GB/s).{}",
            last.shape,
            digits(reached),
            100.0 * reached / copy,
            digits(copy),
            counters.unwrap_or_default(),
        )
    })
}

/// Samples further apart than this are worth a warning.
const NOISY: f64 = 0.5;

fn noisy(comparison: &Comparison) -> Option<String> {
    let spread = |measured: &&Measured| measured.timing.kernel.spread() > NOISY;
    let noisy = comparison.launches.iter().find(spread)?;
    let kernel = &noisy.timing.kernel;
    Some(format!(
        "The kernel times of {} lie between {} and {}: something else may be using the machine; more `--runs` give a steadier median.",
        noisy.shape,
        time(kernel.min()),
        time(kernel.max()),
    ))
}

fn cpu_device(comparison: &Comparison) -> Option<String> {
    if comparison.facts.is_gpu() {
        return None;
    }
    let why = match &comparison.facts.no_gpu {
        Some(reason) => format!(" (no GPU: {reason})"),
        None => String::new(),
    };
    Some(format!(
        "All times are those of the CPU device{why}: it runs the same PTX in warps of {} lanes on {}. They are not GPU times.",
        comparison.facts.warp_size,
        plural(u64::from(comparison.facts.multiprocessors), "core"),
    ))
}
