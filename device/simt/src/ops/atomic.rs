//! Atomic operations: `atom`, `red`.
//!
//! Lanes take their turns in ascending order. On global memory each is an atomic operation of the processor, because other
//! cores run other blocks; shared and local memory belong to the core at hand, where an ordinary update does.

mod operation;
mod quad;
mod vector;

use gridstride_ptx::{Instr, Space, Type};

use super::memory::place::{Form, Found, Order, Place, Unit};
use super::memory::{after, before, place_target};
use super::modifiers::{Modifiers, wrong_type};
use super::{DecodeFn, Decoded, Reason};
use crate::decode::Decoder;
use crate::fault::Access;
use crate::lane::{Args, ExecFn, LANES, Lanes, Step};
use crate::memory::raw::{Element, Narrow};
use operation::{
    Add, And, Brain, BrainMax, BrainMin, BrainPair, BrainPairMax, BrainPairMin, Cas, DecWrap, Double, Exch, Half,
    HalfMax, HalfMin, HalfPair, HalfPairMax, HalfPairMin, IncWrap, Max, Min, Operation, Or, Single, Word, Xor,
};

/// Opcodes of this family.
pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("atom", atomic), ("red", atomic)];

/// Slots: address, destination, operands, …, form, whose own bit says whether there is a destination.
unsafe fn update<O: Operation>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [slot, out, b, c, _, form] = args.slots;
    let form = Form::of(form);
    let size = size_of::<O::T>() as u64;
    let place = Place { slot, offset: args.imm, form, size, access: Access::Atomic };
    let mut at = [0; LANES];
    let mut private = false;
    // SAFETY: by the decoder, the address register is as wide as the form says, the others as `O::T`. The places were found
    // to be alive and aligned; private ones are touched by no other thread.
    unsafe {
        let found = Narrow::find(lanes, &place, &mut at, &mut private)?;
        match found {
            Found::Row(first) => at = std::array::from_fn(|lane| first + lane as u64 * size),
            Found::One(first) => at = [first; LANES],
            Found::Each => {}
        }
        lanes.counters.atomics += u64::from(lanes.mask.count_ones());
        before(lanes, form.order());
        let (b, c) = (lanes.get::<O::T>(b), lanes.get::<O::T>(c));
        let mut old = [O::T::default(); LANES];
        let mut rest = lanes.mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize % LANES;
            rest &= rest - 1;
            old[lane] = if private {
                let value = O::T::load(at[lane]);
                O::T::store(at[lane], O::apply(value, b[lane], c[lane]));
                value
            } else {
                O::update(at[lane], b[lane], c[lane])
            };
        }
        after(form.order());
        if form.own() != 0 {
            lanes.set(out, old);
        }
    }
    Ok(())
}

/// `atom{.order}{.scope}{.space}.op{.hints}.type d, [a], b{, c}{, policy}`, `red….op….type [a], b{, policy}`
fn atomic(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let returns = &*instr.opcode == "atom";
    let mut words = Modifiers::of(instr);
    let order = words.order(Order::Relaxed)?;
    let space = words.space();
    let op = words
        .take_any(&["add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"])
        .ok_or("an operation that is not known")?;
    let plain_subnormals = words.take("noftz");
    let policy = words.cache_hints();
    let count = words.vector();
    let ty = words.ty()?;
    words.done()?;
    if matches!(space, Some(Space::Const | Space::Param)) {
        return Err("an atomic operation on this space".into());
    }
    let half = matches!(ty, Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2);
    // Vectors have minima and maxima of halves besides.
    let halves = if count > 1 { &["add", "min", "max"][..] } else { &["add"] };
    if plain_subnormals != (half && halves.contains(&op)) {
        return Err("`.noftz`, which `.add` on half precision has, and nothing else".into());
    }
    let operands = &instr.operands[..instr.operands.len() - usize::from(policy && !instr.operands.is_empty())];
    let (out, rest) = match operands {
        [out, rest @ ..] if returns => (Some(out), rest),
        rest => (None, rest),
    };
    let (address, b, c) = match (rest, op == "cas") {
        ([address, b], false) => (address, b, b),
        ([address, b, c], true) => (address, b, c),
        _ => return Err("another number of operands expected".into()),
    };
    let place = place_target(decoder, address, space, order)?;
    if count > 1 {
        return vector::decode(decoder, &vector::Element { op, ty, place }, out, b, count);
    }
    let exec = operation(op, ty, returns)?;
    let (slot, offset, form) = place;
    let out = match out {
        Some(out) => decoder.dst(out, ty)?,
        None => slot,
    };
    let (b, c) = (decoder.src(b, ty)?, decoder.src(c, ty)?);
    let slots = [slot, out, b, c, slot, form.with(u32::from(returns)).slot()];
    Ok(Decoded::Lane(exec, Args::of(&slots, offset)))
}

fn operation(op: &str, ty: Type, returns: bool) -> Result<ExecFn, Reason> {
    use Type::{B16, B32, B64, B128, BF16, BF16x2, F16, F16x2, F32, F64, S32, S64, U32, U64};
    Ok(match (op, ty) {
        ("add", U32 | S32) => update::<Word<u32, Add>>,
        ("add", U64 | S64) => update::<Word<u64, Add>>,
        ("add", F32) => update::<Single>,
        ("add", F64) => update::<Double>,
        ("add", F16) => update::<Half>,
        ("add", F16x2) => update::<HalfPair>,
        ("add", BF16) => update::<Brain>,
        ("add", BF16x2) => update::<BrainPair>,
        ("min", U32) => update::<Word<u32, Min>>,
        ("min", U64) => update::<Word<u64, Min>>,
        ("min", S32) => update::<Word<i32, Min>>,
        ("min", S64) => update::<Word<i64, Min>>,
        ("max", U32) => update::<Word<u32, Max>>,
        ("max", U64) => update::<Word<u64, Max>>,
        ("max", S32) => update::<Word<i32, Max>>,
        ("max", S64) => update::<Word<i64, Max>>,
        ("inc", U32) => update::<Word<u32, IncWrap>>,
        ("dec", U32) => update::<Word<u32, DecWrap>>,
        ("and", B32) => update::<Word<u32, And>>,
        ("and", B64) => update::<Word<u64, And>>,
        ("or", B32) => update::<Word<u32, Or>>,
        ("or", B64) => update::<Word<u64, Or>>,
        ("xor", B32) => update::<Word<u32, Xor>>,
        ("xor", B64) => update::<Word<u64, Xor>>,
        ("exch", B32) if returns => update::<Word<u32, Exch>>,
        ("exch", B64) if returns => update::<Word<u64, Exch>>,
        ("cas", B16) if returns => update::<Word<u16, Cas>>,
        ("cas", B32) if returns => update::<Word<u32, Cas>>,
        ("cas", B64) if returns => update::<Word<u64, Cas>>,
        ("exch", B128) if returns => update::<Word<u128, Exch>>,
        ("cas", B128) if returns => update::<Word<u128, Cas>>,
        ("min", F16) => update::<HalfMin>,
        ("max", F16) => update::<HalfMax>,
        ("min", F16x2) => update::<HalfPairMin>,
        ("max", F16x2) => update::<HalfPairMax>,
        ("min", BF16) => update::<BrainMin>,
        ("max", BF16) => update::<BrainMax>,
        ("min", BF16x2) => update::<BrainPairMin>,
        ("max", BF16x2) => update::<BrainPairMax>,
        _ => return Err(format!("`.{op}` with {}", wrong_type(ty))),
    })
}
