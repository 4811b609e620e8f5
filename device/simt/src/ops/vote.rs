//! What the lanes of a warp say together: `vote`, `match`, `redux`, `activemask`, `elect` (PTX ISA, "Parallel
//! Synchronization and Communication Instructions").
//!
//! The lanes that take part are those of `Lanes::mask`: for the `.sync` forms the engine has waited for all members.

use gridstride_ptx::{Instr, Operand, Type};

use super::modifiers::{Modifiers, wrong_type};
use super::{DecodeFn, Decoded, Reason};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, LANES, Lane, Lanes, Step};

pub(super) const OPCODES: &[(&str, DecodeFn)] =
    &[("vote", vote), ("match", matching), ("redux", redux), ("activemask", activemask), ("elect", elect)];

/// The operation with its member mask, or without one.
fn synced(decoder: &mut Decoder<'_>, members: Option<&Operand>, exec: ExecFn, args: Args) -> Result<Decoded, Reason> {
    Ok(match members {
        Some(members) => Decoded::Synced { members: decoder.src(members, Type::B32)?, exec, args },
        None => Decoded::Lane(exec, args),
    })
}

/// The lanes that take part.
fn participants(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

/// `imm` of the votes: the source predicate is negated.
const NEGATE: i64 = 1;

/// The lanes that take part and say yes.
unsafe fn yes(lanes: &Lanes<'_>, args: &Args) -> u32 {
    // SAFETY: by the callers, slot 1 is a predicate.
    let said = unsafe { lanes.get_pred(args.slots[1]) };
    lanes.mask & (said ^ if args.imm & NEGATE != 0 { u32::MAX } else { 0 })
}

unsafe fn ballot(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave a 32-bit register and a predicate.
    unsafe {
        let yes = yes(lanes, args);
        lanes.set(args.slots[0], [yes; LANES]);
    }
    Ok(())
}

/// A vote whose result is a predicate.
macro_rules! verdict {
    ($($name:ident |$yes:ident, $all:ident| $body:expr;)*) => {$(
        unsafe fn $name(lanes: &mut Lanes<'_>, args: &Args) -> Step {
            // SAFETY: the decoder gave two predicates.
            unsafe {
                let ($yes, $all) = (yes(lanes, args), lanes.mask);
                lanes.set_pred(args.slots[0], if $body { u32::MAX } else { 0 });
            }
            Ok(())
        }
    )*};
}
verdict! {
    all |yes, all| yes == all;
    any |yes, _all| yes != 0;
    uni |yes, all| yes == 0 || yes == all;
}

/// `vote[.sync].{all, any, uni}.pred d, {!}a[, members]`, `vote[.sync].ballot.b32 d, {!}a[, members]`
fn vote(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let sync = words.take("sync");
    let kind =
        words.take_any(&["all", "any", "uni", "ballot"]).ok_or("none of `.all`, `.any`, `.uni` and `.ballot`")?;
    let ty = words.ty()?;
    words.done()?;
    let (exec, out): (ExecFn, Type) = match kind {
        "all" => (all, Type::Pred),
        "any" => (any, Type::Pred),
        "uni" => (uni, Type::Pred),
        _ => (ballot, Type::B32),
    };
    if ty != out {
        return Err(wrong_type(ty));
    }
    let (d, a, members) = match (&instr.operands[..], sync) {
        ([d, a, members], true) => (d, a, Some(members)),
        ([d, a], false) => (d, a, None),
        (found, _) => return Err(format!("{} operands expected, {} found", 2 + i32::from(sync), found.len())),
    };
    let d = decoder.dst(d, ty)?;
    let (a, imm) = match a {
        Operand::NotReg(reg) => (decoder.src(&Operand::Reg(*reg), Type::Pred)?, NEGATE),
        a => (decoder.src(a, Type::Pred)?, 0),
    };
    synced(decoder, members, exec, Args::of(&[d, a], imm))
}

/// For each lane the lanes with the same value.
unsafe fn match_any<T: Lane + PartialEq>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, ..] = args.slots;
    // SAFETY: the decoder gave a 32-bit register and one of T's width.
    unsafe {
        let (values, mask) = (lanes.get::<T>(a), lanes.mask);
        let mut out = [0; LANES];
        for lane in participants(mask) {
            out[lane] = mask & super::relations::pack(values.map(|value| value == values[lane]));
        }
        lanes.set(d, out);
    }
    Ok(())
}

/// The lanes, and true, if all have the same value; else 0 and false.
unsafe fn match_all<T: Lane + PartialEq>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, p, ..] = args.slots;
    // SAFETY: the decoder gave a 32-bit register, one of T's width and a predicate.
    unsafe {
        let (values, mask) = (lanes.get::<T>(a), lanes.mask);
        let first = values[mask.trailing_zeros() as usize];
        let same = participants(mask).all(|lane| values[lane] == first);
        lanes.set(d, [if same { mask } else { 0 }; LANES]);
        lanes.set_pred(p, if same { u32::MAX } else { 0 });
    }
    Ok(())
}

