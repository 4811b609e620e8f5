//! Sees every instruction of a launch that is watched, and hands it to the checks and the counters.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use gridstride_ptx::{Module, Space};

use super::bits::Bits;
use super::block::{Arrival, BlockWatch};
use super::finding::{Finding, FindingKind, Party};
use super::note::{Accessing, Effect, Note};
use super::race::{self, Actor, Race, Races};
use super::schedule::Schedule;
use super::settings::Settings;
use super::touch::Touch;
use super::{Checks, Site};
use crate::control::lanes_of;
use crate::fault::Access;
use crate::lane::Lanes;
use crate::layout::Named;
use crate::memory::{Allocation, Region};
use crate::program::Kernel;

/// Findings that differ in their instructions, at most, in one launch.
const MOST: usize = 100;

/// Watches the warps of a launch.
#[derive(Debug)]
pub(crate) struct Observer {
    checks: Checks,
    count: bool,
    module: Arc<Module>,
    kernel: Arc<Kernel>,
    name: Arc<str>,
    grid: [u32; 3],
    threads: [u32; 3],
    /// Accesses so far.
    pub(crate) stamp: u64,
    races: Races,
    regions: Vec<(Allocation, Arc<Region>)>,
    findings: Vec<Finding>,
    /// Position in `findings`, by what makes two of them the same.
    known: HashMap<(u8, Spot, Option<Spot>), usize>,
    pub(crate) schedule: Option<Schedule>,
    /// Stores that changed something, and exits.
    progress: u64,
}

/// A place in the program, see [`Observer::spot`].
type Spot = (u64, u32);

/// Where a warp is when it is looked at.
pub(crate) struct Scene<'a> {
    pub(crate) function: u32,
    /// The instruction that ran last, or a number that none has.
    pub(crate) at: u32,
    pub(crate) block: u64,
    pub(crate) first_thread: u32,
    pub(crate) watch: &'a mut BlockWatch,
    pub(crate) local_written: &'a mut Bits,
}

/// One side of a finding, before it has words.
#[derive(Debug, Clone)]
struct Seen {
    block: u64,
    thread: u32,
    site: Site,
    what: String,
}

impl Observer {
    pub(crate) fn new(
        settings: Settings,
        count: bool,
        module: &Arc<Module>,
        kernel: &Arc<Kernel>,
        name: &Arc<str>,
        grid: [u32; 3],
        threads: [u32; 3],
    ) -> Self {
        let blocks = grid.iter().map(|n| u64::from(*n)).product();
        Self {
            checks: settings.checks,
            count,
            module: module.clone(),
            kernel: kernel.clone(),
            name: name.clone(),
            grid,
            threads,
            stamp: 0,
            races: Races::default(),
            regions: Vec::new(),
            findings: Vec::new(),
            known: HashMap::new(),
            progress: 0,
            schedule: settings.schedule_seed.map(|seed| Schedule::new(seed, blocks)),
        }
    }

    /// Goes up whenever something has come of what a thread did; `None` if nobody wants to know.
    pub(crate) fn progress(&self) -> Option<u64> {
        self.checks.sync.then_some(self.progress)
    }

    /// Something has come of what a thread did.
    pub(crate) fn advance(&mut self) {
        self.progress += 1;
    }

    /// What was found.
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// What is watched of a block that starts.
    pub(crate) fn block(&self, threads: u32, shared_bytes: u32) -> BlockWatch {
        let words = if self.checks.race { shared_bytes.div_ceil(4) as usize } else { 0 };
        let mut watch = BlockWatch::new(threads, words);
        if self.checks.init {
            watch.shared_written.reset(shared_bytes as usize);
        }
        watch
    }

    /// A warp starts with so much local memory, all lanes together.
    pub(crate) fn warp(&self, local_written: &mut Bits, bytes: usize) {
        local_written.reset(if self.checks.init { bytes } else { 0 });
    }

    /// An instruction has run for the lanes of `lanes.mask`. `touch` and `source` are what it was about to access.
    ///
    /// # Safety
    /// `note` must be of the function whose frame `lanes` has.
    pub(crate) unsafe fn ran(
        &mut self,
        lanes: &mut Lanes<'_>,
        scene: &mut Scene<'_>,
        note: &Note,
        at: u32,
        touches: [Option<Touch>; 2],
    ) {
        let site = Site { function: scene.function, at };
        let accesses = [note.source.as_deref(), note.access.as_deref()];
        for (accessing, touch) in accesses.into_iter().zip(touches) {
            let (Some(accessing), Some(touch)) = (accessing, touch) else { continue };
            if self.count {
                touch.count(lanes.counters, accessing);
            }
            self.stamp += 1;
            if self.checks.race {
                // SAFETY: by the caller.
                unsafe { self.race(lanes, scene, site, accessing, &touch) };
            }
            if self.checks.init {
                self.init(lanes, scene, site, accessing, &touch);
            }
        }
        if let (true, Effect::Fence { wide }) = (self.checks.race, note.effect) {
            race::fence(scene.watch, self.actor(scene, site), lanes.mask, wide);
        }
    }

