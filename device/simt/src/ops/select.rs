//! Selection (PTX ISA, "selp", "slct") and the class of a float ("testp").

use gridstride_ptx::{Instr, Operand, Type};

use super::modifiers::{Modifiers, wrong_type};
use super::relations::pack;
use super::{DecodeFn, Decoded, Reason};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, LANES, Lane, Lanes, Step, multiversion};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("selp", selp), ("slct", slct), ("testp", testp)];

/// `d = p ? a : b`; `imm` flips the predicate.
#[inline(always)]
unsafe fn selp_body<T: Lane>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, p, ..] = args.slots;
    // SAFETY: the decoder gave registers of T's width and a predicate.
    unsafe {
        let (a, b, mask) = (lanes.get::<T>(a), lanes.get::<T>(b), lanes.get_pred(p) ^ args.imm as u32);
        let mut out = [T::default(); LANES];
        for lane in 0..LANES {
            out[lane] = if mask >> lane & 1 != 0 { a[lane] } else { b[lane] };
        }
        lanes.set(d, out);
    }
    Ok(())
}
multiversion!(selp_exec<T: Lane> => selp_body);

fn selp(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let level = decoder.level();
    let exec = match (ty, ty.bytes()) {
        (Type::Pred, _) => return Err(wrong_type(ty)),
        (_, 2) => selp_exec::<u16>(level),
        (_, 4) => selp_exec::<u32>(level),
        (_, 8) => selp_exec::<u64>(level),
        _ => return Err(wrong_type(ty)),
    };
    let [d, a, b, p] = decoder.operands(instr)?;
    let (p, flip) = match p {
        Operand::NotReg(reg) => (decoder.src(&Operand::Reg(*reg), Type::Pred)?, -1),
        p => (decoder.src(p, Type::Pred)?, 0),
    };
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?, p];
    Ok(Decoded::Lane(exec, Args::of(&slots, flip)))
}

/// `d = c >= 0 ? a : b`, with `c` a signed integer or a float (where -0 counts as 0 and a NaN chooses `b`).
unsafe fn slct_body<T: Lane, C: Lane + PartialOrd, const FTZ: bool>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, c, ..] = args.slots;
    // SAFETY: the decoder gave registers of these widths.
    unsafe {
        let (a, b, c) = (lanes.get::<T>(a), lanes.get::<T>(b), lanes.get::<C>(c));
        let flushed = if FTZ { lanes.get::<f32>(args.slots[3]).map(super::float::Float::flush) } else { [0.0; LANES] };
        let mut out = [T::default(); LANES];
        for lane in 0..LANES {
            let first = if FTZ { flushed[lane] >= 0.0 } else { c[lane] >= C::default() };
            out[lane] = if first { a[lane] } else { b[lane] };
        }
        lanes.set(d, out);
    }
    Ok(())
}

fn slct(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ftz = words.take("ftz");
    let (ty, by) = (words.ty()?, words.ty()?);
    words.done()?;
    let exec: ExecFn = match (ty.bytes(), by, ftz) {
        (2, Type::S32, false) => slct_body::<u16, i32, false>,
        (4, Type::S32, false) => slct_body::<u32, i32, false>,
        (8, Type::S32, false) => slct_body::<u64, i32, false>,
        (2, Type::F32, false) => slct_body::<u16, f32, false>,
        (4, Type::F32, false) => slct_body::<u32, f32, false>,
        (8, Type::F32, false) => slct_body::<u64, f32, false>,
        (2, Type::F32, true) => slct_body::<u16, f32, true>,
        (4, Type::F32, true) => slct_body::<u32, f32, true>,
        (8, Type::F32, true) => slct_body::<u64, f32, true>,
        _ => return Err(wrong_type(by)),
    };
    let [d, a, b, c] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?, decoder.src(c, by)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

/// The classes of `testp`, as sets of: zero, subnormal, normal, infinite, NaN.
const CLASSES: &[(&str, i64)] = &[
    ("finite", 0b00111),
    ("infinite", 0b01000),
    ("number", 0b01111),
    ("notanumber", 0b10000),
    // A zero is normal, as measured on an H200.
    ("normal", 0b00101),
    ("subnormal", 0b00010),
];

/// The class of the bits of a float: a shift for the sets above.
fn class(magnitude: u64, normal: u64, infinity: u64) -> u32 {
    match magnitude {
        0 => 0,
        m if m < normal => 1,
        m if m < infinity => 2,
        m if m == infinity => 3,
        _ => 4,
    }
}

unsafe fn testp_body<const WIDE: bool>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [p, a, ..] = args.slots;
    // SAFETY: the decoder gave a predicate and a register of 64 bits, or 32 if not `WIDE`.
    unsafe {
        let classes = if WIDE {
            lanes.get::<u64>(a).map(|bits| class(bits & !(1 << 63), 1 << 52, 0x7FF << 52))
        } else {
            lanes.get::<u32>(a).map(|bits| class(u64::from(bits & !(1 << 31)), 1 << 23, 0xFF << 23))
        };
        lanes.set_pred(p, pack(classes.map(|class| args.imm >> class & 1 != 0)));
    }
    Ok(())
}

fn testp(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let class = |word: &str| CLASSES.iter().find(|(name, _)| *name == word).map(|(_, set)| *set);
    let set = words.take_map(class).ok_or("no class is named")?;
    let ty = words.ty()?;
    words.done()?;
    let exec: ExecFn = match ty {
        Type::F32 => testp_body::<false>,
        Type::F64 => testp_body::<true>,
        _ => return Err(wrong_type(ty)),
    };
    let [p, a] = decoder.operands(instr)?;
    let slots = [decoder.dst(p, Type::Pred)?, decoder.src(a, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, set)))
}
