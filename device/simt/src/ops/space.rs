//! Address spaces as values: `cvta`, `cvta.to`, `isspacep`.

use gridstride_ptx::{Instr, Space, Type};

use super::memory::place::space_of;
use super::modifiers::Modifiers;
use super::{DecodeFn, Decoded, Reason};
use crate::decode::Decoder;
use crate::lane::{Args, LOCAL_WINDOW, Lanes, SHARED_WINDOW, Step, multiversion};
use crate::memory::AllocKind;

/// Opcodes of this family.
pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("cvta", cvta), ("isspacep", isspacep)];

/// Adds `imm`. Slots: destination, source.
#[inline(always)]
unsafe fn shift_body(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave 64-bit registers.
    unsafe {
        let from = lanes.get::<u64>(args.slots[1]);
        lanes.set(args.slots[0], from.map(|address| address.wrapping_add(args.imm.cast_unsigned())));
    }
    Ok(())
}
multiversion!(shift => shift_body);

/// Is the generic address in the space `imm`? Slots: predicate, source.
unsafe fn is_in(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave a predicate and a 64-bit register.
    unsafe {
        let from = lanes.get::<u64>(args.slots[1]);
        let mut answer = 0;
        for (lane, address) in from.into_iter().enumerate() {
            answer |= u32::from(space_seen(lanes, address) as i64 == args.imm) << lane;
        }
        lanes.set_pred(args.slots[0], answer);
    }
    Ok(())
}

/// The space as the program is to see it: constants lie among global memory here, and parameters whose address is taken in
/// local memory.
fn space_seen(lanes: &Lanes<'_>, address: u64) -> Space {
    match space_of(address) {
        Space::Local => {
            let params = lanes.launch.param_copy.map(u64::from).map(|at| at..at + lanes.launch.params.len() as u64);
            if params.is_some_and(|params| params.contains(&(address - LOCAL_WINDOW))) {
                Space::Param
            } else {
                Space::Local
            }
        }
        Space::Global if lanes.launch.memory.find(address).is_some_and(|it| it.kind == AllocKind::ModuleConstant) => {
            Space::Const
        }
        space => space,
    }
}

/// `cvta{.to}.space.u64 d, a`
fn cvta(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let to = words.take("to");
    let space = words.space().ok_or("no state space")?;
    let ty = words.ty()?;
    words.done()?;
    if ty.bytes() != 8 {
        return Err("generic addresses have 64 bits".into());
    }
    let window = match space {
        Space::Global | Space::Const => 0,
        Space::Shared => SHARED_WINDOW,
        // A kernel that takes the address of a parameter has a copy of them in local memory.
        Space::Local | Space::Param => LOCAL_WINDOW,
    };
    let [out, from] = decoder.operands(instr)?;
    let slots = [decoder.dst(out, Type::U64)?, decoder.src(from, Type::U64)?];
    let by = if to { window.wrapping_neg() } else { window };
    Ok(Decoded::Lane(shift(decoder.level()), Args::of(&slots, by.cast_signed())))
}

/// `isspacep.space p, a`
fn isspacep(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let space = words.space().ok_or("no state space")?;
    words.done()?;
    let [out, from] = decoder.operands(instr)?;
    let slots = [decoder.dst(out, Type::Pred)?, decoder.src(from, Type::U64)?];
    Ok(Decoded::Lane(is_in, Args::of(&slots, space as i64)))
}
