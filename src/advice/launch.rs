//! Rules about a launch before it runs: its shape, the work, the device, and what the kernel needs, as far as it is known.

use gridstride_cpu::foreign::Signature;
use gridstride_cpu::{Facts, KernelFacts, LaunchShape};

use super::idle_lanes;
use crate::units::{count, digits, plural};

/// How a kernel goes over its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    /// A grid-stride loop: any number of threads covers everything.
    GridStride,
    /// One element a thread: threads beyond the work do nothing, elements beyond the threads stay as they were.
    None,
    /// Nobody has said.
    Unknown,
}

/// A launch as one would write it.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    pub facts: &'a Facts,
    pub shape: LaunchShape,
    /// Elements, or iterations of the loop; `None` where nobody has said.
    pub n: Option<u64>,
    pub over: Loop,
    /// What the text of the kernel says.
    pub signature: Option<&'a Signature>,
    /// What the device says of the kernel.
    pub kernel: Option<KernelFacts>,
}

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    Refused,
    Swapped,
    Bounds,
    NoWork,
    Uncovered,
    OneThread,
    PartialWarps,
    ThinAlongX,
    FewBlocks,
    LastWave,
    SurplusBlocks,
    Occupancy,
    IndexWidth,
}

impl Rule {
    /// All rules, the gravest first.
    pub const ALL: &[Self] = &[
        Self::Refused,
        Self::Swapped,
        Self::Bounds,
        Self::NoWork,
        Self::Uncovered,
        Self::OneThread,
        Self::PartialWarps,
        Self::ThinAlongX,
        Self::FewBlocks,
        Self::LastWave,
        Self::SurplusBlocks,
        Self::Occupancy,
        Self::IndexWidth,
    ];

    /// A short name, for programs and for the documentation.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Swapped => "swapped",
            Self::Bounds => "bounds",
            Self::NoWork => "no-work",
            Self::Uncovered => "uncovered",
            Self::OneThread => "one-thread",
            Self::PartialWarps => "partial-warps",
            Self::ThinAlongX => "thin-along-x",
            Self::FewBlocks => "few-blocks",
            Self::LastWave => "last-wave",
            Self::SurplusBlocks => "surplus-blocks",
            Self::Occupancy => "occupancy",
            Self::IndexWidth => "index-width",
        }
    }

    /// Where it comes from.
    #[must_use]
    pub fn source(self) -> &'static str {
        match self {
            Self::Refused | Self::Swapped => {
                "CUDA C++ Programming Guide, Technical Specifications per Compute Capability; CUDA Driver API, cuLaunchKernel"
            }
            Self::Bounds => "PTX ISA, Performance-Tuning Directives: .maxntid, .reqntid",
            Self::NoWork => "CUDA Driver API, cuLaunchKernel",
            Self::Uncovered => "CUDA C++ Programming Guide, Thread Hierarchy",
            Self::OneThread | Self::PartialWarps => "CUDA C++ Programming Guide, SIMT Architecture",
            Self::ThinAlongX => {
                "CUDA C++ Programming Guide, Thread Hierarchy; Best Practices Guide, Coalesced Access to Global Memory"
            }
            Self::FewBlocks | Self::LastWave | Self::Occupancy => {
                "CUDA C++ Best Practices Guide, Execution Configuration Optimizations"
            }
            Self::SurplusBlocks => "CUDA C++ Programming Guide, Thread Hierarchy",
            Self::IndexWidth => "CUDA C++ Programming Guide, Built-in Variables: unsigned int",
        }
    }

    /// The rule's sentence about a launch, if it has one.
    #[must_use]
    pub fn sentence(self, launch: &Launch<'_>) -> Option<String> {
        let refused = launch.shape.check(launch.facts).is_err();
        match self {
            Self::Refused => self::refused(launch),
            Self::Swapped => swapped(launch),
            // A launch that does not happen has no other properties.
            _ if refused => None,
            Self::Bounds => bounds(launch),
            Self::NoWork => no_work(launch),
            _ if launch.n == Some(0) => None,
            Self::Uncovered => uncovered(launch),
            Self::OneThread => one_thread(launch),
            Self::PartialWarps => partial_warps(launch),
            Self::ThinAlongX => thin_along_x(launch),
            Self::FewBlocks => few_blocks(launch),
            Self::LastWave => last_wave(launch),
            Self::SurplusBlocks => surplus_blocks(launch),
            Self::Occupancy => occupancy(launch),
            Self::IndexWidth => index_width(launch),
        }
    }
}

