//! `cp.async`: copies from global to shared memory. Here they are done at once, so that waiting for them is nothing.

use gridstride_ptx::{Instr, Operand, Space, Type};

use super::place::{Form, Found, Order, Place, Unit};
use super::place_target;
use super::store::each;
use crate::decode::Decoder;
use crate::fault::Access;
use crate::lane::{Args, LANES, Lanes, Step};
use crate::memory::raw::{Element, Narrow};
use crate::ops::modifiers::Modifiers;
use crate::ops::{Decoded, Reason};

/// Slots: addresses to and from, bytes to read (the others become zero), the predicate under which none are read, forms to
/// and from. `imm`: both offsets, 32 bits each; the bytes to write are the destination form's own.
unsafe fn copy(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [to_slot, from_slot, bytes, ignore, to_form, from_form] = args.slots;
    let (to_form, from_form) = (Form::of(to_form), Form::of(from_form));
    let size = u64::from(to_form.own());
    let mut to = [0; LANES];
    let mut from = [0; LANES];
    let mask = lanes.mask;
    // SAFETY: by the decoder, both address registers are as wide as their forms say, `bytes` is a 32-bit register and
    // `ignore` a predicate. Lanes that read nothing need no source.
    unsafe {
        let ignored = lanes.get_pred(ignore);
        let bytes = lanes.get::<u32>(bytes);
        let reading =
            (0..LANES).filter(|lane| bytes[*lane] > 0).fold(0, |mask, lane| mask | 1 << lane) & mask & !ignored;
        let target = Place { slot: to_slot, offset: args.imm >> 32, form: to_form, size, access: Access::Write };
        let source =
            Place { slot: from_slot, offset: i64::from(args.imm as i32), form: from_form, size, access: Access::Read };
        let found = Narrow::find(lanes, &target, &mut to, &mut false)?;
        spread(found, size, &mut to);
        if reading != 0 {
            lanes.mask = reading;
            let found = Narrow::find(lanes, &source, &mut from, &mut false);
            lanes.mask = mask;
            spread(found?, size, &mut from);
        }
        each(mask, |lane| {
            let read = if reading >> lane & 1 != 0 { u64::from(bytes[lane]).min(size) } else { 0 };
            for at in (0..size).step_by(4) {
                let word = if at < read { u32::load(from[lane] + at) } else { 0 };
                let kept = u32::MAX >> (8 * (4 - (read.saturating_sub(at)).min(4)).min(3));
                u32::store(to[lane] + at, if read > at { word & kept } else { 0 });
            }
        });
    }
    Ok(())
}

/// Each lane's address, however they were found.
fn spread(found: Found, size: u64, at: &mut [u64; LANES]) {
    match found {
        Found::Row(first) => *at = std::array::from_fn(|lane| first + lane as u64 * size),
        Found::One(first) => *at = [first; LANES],
        Found::Each => {}
    }
}

/// `cp.async.cache.shared.global [d], [a], size{, bytes | , ignore}{, policy}`, `cp.async.commit_group`,
/// `cp.async.wait_group n`, `cp.async.wait_all`
pub(super) fn decode(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    if !words.take("async") {
        return Err("a copy that is not `cp.async`".into());
    }
    if words.take_any(&["commit_group", "wait_group", "wait_all"]).is_some() {
        words.done()?;
        return Ok(Decoded::Nothing);
    }
    if words.take("mbarrier") {
        return crate::ops::mbarrier::copies_arrive(decoder, instr, words);
    }
    let policy = words.cache_hints();
    // Destination first.
    let spaces = [words.space(), words.space()];
    words.done()?;
    if spaces != [Some(Space::Shared), Some(Space::Global)] {
        return Err("a copy other than from global to shared memory".into());
    }
    let operands = &instr.operands[..instr.operands.len() - usize::from(policy && !instr.operands.is_empty())];
    let (to, from, size, rest) = match operands {
        [to, from, Operand::Int(size @ (4 | 8 | 16))] => (to, from, *size, None),
        [to, from, Operand::Int(size @ (4 | 8 | 16)), rest] => (to, from, *size, Some(rest)),
        _ => return Err("two addresses and a size of 4, 8 or 16 bytes expected".into()),
    };
    let (to_slot, to_offset, to_form) = place_target(decoder, to, spaces[0], Order::Weak)?;
    let (from_slot, from_offset, from_form) = place_target(decoder, from, spaces[1], Order::Weak)?;
    let small = |offset: i64| i32::try_from(offset).map_err(|_| "an offset of more than 32 bits".to_owned());
    let imm = i64::from(small(to_offset)?) << 32 | i64::from(small(from_offset)?.cast_unsigned());
    let all = decoder.constant(size.cast_unsigned(), Type::U32);
    let never = decoder.constant(0, Type::Pred);
    let (bytes, ignore) = match rest {
        None => (all, never),
        Some(Operand::Reg(reg)) if decoder.type_of(*reg) == Type::Pred => {
            (all, decoder.src(&Operand::Reg(*reg), Type::Pred)?)
        }
        Some(bytes) => (decoder.src(bytes, Type::U32)?, never),
    };
    let slots = [to_slot, from_slot, bytes, ignore, to_form.with(size as u32).slot(), from_form.slot()];
    Ok(Decoded::Lane(copy, Args::of(&slots, imm)))
}
