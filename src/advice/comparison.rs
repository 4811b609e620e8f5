//! The sentences under the table: why the launches differ, with the numbers of this device and this run.
//!
//! Each rule looks at a comparison and is silent where it does not apply. A rule says what was seen, why that is so, and
//! where something can be done about it, which option does it.

use gridstride_cpu::{Comparison, LaunchShape, Measured, kernels};

use super::idle_lanes;
use crate::findings::counters::{SECTOR, sector_use};
use crate::units::{count, digits, plural, time};

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// There was nothing to compute.
    NoWork,
    /// The first of two launches leaves lanes or multiprocessors without work.
    IdleHardware,
    /// The launch of interest has fewer blocks than the device has multiprocessors.
    FewBlocks,
    /// The launch of interest has blocks that end in the middle of a warp.
    PartialWarps,
    /// The call returned long before the kernel had finished.
    Asynchronous,
    /// What the launch of interest reaches of what the device can.
    Bandwidth,
    /// From which launch on more threads bring little.
    StopsPaying,
    /// The first launch took longer than those behind it.
    FirstLaunch,
    /// The samples lie far apart.
    Noisy,
    /// The figures are not a GPU's.
    CpuDevice,
}

impl Rule {
    /// All rules, in the order in which their sentences are printed.
    pub const ALL: &[Self] = &[
        Self::NoWork,
        Self::IdleHardware,
        Self::FewBlocks,
        Self::PartialWarps,
        Self::Asynchronous,
        Self::Bandwidth,
        Self::StopsPaying,
        Self::FirstLaunch,
        Self::Noisy,
        Self::CpuDevice,
    ];

    /// The rule's sentence about a comparison, if it has one.
    #[must_use]
    pub fn sentence(self, comparison: &Comparison) -> Option<String> {
        match self {
            Self::NoWork => no_work(comparison),
            Self::CpuDevice => cpu_device(comparison),
            _ if comparison.n == 0 => None,
            Self::IdleHardware => idle_hardware(comparison),
            Self::FewBlocks => few_blocks(comparison),
            Self::PartialWarps => partial_warps(comparison),
            Self::Asynchronous => asynchronous(comparison),
            Self::Bandwidth => bandwidth(comparison),
            Self::StopsPaying => stops_paying(comparison),
            Self::FirstLaunch => first_launch(comparison),
            Self::Noisy => noisy(comparison),
        }
    }
}

/// What a multiprocessor is called on this device.
fn processor(comparison: &Comparison) -> &'static str {
    if comparison.facts.is_gpu() { "multiprocessor" } else { "core" }
}

fn no_work(comparison: &Comparison) -> Option<String> {
    (comparison.n == 0)
        .then(|| "There is nothing to do for 0 elements: the times are those of an empty launch.".to_owned())
}

/// CUDA C++ Programming Guide, "Hardware Implementation": a warp issues one instruction for all of its lanes, and a block runs
/// on one multiprocessor.
fn idle_hardware(comparison: &Comparison) -> Option<String> {
    let [first, .., last] = &comparison.launches[..] else { return None };
    let (warp, processors) = (u64::from(comparison.facts.warp_size), u64::from(comparison.facts.multiprocessors));
    let mut idle = Vec::new();
    let (lanes, of) = idle_lanes(first.shape, warp);
    if lanes > 0 {
        idle.push(format!("{lanes} of the {of} lanes of its {} do nothing", if of == warp { "warp" } else { "warps" }));
    }
    let without = processors.saturating_sub(first.shape.blocks());
    if without > 0 {
        let have = if without == 1 { "has" } else { "have" };
        idle.push(format!("{} of {} {have} no block", count(without), plural(processors, processor(comparison))));
    }
    if idle.is_empty() {
        return None;
    }
    let threads = plural(first.shape.threads(), "thread");
    Some(format!("{} runs {threads}: {}.{}", first.shape, idle.join(", and "), at_work(comparison, last.shape)))
}

/// The other side of [`idle_hardware`]: what the larger launch keeps busy.
fn at_work(comparison: &Comparison, shape: LaunchShape) -> String {
    let (warp, processors) = (u64::from(comparison.facts.warp_size), u64::from(comparison.facts.multiprocessors));
    let mut busy = Vec::new();
    if shape.blocks() >= processors {
        let each = (shape.blocks() as f64 / processors as f64).round() as u64;
        busy.push(format!("{} for each {}", plural(each, "block"), processor(comparison)));
    }
    if idle_lanes(shape, warp).0 == 0 {
        busy.push(format!("all {warp} lanes of each warp at work"));
    }
    let what = if busy.is_empty() { String::new() } else { format!(": {}", busy.join(", ")) };
    format!(" {shape} has {}{what}.", plural(shape.threads(), "thread"))
}

