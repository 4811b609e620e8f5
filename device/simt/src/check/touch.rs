//! Where the lanes of an access go, space by space.

use gridstride_ptx::Space;

use super::note::Accessing;
use crate::control::lanes_of;
use crate::counters::{Counters, Traffic, sectors};
use crate::fault::Access;
use crate::lane::{LANES, LOCAL_WINDOW, Lanes, SHARED_WINDOW};
use crate::memory::raw::Element;
use crate::ops::memory::place::space_of;

/// The addresses of an access, taken before it happens: a load may overwrite its own address register.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch {
    /// Address in global memory, offset in the others.
    pub(crate) at: [u64; LANES],
    /// Lanes that go there.
    pub(crate) global: u32,
    pub(crate) constant: u32,
    pub(crate) shared: u32,
    pub(crate) local: u32,
}

impl Touch {
    /// # Safety
    /// `accessing` must be a note on the function whose frame `lanes` has.
    pub(crate) unsafe fn of(lanes: &Lanes<'_>, accessing: &Accessing) -> Self {
        // SAFETY: by the caller; the register has the width that the note says.
        let mut at: [u64; LANES] = unsafe {
            if accessing.narrow {
                lanes.get::<u32>(accessing.slot).map(|base| u64::from(base.wrapping_add(accessing.offset as u32)))
            } else {
                lanes.get::<u64>(accessing.slot).map(|base| base.wrapping_add(accessing.offset.cast_unsigned()))
            }
        };
        let mut touch = Self { at, global: 0, constant: 0, shared: 0, local: 0 };
        for lane in lanes_of(lanes.mask) {
            let (space, start) = match accessing.space {
                Some(space) => (space, 0),
                None => match space_of(at[lane]) {
                    Space::Shared => (Space::Shared, SHARED_WINDOW),
                    Space::Local => (Space::Local, LOCAL_WINDOW),
                    other => (other, 0),
                },
            };
            at[lane] -= start;
            let mask = match space {
                Space::Global => &mut touch.global,
                Space::Const => &mut touch.constant,
                Space::Shared => &mut touch.shared,
                Space::Local | Space::Param => &mut touch.local,
            };
            *mask |= 1 << lane;
        }
        touch.at = at;
        touch
    }

    /// The space that the first lane goes to.
    pub(crate) fn space(&self, mask: u32) -> Space {
        let first = 1 << mask.trailing_zeros();
        if self.shared & first != 0 {
            Space::Shared
        } else if self.local & first != 0 {
            Space::Local
        } else if self.constant & first != 0 {
            Space::Const
        } else {
            Space::Global
        }
    }

    /// A number that stands for what global and shared memory hold there; what is not there counts as nothing.
    pub(crate) fn contents(&self, lanes: &mut Lanes<'_>, size: u64) -> u64 {
        let mut sum = 0u64;
        for lane in lanes_of(self.global | self.shared) {
            let at = self.at[lane];
            let start = if self.shared >> lane & 1 == 0 {
                if !lanes.recent.holds(lanes.launch, at, size, Access::Read) {
                    continue;
                }
                at
            } else {
                if at.saturating_add(size) > lanes.shared_bytes.into() {
                    continue;
                }
                lanes.shared as u64 + at
            };
            for byte in start..start + size {
                // SAFETY: the range is inside live memory, as was just found, which outlives the instruction.
                let byte = unsafe { u8::load(byte) };
                sum = (sum.rotate_left(7) ^ u64::from(byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            }
        }
        sum
    }

    /// Counts the access.
    pub(crate) fn count(&self, counters: &mut Counters, accessing: &Accessing) {
        let size = accessing.size;
        let asked = |mask: u32| u64::from(mask.count_ones()) * size;
        if self.global != 0 {
            let sectors = match accessing.access {
                Access::Atomic => sectors::atomic_sectors(&self.at, self.global),
                Access::Read | Access::Write => sectors::sectors(&self.at, self.global, size),
            };
            let traffic = Traffic {
                requests: 1,
                sectors,
                lines: sectors::lines(&self.at, self.global, size),
                bytes: asked(self.global),
            };
            counters.global_requests += traffic.requests;
            counters.global_sectors += traffic.sectors;
            counters.global_bytes += traffic.bytes;
            *match accessing.access {
                Access::Read => &mut counters.global_loads,
                Access::Write => &mut counters.global_stores,
                Access::Atomic => &mut counters.global_atomics,
            } += traffic;
        }
        if self.shared != 0 {
            let conflicts = match accessing.access {
                Access::Atomic => sectors::atomic_conflicts(&self.at, self.shared, size),
                Access::Read | Access::Write => sectors::conflicts(&self.at, self.shared, size),
            };
            counters.shared_requests += 1;
            counters.bank_conflicts += conflicts;
            let banks = match accessing.access {
                Access::Read => &mut counters.shared_loads,
                Access::Write => &mut counters.shared_stores,
                Access::Atomic => &mut counters.shared_atomics,
            };
            banks.requests += 1;
            banks.conflicts += conflicts;
            banks.bytes += asked(self.shared);
        }
        if self.local != 0 {
            counters.local_requests += 1;
            counters.local_bytes += asked(self.local);
        }
        if accessing.access == Access::Atomic {
            for mask in [self.global, self.shared, self.local].into_iter().filter(|mask| *mask != 0) {
                counters.atomic_conflicts += sectors::same_address(&self.at, mask);
            }
        }
    }
}
