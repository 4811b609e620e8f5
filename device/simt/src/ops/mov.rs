//! Moves (PTX ISA, "mov"), packing and unpacking included.

use gridstride_ptx::{Instr, Operand, Type};

use super::modifiers::{Modifiers, wrong_type};
use super::{DecodeFn, Decoded, Reason};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, FULL, LANES, Lane, Lanes, Level, Step, multiversion};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("mov", mov)];

#[inline(always)]
unsafe fn mov_body<T: Lane>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, ..] = args.slots;
    // SAFETY: the decoder gave registers of T's width, which either are the same or do not overlap.
    unsafe {
        if lanes.mask == FULL {
            let (from, to) = (lanes.frame.add(a.0 as usize), lanes.frame.add(d.0 as usize));
            std::ptr::copy(from.cast::<[T; LANES]>(), to.cast(), 1);
        } else {
            let value = lanes.get::<T>(a);
            lanes.set(d, value);
        }
    }
    Ok(())
}
multiversion!(mov_exec<T: Lane> => mov_body);

unsafe fn mov_pred(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, ..] = args.slots;
    // SAFETY: the decoder gave predicates.
    unsafe {
        let value = lanes.get_pred(a);
        lanes.set_pred(d, value);
    }
    Ok(())
}

/// The lane function that copies a register of `ty`'s width.
pub(super) fn copy(ty: Type, level: Level) -> Result<ExecFn, Reason> {
    Ok(match (ty, ty.bytes()) {
        (Type::Pred, _) => mov_pred,
        (_, 2) => mov_exec::<u16>(level),
        (_, 4) => mov_exec::<u32>(level),
        (_, 8) => mov_exec::<u64>(level),
        (_, 16) => mov_exec::<u128>(level),
        _ => return Err(wrong_type(ty)),
    })
}

fn mov(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let [d, a] = decoder.operands(instr)?;
    match (d, a) {
        (Operand::Vector(parts), a) => unpack(decoder, ty, parts, a),
        (d, Operand::Vector(parts)) => pack(decoder, ty, d, parts),
        (d, Operand::Special(name, None)) if time(name).is_some() => {
            let exec: ExecFn = if ty.bytes() == 8 { read_time::<u64> } else { read_time::<u32> };
            let d = decoder.dst(d, ty)?;
            Ok(Decoded::Lane(exec, Args::of(&[d], time(name).expect("checked above"))))
        }
        (d, a) => {
            let exec = copy(ty, decoder.level())?;
            let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?];
            Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
        }
    }
}

/// Which clock a special register reads: `imm` of [`read_time`].
fn time(name: &str) -> Option<i64> {
    Some(match name {
        "clock" | "clock64" | "globaltimer_base" => 0,
        "clock_hi" => 1,
        "globaltimer" | "globaltimer_lo" => 2,
        "globaltimer_hi" => 3,
        _ => return None,
    })
}

/// Number types that a clock is read into.
trait Ticks: Lane {
    fn of(ticks: u64) -> Self;
}
impl Ticks for u32 {
    fn of(ticks: u64) -> Self {
        ticks as Self
    }
}
impl Ticks for u64 {
    fn of(ticks: u64) -> Self {
        ticks
    }
}

/// Nanoseconds: since the launch began for the clock registers (the CPU device's "cycle" is one nanosecond), since 1970 for
/// `%globaltimer`.
unsafe fn read_time<T: Ticks>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let ticks = if args.imm & 2 == 0 {
        lanes.launch.began.elapsed().as_nanos() as u64
    } else {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |since| since.as_nanos() as u64)
    };
    let ticks = if args.imm & 1 == 0 { ticks } else { ticks >> 32 };
    lanes.spins += 1;
    // SAFETY: the decoder gave a register of T's width.
    unsafe { lanes.set(args.slots[0], [T::of(ticks); LANES]) };
    Ok(())
}