impl Launch<'_> {
    fn warp(&self) -> u64 {
        u64::from(self.facts.warp_size)
    }

    fn processors(&self) -> u64 {
        u64::from(self.facts.multiprocessors)
    }

    /// What a multiprocessor is called on this device.
    fn processor(&self) -> &'static str {
        if self.facts.is_gpu() { "multiprocessor" } else { "core" }
    }

    /// True where one more thread would have something to do.
    fn has_work_for_more(&self) -> bool {
        self.n.is_none_or(|n| n > self.shape.threads())
    }

    /// Blocks that cover the work at one element a thread.
    fn needed_blocks(&self) -> Option<u64> {
        Some(self.n?.div_ceil(self.shape.threads_per_block().max(1)).max(1))
    }
}

fn refused(launch: &Launch<'_>) -> Option<String> {
    let error = launch.shape.check(launch.facts).err()?;
    let empty = launch.shape.grid.contains(&0);
    let rounding = if empty {
        " A grid of 0 often comes from n / threads, which is 0 where n is smaller: round up, n.div_ceil(threads), and launch \
         nothing where n is 0."
    } else {
        ""
    };
    Some(format!(
        "The device refuses this launch: {error}. No thread runs, and the output stays what it was; a program that does not \
         look at the launch's error sees old values and a very short time.{rounding}"
    ))
}

/// `<<<threads, blocks>>>` for `<<<blocks, threads>>>`.
fn swapped(launch: &Launch<'_>) -> Option<String> {
    let LaunchShape { grid, block } = launch.shape;
    let turned = LaunchShape { grid: block, block: grid };
    let threads = launch.shape.threads_per_block();
    let too_many = threads > u64::from(launch.facts.max_threads_per_block);
    (too_many && grid != [1; 3] && turned.check(launch.facts).is_ok()).then(|| {
        format!(
            "The launch is <<<blocks, threads>>>, in this order: perhaps {turned} was meant, {} of {}.",
            plural(turned.blocks(), "block"),
            plural(turned.threads_per_block(), "thread")
        )
    })
}

fn bounds(launch: &Launch<'_>) -> Option<String> {
    let bounds = launch.signature?.bounds;
    let (threads, block) = (launch.shape.threads_per_block(), launch.shape.block);
    if let Some(required) = bounds.required_threads.filter(|required| *required != block) {
        let [x, y, z] = required;
        return Some(format!(
            "The kernel was compiled for blocks of exactly {x}x{y}x{z} threads (.reqntid): other blocks are refused."
        ));
    }
    let most: u64 = bounds.max_threads?.iter().map(|n| u64::from(*n)).product();
    (threads > most).then(|| {
        format!(
            "The kernel was compiled for at most {} a block (.maxntid), and this block has {}: it is refused.",
            plural(most, "thread"),
            count(threads)
        )
    })
}

fn no_work(launch: &Launch<'_>) -> Option<String> {
    (launch.n == Some(0))
        .then(|| "There is nothing to do for 0 elements: the launch costs its time all the same.".to_owned())
}

fn uncovered(launch: &Launch<'_>) -> Option<String> {
    let (n, threads) = (launch.n?, launch.shape.threads());
    if launch.over != Loop::None || threads >= n {
        return None;
    }
    Some(format!(
        "A kernel of one element a thread leaves elements {} to {} as they were: there are {} for {}. `--grid {}` covers them, \
         and a grid-stride loop covers any number from any shape.",
        count(threads),
        count(n - 1),
        plural(threads, "thread"),
        plural(n, "element"),
        launch.needed_blocks()?,
    ))
}

fn one_thread(launch: &Launch<'_>) -> Option<String> {
    let warp = launch.warp();
    if launch.shape.threads() > 1 || !launch.has_work_for_more() {
        return None;
    }
    let work = launch.n.map_or(String::new(), |n| format!(" does {} one after another:", plural(n, "iteration")));
    let others = launch.processors() - 1;
    let idle = match others {
        0 => String::new(),
        _ => {
            let have = if others == 1 { "has" } else { "have" };
            format!(", and {} of {} {have} no block", count(others), plural(launch.processors(), launch.processor()))
        }
    };
    let work = if work.is_empty() { ":".to_owned() } else { work };
    Some(format!(
        "A single thread{work} {} of the {warp} lanes of its warp do nothing{idle}. {}",
        warp - 1,
        enough(launch)
    ))
}

/// The shape that would do.
fn enough(launch: &Launch<'_>) -> String {
    let n = launch.n.unwrap_or(u64::MAX);
    let full = LaunchShape::full(launch.facts, n, 3 * 16);
    match launch.n {
        Some(_) => format!("A full grid is {full}."),
        None => "Launch a block of 256 threads for every 256 elements.".to_owned(),
    }
}

fn partial_warps(launch: &Launch<'_>) -> Option<String> {
    let (idle, lanes) = idle_lanes(launch.shape, launch.warp());
    // One thread has its own rule; a block that is as large as the work has no more to do.
    if idle == 0 || launch.shape.threads() == 1 || !launch.has_work_for_more() {
        return None;
    }
    Some(format!(
        "A block of {} takes {} of {} lanes: {idle} of those {lanes} lanes have no thread. Blocks of a multiple of {} threads \
         (`--block {lanes}`) leave none idle.",
        plural(launch.shape.threads_per_block(), "thread"),
        plural(lanes / launch.warp(), "warp"),
        launch.warp(),
        launch.warp(),
    ))
}

