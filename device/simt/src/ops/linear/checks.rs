//! What must hold for a value in a line to stay one, and the way back to all 32 lanes.

use super::leave;
use crate::code::Width;
use crate::lane::{Args, ExecFn, FULL, LANES, Lane, Lanes, Level, Slot, Step, multiversion};

/// A condition on a register with a stride.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// The 32-bit values, read as signed numbers or not, do not wrap.
    Wraps { signed: bool },
    /// No lane has a bit in common with the second register, so that `or` adds.
    Disjoint,
    /// The low bits that the mask `second` keeps do not wrap.
    LowBits,
    /// Shifting right by the number `second` gives the same in all lanes.
    SameShifted { signed: bool },
}

/// Values of a register in a line, as numbers that do not wrap.
trait Number: Lane {
    fn wide(self) -> i128;
}
macro_rules! number {
    ($($t:ty)*) => { $(impl Number for $t {
        #[inline(always)]
        fn wide(self) -> i128 { self.into() }
    })* };
}
number!(i32 u32 i64 u64);

/// First and last lane, if the line stays within `T`. Slot 0: the register; `imm`: its stride.
#[inline(always)]
unsafe fn ends<T: Number + TryFrom<i128>>(lanes: &Lanes<'_>, args: &Args) -> Option<(T, T)> {
    // SAFETY: by the caller.
    let from = unsafe { super::first::<T>(lanes, args.slots[0]) };
    let to = T::try_from(from.wide() + i128::from(args.imm) * (LANES as i128 - 1)).ok()?;
    Some((from, to))
}

unsafe fn wraps<T: Number + TryFrom<i128>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: by the decoder, the register has T's width.
    if unsafe { ends::<T>(lanes, args) }.is_some() { Ok(()) } else { leave() }
}

/// Bits that may be set in a number between two.
fn bits_between(low: u64, high: u64) -> u64 {
    let differ = low ^ high;
    low | high | u64::MAX.checked_shr(differ.leading_zeros()).unwrap_or(0)
}

unsafe fn disjoint<T: Number + TryFrom<i128> + Into<u64>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: by the decoder, the registers have T's width.
    unsafe {
        let other: u64 = super::first::<T>(lanes, args.slots[1]).into();
        match ends::<T>(lanes, args) {
            Some((from, to)) if bits_between(from.into(), to.into()) & other == 0 => Ok(()),
            _ => leave(),
        }
    }
}

unsafe fn low_bits<T: Number + TryFrom<i128> + Into<u64>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: by the decoder, the registers have T's width.
    unsafe {
        let mask: u64 = super::first::<T>(lanes, args.slots[1]).into();
        let from: u64 = super::first::<T>(lanes, args.slots[0]).into();
        let last = i128::from(from & mask) + i128::from(args.imm) * (LANES as i128 - 1);
        if (0..=i128::from(mask)).contains(&last) { Ok(()) } else { leave() }
    }
}

unsafe fn same_shifted<T: Number + TryFrom<i128>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: by the decoder, the first register has T's width, the second 32 bits.
    unsafe {
        let by = super::first::<u32>(lanes, args.slots[1]).min(127);
        match ends::<T>(lanes, args) {
            Some((from, to)) if from.wide() >> by == to.wide() >> by => Ok(()),
            _ => leave(),
        }
    }
}

/// The step that makes sure. Slots: the register with a stride (which is `imm`), the second one.
pub(crate) fn check(check: Check, width: Width) -> ExecFn {
    let wide = width == Width::W64;
    match (check, wide) {
        (Check::Wraps { signed: true }, _) => wraps::<i32>,
        (Check::Wraps { signed: false }, _) => wraps::<u32>,
        (Check::Disjoint, true) => disjoint::<u64>,
        (Check::Disjoint, false) => disjoint::<u32>,
        (Check::LowBits, true) => low_bits::<u64>,
        (Check::LowBits, false) => low_bits::<u32>,
        (Check::SameShifted { signed: true }, true) => same_shifted::<i64>,
        (Check::SameShifted { signed: false }, true) => same_shifted::<u64>,
        (Check::SameShifted { signed: true }, false) => same_shifted::<i32>,
        (Check::SameShifted { signed: false }, false) => same_shifted::<u32>,
    }
}

