//! Where the lanes of an access go: from address registers to checked host addresses.
//!
//! ```text
//! registers + offset --> 32 addresses --> windows --> bounds, alignment --> Found: a row, one place, or 32 places
//! ```

pub(crate) use super::form::{Form, Order};
use crate::fault::{Access, FaultKind};
use crate::lane::{FULL, LANES, LOCAL_WINDOW, LaneFault, Lanes, SHARED_WINDOW, Slot, WINDOW_BYTES};
use crate::memory::raw::{Narrow, Vectors, Wide, Widest};
use crate::memory::{AllocKind, Allocation};
use gridstride_ptx::Space;

/// An access of a warp, before its addresses are known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Address register.
    pub(crate) slot: Slot,
    /// Added to it.
    pub(crate) offset: i64,
    pub(crate) form: Form,
    /// Bytes a lane, a power of two.
    pub(crate) size: u64,
    pub(crate) access: Access,
}

/// Where the active lanes go. Every byte is alive and theirs to touch, and aligned to the size of a lane's access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// All 32 lanes are active and side by side, from this address up.
    Row(u64),
    /// All active lanes are at this address.
    One(u64),
    /// Each lane is where the array of addresses says; inactive lanes are where some active lane is.
    Each,
}

/// What a lane function needs from the processor's level.
pub(crate) trait Unit: Vectors {
    /// Finds the places of the active lanes. `private`: set if no other thread sees the memory.
    ///
    /// # Safety
    /// As for a lane function; `place.slot` must be a register as wide as `place.form` says.
    unsafe fn find(
        lanes: &mut Lanes<'_>,
        place: &Place,
        at: &mut [u64; LANES],
        private: &mut bool,
    ) -> Result<Found, Box<LaneFault>>;
}

