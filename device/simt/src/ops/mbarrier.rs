//! Barriers that are objects in shared memory (PTX ISA, "mbarrier"): threads arrive, and others ask whether a phase is over.
//!
//! ```text
//! the word:  pending arrivals (20 bits) | arrivals a phase (20) | phase's parity (1) | bytes awaited, signed (23)
//! ```
//!
//! A block runs on one core, and so an ordinary update of the word is enough. A state, as `mbarrier.arrive` gives it, is the
//! word itself; programs may not look into either.

use gridstride_ptx::{Instr, Operand, Space, Type};

use super::memory::place::{Form, Found, Order, Place, Unit};
use super::memory::{after, before, place_target};
use super::modifiers::Modifiers;
use super::{DecodeFn, Decoded, Reason};
use crate::decode::Decoder;
use crate::fault::Access;
use crate::lane::{Args, LANES, Lanes, Step};
use crate::memory::raw::{Element, Narrow};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("mbarrier", mbarrier)];

const COUNT: u64 = (1 << 20) - 1;

/// What an instruction does with the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Init,
    Invalidate,
    Arrive,
    /// Arrives, and is expected no more.
    Drop,
    ExpectBytes,
    /// Both, bytes first.
    ArriveExpectBytes,
    CompleteBytes,
    Test,
    TestParity,
}

const ACTIONS: [Action; 9] = [
    Action::Init,
    Action::Invalidate,
    Action::Arrive,
    Action::Drop,
    Action::ExpectBytes,
    Action::ArriveExpectBytes,
    Action::CompleteBytes,
    Action::Test,
    Action::TestParity,
];

/// The word in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Barrier {
    pending: u64,
    expected: u64,
    odd: bool,
    bytes: i64,
}

impl Barrier {
    fn of(word: u64) -> Self {
        Self {
            pending: word & COUNT,
            expected: word >> 20 & COUNT,
            odd: word >> 40 & 1 != 0,
            bytes: word.cast_signed() >> 41,
        }
    }

    fn word(self) -> u64 {
        self.pending & COUNT
            | (self.expected & COUNT) << 20
            | u64::from(self.odd) << 40
            | (self.bytes << 41).cast_unsigned()
    }

    /// Begins the next phase if nothing is awaited any more.
    fn settled(mut self) -> Self {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.odd = !self.odd;
        }
        self
    }

    fn apply(mut self, action: Action, count: u64) -> Self {
        match action {
            Action::Init => return Self { pending: count & COUNT, expected: count & COUNT, odd: false, bytes: 0 },
            Action::Invalidate => return Self::of(0),
            Action::Arrive => self.pending = self.pending.saturating_sub(count),
            Action::Drop => {
                self.pending = self.pending.saturating_sub(count);
                self.expected = self.expected.saturating_sub(count);
            }
            Action::ExpectBytes => self.bytes += count.cast_signed(),
            Action::ArriveExpectBytes => {
                self.bytes += count.cast_signed();
                self.pending = self.pending.saturating_sub(1);
            }
            Action::CompleteBytes => self.bytes -= count.cast_signed(),
            Action::Test | Action::TestParity => return self,
        }
        if action == Action::ExpectBytes { self } else { self.settled() }
    }

    /// Is the phase over that `state` is of, or that has this parity?
    fn is_over(self, action: Action, state: u64) -> bool {
        let phase = if action == Action::Test { Self::of(state).odd } else { state & 1 != 0 };
        self.odd != phase
    }
}

/// Slots: address, result, count or state, …, form. `imm`: the offset, and the action above 32 bits.
unsafe fn exec(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [slot, out, operand, _, _, form] = args.slots;
    let form = Form::of(form);
    let action = ACTIONS[(args.imm >> 32) as usize % ACTIONS.len()];
    let place = Place { slot, offset: i64::from(args.imm as i32), form, size: 8, access: Access::Atomic };
    let (mut at, mut private) = ([0; LANES], false);
    // SAFETY: by the decoder, the registers are as wide as they are read here. The places were found to be alive and
    // aligned.
    unsafe {
        let found = Narrow::find(lanes, &place, &mut at, &mut private)?;
        match found {
            Found::Row(first) => at = std::array::from_fn(|lane| first + lane as u64 * 8),
            Found::One(first) => at = [first; LANES],
            Found::Each => {}
        }
        before(lanes, form.order());
        let wide = action == Action::Test;
        let operand: [u64; LANES] =
            if wide { lanes.get::<u64>(operand) } else { lanes.get::<u32>(operand).map(u64::from) };
        let (mut old, mut over) = ([0u64; LANES], 0u32);
        for lane in (0..LANES).filter(|lane| lanes.mask >> lane & 1 != 0) {
            old[lane] = u64::load(at[lane]);
            let barrier = Barrier::of(old[lane]);
            over |= u32::from(barrier.is_over(action, operand[lane])) << lane;
            let new = barrier.apply(action, operand[lane]).word();
            if new != old[lane] {
                u64::store(at[lane], new);
            }
        }
        after(form.order());
        match action {
            Action::Test | Action::TestParity => lanes.set_pred(out, over),
            _ if form.own() != 0 => lanes.set(out, old),
            _ => {}
        }
    }
    Ok(())
}

/// `mbarrier.pending_count.b64 count, state`
unsafe fn pending(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave a register of 32 bits and one of 64.
    unsafe {
        let state = lanes.get::<u64>(args.slots[1]);
        lanes.set(args.slots[0], state.map(|word| Barrier::of(word).pending as u32));
    }
    Ok(())
}