    fn actor(&self, scene: &Scene<'_>, site: Site) -> Actor {
        Actor { block: scene.block as u32, first_thread: scene.first_thread, site, stamp: self.stamp }
    }

    unsafe fn race(
        &mut self,
        lanes: &Lanes<'_>,
        scene: &mut Scene<'_>,
        site: Site,
        accessing: &Accessing,
        touch: &Touch,
    ) {
        let actor = self.actor(scene, site);
        let mut found: Vec<Race> = Vec::new();
        let mut races = std::mem::take(&mut self.races);
        // SAFETY: by the caller.
        unsafe { races.access(scene.watch, actor, lanes, accessing, touch, |race| found.push(race)) };
        self.races = races;
        for Race { space, address, lane, clash, kind } in found {
            let earlier = clash.earlier;
            let scope = earlier.kind.has(super::shadow::Kind::STRONG) && kind.has(super::shadow::Kind::STRONG);
            let first = Seen {
                block: earlier.block.into(),
                thread: u32::from(earlier.warp) * 32 + clash.lane,
                site: earlier.site,
                what: doing(earlier.kind).to_owned(),
            };
            let second =
                Seen { block: scene.block, thread: scene.first_thread + lane, site, what: doing(kind).to_owned() };
            let (variable, same_value) = (self.variable(space, address), clash.same_value);
            let race = FindingKind::Race { space, address, variable, same_value, scope };
            self.report(if clash.same_value { 1 } else { 0 }, race, vec![first, second]);
        }
    }

    fn init(&mut self, lanes: &Lanes<'_>, scene: &mut Scene<'_>, site: Site, accessing: &Accessing, touch: &Touch) {
        let reads = accessing.access != Access::Write;
        let writes = accessing.access != Access::Read;
        for lane in lanes_of(touch.global | touch.shared | touch.local) {
            let bit = 1 << lane;
            let from = touch.at[lane];
            let (space, bits_from, region) = if touch.shared & bit != 0 {
                (Space::Shared, from, None)
            } else if touch.local & bit != 0 {
                (Space::Local, lane as u64 * u64::from(lanes.local_bytes) + from, None)
            } else {
                let Some((allocation, region)) = self.region(lanes, from) else { continue };
                (Space::Global, from - allocation.base, Some((allocation, region)))
            };
            for part in (0..accessing.size).step_by(accessing.element as usize) {
                let (at, size) = (bits_from + part, accessing.element);
                let written = match (&region, space) {
                    (Some((_, region)), _) => region.is_written(at, size),
                    (None, Space::Shared) => scene.watch.shared_written.all(at, size),
                    (None, _) => scene.local_written.all(at, size),
                };
                if reads && !written {
                    let seen = Seen {
                        block: scene.block,
                        thread: scene.first_thread + lane as u32,
                        site,
                        what: accessing.access.to_string(),
                    };
                    let allocation = region.as_ref().map(|(allocation, _)| *allocation);
                    let (address, size) = (from + part, size as u32);
                    let variable = self.variable(space, address);
                    let read = FindingKind::Uninitialised { space, address, size, variable, allocation };
                    self.report(2, read, vec![seen]);
                }
                if writes {
                    match (&region, space) {
                        (Some((_, region)), _) => region.mark_written(at, size),
                        (None, Space::Shared) => scene.watch.shared_written.set(at, size),
                        (None, _) => scene.local_written.set(at, size),
                    }
                }
            }
        }
    }

    /// The variable that an address is in, and how far from its start.
    fn variable(&self, space: Space, address: u64) -> Option<(Arc<str>, u64)> {
        let holds = |one: &&Named| one.space == space && address.wrapping_sub(one.address) < one.size.max(1);
        let named = self.kernel.named.iter().find(holds)?;
        Some((named.name.clone(), address - named.address))
    }

    /// The allocation that an address is in. It was found there before, so looking it up is short.
    fn region(&mut self, lanes: &Lanes<'_>, address: u64) -> Option<(Allocation, Arc<Region>)> {
        let holds = |known: &&(Allocation, Arc<Region>)| known.0.holds(address, 1);
        if let Some(known) = self.regions.iter().find(holds) {
            return Some(known.clone());
        }
        let found = lanes.launch.memory.region(address)?;
        self.regions.push(found.clone());
        Some(found)
    }

