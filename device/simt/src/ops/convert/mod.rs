//! Conversion (PTX ISA, "cvt", "cvt.pack").
//!
//! The conversions that loops are full of are vector code (`fast.rs`). All others go through one scalar function that knows
//! every pair, rounding and saturation (`any.rs`). NaNs and what is out of range are as measured on an H200.

mod any;
mod fast;
mod pack;
mod small;

use gridstride_ptx::{Instr, Operand, Type};

use super::exact::Rounding as Direction;
use super::modifiers::{Modifiers, wrong_type};
use super::{DecodeFn, Decoded, Reason};
use crate::code::Width;
use crate::decode::{Decoder, width};
use crate::lane::Args;

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("cvt", cvt)];

/// How a result that is not exact is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounding {
    /// Not named: the result is exact, or an integer is cut.
    None,
    /// `.rn` and its relatives: to the precision of the result.
    To(Direction),
    /// `.rni` and its relatives: to a whole number.
    Whole(Direction),
}

fn rounding(word: &str) -> Option<Rounding> {
    match word.strip_suffix('i') {
        Some(direction) => Direction::from_name(direction).map(Rounding::Whole),
        None => Direction::from_name(word).map(Rounding::To),
    }
}

/// A conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spec {
    from: Type,
    to: Type,
    rounding: Rounding,
    sat: bool,
    ftz: bool,
    relu: bool,
}

impl Spec {
    /// What the ISA demands of the modifiers, so that none is ignored.
    fn check(&self) -> Result<(), Reason> {
        let (from, to) = (self.from, self.to);
        for ty in [from, to] {
            if matches!(
                ty,
                Type::Pred | Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128 | Type::F16x2 | Type::BF16x2
            ) {
                return Err(wrong_type(ty));
            }
        }
        let half = |ty| matches!(ty, Type::F16 | Type::BF16);
        let single = from == Type::F32 || to == Type::F32;
        let fits = match (from.is_float(), to.is_float(), self.rounding) {
            (false, false, rounding) => rounding == Rounding::None,
            (true, false, rounding) => matches!(rounding, Rounding::Whole(_)),
            (false, true, rounding) => matches!(rounding, Rounding::To(_)),
            (true, true, Rounding::Whole(_)) => from == to,
            (true, true, Rounding::None) => from == to || from.bytes() < to.bytes(),
            // A wider result is exact; of `.bf16` a rounding may be named all the same.
            (true, true, Rounding::To(_)) => from != to && (from.bytes() >= to.bytes() || from == Type::BF16),
        };
        if !fits {
            return Err("the rounding does not go with the types, or is missing".into());
        }
        if self.ftz && !single {
            return Err("`.ftz` without `.f32`".into());
        }
        if self.relu && !(half(to) && from == Type::F32) {
            return Err("`.relu` of other types than `.f32` to a half".into());
        }
        Ok(())
    }
}

/// `cvt[.rounding][.ftz][.sat].DTYPE.ATYPE d, a`, `cvt.rn.f16x2.f32 d, a, b` and `cvt.pack`.
fn cvt(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    if words.take("pack") {
        return pack::integers(decoder, instr, words);
    }
    if small::concerns(instr) {
        return small::decode(decoder, instr);
    }
    let rounding = words.take_map(rounding).unwrap_or(Rounding::None);
    let (ftz, sat, relu) = (words.take("ftz"), words.take("sat"), words.take("relu"));
    let (to, from) = (words.ty()?, words.ty()?);
    words.done()?;
    let spec = Spec { from, to, rounding, sat, ftz, relu };
    if let Type::F16x2 | Type::BF16x2 = to {
        return pack::halves(decoder, instr, spec);
    }
    spec.check()?;
    let [d, a] = decoder.operands(instr)?;
    let (a, a_type) = match a {
        Operand::Reg(_) => decoder.src_any(a, from)?,
        // An immediate of a narrow type still needs a register of its own width.
        a => (decoder.src(a, from)?, from),
    };
    let (d, d_type) = decoder.dst_any(d, to)?;
    let (wide_from, wide_to) = (width(a_type), width(d_type));
    for (wide, ty, register) in [(wide_from, from, a_type), (wide_to, to, d_type)] {
        if matches!(wide, Width::Pred | Width::W128) || register.bytes() < ty.bytes() {
            return Err(format!("a register of type `.{}` for `.{}`", register.name(), ty.name()));
        }
    }
    // To the same type and nothing more: a move, which leaves NaNs as they are.
    let plain = spec == Spec { from, to: from, rounding: Rounding::None, sat: false, ftz: false, relu: false };
    if plain && matches!(from, Type::F32 | Type::F64) && wide_from == wide_to {
        return Ok(Decoded::Lane(super::mov::copy(from, decoder.level())?, Args::of(&[d, a], 0)));
    }
    let args = Args::of(&[d, a], any::Packed::of(&spec, wide_from, wide_to).0);
    Ok(Decoded::Lane(fast::find(&spec, wide_from, wide_to, decoder.level()).unwrap_or(any::exec), args))
}