macro_rules! unit {
    ($unit:ty, $($features:meta)?) => {
        impl Unit for $unit {
            #[inline(always)]
            unsafe fn find(
                lanes: &mut Lanes<'_>,
                place: &Place,
                at: &mut [u64; LANES],
                private: &mut bool,
            ) -> Result<Found, Box<LaneFault>> {
                #[inline(never)]
                $(#[$features])?
                unsafe fn outlined(
                    lanes: &mut Lanes<'_>,
                    place: &Place,
                    at: &mut [u64; LANES],
                    private: &mut bool,
                ) -> Result<Found, Box<LaneFault>> {
                    // SAFETY: by the caller.
                    unsafe { find(lanes, place, at, private) }
                }
                // SAFETY: by the caller; the processor has the unit, which is why it was picked.
                unsafe { outlined(lanes, place, at, private) }
            }
        }
    };
}

unit!(Narrow,);
#[cfg(all(target_arch = "x86_64", not(miri)))]
unit!(Wide, target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"));
#[cfg(all(target_arch = "x86_64", not(miri)))]
unit!(Widest, target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"));

/// True if lane `l` is at `first + l * size`, for all lanes.
#[inline(always)]
pub(crate) fn in_a_row(at: &[u64; LANES], size: u64) -> bool {
    // SAFETY: a reference to an array is valid to read from. Volatile, so that the compiler does not drop lane 0 from the
    // comparison, which would move the others off the vectors that the addresses have just been written as.
    let first = unsafe { at.as_ptr().read_volatile() };
    let mut wrong = [0; LANES];
    for lane in 0..LANES {
        wrong[lane] = at[lane].wrapping_sub(first) ^ (lane as u64 * size);
    }
    reduce(&wrong, |a, b| a | b) == 0
}

#[inline(always)]
unsafe fn find(
    lanes: &mut Lanes<'_>,
    place: &Place,
    at: &mut [u64; LANES],
    private: &mut bool,
) -> Result<Found, Box<LaneFault>> {
    if place.form.is_narrow_shared() && lanes.mask == FULL {
        // SAFETY: by the caller; the form says that the register has 32 bits a lane.
        if let Some(found) = unsafe { shared_at_once(lanes, place) } {
            *private = true;
            return Ok(found);
        }
    }
    // SAFETY: by the caller.
    unsafe { addresses(lanes, place, at) };
    // What follows should read the addresses back as vectors, and not take apart those that are in registers.
    let at = std::hint::black_box(at);
    let (size, span) = (place.size, (LANES as u64 - 1) * place.size);
    let row = in_a_row(at, size) && at[0] <= u64::MAX - span;
    let (low, high, bits) = if row {
        (at[0], at[0] + span, at[0])
    } else {
        (reduce(at, u64::min), reduce(at, u64::max), reduce(at, |a, b| a | b))
    };
    let Some(space) = common_space(place.form.space(), low, high) else {
        return separate(lanes, place, at);
    };
    let start = window(place.form.space(), space);
    let reach = high - low;
    let aligned = bits & (size - 1) == 0;
    *private = matches!(space, Space::Shared | Space::Local | Space::Param);
    let held = aligned
        && match space {
            Space::Global | Space::Const => {
                lanes.recent.holds(lanes.launch, low, reach.saturating_add(size), place.access)
            }
            Space::Shared => inside(high - start, size, lanes.shared_bytes),
            Space::Local | Space::Param => inside(high - start, size, lanes.local_bytes),
        };
    if !held {
        return separate(lanes, place, at);
    }
    let move_by = match space {
        Space::Global | Space::Const => 0,
        Space::Shared => (lanes.shared as u64).wrapping_sub(start),
        Space::Local | Space::Param => {
            let (first, each) = ((lanes.local as u64).wrapping_sub(start), u64::from(lanes.local_bytes));
            for (lane, address) in at.iter_mut().enumerate() {
                *address = address.wrapping_add(first.wrapping_add(lane as u64 * each));
            }
            if lanes.mask != FULL {
                settle_inactive(lanes.mask, at);
            }
            return Ok(Found::Each);
        }
    };
    let first = low.wrapping_add(move_by);
    if reach == 0 {
        return Ok(Found::One(first));
    }
    if row && lanes.mask == FULL {
        return Ok(Found::Row(first));
    }
    at.iter_mut().for_each(|address| *address = address.wrapping_add(move_by));
    Ok(Found::Each)
}

/// What tiles in shared memory are read by: a whole warp side by side, or all at one place.
#[inline(always)]
unsafe fn shared_at_once(lanes: &Lanes<'_>, place: &Place) -> Option<Found> {
    // SAFETY: by the caller; nothing writes to the register while it is borrowed.
    let register = unsafe { &*lanes.frame.add(place.slot.0 as usize).cast::<[u32; LANES]>() };
    let first = register[0];
    let (mut apart, mut out_of_row) = (0, 0);
    for (lane, address) in register.iter().enumerate() {
        let distance = address.wrapping_sub(first);
        apart |= distance;
        out_of_row |= distance ^ (lane as u32 * place.size as u32);
    }
    let offset = u64::from(first.wrapping_add(place.offset as u32));
    let at = lanes.shared as u64 + offset;
    let (found, bytes) = match (apart, out_of_row) {
        (0, _) => (Found::One(at), place.size),
        (_, 0) => (Found::Row(at), place.size * LANES as u64),
        _ => return None,
    };
    (offset & (place.size - 1) == 0 && inside(offset, bytes, lanes.shared_bytes)).then_some(found)
}

/// All lanes' addresses in one value, halving by halving, as vector units like it. Loops here and in the lane functions,
/// not `array::map` or `from_fn`: those may become calls of functions that lack the unit's instructions.
#[inline(always)]
fn reduce(at: &[u64; LANES], join: impl Fn(u64, u64) -> u64) -> u64 {
    let mut half = [0; 16];
    for lane in 0..16 {
        half[lane] = join(at[lane], at[lane + 16]);
    }
    let mut quarter = [0; 8];
    for lane in 0..8 {
        quarter[lane] = join(half[lane], half[lane + 8]);
    }
    let mut rest = [0; 4];
    for lane in 0..4 {
        rest[lane] = join(quarter[lane], quarter[lane + 4]);
    }
    join(join(rest[0], rest[2]), join(rest[1], rest[3]))
}

/// The addresses as the program has them; inactive lanes are where the first active one is.
#[inline(always)]
unsafe fn addresses(lanes: &Lanes<'_>, place: &Place, at: &mut [u64; LANES]) {
    // SAFETY: by the caller, the register is as wide as the form says.
    unsafe {
        if place.form.narrow() {
            let (register, offset) = (lanes.get::<u32>(place.slot), place.offset as u32);
            for lane in 0..LANES {
                at[lane] = u64::from(register[lane].wrapping_add(offset));
            }
        } else {
            let (register, offset) = (lanes.get::<u64>(place.slot), place.offset.cast_unsigned());
            for lane in 0..LANES {
                at[lane] = register[lane].wrapping_add(offset);
            }
        }
    }
    if lanes.mask != FULL {
        settle_inactive(lanes.mask, at);
    }
}

#[inline(always)]
fn settle_inactive(mask: u32, at: &mut [u64; LANES]) {
    let first = at[mask.trailing_zeros() as usize % LANES];
    for (lane, address) in at.iter_mut().enumerate() {
        *address = if mask >> lane & 1 != 0 { *address } else { first };
    }
}

#[inline(always)]
fn inside(offset: u64, size: u64, bytes: u32) -> bool {
    offset <= u64::from(bytes).wrapping_sub(size) && size <= u64::from(bytes)
}

/// The space that a range of addresses is in, if it is one.
#[inline(always)]
fn common_space(space: Option<Space>, low: u64, high: u64) -> Option<Space> {
    if space.is_some() {
        return space;
    }
    let (first, last) = (space_of(low), space_of(high));
    (first == last).then_some(first)
}

/// The space that a generic address is in.
#[inline(always)]
pub(crate) fn space_of(address: u64) -> Space {
    if address.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES {
        Space::Shared
    } else if address.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES {
        Space::Local
    } else {
        Space::Global
    }
}

/// Where `space` starts in addresses of the space that the program says.
#[inline(always)]
fn window(said: Option<Space>, space: Space) -> u64 {
    match (said, space) {
        (None, Space::Shared) => SHARED_WINDOW,
        (None, Space::Local) => LOCAL_WINDOW,
        _ => 0,
    }
}

/// Lane by lane: when the lanes are in different spaces or allocations, or one of them is at fault.
#[cold]
#[inline(never)]
fn separate(lanes: &mut Lanes<'_>, place: &Place, at: &mut [u64; LANES]) -> Result<Found, Box<LaneFault>> {
    let said = place.form.space();
    let mask = lanes.mask;
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
        let address = at[lane];
        let space = said.unwrap_or_else(|| space_of(address));
        let offset = address - window(said, space);
        check(lanes, place, space, offset).map_err(|kind| Box::new(LaneFault { lane: lane as u32, kind }))?;
        at[lane] = match space {
            Space::Global | Space::Const => address,
            Space::Shared => lanes.shared as u64 + offset,
            Space::Local | Space::Param => lanes.local as u64 + lane as u64 * u64::from(lanes.local_bytes) + offset,
        };
    }
    settle_inactive(lanes.mask, at);
    Ok(Found::Each)
}

/// One lane's access.
fn check(lanes: &mut Lanes<'_>, place: &Place, space: Space, address: u64) -> Result<(), FaultKind> {
    let (access, size) = (place.access, place.size);
    if address & (size - 1) != 0 {
        return Err(FaultKind::Misaligned { space, access, address, needed: size as u32 });
    }
    let limit = match space {
        Space::Global | Space::Const => {
            if lanes.recent.holds(lanes.launch, address, size, access) {
                return Ok(());
            }
            let constant = |it: &Allocation| it.kind == AllocKind::ModuleConstant && it.holds(address, size);
            if let Some(allocation) = lanes.launch.memory.find(address).filter(constant) {
                return Err(FaultKind::ReadOnly { access, address, size: size as u32, allocation });
            }
            if let Some(allocation) = lanes.launch.memory.freed(address) {
                return Err(FaultKind::UseAfterFree { access, address, size: size as u32, allocation });
            }
            None
        }
        Space::Shared => Some(lanes.shared_bytes),
        Space::Local | Space::Param => Some(lanes.local_bytes),
    };
    match limit {
        Some(limit) if inside(address, size, limit) => Ok(()),
        _ => {
            let nearest = if limit.is_none() { lanes.launch.memory.nearest(address) } else { None };
            Err(FaultKind::OutOfBounds { space, access, address, size: size as u32, nearest, limit })
        }
    }
}
