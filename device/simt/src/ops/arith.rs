//! Integer and floating-point arithmetic.

use super::{DecodeFn, Decoded, Reason};
use crate::decode::Decoder;
use crate::lane::{Args, LANES, Lane, Lanes, Step, multiversion};
use gridstride_ptx::{Instr, Type};

/// A function of two values of one type.
pub(crate) trait Binary {
    /// Operand and result type.
    type T: Lane;
    /// One lane.
    fn apply(a: Self::T, b: Self::T) -> Self::T;
}

#[inline(always)]
unsafe fn binary_body<O: Binary>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, ..] = args.slots;
    // SAFETY: the decoder gave registers of O::T's width.
    unsafe {
        let (a, b) = (lanes.get::<O::T>(a), lanes.get::<O::T>(b));
        let mut out = [O::T::default(); LANES];
        for lane in 0..LANES {
            out[lane] = O::apply(a[lane], b[lane]);
        }
        lanes.set(d, out);
    }
    Ok(())
}
multiversion!(binary<O: Binary> => binary_body);

struct AddU32;
impl Binary for AddU32 {
    type T = u32;
    #[inline(always)]
    fn apply(a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }
}

/// Opcodes of this family.
pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("add", add)];

fn add(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let [d, a, b] = decoder.operands(instr)?;
    let ty = match &*instr.modifiers.iter().map(|m| &**m).collect::<Vec<_>>() {
        ["u32"] => Type::U32,
        ["s32"] => Type::S32,
        other => return Err(format!("`.{}`", other.join("."))),
    };
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?];
    Ok(Decoded::Lane(binary::<AddU32>(decoder.level()), Args::of(&slots, 0)))
}
