//! Races: accesses to the same memory, one of them a write, that nothing orders.
//!
//! The order is that of the PTX memory model, read as follows; `docs/checks.md` says the same for users:
//! - Barriers order all that their threads did before with all that they do behind. Threads that have exited count as
//!   having come. `bar.arrive` gives, and does not get.
//! - A *release* is a strong write (relaxed or more, `volatile`, atomic) that is `.release` itself or comes behind a fence
//!   of its thread. It leaves what the thread knew (at the fence), and itself, at the place. Atomic operations of others keep it there
//!   and add their own; other writes replace it.
//! - An *acquire* is a strong read that finds something there and is `.acquire` itself, or has a fence of its thread behind
//!   it (from there on), or is part of an atomic read-modify-write. The last is more than the model promises, and what
//!   CUDA programs have relied on since `threadFenceReduction`.
//! - An arrival at an `mbarrier` is a release that gets nothing, a wait for it an acquire.
//! - Fences and accesses for the block (`.cta`) order nothing between blocks.
//! - Strong accesses to the same place do not race with each other, if the scope of each includes the other.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use gridstride_ptx::Space;

use super::Site;
use super::block::{BlockWatch, Thread};
use super::clock::{self, Blocks, Known};
use super::note::{Accessing, Strength};
use super::shadow::{self, Cell, Clash, Kind, Record};
use super::touch::Touch;
use crate::control::lanes_of;
use crate::fault::Access;
use crate::lane::Lanes;

/// What releases have left at a place: to threads of one block, and to all.
#[derive(Debug, Clone, Default)]
pub(crate) struct SyncPlace {
    block: Option<(u32, Blocks)>,
    wide: Blocks,
}

/// Words of global memory are kept in pages of so many.
const PAGE_WORDS: usize = 64;
const PAGE_BYTES: u64 = 4 * PAGE_WORDS as u64;

type Pages = HashMap<u64, Box<[Cell; PAGE_WORDS]>, BuildHasherDefault<PageHasher>>;

/// Multiplies: page numbers are no adversary's.
#[derive(Debug, Default)]
struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// The races of a launch.
#[derive(Debug, Default)]
pub(crate) struct Races {
    pages: Pages,
    places: HashMap<u64, SyncPlace>,
}

/// Who accesses: a warp's instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Actor {
    pub(crate) block: u32,
    pub(crate) first_thread: u32,
    pub(crate) site: Site,
    pub(crate) stamp: u64,
}

/// A race, with the lane that came second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Race {
    pub(crate) space: Space,
    pub(crate) address: u64,
    pub(crate) lane: u32,
    pub(crate) clash: Clash,
    pub(crate) kind: Kind,
}

impl Races {
    /// Takes down an access that has happened.
    ///
    /// # Safety
    /// `accessing` must be a note on the function whose frame `lanes` has.
    pub(crate) unsafe fn access(
        &mut self,
        watch: &mut BlockWatch,
        actor: Actor,
        lanes: &Lanes<'_>,
        accessing: &Accessing,
        touch: &Touch,
        mut found: impl FnMut(Race),
    ) {
        let kind = kind(accessing);
        for lane in lanes_of(touch.global | touch.shared) {
            let space = if touch.shared >> lane & 1 != 0 { Space::Shared } else { Space::Global };
            let (from, end) = (touch.at[lane], touch.at[lane] + accessing.size);
            // SAFETY: by the caller.
            let value = unsafe { stored(lanes, accessing, lane) };
            let thread = (actor.first_thread as usize + lane).min(watch.threads.len() - 1);
            for word in from / 4..end.div_ceil(4) {
                let (first, last) = (from.max(4 * word) - 4 * word, end.min(4 * word + 4) - 4 * word);
                let bytes = (0xF >> (4 - last)) & (0xF << first) & 0xF;
                let in_value = (4 * word + first - from) as usize;
                let part: [u8; 4] = std::array::from_fn(|at| {
                    let at = (in_value + at).wrapping_sub(first as usize);
                    value.get(at).copied().unwrap_or(0)
                });
                let new = Record {
                    stamp: actor.stamp,
                    site: actor.site,
                    block: actor.block,
                    lanes: 1 << lane,
                    value: u32::from_le_bytes(part),
                    warp: (actor.first_thread / 32) as u8,
                    bytes,
                    kind,
                };
                let clock = &watch.threads[thread].clock;
                let unknown =
                    |old: &Record| clock.unknown(actor.block, old.block, old.warp.into(), old.lanes, old.stamp);
                let race = |clash| found(Race { space, address: 4 * word, lane: lane as u32, clash, kind });
                if space == Space::Shared {
                    if let Some(cell) = watch.shared.get_mut(word as usize) {
                        shadow::access(cell, new, unknown, race);
                    }
                } else {
                    let page = self.pages.entry(4 * word / PAGE_BYTES);
                    let page = page.or_insert_with(|| Box::new(std::array::from_fn(|_| Cell::new())));
                    shadow::access(&mut page[word as usize % PAGE_WORDS], new, unknown, race);
                }
            }
            let places = if space == Space::Shared { &mut watch.shared_places } else { &mut self.places };
            order(places, &mut watch.threads[thread], from, accessing, actor, thread as u32);
        }
    }
}