fn mbarrier(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let name = words.take_any(&[
        "init",
        "inval",
        "arrive",
        "arrive_drop",
        "expect_tx",
        "complete_tx",
        "test_wait",
        "try_wait",
        "pending_count",
    ]);
    let name = name.ok_or("an operation that is not known")?;
    if name == "pending_count" {
        words.take("b64");
        words.done()?;
        let [out, state] = decoder.operands(instr)?;
        let slots = [decoder.dst(out, Type::U32)?, decoder.src(state, Type::B64)?];
        return Ok(Decoded::Lane(pending, Args::of(&slots, 0)));
    }
    let bytes_too = name.starts_with("arrive") && words.take("expect_tx");
    // That it may not be the last one to arrive is the program's promise.
    words.take("noComplete");
    let parity = name.ends_with("wait") && words.take("parity");
    let order = words.order(if name.starts_with("arrive") { Order::Release } else { Order::Acquire })?;
    let space = words.space();
    words.take("b64");
    words.done()?;
    if !matches!(space, None | Some(Space::Shared)) {
        return Err("a barrier outside shared memory".into());
    }
    let action = match name {
        "init" => Action::Init,
        "inval" => Action::Invalidate,
        "arrive" if bytes_too => Action::ArriveExpectBytes,
        "arrive" => Action::Arrive,
        "arrive_drop" if bytes_too => return Err("`.expect_tx` of `.arrive_drop`".into()),
        "arrive_drop" => Action::Drop,
        "expect_tx" => Action::ExpectBytes,
        "complete_tx" => Action::CompleteBytes,
        _ if parity => Action::TestParity,
        _ => Action::Test,
    };
    let one = Operand::Int(1);
    let (out, address, count) = match (&instr.operands[..], action) {
        ([address], Action::Invalidate) => (None, address, &one),
        ([address, count], Action::Init | Action::ExpectBytes | Action::CompleteBytes) => (None, address, count),
        ([out, address, state], Action::Test | Action::TestParity) => (Some(out), address, state),
        // A hint of how long to wait.
        ([out, address, state, _], Action::Test | Action::TestParity) if name == "try_wait" => {
            (Some(out), address, state)
        }
        ([address], Action::Arrive | Action::Drop) => (None, address, &one),
        ([out, address], Action::Arrive | Action::Drop) if matches!(address, Operand::Address(..)) => {
            (Some(out), address, &one)
        }
        ([address, count], Action::Arrive | Action::Drop | Action::ArriveExpectBytes) => (None, address, count),
        ([out, address, count], Action::Arrive | Action::Drop | Action::ArriveExpectBytes) => {
            (Some(out), address, count)
        }
        _ => return Err("another number of operands expected".into()),
    };
    let out_type = if matches!(action, Action::Test | Action::TestParity) { Type::Pred } else { Type::B64 };
    let (slot, offset, form) = place_target(decoder, address, space, order)?;
    let offset = i32::try_from(offset).map_err(|_| "an offset beyond shared memory")?;
    let returns = out.is_some_and(|out| !matches!(out, Operand::Sink));
    let out = match out {
        Some(out) => decoder.dst(out, out_type)?,
        None => slot,
    };
    let count = decoder.src(count, if action == Action::Test { Type::B64 } else { Type::U32 })?;
    let slots = [slot, out, count, slot, slot, form.with(u32::from(returns)).slot()];
    let number = ACTIONS.iter().position(|known| *known == action).expect("all are listed") as i64;
    Ok(Decoded::Lane(exec, Args::of(&slots, number << 32 | i64::from(offset.cast_unsigned()))))
}

/// `cp.async.mbarrier.arrive{.noinc}.shared.b64 [a]`: arrives when the copies before it are done, which they are. Without
/// `.noinc` one more arrival is expected first, and so nothing is left to do.
pub(super) fn copies_arrive(
    decoder: &mut Decoder<'_>,
    instr: &Instr,
    mut words: Modifiers<'_>,
) -> Result<Decoded, Reason> {
    if !words.take("arrive") {
        return Err("`.arrive` expected".into());
    }
    let counts = words.take("noinc");
    let space = words.space();
    words.take("b64");
    words.done()?;
    let [address] = decoder.operands(instr)?;
    let (slot, offset, form) = place_target(decoder, address, space, Order::Relaxed)?;
    if !counts {
        return Ok(Decoded::Nothing);
    }
    let offset = i32::try_from(offset).map_err(|_| "an offset beyond shared memory")?;
    let one = decoder.constant(1, Type::U32);
    let slots = [slot, slot, one, slot, slot, form.slot()];
    let number = ACTIONS.iter().position(|known| *known == Action::Arrive).expect("all are listed") as i64;
    Ok(Decoded::Lane(exec, Args::of(&slots, number << 32 | i64::from(offset.cast_unsigned()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_ends_when_all_have_come_and_all_bytes_are_there() {
        let start = Barrier::of(0).apply(Action::Init, 2);
        let one = start.apply(Action::ArriveExpectBytes, 64);
        assert!(!one.is_over(Action::Test, start.word()));
        let both = one.apply(Action::Arrive, 1);
        assert_eq!((both.pending, both.odd, both.bytes), (0, false, 64));
        let done = both.apply(Action::CompleteBytes, 64);
        assert!(done.is_over(Action::Test, start.word()) && done.is_over(Action::TestParity, 0));
        assert!(!done.is_over(Action::TestParity, 1));
        let fewer = done.apply(Action::Drop, 1);
        assert_eq!((fewer.pending, fewer.expected), (1, 1));
        for barrier in [start, one, both, done, fewer, Barrier { bytes: -5, ..done }] {
            assert_eq!(Barrier::of(barrier.word()), barrier);
        }
    }
}
