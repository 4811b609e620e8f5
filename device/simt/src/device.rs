//! The CPU device: takes a launch and spreads its blocks over the machine's cores.

use std::sync::{Arc, Mutex, PoisonError};

use crate::check::{Checks, Finding, Findings, Orders, Settings};
use crate::counters::Counters;
use crate::fault::{Fault, FaultKind};
use crate::memory::Memory;
use crate::pool::Workers;
use crate::program::{NEWEST_SM, Program};
use crate::run::{Launch, Watch};

/// What the device says of itself.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Name, with the word CPU in it.
    pub name: String,
    /// Cores that run blocks; the device's multiprocessors.
    pub multiprocessors: u32,
    /// Lanes a warp: 32.
    pub warp_size: u32,
    /// Highest compute capability times ten whose PTX runs.
    pub sm: u32,
    /// Threads a block at most, in all.
    pub max_threads_per_block: u32,
    /// Threads a block at most, each way.
    pub max_block: [u32; 3],
    /// Blocks a grid at most, each way.
    pub max_grid: [u32; 3],
    /// Bytes of shared memory a block may use without asking for more.
    pub shared_per_block: u32,
    /// Bytes of shared memory a block may have at most.
    pub shared_per_block_optin: u32,
    /// Bytes of constant memory.
    pub constant_bytes: u32,
}

/// How a kernel is launched.
#[derive(Debug, Clone, Copy)]
pub struct LaunchConfig {
    /// Blocks each way.
    pub grid: [u32; 3],
    /// Threads a block each way.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory a block.
    pub dynamic_shared: u32,
    /// All blocks are resident at once (`cuLaunchCooperativeKernel`).
    pub cooperative: bool,
    /// Also count what costs time to count: see [`Counters`]. The launch runs on one core.
    pub count_memory: bool,
}

/// The CPU device.
#[derive(Debug)]
pub struct Device {
    facts: Facts,
    memory: Arc<Memory>,
    workers: Workers,
    settings: Mutex<Settings>,
    findings: Arc<Findings>,
}

impl Device {
    /// A device that runs blocks on `threads` cores over `memory`: at least 1, and at most what the environment variable
    /// `GRIDSTRIDE_CPU_THREADS` says, if it holds a number.
    #[must_use]
    pub fn new(threads: usize, memory: Arc<Memory>) -> Self {
        let threads = cores(threads, std::env::var("GRIDSTRIDE_CPU_THREADS").ok().as_deref());
        let facts = Facts {
            name: format!("gridstride CPU device ({threads} core{})", if threads == 1 { "" } else { "s" }),
            multiprocessors: u32::try_from(threads).unwrap_or(u32::MAX),
            warp_size: 32,
            sm: NEWEST_SM,
            max_threads_per_block: 1024,
            max_block: [1024, 1024, 64],
            max_grid: [i32::MAX as u32, 65535, 65535],
            shared_per_block: 48 << 10,
            shared_per_block_optin: 227 << 10,
            constant_bytes: 64 << 10,
        };
        Self { facts, memory, workers: Workers::new(threads), settings: Mutex::default(), findings: Arc::default() }
    }

    /// What the device says of itself.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Its memory.
    #[must_use]
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// From now on, launches are watched as these settings say, and so is memory that is allocated.
    pub fn watch(&self, settings: Settings) {
        self.memory.watch(settings.checks.init, settings.checks != Checks::default());
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// How launches are watched.
    #[must_use]
    pub fn settings(&self) -> Settings {
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the checks found in launches that have ended.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Runs kernel number `kernel` of `program` to its end. `params` is the parameter buffer
    /// ([`crate::KernelInfo::params`]); the shape has been checked against [`Facts`] by the caller. What kernels print
    /// goes to standard output when the launch ends.
    ///
    /// Callable from several threads at once.
    ///
    /// # Errors
    /// The fault of the first block (in the order of the grid) that had one; blocks behind it may not have run. And
    /// [`FaultKind::BadLaunch`].
    ///
    /// # Panics
    /// When `kernel` is not below the number of the program's kernels.
    pub fn launch(
        &self,
        program: &Arc<Program>,
        kernel: usize,
        config: &LaunchConfig,
        params: &[u8],
    ) -> Result<Counters, Box<Fault>> {
        self.check(program, kernel, config)?;
        let settings = self.settings();
        if settings.schedules < 2 {
            return self.launch_once(program, kernel, config, params, settings);
        }
        let mut orders = Orders::new(&self.memory);
        let mut last = None;
        for seed in 0..u64::from(settings.schedules) {
            orders.restore(&self.memory);
            let settings = Settings { schedule_seed: Some(seed), ..settings };
            last = Some(self.launch_once(program, kernel, config, params, settings)?);
            if let Some(kind) = orders.compare(&self.memory, seed) {
                let kernel = Some(program.kernels()[kernel].name.clone());
                self.findings.add([Finding { kind, kernel, parties: Vec::new(), times: 1 }]);
                break;
            }
        }
        Ok(last.expect("at least two orders were run"))
    }

    fn launch_once(
        &self,
        program: &Arc<Program>,
        kernel: usize,
        config: &LaunchConfig,
        params: &[u8],
        settings: Settings,
    ) -> Result<Counters, Box<Fault>> {
        let is_watched = settings.checks.watch() || settings.schedule_seed.is_some() || config.count_memory;
        let watch =
            is_watched.then(|| Watch { kernel: program.watched(kernel), settings, findings: self.findings.clone() });
        let cores = self.facts.multiprocessors;
        let launch = Launch::new(program.clone(), kernel, *config, params, &self.memory, cores, watch);
        self.workers.run(Arc::new(launch))
    }

    /// What callers have checked already, so that nothing below has to.
    fn check(&self, program: &Program, kernel: usize, config: &LaunchConfig) -> Result<(), Box<Fault>> {
        let facts = &self.facts;
        let info = &program.kernels()[kernel];
        let threads = config.block.iter().fold(1u64, |all, n| all.saturating_mul(u64::from(*n)));
        let within = |shape: [u32; 3], most: [u32; 3]| shape.iter().zip(&most).all(|(n, most)| n <= most);
        let shared = u64::from(program.kernels[kernel].shared_bytes(config.dynamic_shared));
        let detail =
            if threads == 0 || threads > facts.max_threads_per_block.into() || !within(config.block, facts.max_block) {
                format!("a block of {:?} threads; the device runs 1 to {}", config.block, facts.max_threads_per_block)
            } else if !within(config.grid, facts.max_grid) {
                format!("a grid of {:?} blocks; the device runs up to {:?}", config.grid, facts.max_grid)
            } else if shared > facts.shared_per_block_optin.into() {
                format!("{shared} bytes of shared memory a block; the device has {}", facts.shared_per_block_optin)
            } else {
                return Ok(());
            };
        Err(Box::new(Fault {
            kind: FaultKind::BadLaunch { detail },
            kernel: info.name.clone(),
            block: [0; 3],
            thread: None,
            ptx_line: 0,
            instruction: String::new(),
            loc: None,
        }))
    }
}

fn cores(asked: usize, most: Option<&str>) -> usize {
    let most = most.and_then(|text| text.trim().parse().ok());
    asked.min(most.unwrap_or(usize::MAX)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_caps_the_cores() {
        assert_eq!(cores(8, None), 8);
        assert_eq!(cores(8, Some(" 3 ")), 3);
        assert_eq!(cores(2, Some("3")), 2);
        assert_eq!(cores(8, Some("0")), 1);
        assert_eq!(cores(0, Some("many")), 1);
    }
}