/// `{a, b} = d`: the lowest part first, parts of `bits` bits in registers of `part`.
macro_rules! unpacking {
    ($name:ident, $whole:ty, $part:ty, $n:literal) => {
        unpacking!($name, $whole, $part, $n, <$part>::BITS);
    };
    ($name:ident, $whole:ty, $part:ty, $n:literal, $bits:expr) => {
        unsafe fn $name(lanes: &mut Lanes<'_>, args: &Args) -> Step {
            // SAFETY: the decoder gave a register of the whole's width behind $n of the part's width.
            unsafe {
                let whole = lanes.get::<$whole>(args.slots[$n]);
                for part in 0..$n {
                    let mask = <$part>::MAX >> (<$part>::BITS - $bits);
                    lanes.set(args.slots[part], whole.map(|value| (value >> (part as u32 * $bits)) as $part & mask));
                }
            }
            Ok(())
        }
    };
}
// Registers of 8 bits have elements of 16.
unpacking!(unpack_16_8, u16, u16, 2, 8);
unpacking!(unpack_32_8, u32, u16, 4, 8);
unpacking!(unpack_32_16, u32, u16, 2);
unpacking!(unpack_64_32, u64, u32, 2);
unpacking!(unpack_64_16, u64, u16, 4);
unpacking!(unpack_128_64, u128, u64, 2);
unpacking!(unpack_128_32, u128, u32, 4);

macro_rules! packing {
    ($name:ident, $whole:ty, $part:ty, $n:literal) => {
        packing!($name, $whole, $part, $n, <$part>::BITS);
    };
    ($name:ident, $whole:ty, $part:ty, $n:literal, $bits:expr) => {
        unsafe fn $name(lanes: &mut Lanes<'_>, args: &Args) -> Step {
            // SAFETY: the decoder gave a register of the whole's width before $n of the part's width.
            unsafe {
                let mut out = [0 as $whole; LANES];
                let mask = <$part>::MAX >> (<$part>::BITS - $bits);
                for part in 0..$n {
                    let values = lanes.get::<$part>(args.slots[1 + part]);
                    for lane in 0..LANES {
                        out[lane] |= ((values[lane] & mask) as $whole) << (part as u32 * $bits);
                    }
                }
                lanes.set(args.slots[0], out);
            }
            Ok(())
        }
    };
}
packing!(pack_16_8, u16, u16, 2, 8);
packing!(pack_32_8, u32, u16, 4, 8);
packing!(pack_32_16, u32, u16, 2);
packing!(pack_64_32, u64, u32, 2);
packing!(pack_64_16, u64, u16, 4);
packing!(pack_128_64, u128, u64, 2);
packing!(pack_128_32, u128, u32, 4);

/// The type of each of `n` parts of `ty`, and the lane functions that take it apart and put it together.
fn parts(ty: Type, n: usize) -> Result<(Type, ExecFn, ExecFn), Reason> {
    Ok(match (ty.bytes(), n) {
        (2, 2) => (Type::B8, unpack_16_8, pack_16_8),
        (4, 4) => (Type::B8, unpack_32_8, pack_32_8),
        (4, 2) => (Type::B16, unpack_32_16, pack_32_16),
        (8, 2) => (Type::B32, unpack_64_32, pack_64_32),
        (8, 4) => (Type::B16, unpack_64_16, pack_64_16),
        (16, 2) => (Type::B64, unpack_128_64, pack_128_64),
        (16, 4) => (Type::B32, unpack_128_32, pack_128_32),
        _ => return Err(format!("{n} parts of `.{}`", ty.name())),
    })
}

fn unpack(decoder: &mut Decoder<'_>, ty: Type, into: &[Operand], a: &Operand) -> Result<Decoded, Reason> {
    let (part, exec, _) = parts(ty, into.len())?;
    let mut slots = into.iter().map(|operand| decoder.dst(operand, part)).collect::<Result<Vec<_>, _>>()?;
    slots.push(decoder.src(a, ty)?);
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

fn pack(decoder: &mut Decoder<'_>, ty: Type, d: &Operand, from: &[Operand]) -> Result<Decoded, Reason> {
    let (part, _, exec) = parts(ty, from.len())?;
    let mut slots = vec![decoder.dst(d, ty)?];
    for operand in from {
        slots.push(decoder.src(operand, part)?);
    }
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}