/// A block never leaves its multiprocessor (the same chapter of the guide). Silent where there is no more work to hand out.
fn few_blocks(comparison: &Comparison) -> Option<String> {
    let shape = comparison.launches.last()?.shape;
    let processors = u64::from(comparison.facts.multiprocessors);
    let iterations =
        kernels::find(comparison.kernel).map_or(comparison.n, |k| k.iterations(comparison.dtype, comparison.n));
    if shape.blocks() >= processors || iterations <= shape.threads() {
        return None;
    }
    Some(format!(
        "{shape} has {} for {}, and a block stays where it started: `--grid {processors}` or more gives each one work.",
        plural(shape.blocks(), "block"),
        plural(processors, processor(comparison)),
    ))
}

fn partial_warps(comparison: &Comparison) -> Option<String> {
    let shape = comparison.launches.last()?.shape;
    let warp = u64::from(comparison.facts.warp_size);
    let (idle, lanes) = idle_lanes(shape, warp);
    (idle > 0).then(|| {
        format!(
            "A block of {} takes {} of {warp} lanes, and {idle} of those {lanes} lanes have nothing to do: blocks of a multiple \
             of {warp} threads (`--block {lanes}`) leave none idle.",
            plural(shape.threads_per_block(), "thread"),
            plural(lanes / warp, "warp"),
        )
    })
}

/// CUDA C++ Programming Guide, "Asynchronous Concurrent Execution": a launch returns before the device has done it.
fn asynchronous(comparison: &Comparison) -> Option<String> {
    let slowest = comparison.launches.iter().max_by_key(|measured| measured.timing.kernel.median())?;
    let (call, kernel) = (slowest.naive.call, slowest.timing.kernel.median());
    if kernel < call * 2 {
        return None;
    }
    let at = kernels::element_read(comparison.outputs)?;
    Some(format!(
        "The launch call returned after {}, the kernel ran for {}: a launch is asynchronous, and reading out[{at}] right behind \
         it took {} because the read waits for the kernel. Once the kernel has finished, the same read takes {}.",
        time(call),
        time(kernel),
        time(slowest.naive.read),
        time(slowest.timing.read.median()),
    ))
}

fn bandwidth(comparison: &Comparison) -> Option<String> {
    let last = comparison.launches.last()?;
    let (reached, copy) = (last.gb_per_s(), comparison.copy.gb_per_s());
    (reached > 0.0 && copy > 0.0).then(|| {
        format!(
            "{} moves {} GB/s, {} % of what a device-to-device copy moved in this run ({} GB/s).{}",
            last.shape,
            digits(reached),
            digits(100.0 * reached / copy),
            digits(copy),
            accesses(last).unwrap_or_default(),
        )
    })
}

/// A launch that takes no more than this share longer than the fastest is as good as it.
const AS_GOOD: f64 = 0.1;

/// Only where there are steps between one thread and the full grid.
fn stops_paying(comparison: &Comparison) -> Option<String> {
    let launches = &comparison.launches;
    let seconds = |measured: &Measured| measured.timing.kernel.median().as_secs_f64();
    let fastest = launches.iter().map(seconds).min_by(f64::total_cmp).filter(|fastest| *fastest > 0.0)?;
    let at = launches.iter().position(|measured| seconds(measured) <= fastest * (1.0 + AS_GOOD))?;
    if launches.len() < 3 {
        return None;
    }
    let (enough, percent) = (launches[at].shape, 100.0 * AS_GOOD);
    Some(match at + 1 == launches.len() {
        true => format!("Each step pays: only {enough} comes within {percent} % of the fastest."),
        false => format!(
            "More threads stop paying at {enough}, {}: it is within {percent} % of the fastest.",
            plural(enough.threads(), "thread")
        ),
    })
}

/// A first launch that takes less than this many times as long as the others is one of them.
const FIRST: u32 = 3;

/// CUDA C++ Programming Guide, "Lazy Loading": a driver may put off loading a kernel until it is launched first.
fn first_launch(comparison: &Comparison) -> Option<String> {
    let slow = |measured: &&Measured| measured.first > measured.timing.finished.median() * FIRST;
    let measured = comparison.launches.iter().find(slow)?;
    Some(format!(
        "The first launch of {} took {}, and later ones {}: loading and memory touched for the first time are in it, and in no \
         other figure here. Loading the module took {}.",
        measured.shape,
        time(measured.first),
        time(measured.timing.finished.median()),
        time(comparison.module_load),
    ))
}

