//! Sentences that follow from the CPU device's counters. They are counts and not times: what they say of lanes, sectors and banks
//! holds on a GPU as well.

use gridstride_cpu::{Counters, LaunchShape};

use crate::findings::counters::{SECTOR, sector_use};
use crate::units::{count, digits};

/// A launch and what was counted in it.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    pub shape: LaunchShape,
    pub counters: Counters,
}

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    LanesWithoutThread,
    Divergence,
    Sectors,
    BankConflicts,
    Atomics,
}

/// Below this share of lanes at work something can be done.
const FEW_LANES: f64 = 75.0;
/// Below this share of the moved bytes asked for accesses are scattered.
const SCATTERED: f64 = 60.0;
/// More extra passes than this for each request cost as much as the requests.
const CONFLICTS: f64 = 0.5;

impl Rule {
    /// All rules, in the order in which they are told.
    pub const ALL: &[Self] =
        &[Self::LanesWithoutThread, Self::Divergence, Self::Sectors, Self::BankConflicts, Self::Atomics];

    /// A short name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LanesWithoutThread => "lanes-without-thread",
            Self::Divergence => "divergence",
            Self::Sectors => "sectors",
            Self::BankConflicts => "bank-conflicts",
            Self::Atomics => "atomics",
        }
    }

    /// The rule's sentence about a launch, if it has one.
    #[must_use]
    pub fn sentence(self, counted: &Counted) -> Option<String> {
        match self {
            Self::LanesWithoutThread => lanes_without_thread(counted),
            Self::Divergence => divergence(counted),
            Self::Sectors => sectors(counted),
            Self::BankConflicts => bank_conflicts(counted),
            Self::Atomics => atomics(counted),
        }
    }
}

/// Share of the lanes of the launch's warps that have a thread, in per cent.
fn populated(shape: LaunchShape) -> f64 {
    let threads = shape.threads_per_block();
    100.0 * threads as f64 / (threads.div_ceil(32) * 32).max(1) as f64
}

/// CUDA C++ Programming Guide, "SIMT Architecture".
fn lanes_without_thread(Counted { shape, counters }: &Counted) -> Option<String> {
    let (active, populated) = (counters.active_lanes_percent()?, populated(*shape));
    (populated < FEW_LANES && active < FEW_LANES).then(|| {
        format!(
            "{shape}: a warp instruction works for {} of 32 lanes on average, because a block of {} fills {} % of the lanes of its \
             warps.",
            digits(32.0 * active / 100.0),
            crate::units::plural(shape.threads_per_block(), "thread"),
            digits(populated),
        )
    })
}

/// CUDA C++ Programming Guide, "SIMT Architecture": paths of a branch run one after another.
fn divergence(Counted { shape, counters }: &Counted) -> Option<String> {
    let (active, populated) = (counters.active_lanes_percent()?, populated(*shape));
    // What the shape does not explain, branches do.
    (counters.divergent_branches > 0 && active < FEW_LANES / 100.0 * populated).then(|| {
        format!(
            "{shape}: at {} branches the lanes of a warp went two ways, and on average {} of 32 lanes were at work: the two ways run \
             one after the other. Let neighbouring threads decide alike.",
            count(counters.divergent_branches),
            digits(32.0 * active / 100.0),
        )
    })
}

/// CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory".
fn sectors(Counted { shape, counters }: &Counted) -> Option<String> {
    let (used, each) = (sector_use(counters)?, counters.sectors_per_request()?);
    let needed = (counters.global_bytes as f64 / (SECTOR * counters.global_requests) as f64).max(1.0);
    // What a request asks for is not always a whole sector.
    (used < SCATTERED && each > 1.5 * needed).then(|| {
        format!(
            "{shape}: a request to global memory touches {} sectors of {SECTOR} bytes where {} would hold what its lanes ask for: {} % of \
             the bytes moved are used. Neighbouring lanes should ask for neighbouring bytes.",
            digits(each),
            digits(needed),
            digits(used),
        )
    })
}

