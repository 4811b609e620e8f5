//! Arithmetic on lane 0, with the operations of the vector code.

use gridstride_ptx::Type;

use super::{Kind, Sign, first, put};
use crate::lane::{Args, ExecFn, Lane, Lanes, Step};
use crate::ops::bits::{And, Left, Not, Or, Right, Xor};
use crate::ops::int::{Add, MadLo, MadWide, Max, Min, MulHi, MulLo, MulWide, SDiv, SRem, Sub, UDiv, URem};
use crate::ops::shape::{Binary, Shift, Ternary, Unary};

unsafe fn unary<T: Lane, O: Unary<T, T>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave registers of these widths.
    unsafe {
        let a = first::<T>(lanes, args.slots[1]);
        put(lanes, args.slots[0], O::apply(a));
    }
    Ok(())
}

unsafe fn binary<T: Lane, U: Lane, O: Binary<T, U>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave registers of these widths.
    unsafe {
        let (a, b) = (first::<T>(lanes, args.slots[1]), first::<T>(lanes, args.slots[2]));
        put(lanes, args.slots[0], O::apply(a, b));
    }
    Ok(())
}

unsafe fn shift<T: Lane, O: Shift<T>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave registers of these widths.
    unsafe {
        let (a, by) = (first::<T>(lanes, args.slots[1]), first::<u32>(lanes, args.slots[2]));
        put(lanes, args.slots[0], O::apply(a, by));
    }
    Ok(())
}

unsafe fn ternary<T: Lane, U: Lane, O: Ternary<T, U>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave registers of these widths.
    unsafe {
        let (a, b) = (first::<T>(lanes, args.slots[1]), first::<T>(lanes, args.slots[2]));
        let c = first::<U>(lanes, args.slots[3]);
        put(lanes, args.slots[0], O::apply(a, b, c));
    }
    Ok(())
}

/// The function and the kind of an instruction with modifiers `form` and, at last, a type.
pub(super) fn find(opcode: &str, form: &[&str], ty: Type) -> Option<(ExecFn, Kind)> {
    if ty.is_float() {
        return None;
    }
    let wide = match ty.bytes() {
        8 => true,
        4 => false,
        _ => return None,
    };
    macro_rules! by {
        ($shape:ident $op:ident) => {
            if wide { $shape::<u64, $op> as ExecFn } else { $shape::<u32, $op> }
        };
        ($shape:ident $op:ident twice) => {
            if wide { $shape::<u64, u64, $op> as ExecFn } else { $shape::<u32, u32, $op> }
        };
        ($shape:ident $unsigned:ident $signed:ident twice) => {
            match (wide, ty.is_signed()) {
                (true, true) => $shape::<i64, i64, $signed> as ExecFn,
                (true, false) => $shape::<u64, u64, $unsigned>,
                (false, true) => $shape::<i32, i32, $signed>,
                (false, false) => $shape::<u32, u32, $unsigned>,
            }
        };
    }
    let sign = Sign::of(ty);
    Some(match (opcode, form) {
        ("add", []) => (by!(binary Add twice), Kind::Add),
        ("sub", []) => (by!(binary Sub twice), Kind::Sub),
        ("mul", ["lo"]) => (by!(binary MulLo twice), Kind::Mul),
        ("mul", ["hi"]) => (by!(binary MulHi MulHi twice), Kind::Uniform(2)),
        ("mad", ["lo"]) => (by!(ternary MadLo twice), Kind::Mad),
        ("mul", ["wide"]) if !wide => match sign {
            Sign::Signed => (binary::<i32, i64, MulWide>, Kind::MulWide(sign)),
            Sign::Unsigned => (binary::<u32, u64, MulWide>, Kind::MulWide(sign)),
        },
        ("mad", ["wide"]) if !wide => match sign {
            Sign::Signed => (ternary::<i32, i64, MadWide>, Kind::MadWide(sign)),
            Sign::Unsigned => (ternary::<u32, u64, MadWide>, Kind::MadWide(sign)),
        },
        ("and", []) => (by!(binary And twice), Kind::And),
        ("or", []) => (by!(binary Or twice), Kind::Or),
        ("xor", []) => (by!(binary Xor twice), Kind::Uniform(2)),
        ("not", []) => (by!(unary Not), Kind::Uniform(1)),
        ("shl", []) => (by!(shift Left), Kind::Shl),
        ("shr", []) => {
            let exec: ExecFn = match (wide, sign) {
                (true, Sign::Signed) => shift::<i64, Right>,
                (true, Sign::Unsigned) => shift::<u64, Right>,
                (false, Sign::Signed) => shift::<i32, Right>,
                (false, Sign::Unsigned) => shift::<u32, Right>,
            };
            (exec, Kind::Shr(sign))
        }
        ("min", []) => (by!(binary Min Min twice), Kind::Uniform(2)),
        ("max", []) => (by!(binary Max Max twice), Kind::Uniform(2)),
        ("div", []) => (by!(binary UDiv SDiv twice), Kind::Uniform(2)),
        ("rem", []) => (by!(binary URem SRem twice), Kind::Uniform(2)),
        _ => return None,
    })
}

