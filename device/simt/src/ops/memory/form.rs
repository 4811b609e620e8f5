//! What a memory instruction says besides its types: state space, width of the address, ordering.

use gridstride_ptx::Space;

use crate::lane::Slot;

/// What a memory instruction is, besides its types; fits in one operand place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form(u32);

/// What an access orders, apart from itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Nothing, and nobody else touches the place.
    Weak,
    /// Nothing, but others may touch the place at the same time (`volatile` too).
    Relaxed,
    /// What comes after it.
    Acquire,
    /// What came before it.
    Release,
    /// Both.
    AcqRel,
}

const ORDERS: [Order; 5] = [Order::Weak, Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];
const SPACES: [Option<Space>; 6] =
    [None, Some(Space::Global), Some(Space::Const), Some(Space::Shared), Some(Space::Local), Some(Space::Param)];

/// A [`Form`]'s bits of space and address width for `.shared` and 32 bits.
const NARROW_SHARED: u32 = 3 | 8;

impl Form {
    /// `space`: `None` is generic. `narrow`: the address register has 32 bits.
    pub(crate) fn new(space: Option<Space>, narrow: bool, order: Order) -> Self {
        let space = SPACES.iter().position(|s| *s == space).expect("all spaces are listed");
        Self(space as u32 | u32::from(narrow) << 3 | (order as u32) << 4)
    }

    /// With bits of the instruction's own, from bit 8 up.
    pub(crate) fn with(self, bits: u32) -> Self {
        Self(self.0 | bits << 8)
    }

    /// What [`Form::with`] was given.
    pub(crate) fn own(self) -> u32 {
        self.0 >> 8
    }

    pub(crate) fn slot(self) -> Slot {
        Slot(self.0)
    }

    #[inline(always)]
    pub(crate) fn of(slot: Slot) -> Self {
        Self(slot.0)
    }

    #[inline(always)]
    pub(super) fn space(self) -> Option<Space> {
        SPACES[(self.0 & 7) as usize % SPACES.len()]
    }

    #[inline(always)]
    pub(super) fn narrow(self) -> bool {
        self.0 & 8 != 0
    }

    /// True for plain accesses by 64-bit addresses that may be in global memory.
    pub(crate) fn is_quick(self) -> bool {
        let global = matches!(self.space(), None | Some(Space::Global | Space::Const));
        global && !self.narrow() && self.order() == Order::Weak
    }

    #[inline(always)]
    pub(super) fn is_narrow_shared(self) -> bool {
        self.0 & 15 == NARROW_SHARED
    }

    #[inline(always)]
    pub(crate) fn order(self) -> Order {
        ORDERS[(self.0 >> 4 & 7) as usize % ORDERS.len()]
    }
}