/// How the accesses fell, where the CPU device has counted them.
fn accesses(measured: &Measured) -> Option<String> {
    let counters = measured.counters?;
    let (sectors, lanes) = (counters.sectors_per_request()?, counters.active_lanes_percent()?);
    let used = sector_use(&counters)?;
    Some(format!(
        " The CPU device counted {} sectors of {SECTOR} bytes for each request of a warp, {} % of their bytes asked for, and \
         {} % of the lanes active.",
        digits(sectors),
        digits(used),
        digits(lanes)
    ))
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
        Some(reason) => format!(" ({reason})"),
        None => String::new(),
    };
    Some(format!(
        "All times are those of the CPU device{why}: it runs the same PTX in warps of {} lanes on {}. They are not GPU times.",
        comparison.facts.warp_size,
        plural(u64::from(comparison.facts.multiprocessors), "core"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::sample;

    fn with_last(shape: LaunchShape) -> Comparison {
        let mut comparison = sample::gpu();
        comparison.launches.last_mut().unwrap().shape = shape;
        comparison
    }

    fn said(rule: Rule, comparison: &Comparison) -> String {
        rule.sentence(comparison).unwrap_or_else(|| panic!("{rule:?} is silent"))
    }

    #[test]
    fn one_thread_leaves_the_device_idle() {
        assert_eq!(
            said(Rule::IdleHardware, &sample::gpu()),
            "<<<1, 1>>> runs 1 thread: 31 of the 32 lanes of its warp do nothing, and 131 of 132 multiprocessors have no \
             block. <<<9766, 256>>> has 2,500,096 threads: 74 blocks for each multiprocessor, all 32 lanes of each warp at work."
        );
        assert!(said(Rule::IdleHardware, &sample::cpu()).contains("1 of 2 cores has no block"));
        let few = said(Rule::IdleHardware, &with_last(LaunchShape::linear(8, 33)));
        assert!(few.ends_with("<<<8, 33>>> has 264 threads."), "{few}");
    }

    #[test]
    fn a_full_first_launch_or_a_launch_alone_is_not_called_idle() {
        let mut comparison = sample::gpu();
        comparison.launches[0].shape = LaunchShape::linear(132, 64);
        assert_eq!(Rule::IdleHardware.sentence(&comparison), None);
        comparison.launches.truncate(1);
        assert_eq!(Rule::IdleHardware.sentence(&comparison), None);
    }

    #[test]
    fn too_few_blocks_are_named_while_there_is_work_for_more() {
        let few = with_last(LaunchShape::linear(8, 256));
        assert_eq!(
            said(Rule::FewBlocks, &few),
            "<<<8, 256>>> has 8 blocks for 132 multiprocessors, and a block stays where it started: `--grid 132` or more gives \
             each one work."
        );
        assert_eq!(Rule::FewBlocks.sentence(&Comparison { n: 8192, ..few }), None);
        assert_eq!(Rule::FewBlocks.sentence(&sample::gpu()), None);
    }

    #[test]
    fn blocks_that_end_within_a_warp_are_named() {
        assert_eq!(
            said(Rule::PartialWarps, &with_last(LaunchShape::linear(500, 33))),
            "A block of 33 threads takes 2 warps of 32 lanes, and 31 of those 64 lanes have nothing to do: blocks of a \
             multiple of 32 threads (`--block 64`) leave none idle."
        );
        assert_eq!(Rule::PartialWarps.sentence(&sample::gpu()), None);
    }

    #[test]
    fn the_wait_is_explained_where_there_was_one() {
        assert_eq!(
            said(Rule::Asynchronous, &sample::gpu()),
            "The launch call returned after 4.20 µs, the kernel ran for 750 ms: a launch is asynchronous, and reading out[2] \
             right behind it took 751 ms because the read waits for the kernel. Once the kernel has finished, the same read \
             takes 11.0 µs."
        );
        let mut quick = sample::gpu();
        quick.launches.remove(0);
        quick.launches[0].naive.call = quick.launches[0].timing.kernel.median();
        assert_eq!(Rule::Asynchronous.sentence(&quick), None);
    }

    #[test]
    fn bandwidth_stands_beside_the_copys() {
        let gpu = said(Rule::Bandwidth, &sample::gpu());
        assert_eq!(
            gpu,
            "<<<9766, 256>>> moves 3429 GB/s, 83.6 % of what a device-to-device copy moved in this run (4100 GB/s)."
        );
        let cpu = said(Rule::Bandwidth, &sample::cpu());
        assert!(cpu.ends_with("16.0 sectors of 32 bytes for each request of a warp, 100 % of their bytes asked for, and 100 % of the lanes active."), "{cpu}");
    }

    #[test]
    fn noise_is_said_only_where_there_is_some() {
        assert_eq!(Rule::Noisy.sentence(&sample::gpu()), None);
        let mut noisy = sample::gpu();
        let kernel = &mut noisy.launches[1].timing.kernel;
        kernel.push(kernel.median() * 3);
        assert!(said(Rule::Noisy, &noisy).contains("of <<<9766, 256>>> lie between 34.0 µs and 105 µs"));
    }

    #[test]
    fn the_cpu_device_is_called_that_and_a_gpu_is_not() {
        let cpu = said(Rule::CpuDevice, &sample::cpu());
        assert!(
            cpu.contains("CPU device (no NVIDIA driver: not found)") && cpu.ends_with("They are not GPU times."),
            "{cpu}"
        );
        assert_eq!(Rule::CpuDevice.sentence(&sample::gpu()), None);
    }

    #[test]
    fn nothing_is_explained_about_no_work() {
        let nothing = Comparison { n: 0, ..sample::gpu() };
        let sentences: Vec<_> = Rule::ALL.iter().filter_map(|rule| rule.sentence(&nothing)).collect();
        assert_eq!(sentences.len(), 1, "{sentences:?}");
    }
}