unsafe fn copy_exec<T: Lane>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave registers of T's width.
    unsafe {
        let a = first::<T>(lanes, args.slots[1]);
        put(lanes, args.slots[0], a);
    }
    Ok(())
}

pub(super) fn copy(ty: Type) -> Option<ExecFn> {
    match ty.bytes() {
        4 => Some(copy_exec::<u32>),
        8 => Some(copy_exec::<u64>),
        _ => None,
    }
}

/// As the vector code has it: `imm` flips the predicate.
unsafe fn select_exec<T: Lane>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave registers of T's width and a predicate, which is the same in all lanes.
    unsafe {
        let chosen = if lanes.get_pred(args.slots[3]) ^ args.imm as u32 != 0 { args.slots[1] } else { args.slots[2] };
        let value = first::<T>(lanes, chosen);
        put(lanes, args.slots[0], value);
    }
    Ok(())
}

pub(super) fn select(ty: Type) -> Option<ExecFn> {
    match ty.bytes() {
        4 => Some(select_exec::<u32>),
        8 => Some(select_exec::<u64>),
        _ => None,
    }
}

unsafe fn widen<const SIGNED: bool>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave registers of 64 and 32 bits.
    unsafe {
        let a = first::<u32>(lanes, args.slots[1]);
        let wide = if SIGNED { i64::from(a.cast_signed()).cast_unsigned() } else { u64::from(a) };
        put(lanes, args.slots[0], wide);
    }
    Ok(())
}

unsafe fn cut(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave registers of 32 and 64 bits.
    unsafe {
        let a = first::<u64>(lanes, args.slots[1]);
        put(lanes, args.slots[0], a as u32);
    }
    Ok(())
}

/// A whole-number conversion between 32 and 64 bits.
pub(super) fn convert(to: Type, from: Type) -> ExecFn {
    match (from.bytes(), to.bytes()) {
        (4, 8) if from.is_signed() => widen::<true>,
        (4, 8) => widen::<false>,
        (8, 4) => cut,
        (4, _) => copy_exec::<u32>,
        _ => copy_exec::<u64>,
    }
}

unsafe fn shift_address(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    // SAFETY: the decoder gave 64-bit registers.
    unsafe {
        let a = first::<u64>(lanes, args.slots[1]);
        put(lanes, args.slots[0], a.wrapping_add(args.imm.cast_unsigned()));
    }
    Ok(())
}

/// `cvta`: adds `imm`.
pub(super) const SHIFT: ExecFn = shift_address;

unsafe fn nothing(_: &mut Lanes<'_>, _: &Args) -> Step {
    Ok(())
}

/// Stands where a rule keeps the instruction's own function.
pub(super) const NOTHING: ExecFn = nothing;