    /// The device heap has changed.
    pub(crate) fn forget_regions(&mut self) {
        self.regions.clear();
    }

    /// A warp-wide operation has run for `lanes`.
    pub(crate) fn warp_wide(
        &mut self,
        watch: &mut BlockWatch,
        (block, first_thread): (u64, u32),
        site: Site,
        effect: Effect,
        (lanes, members, live): (u32, u32, u32),
    ) {
        if self.checks.race && effect == Effect::WarpBarrier {
            let members = members & live;
            watch.warp_barrier(first_thread, lanes, members | lanes, members == live, self.stamp);
        }
        if self.checks.sync && lanes & !members != 0 {
            let thread = first_thread + (lanes & !members).trailing_zeros();
            let seen = Seen { block, thread, site, what: "executes it".to_owned() };
            self.report(3, FindingKind::MaskWithoutSelf { members }, vec![seen]);
        }
    }

    /// A barrier has opened. `everyone`: it is for all threads of the block, of which so many have exited.
    pub(crate) fn barrier(&mut self, block: u64, barrier: usize, came: &[Arrival], everyone: bool, exited: u32) {
        if !self.checks.sync || !everyone {
            return;
        }
        let mut places: Vec<(Site, u32, u32)> = Vec::new();
        for arrival in came {
            match places.iter_mut().find(|(site, ..)| *site == arrival.site) {
                Some((_, count, _)) => *count += arrival.lanes.count_ones(),
                None => {
                    let first = arrival.first_thread + arrival.lanes.trailing_zeros();
                    places.push((arrival.site, arrival.lanes.count_ones(), first));
                }
            }
        }
        let arrived = places.iter().map(|(_, count, _)| count).sum();
        let seen: Vec<Seen> = (places.iter())
            .map(|(site, count, thread)| Seen {
                block,
                thread: *thread,
                site: *site,
                what: format!("{count} thread{} came here", if *count == 1 { "" } else { "s" }),
            })
            .collect();
        let barrier = barrier as u32;
        if seen.len() > 1 {
            self.report(4, FindingKind::BarrierLines { barrier }, seen.clone());
        }
        if exited > 0 && !seen.is_empty() {
            self.report(5, FindingKind::BarrierMissed { barrier, arrived, exited }, seen);
        }
    }

    fn report(&mut self, what: u8, kind: FindingKind, seen: Vec<Seen>) {
        let Some(first) = seen.first() else { return };
        // A race is the same whichever side comes first; a read that races is another matter than a write.
        let (first, second) = (self.spot(first.site), seen.get(1).map(|second| self.spot(second.site)));
        let key = (what, first.min(second.unwrap_or(first)), second.map(|second| second.max(first)));
        if let Some(known) = self.known.get(&key) {
            self.findings[*known].times += 1;
            return;
        }
        if self.findings.len() < MOST {
            let parties = seen.into_iter().map(|seen| self.party(seen)).collect();
            self.known.insert(key, self.findings.len());
            self.findings.push(Finding { kind, kernel: Some(self.name.clone()), parties, times: 1 });
        }
    }

    /// What makes a place in the program the same as another one: its line, where there are line tables. Unrolled loops
    /// repeat instructions.
    fn spot(&self, site: Site) -> Spot {
        let instr = &self.module.functions[site.function as usize].instrs[site.at as usize];
        match &instr.loc {
            Some(loc) => {
                let mut hasher = std::hash::DefaultHasher::new();
                loc.file.hash(&mut hasher);
                (hasher.finish(), loc.line)
            }
            None => (site.function.into(), site.at),
        }
    }

    fn party(&self, seen: Seen) -> Party {
        let function = &self.module.functions[seen.site.function as usize];
        let instr = &function.instrs[seen.site.at as usize];
        let [x, y, _] = self.grid.map(u64::from);
        let [width, height, _] = self.threads;
        let (block, thread) = (seen.block, seen.thread);
        Party {
            block: [block % x, block / x % y, block / x / y].map(|n| n as u32),
            thread: [thread % width, thread / width % height, thread / width / height],
            what: seen.what,
            ptx_line: instr.line,
            instruction: self.module.instr_text(function, seen.site.at as usize),
            loc: instr.loc.clone(),
        }
    }
}

fn doing(kind: super::shadow::Kind) -> &'static str {
    use super::shadow::Kind;
    match (kind.has(Kind::ATOMIC), kind.has(Kind::WRITE)) {
        (true, _) => "atomic",
        (false, true) => "write",
        (false, false) => "read",
    }
}