/// `match.any.sync.TYPE d, a, members`, `match.all.sync.TYPE d[|p], a, members`
fn matching(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    if !words.take("sync") {
        return Err("`.sync` expected".into());
    }
    let any = words.take_any(&["any", "all"]).ok_or("neither `.any` nor `.all`")? == "any";
    let ty = words.ty()?;
    words.done()?;
    let exec: ExecFn = match (any, ty) {
        (true, Type::B32) => match_any::<u32>,
        (true, Type::B64) => match_any::<u64>,
        (false, Type::B32) => match_all::<u32>,
        (false, Type::B64) => match_all::<u64>,
        _ => return Err(wrong_type(ty)),
    };
    let [out, a, members] = decoder.operands(instr)?;
    let (d, p) = match out {
        Operand::Pair(d, p) if !any => (decoder.dst(d, Type::B32)?, decoder.dst(p, Type::Pred)?),
        d => (decoder.dst(d, Type::B32)?, decoder.scratch(Type::Pred)),
    };
    let args = Args::of(&[d, decoder.src(a, ty)?, p], 0);
    synced(decoder, Some(members), exec, args)
}

/// What `redux` makes of two lanes.
type Reduction = fn(u32, u32) -> u32;

/// The operations of `redux`.
const REDUCTIONS: &[(&str, &[Type], Reduction)] = &[
    ("add", &[Type::U32, Type::S32], u32::wrapping_add),
    ("min", &[Type::U32], |a, b| a.min(b)),
    ("min", &[Type::S32], |a, b| (a as i32).min(b as i32) as u32),
    ("max", &[Type::U32], |a, b| a.max(b)),
    ("max", &[Type::S32], |a, b| (a as i32).max(b as i32) as u32),
    ("and", &[Type::B32], |a, b| a & b),
    ("or", &[Type::B32], |a, b| a | b),
    ("xor", &[Type::B32], |a, b| a ^ b),
];

/// `imm` is the operation's position in [`REDUCTIONS`].
unsafe fn reduce(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, ..] = args.slots;
    let (_, _, operation) = REDUCTIONS[args.imm as usize];
    // SAFETY: the decoder gave 32-bit registers.
    unsafe {
        let (values, mask) = (lanes.get::<u32>(a), lanes.mask);
        let result = participants(mask).map(|lane| values[lane]).reduce(operation).unwrap_or(0);
        lanes.set(d, [result; LANES]);
    }
    Ok(())
}

/// `redux.sync.OP.TYPE d, a, members`
fn redux(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    if !words.take("sync") {
        return Err("`.sync` expected".into());
    }
    let name = words.take_any(&["add", "min", "max", "and", "or", "xor"]).ok_or("no operation is named")?;
    let ty = words.ty()?;
    words.done()?;
    let at = REDUCTIONS.iter().position(|(known, types, _)| *known == name && types.contains(&ty));
    let at = at.ok_or_else(|| wrong_type(ty))?;
    let [d, a, members] = decoder.operands(instr)?;
    let args = Args::of(&[decoder.dst(d, ty)?, decoder.src(a, ty)?], at as i64);
    synced(decoder, Some(members), reduce, args)
}

unsafe fn active(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let mask = lanes.mask;
    // SAFETY: the decoder gave a 32-bit register.
    unsafe { lanes.set(args.slots[0], [mask; LANES]) };
    Ok(())
}

/// `activemask.b32 d`
fn activemask(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    if ty != Type::B32 {
        return Err(wrong_type(ty));
    }
    let [d] = decoder.operands(instr)?;
    let args = Args::of(&[decoder.dst(d, ty)?], 0);
    Ok(Decoded::Lane(active, args))
}

/// The first of the lanes, as measured on an H200.
unsafe fn first(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, p, ..] = args.slots;
    let leader = lanes.mask.trailing_zeros();
    // SAFETY: the decoder gave a 32-bit register and a predicate.
    unsafe {
        lanes.set(d, [leader; LANES]);
        lanes.set_pred(p, 1 << leader);
    }
    Ok(())
}

/// `elect.sync d|p, members`
fn elect(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let sync = words.take("sync");
    words.done()?;
    let ([Operand::Pair(d, p), members], true) = (&instr.operands[..], sync) else {
        return Err("`elect.sync d|p, members` expected".into());
    };
    let args = Args::of(&[decoder.dst(d, Type::B32)?, decoder.dst(p, Type::Pred)?], 0);
    synced(decoder, Some(members), first, args)
}
