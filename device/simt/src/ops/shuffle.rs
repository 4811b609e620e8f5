//! Values between the lanes of a warp: `shfl` (PTX ISA, "shfl.sync").
//!
//! A warp is one set of arrays here, so a shuffle is a gather. Lanes that do not take part are read all the same: what
//! comes of reading one of them is undefined.

use gridstride_ptx::{Instr, Operand, Type};

use super::modifiers::{Modifiers, wrong_type};
use super::{DecodeFn, Decoded, Reason};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, LANES, Lanes, Step};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("shfl", shfl)];

/// Which lane a lane reads.
trait Mode {
    /// The lane that `lane` asks for, and whether that is within its segment, which begins at `first` and where `bound`,
    /// from the operand `c`, says ends.
    fn source(lane: i32, by: i32, first: i32, segment: i32, bound: i32) -> (i32, bool);
}
struct Up;
struct Down;
struct Butterfly;
struct Index;
impl Mode for Up {
    #[inline(always)]
    fn source(lane: i32, by: i32, _: i32, _: i32, bound: i32) -> (i32, bool) {
        (lane - by, lane - by >= bound)
    }
}
impl Mode for Down {
    #[inline(always)]
    fn source(lane: i32, by: i32, _: i32, _: i32, bound: i32) -> (i32, bool) {
        (lane + by, lane + by <= bound)
    }
}
impl Mode for Butterfly {
    #[inline(always)]
    fn source(lane: i32, by: i32, _: i32, _: i32, bound: i32) -> (i32, bool) {
        (lane ^ by, lane ^ by <= bound)
    }
}
impl Mode for Index {
    #[inline(always)]
    fn source(_: i32, by: i32, first: i32, segment: i32, bound: i32) -> (i32, bool) {
        let from = first | by & !segment;
        (from, from <= bound)
    }
}

/// `d|p = a` of the lane that the mode names; where that is out of the segment, `a` of the lane itself, and `p` false.
unsafe fn body<M: Mode>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, p, a, b, c, _] = args.slots;
    // SAFETY: the decoder gave 32-bit registers and a predicate.
    unsafe {
        let (a, b, c) = (lanes.get::<u32>(a), lanes.get::<u32>(b), lanes.get::<u32>(c));
        let mut out = [0; LANES];
        let mut within = [false; LANES];
        for lane in 0..LANES {
            let (segment, clamp) = ((c[lane] >> 8 & 31) as i32, (c[lane] & 31) as i32);
            let here = lane as i32;
            let first = here & segment;
            let (from, is_within) = M::source(here, (b[lane] & 31) as i32, first, segment, first | clamp & !segment);
            within[lane] = is_within;
            out[lane] = a[if is_within { from as usize & 31 } else { lane }];
        }
        lanes.set(d, out);
        lanes.set_pred(p, super::relations::pack(within));
    }
    Ok(())
}

/// `shfl[.sync].MODE.b32 d[|p], a, b, c[, members]`
fn shfl(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let sync = words.take("sync");
    let mode = words.take_any(&["up", "down", "bfly", "idx"]).ok_or("none of `.up`, `.down`, `.bfly` and `.idx`")?;
    let ty = words.ty()?;
    words.done()?;
    if ty != Type::B32 {
        return Err(wrong_type(ty));
    }
    let exec: ExecFn = match mode {
        "up" => body::<Up>,
        "down" => body::<Down>,
        "bfly" => body::<Butterfly>,
        _ => body::<Index>,
    };
    let (out, sources, members) = match (&instr.operands[..], sync) {
        ([out, a, b, c, members], true) => (out, [a, b, c], Some(members)),
        ([out, a, b, c], false) => (out, [a, b, c], None),
        (found, _) => return Err(format!("{} operands expected, {} found", 4 + i32::from(sync), found.len())),
    };
    let (d, p) = match out {
        Operand::Pair(d, p) => (decoder.dst(d, ty)?, decoder.dst(p, Type::Pred)?),
        d => (decoder.dst(d, ty)?, decoder.scratch(Type::Pred)),
    };
    let mut slots = [d, p, d, d, d];
    for (slot, operand) in slots[2..].iter_mut().zip(sources) {
        *slot = decoder.src(operand, Type::B32)?;
    }
    let args = Args::of(&slots, 0);
    Ok(match members {
        Some(members) => Decoded::Synced { members: decoder.src(members, Type::B32)?, exec, args },
        None => Decoded::Lane(exec, args),
    })
}