/// Stands before a step under a guard: all lanes must pass, or none.
pub(crate) unsafe fn guarded_by_all(lanes: &mut Lanes<'_>, _: &Args) -> Step {
    if lanes.mask == FULL { Ok(()) } else { leave() }
}

pub(crate) trait Line: Lane + PartialEq {
    /// A lane's value, from the first lane's.
    fn at(self, lane: usize, stride: i64) -> Self;
}
macro_rules! line {
    ($($t:ty)*) => { $(impl Line for $t {
        #[inline(always)]
        fn at(self, lane: usize, stride: i64) -> Self {
            self.wrapping_add((stride as $t).wrapping_mul(lane as $t))
        }
    })* };
}
line!(u32 u64);

/// Writes all lanes of a register from the first. Slot 0: the register; `imm`: its stride.
#[inline(always)]
unsafe fn spread_body<T: Line>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: by the decoder, the register has T's width. Whole registers are written: this runs only when all lanes do.
    unsafe {
        let from = super::first::<T>(lanes, args.slots[0]);
        let mut all = [T::default(); LANES];
        for (lane, value) in all.iter_mut().enumerate() {
            *value = from.at(lane, args.imm);
        }
        lanes.frame.add(args.slots[0].0 as usize).cast::<[T; LANES]>().write(all);
    }
    Ok(())
}
multiversion!(spread_exec<T: Line> => spread_body);

/// The step that writes all lanes of a register.
pub(crate) fn spread(width: Width, level: Level) -> ExecFn {
    if width == Width::W64 { spread_exec::<u64>(level) } else { spread_exec::<u32>(level) }
}

unsafe fn line_exec<const WIDE: bool>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let width = if WIDE { Width::W64 } else { Width::W32 };
    // SAFETY: by the decoder, the register has that width.
    if unsafe { in_line(lanes.frame, args.slots[0], width, args.imm) } { Ok(()) } else { leave() }
}

/// The step that makes sure that all lanes of slot 0 are in a line of stride `imm`.
pub(crate) fn line(width: Width) -> ExecFn {
    if width == Width::W64 { line_exec::<true> } else { line_exec::<false> }
}

/// True if the register at `slot` is in a line; for a predicate, if it is the same in all lanes.
///
/// # Safety
/// `frame` must be a frame of the function that has the register, of that width.
pub(crate) unsafe fn in_line(frame: *const u8, slot: Slot, width: Width, stride: i64) -> bool {
    unsafe fn same<T: Line>(frame: *const u8, slot: Slot, stride: i64) -> bool {
        // SAFETY: by the caller of the outer function.
        let all = unsafe { frame.add(slot.0 as usize).cast::<[T; LANES]>().read() };
        let mut differ = false;
        for (lane, value) in all.iter().enumerate() {
            differ |= *value != all[0].at(lane, stride);
        }
        !differ
    }
    // SAFETY: by the caller.
    unsafe {
        match width {
            Width::Pred => matches!(frame.add(slot.0 as usize).cast::<u32>().read(), 0 | FULL),
            Width::W64 => same::<u64>(frame, slot, stride),
            _ => same::<u32>(frame, slot, stride),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_between_two_numbers() {
        assert_eq!(bits_between(64, 95), 0b101_1111 | 64);
        assert_eq!(bits_between(5, 5), 5);
        assert_eq!(bits_between(0, u64::MAX), u64::MAX);
        for (low, high) in [(3u64, 9u64), (100, 131), (0, 31), (1 << 40, (1 << 40) + 77)] {
            let all = (low..=high).fold(0, |bits, n| bits | n);
            assert_eq!(bits_between(low, high) & all, all);
        }
    }
}
