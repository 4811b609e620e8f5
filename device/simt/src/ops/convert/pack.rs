//! Conversions of two values into one word: pairs of halves, and `cvt.pack`.

use gridstride_ptx::{Instr, Type};

use super::{Direction, Rounding, Spec, any, fast};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, LANES, Lanes, Step};
use crate::ops::modifiers::{Modifiers, wrong_type};
use crate::ops::{Decoded, Reason};

/// `cvt.rn.f16x2.f32 d, a, b`: two floats to a pair of halves, the first to the upper one.
pub(super) fn halves(decoder: &mut Decoder<'_>, instr: &Instr, spec: Spec) -> Result<Decoded, Reason> {
    let Rounding::To(direction @ (Direction::Nearest | Direction::Zero)) = spec.rounding else {
        return Err("neither `.rn` nor `.rz`".into());
    };
    if spec.from != Type::F32 || spec.sat || spec.ftz {
        return Err("only from `.f32`, without `.sat` and `.ftz`".into());
    }
    let exec: ExecFn =
        if direction == Direction::Nearest && !spec.relu { fast::pair(spec.to, decoder.level()) } else { halves_body };
    let [d, a, b] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, spec.to)?, decoder.src(a, Type::F32)?, decoder.src(b, Type::F32)?];
    let imm = direction.number() | i64::from(spec.relu) << 2 | i64::from(spec.to == Type::F16x2) << 3;
    Ok(Decoded::Lane(exec, Args::of(&slots, imm)))
}

unsafe fn halves_body(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, ..] = args.slots;
    let to = if args.imm & 8 != 0 { Type::F16 } else { Type::BF16 };
    let rounding = Rounding::To(Direction::of(args.imm));
    let spec = Spec { from: Type::F32, to, rounding, sat: false, ftz: false, relu: args.imm & 4 != 0 };
    // SAFETY: the decoder gave 32-bit registers.
    unsafe {
        let (a, b) = (lanes.get::<u32>(a), lanes.get::<u32>(b));
        let mut out = [0u32; LANES];
        for lane in 0..LANES {
            let [high, low] = [a[lane], b[lane]].map(|bits| any::convert(u64::from(bits), &spec) as u32);
            out[lane] = high << 16 | low;
        }
        lanes.set(d, out);
    }
    Ok(())
}

/// `cvt.pack.sat.TYPE.s32[.b32] d, a, b[, c]`: two integers clamped to a type, `a` above `b`; where they do not fill a word,
/// `c` moves up to make room for them.
pub(super) fn integers(decoder: &mut Decoder<'_>, instr: &Instr, mut words: Modifiers<'_>) -> Result<Decoded, Reason> {
    if !words.take("sat") {
        return Err("`.sat` expected".into());
    }
    let types: [(&str, i64); 8] =
        [("u16", 16), ("s16", -16), ("u8", 8), ("s8", -8), ("u4", 4), ("s4", -4), ("u2", 2), ("s2", -2)];
    let bits = words.take_map(|word| types.iter().find(|(name, _)| *name == word).map(|(_, bits)| *bits));
    let bits = bits.ok_or("no type is named")?;
    let from = words.ty()?;
    if from != Type::S32 {
        return Err(wrong_type(from));
    }
    let third = words.take("b32");
    words.done()?;
    if third != (bits.abs() < 16) {
        return Err("`.b32`, and a third operand, belong to types of 8 bits and fewer".into());
    }
    let slots = if third {
        let [d, a, b, c] = decoder.operands(instr)?;
        [decoder.dst(d, Type::B32)?, decoder.src(a, Type::S32)?, decoder.src(b, Type::S32)?, decoder.src(c, Type::B32)?]
    } else {
        let [d, a, b] = decoder.operands(instr)?;
        let zero = decoder.constant(0, Type::B32);
        [decoder.dst(d, Type::B32)?, decoder.src(a, Type::S32)?, decoder.src(b, Type::S32)?, zero]
    };
    Ok(Decoded::Lane(integers_body, Args::of(&slots, bits)))
}

unsafe fn integers_body(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, c, ..] = args.slots;
    let bits = args.imm.unsigned_abs() as u32;
    let (low, high) = if args.imm < 0 { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1i32 << bits) - 1) };
    // SAFETY: the decoder gave 32-bit registers.
    unsafe {
        let (a, b, c) = (lanes.get::<i32>(a), lanes.get::<i32>(b), lanes.get::<u32>(c));
        let mut out = [0u32; LANES];
        for lane in 0..LANES {
            let [upper, lower] = [a[lane], b[lane]].map(|value| value.clamp(low, high) as u32 & ((1 << bits) - 1));
            out[lane] = if bits < 16 { c[lane] << (2 * bits) } else { 0 } | upper << bits | lower;
        }
        lanes.set(d, out);
    }
    Ok(())
}
