//! The CPU device's counters, as a table and as JSON. What each means: docs, reading the counters.

use gridstride_cpu::Counters;
use serde::Serialize;

use crate::report::document::Table;
use crate::units::{count, digits};

/// Counters of launches side by side, each under its heading. Rows that are 0 everywhere are left out.
#[must_use]
pub fn table(launches: &[(&str, Counters)]) -> Table {
    let mut header = vec![if launches.len() > 1 { "counter" } else { "" }];
    header.extend(launches.iter().map(|(heading, _)| *heading));
    let mut table = Table::new(&header);
    type Figure = fn(&Counters) -> Option<f64>;
    let figures: [(&str, Figure); 14] = [
        ("blocks", |c| Some(c.blocks as f64)),
        ("warps", |c| Some(c.warps as f64)),
        ("warp instructions", |c| Some(c.instructions as f64)),
        ("active lanes, %", Counters::active_lanes_percent),
        ("divergent branches", |c| Some(c.divergent_branches as f64)),
        ("barriers", |c| Some(c.barriers as f64)),
        ("atomics", |c| Some(c.atomics as f64)),
        ("global memory requests", |c| Some(c.global_requests as f64)),
        ("sectors per request", Counters::sectors_per_request),
        ("bytes of sectors used, %", sector_use),
        ("shared memory requests", |c| Some(c.shared_requests as f64)),
        ("bank conflicts", |c| Some(c.bank_conflicts as f64)),
        ("local memory requests", |c| Some(c.local_requests as f64)),
        ("atomic conflicts", |c| Some(c.atomic_conflicts as f64)),
    ];
    for (name, figure) in figures {
        let values: Vec<Option<f64>> = launches.iter().map(|(_, counters)| figure(counters)).collect();
        if values.iter().all(|value| value.is_none_or(|value| value == 0.0)) {
            continue;
        }
        let whole = !name.ends_with('%') && !name.contains(" per ");
        let cell = |value: &Option<f64>| match value {
            None => "-".to_owned(),
            Some(value) if whole => count(*value as u64),
            Some(value) => digits(*value),
        };
        table.rows.push(std::iter::once(name.to_owned()).chain(values.iter().map(cell)).collect());
    }
    table
}

/// Bytes of a sector, the unit in which memory is moved.
pub const SECTOR: u64 = 32;

/// Share of the bytes of the sectors moved that lanes asked for. Lanes that read the same bytes ask for more than is moved.
#[must_use]
pub fn sector_use(counters: &Counters) -> Option<f64> {
    let moved = (SECTOR * counters.global_sectors) as f64;
    (moved > 0.0).then(|| (100.0 * counters.global_bytes as f64 / moved).min(100.0))
}

/// All counters.
#[derive(Debug, Serialize)]
pub struct Counted {
    blocks: u64,
    warps: u64,
    instructions: u64,
    lane_instructions: u64,
    active_lanes_percent: Option<f64>,
    divergent_branches: u64,
    barriers: u64,
    atomics: u64,
    global_requests: u64,
    global_sectors: u64,
    global_bytes: u64,
    sectors_per_request: Option<f64>,
    shared_requests: u64,
    bank_conflicts: u64,
    local_requests: u64,
    local_bytes: u64,
    atomic_conflicts: u64,
}

impl From<Counters> for Counted {
    fn from(counters: Counters) -> Self {
        Self {
            blocks: counters.blocks,
            warps: counters.warps,
            instructions: counters.instructions,
            lane_instructions: counters.lane_instructions,
            active_lanes_percent: counters.active_lanes_percent(),
            divergent_branches: counters.divergent_branches,
            barriers: counters.barriers,
            atomics: counters.atomics,
            global_requests: counters.global_requests,
            global_sectors: counters.global_sectors,
            global_bytes: counters.global_bytes,
            sectors_per_request: counters.sectors_per_request(),
            shared_requests: counters.shared_requests,
            bank_conflicts: counters.bank_conflicts,
            local_requests: counters.local_requests,
            local_bytes: counters.local_bytes,
            atomic_conflicts: counters.atomic_conflicts,
        }
    }
}