/// CUDA C++ Programming Guide, "Shared Memory": 32 banks of 4 bytes.
fn bank_conflicts(Counted { shape, counters }: &Counted) -> Option<String> {
    let (conflicts, requests) = (counters.bank_conflicts, counters.shared_requests);
    (requests > 0 && conflicts as f64 > CONFLICTS * requests as f64).then(|| {
        format!(
            "{shape}: {} requests to shared memory took {} passes more than they had to, {} each: lanes meet in the same of 32 banks. \
             A row that is one element longer spreads a column over all of them.",
            count(requests),
            count(conflicts),
            digits(conflicts as f64 / requests as f64),
        )
    })
}

/// An atomic operation for every few lane instructions is what the kernel does.
const MANY_ATOMICS: f64 = 0.05;

/// CUDA C++ Programming Guide, "Atomic Functions".
fn atomics(Counted { shape, counters }: &Counted) -> Option<String> {
    let share = counters.atomics as f64 / counters.lane_instructions.max(1) as f64;
    (share > MANY_ATOMICS).then(|| {
        format!(
            "{shape}: {} atomic operations, one for every {} instructions of a lane: those on one address wait for each other. Add \
             up within a warp or block first.",
            count(counters.atomics),
            digits(1.0 / share),
        )
    })
}

/// What the difference of two launches says, if there is one.
#[must_use]
pub fn difference(first: &Counted, last: &Counted) -> Option<String> {
    let (a, b) = (first.counters.instructions as f64, last.counters.instructions as f64);
    let more = |a: f64, b: f64| a > 0.0 && b > 0.0 && (a / b >= 1.5 || b / a >= 1.5);
    if !more(a, b) {
        return None;
    }
    let ((many, few), (from, to)) = if a > b { ((a, b), (first, last)) } else { ((b, a), (last, first)) };
    let lanes = |counted: &Counted| digits(0.32 * counted.counters.active_lanes_percent().unwrap_or(0.0));
    Some(format!(
        "{} issues {} times as many warp instructions as {} for the same work: each works for {} lanes on average there, and for {} here.",
        from.shape,
        digits(many / few),
        to.shape,
        lanes(from),
        lanes(to),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::sample;

    fn counted(at: usize) -> Counted {
        let measured = &sample::cpu().launches[at];
        Counted { shape: measured.shape, counters: measured.counters.unwrap() }
    }

    fn spoken(counted: &Counted) -> Vec<&'static str> {
        Rule::ALL.iter().filter(|rule| rule.sentence(counted).is_some()).map(|rule| rule.name()).collect()
    }

    #[test]
    fn a_good_launch_gets_no_sentence_and_one_thread_gets_its_own() {
        assert_eq!(spoken(&counted(1)), Vec::<&str>::new());
        assert_eq!(spoken(&counted(0)), ["lanes-without-thread"]);
        let said = Rule::LanesWithoutThread.sentence(&counted(0)).unwrap();
        assert_eq!(
            said,
            "<<<1, 1>>>: a warp instruction works for 1.00 of 32 lanes on average, because a block of 1 thread fills 3.12 % of the lanes \
             of its warps."
        );
    }

    #[test]
    fn each_rule_follows_from_its_counter() {
        let good = counted(1);
        let with = |counters| Counted { counters, ..good };
        let base = good.counters;
        let diverging = Counters { divergent_branches: 9, lane_instructions: base.instructions * 16, ..base };
        assert_eq!(spoken(&with(diverging)), ["divergence"]);
        assert_eq!(spoken(&with(Counters { global_sectors: base.global_sectors * 8, ..base })), ["sectors"]);
        assert_eq!(spoken(&with(Counters { shared_requests: 100, bank_conflicts: 3100, ..base })), ["bank-conflicts"]);
        assert_eq!(spoken(&with(Counters { shared_requests: 100, bank_conflicts: 10, ..base })), Vec::<&str>::new());
        assert_eq!(spoken(&with(Counters { atomics: base.lane_instructions / 4, ..base })), ["atomics"]);
    }

    #[test]
    fn two_launches_are_told_apart_by_what_they_issue() {
        let said = difference(&counted(0), &counted(1)).unwrap();
        assert!(
            said.starts_with("<<<1, 1>>> issues 31.7 times as many warp instructions as <<<1221, 256>>>"),
            "{said}"
        );
        assert_eq!(difference(&counted(1), &counted(1)), None);
    }
}
