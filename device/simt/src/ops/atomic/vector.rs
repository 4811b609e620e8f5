//! Atomic operations on vectors (`.v2` to `.v8`): every element is updated by itself, as the ISA has it.

use gridstride_ptx::{Operand, Type};

use super::super::modifiers::wrong_type;
use super::super::{Decoded, Reason};
use super::operation;
use crate::decode::Decoder;
use crate::lane::{Args, Slot};
use crate::ops::memory::place::Form;

/// What an element's update is, and where.
pub(super) struct Element<'o> {
    pub(super) op: &'o str,
    pub(super) ty: Type,
    /// The address, its offset, and how both are meant.
    pub(super) place: (Slot, i64, Form),
}

/// `{d, …}, [a], {b, …}`: one lane function an element.
pub(super) fn decode(
    decoder: &mut Decoder<'_>,
    element: &Element<'_>,
    out: Option<&Operand>,
    values: &Operand,
    count: usize,
) -> Result<Decoded, Reason> {
    let (slot, offset, form) = element.place;
    let ty = element.ty;
    let most = match ty {
        Type::F32 | Type::F16x2 | Type::BF16x2 => 4,
        Type::F16 | Type::BF16 => 8,
        _ => return Err(wrong_type(ty)),
    };
    let parts = |operand: &Operand| match operand {
        Operand::Vector(parts) if parts.len() == count && count <= most => Ok(parts.clone()),
        _ => Err(format!("a vector of {count} expected, and `.{}` has {most} at most", ty.name())),
    };
    let values = parts(values)?.iter().map(|value| decoder.src(value, ty)).collect::<Result<Vec<_>, _>>()?;
    let outs = match out {
        Some(out) => parts(out)?.iter().map(|out| decoder.dst(out, ty)).collect::<Result<Vec<_>, _>>()?,
        None => Vec::new(),
    };
    if outs.iter().enumerate().any(|(at, out)| values[at + 1..].contains(out)) {
        return Err("a register that is both a result and an operand".into());
    }
    let exec = operation(element.op, ty, out.is_some())?;
    let form = form.with(u32::from(out.is_some())).slot();
    let steps = values.iter().enumerate().map(|(at, value)| {
        let out = outs.get(at).copied().unwrap_or(slot);
        let offset = offset + at as i64 * i64::from(ty.bytes());
        (exec, Args::of(&[slot, out, *value, *value, slot, form], offset))
    });
    Ok(Decoded::Several(steps.collect()))
}