fn thin_along_x(launch: &Launch<'_>) -> Option<String> {
    let [x, y, z] = launch.shape.block;
    (x == 1 && y * z > 1).then(|| {
        format!(
            "The block is 1 thread wide along x, and the lanes of a warp go along x first: neighbouring lanes differ in y, so \
             that a kernel which indexes rows by x reads one element of each row. `--block {}x1` puts neighbours side by side.",
            y * z
        )
    })
}

fn few_blocks(launch: &Launch<'_>) -> Option<String> {
    let (blocks, processors) = (launch.shape.blocks(), launch.processors());
    if blocks >= processors || launch.shape.threads() == 1 || !launch.has_work_for_more() {
        return None;
    }
    let idle = processors - blocks;
    let have = if idle == 1 { "has" } else { "have" };
    Some(format!(
        "{} for {}: a block stays where it started, so {} {have} nothing to do. `--grid {processors}` or more gives each one \
         work.",
        plural(blocks, "block"),
        plural(processors, launch.processor()),
        count(idle),
    ))
}

/// Less than this share of the last wave's places used, in few waves, is worth a word.
const LAST_WAVE: f64 = 0.8;

fn last_wave(launch: &Launch<'_>) -> Option<String> {
    let each = u64::from(launch.kernel.and_then(|kernel| kernel.blocks_per_multiprocessor).unwrap_or(1).max(1));
    // The CPU device hands a core one block at a time.
    let at_once = launch.processors() * if launch.facts.is_gpu() { each } else { 1 };
    let blocks = launch.shape.blocks();
    if launch.facts.is_gpu() && launch.kernel.is_none() || blocks <= at_once {
        return None;
    }
    let waves = blocks as f64 / at_once as f64;
    let used = waves / waves.ceil();
    (used < LAST_WAVE).then(|| {
        let last = blocks % at_once;
        format!(
            "{} run at a time, and {} take {} waves, of which the last has {last}: {} % of the device's time is used. A grid of \
             a multiple of {at_once}, or many more and smaller blocks, evens that out.",
            plural(at_once, "block"),
            count(blocks),
            waves.ceil(),
            digits(100.0 * used),
        )
    })
}

fn surplus_blocks(launch: &Launch<'_>) -> Option<String> {
    let (needed, blocks) = (launch.needed_blocks()?, launch.shape.blocks());
    // How a kernel that nobody has described shares out its elements is not known.
    (blocks > needed && launch.over != Loop::Unknown).then(|| {
        format!(
            "{} of {} have no element: {} are covered by {}. Starting the others costs time and does nothing.",
            count(blocks - needed),
            plural(blocks, "block"),
            plural(launch.n.unwrap_or(0), "iteration"),
            plural(needed, "block"),
        )
    })
}

/// Below this share of the threads that a multiprocessor can hold there is often not enough in flight to hide waiting.
const LOW_OCCUPANCY: f64 = 0.25;

fn occupancy(launch: &Launch<'_>) -> Option<String> {
    let kernel = launch.kernel.filter(|_| launch.facts.is_gpu())?;
    let (blocks, most) =
        (u64::from(kernel.blocks_per_multiprocessor?), u64::from(launch.facts.max_threads_per_multiprocessor));
    if most == 0 {
        return None;
    }
    let threads = blocks * launch.shape.threads_per_block();
    if blocks == 0 {
        return Some(format!(
            "No block of {} of this kernel fits a multiprocessor ({} registers a thread, {} bytes of shared memory a block): the \
             launch is refused.",
            plural(launch.shape.threads_per_block(), "thread"),
            kernel.registers,
            kernel.static_shared
        ));
    }
    let share = threads as f64 / most as f64;
    // With too few blocks to go round, how many would fit is not what is wrong.
    let filled = launch.shape.blocks() >= launch.processors() * blocks;
    (share < LOW_OCCUPANCY && filled).then(|| {
        format!(
            "A multiprocessor holds {} of this kernel, {} of the {} threads that it has room for ({} %): {} registers a thread and \
             {} bytes of shared memory a block leave no room for more, or the blocks are so small that their number is the limit.",
            plural(blocks, "block"),
            count(threads),
            count(most),
            digits(100.0 * share),
            kernel.registers,
            kernel.static_shared,
        )
    })
}

fn index_width(launch: &Launch<'_>) -> Option<String> {
    let n = launch.n.filter(|n| *n > i32::MAX as u64 && launch.over != Loop::GridStride)?;
    Some(format!(
        "{} do not fit a 32-bit int: `int i = blockIdx.x * blockDim.x + threadIdx.x` turns negative on the way. Index in 64 bits.",
        plural(n, "element")
    ))
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