/// A fence of these threads.
pub(crate) fn fence(watch: &mut BlockWatch, actor: Actor, lanes: u32, wide: bool) {
    for thread in super::block::threads(actor.first_thread, lanes) {
        let state = &mut watch.threads[thread as usize];
        let reach = if wide { 2 } else { 1 };
        for level in 0..reach {
            if let Some(blocks) = state.pending[level].take() {
                Arc::make_mut(&mut state.clock).learn(actor.block, &blocks);
            }
        }
        let snapshot = state.clock.snapshot(actor.block, thread, actor.stamp);
        (state.released[0], state.fenced[0]) = (Some(snapshot.clone()), actor.stamp);
        if wide {
            (state.released[1], state.fenced[1]) = (Some(snapshot), actor.stamp);
        }
    }
}

fn kind(accessing: &Accessing) -> Kind {
    let mut bits = match accessing.access {
        Access::Read => 0,
        Access::Write => Kind::WRITE,
        Access::Atomic => Kind::WRITE | Kind::ATOMIC,
    };
    bits |= match accessing.strength {
        Strength::Weak => 0,
        Strength::Block => Kind::STRONG,
        Strength::Device => Kind::STRONG | Kind::WIDE,
    };
    Kind(if accessing.values.is_empty() { bits } else { bits | Kind::VALUED })
}

/// What a lane stores; nothing where that is not known.
unsafe fn stored(lanes: &Lanes<'_>, accessing: &Accessing, lane: usize) -> [u8; 32] {
    let mut bytes = [0; 32];
    let element = accessing.element as usize;
    for (part, (slot, width)) in accessing.values.iter().enumerate() {
        let each = width.bytes() as usize / crate::lane::LANES;
        // SAFETY: by the caller of `access`, the slot is that of a register of this width in the frame.
        let from = unsafe { lanes.frame.add(slot.0 as usize + lane * each) };
        let to = &mut bytes[part * element..(part + 1) * element];
        // SAFETY: an element is no wider than its register.
        unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), element.min(each)) };
    }
    bytes
}

/// What a strong access gives and gets.
fn order(
    places: &mut HashMap<u64, SyncPlace>,
    state: &mut Thread,
    address: u64,
    accessing: &Accessing,
    actor: Actor,
    thread: u32,
) {
    let here = actor.block;
    let wide = accessing.strength == Strength::Device;
    let writes = accessing.access != Access::Read;
    if accessing.strength == Strength::Weak {
        state.plain = actor.stamp;
        if writes && !places.is_empty() {
            places.remove(&address);
        }
        return;
    }
    if accessing.access != Access::Write
        && !accessing.arrives
        && let Some(place) = places.get(&address)
    {
        let now = accessing.acquires || accessing.access == Access::Atomic;
        let mine = place.block.as_ref().filter(|(block, _)| *block == here).map(|(_, blocks)| blocks);
        let parts = [(mine, 0), (Some(&place.wide).filter(|blocks| wide && !blocks.is_empty()), 1)];
        for (blocks, level) in parts.into_iter().filter_map(|(blocks, level)| Some((blocks?, level))) {
            if now {
                Arc::make_mut(&mut state.clock).learn(here, blocks);
            } else {
                clock::join(state.pending[level].get_or_insert_default(), blocks);
            }
        }
    }
    if !writes {
        return;
    }
    let given = if accessing.releases {
        Some((state.clock.snapshot(here, thread, actor.stamp), wide))
    } else {
        let level = usize::from(wide && state.released[1].is_some());
        state.released[level].clone().map(|mut blocks| {
            if state.plain <= state.fenced[level] {
                // The write itself is part of the release, and nothing else has happened since the fence.
                let mut own = blocks.get(&here).map(|known| Known::clone(known)).unwrap_or_default();
                own.learn_thread(thread, actor.stamp);
                blocks.insert(here, Arc::new(own));
            }
            (blocks, level == 1)
        })
    };
    if accessing.access == Access::Write {
        places.remove(&address);
    }
    let Some((blocks, wide)) = given else { return };
    let place = places.entry(address).or_default();
    if wide {
        clock::join(&mut place.wide, &blocks);
    } else {
        match &mut place.block {
            Some((block, known)) if *block == here => clock::join(known, &blocks),
            other => *other = Some((here, blocks)),
        }
    }
}
