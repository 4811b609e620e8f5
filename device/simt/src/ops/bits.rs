//! Logic and shifts (PTX ISA, "Logic and Shift Instructions").

use gridstride_ptx::{Instr, Operand, Type};

use super::modifiers::{Modifiers, wrong_type};
use super::shape::{self, Binary, Shift, Ternary, Unary, op};
use super::{DecodeFn, Decoded, Reason, int};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, LANES, Lanes, Level, Step, multiversion};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[
    ("and", and),
    ("or", or),
    ("xor", xor),
    ("not", not),
    ("cnot", cnot),
    ("shl", shl),
    ("shr", shr),
    ("shf", shf),
    ("lop3", lop3),
];

op!(binary And: u16 u32 u64 => |a, b| a & b);
op!(binary Or: u16 u32 u64 => |a, b| a | b);
op!(binary Xor: u16 u32 u64 => |a, b| a ^ b);
op!(unary Not: u16 u32 u64 => |a| !a);
op!(unary CNot: u16 u32 u64 => |a| <_>::from(a == 0));

/// Shifts by the width or more give 0 (or the sign): the amount is not cut as Rust's and x86's are.
pub(super) struct Left;
pub(super) struct Right;
macro_rules! shifts {
    ($($t:ty)*) => {$(
        impl Shift<$t> for Left {
            #[inline(always)]
            fn apply(a: $t, by: u32) -> $t {
                let shifted = a.wrapping_shl(by);
                if by < <$t>::BITS { shifted } else { 0 }
            }
        }
    )*};
}
shifts!(u16 u32 u64);
macro_rules! right_shifts {
    ($($t:ty, |$a:ident| $rest:expr;)*) => {$(
        impl Shift<$t> for Right {
            #[inline(always)]
            fn apply($a: $t, by: u32) -> $t {
                let shifted = $a.wrapping_shr(by);
                if by < <$t>::BITS { shifted } else { $rest }
            }
        }
    )*};
}
right_shifts! {
    u16, |a| 0; u32, |a| 0; u64, |a| 0;
    i16, |a| a >> 15; i32, |a| a >> 31; i64, |a| a >> 63;
}

fn logic<O>(decoder: &mut Decoder<'_>, instr: &Instr, predicate: ExecFn) -> Result<Decoded, Reason>
where
    O: Binary<u16, u16> + Binary<u32, u32> + Binary<u64, u64>,
{
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let level = decoder.level();
    let exec = match ty {
        Type::Pred => predicate,
        Type::B16 => shape::binary::<u16, u16, O>(level),
        Type::B32 => shape::binary::<u32, u32, O>(level),
        Type::B64 => shape::binary::<u64, u64, O>(level),
        _ => return Err(wrong_type(ty)),
    };
    int::three(decoder, instr, ty, exec)
}

/// Predicates are masks: one operation for all lanes.
macro_rules! predicate_logic {
    ($name:ident, |$a:ident, $b:ident| $body:expr) => {
        unsafe fn $name(lanes: &mut Lanes<'_>, args: &Args) -> Step {
            let [d, a, b, ..] = args.slots;
            // SAFETY: the decoder gave predicates.
            unsafe {
                let ($a, $b) = (lanes.get_pred(a), lanes.get_pred(b));
                lanes.set_pred(d, $body);
            }
            Ok(())
        }
    };
}
predicate_logic!(pred_and, |a, b| a & b);
predicate_logic!(pred_or, |a, b| a | b);
predicate_logic!(pred_xor, |a, b| a ^ b);
predicate_logic!(pred_not, |a, _b| !a);

fn and(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    logic::<And>(decoder, instr, pred_and)
}

fn or(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    logic::<Or>(decoder, instr, pred_or)
}

fn xor(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    logic::<Xor>(decoder, instr, pred_xor)
}

fn one_of<O>(ty: Type, level: Level) -> Result<ExecFn, Reason>
where
    O: Unary<u16, u16> + Unary<u32, u32> + Unary<u64, u64>,
{
    match ty {
        Type::B16 => Ok(shape::unary::<u16, u16, O>(level)),
        Type::B32 => Ok(shape::unary::<u32, u32, O>(level)),
        Type::B64 => Ok(shape::unary::<u64, u64, O>(level)),
        _ => Err(wrong_type(ty)),
    }
}

fn not(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let exec = if ty == Type::Pred { pred_not } else { one_of::<Not>(ty, decoder.level())? };
    int::two(decoder, instr, ty, exec)
}

fn cnot(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let exec = one_of::<CNot>(ty, decoder.level())?;
    int::two(decoder, instr, ty, exec)
}

fn shl(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let level = decoder.level();
    shifted(decoder, instr, |ty| match ty {
        Type::B16 => Ok(shape::shift::<u16, Left>(level)),
        Type::B32 => Ok(shape::shift::<u32, Left>(level)),
        Type::B64 => Ok(shape::shift::<u64, Left>(level)),
        _ => Err(wrong_type(ty)),
    })
}

fn shr(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let level = decoder.level();
    shifted(decoder, instr, |ty| match ty {
        Type::B16 | Type::U16 => Ok(shape::shift::<u16, Right>(level)),
        Type::B32 | Type::U32 => Ok(shape::shift::<u32, Right>(level)),
        Type::B64 | Type::U64 => Ok(shape::shift::<u64, Right>(level)),
        Type::S16 => Ok(shape::shift::<i16, Right>(level)),
        Type::S32 => Ok(shape::shift::<i32, Right>(level)),
        Type::S64 => Ok(shape::shift::<i64, Right>(level)),
        _ => Err(wrong_type(ty)),
    })
}

/// `d, a, b` with `b` a `.u32` whatever the type.
fn shifted(
    d: &mut Decoder<'_>,
    instr: &Instr,
    exec: impl Fn(Type) -> Result<ExecFn, Reason>,
) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let [out, a, b] = d.operands(instr)?;
    let slots = [d.dst(out, ty)?, d.src(a, ty)?, d.src(b, Type::U32)?];
    Ok(Decoded::Lane(exec(ty)?, Args::of(&slots, 0)))
}

/// `shf`: 32 bits out of the 64 of `b:a`.
struct FunnelLeftWrap;
struct FunnelLeftClamp;
struct FunnelRightWrap;
struct FunnelRightClamp;
macro_rules! funnel {
    ($($name:ident |$both:ident, $by:ident| $body:expr;)*) => {$(
        impl Ternary<u32, u32> for $name {
            #[inline(always)]
            fn apply(a: u32, b: u32, $by: u32) -> u32 {
                let $both = u64::from(b) << 32 | u64::from(a);
                $body
            }
        }
    )*};
}
funnel! {
    FunnelLeftWrap |both, by| (both << (by & 31) >> 32) as u32;
    FunnelLeftClamp |both, by| (both << by.min(32) >> 32) as u32;
    FunnelRightWrap |both, by| (both >> (by & 31)) as u32;
    FunnelRightClamp |both, by| (both >> by.min(32)) as u32;
}

fn shf(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let left = words.take_any(&["l", "r"]).ok_or("neither `.l` nor `.r`")? == "l";
    let wrap = words.take_any(&["wrap", "clamp"]).ok_or("neither `.wrap` nor `.clamp`")? == "wrap";
    let ty = words.ty()?;
    words.done()?;
    let level = decoder.level();
    let exec = match (left, wrap) {
        (true, true) => shape::ternary::<u32, u32, FunnelLeftWrap>(level),
        (true, false) => shape::ternary::<u32, u32, FunnelLeftClamp>(level),
        (false, true) => shape::ternary::<u32, u32, FunnelRightWrap>(level),
        (false, false) => shape::ternary::<u32, u32, FunnelRightClamp>(level),
    };
    if ty != Type::B32 {
        return Err(wrong_type(ty));
    }
    int::four(decoder, instr, [ty; 4], exec)
}

/// Any function of three bits, by its truth table.
#[inline(always)]
unsafe fn lop3_body(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, c, ..] = args.slots;
    // SAFETY: the decoder gave 32-bit registers.
    unsafe {
        let (a, b, c) = (lanes.get::<u32>(a), lanes.get::<u32>(b), lanes.get::<u32>(c));
        let mut out = [0u32; LANES];
        for row in (0..8).filter(|row| args.imm >> row & 1 != 0) {
            // Row `abc` of the table holds where the three bits are just so.
            let flip = |bit: u32| if row >> bit & 1 != 0 { 0 } else { u32::MAX };
            for lane in 0..LANES {
                out[lane] |= (a[lane] ^ flip(2)) & (b[lane] ^ flip(1)) & (c[lane] ^ flip(0));
            }
        }
        lanes.set(d, out);
    }
    Ok(())
}
multiversion!(lop3_exec => lop3_body);

/// `lop3.b32`, and `lop3.and.b32 d|p, a, b, c, table, q`: `p = (d != 0) and q`.
fn lop3(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let combine = words.take_any(&["and", "or"]);
    let ty = words.ty()?;
    words.done()?;
    if ty != Type::B32 {
        return Err(wrong_type(ty));
    }
    let (d, sources, table, predicates) = match (&instr.operands[..], combine) {
        ([d, a, b, c, table], None) => (d, [a, b, c], table, None),
        ([Operand::Pair(d, p), a, b, c, table, q], Some(_)) => (&**d, [a, b, c], table, Some((p, q))),
        _ => return Err("operands of a number that does not belong here".into()),
    };
    let Operand::Int(table) = table else { return Err("the truth table is not a constant".into()) };
    let mut slots = [decoder.dst(d, ty)?; 6];
    for (slot, operand) in slots[1..].iter_mut().zip(sources) {
        *slot = decoder.src(operand, ty)?;
    }
    let table = table & 0xFF;
    let Some((p, q)) = predicates else {
        return Ok(Decoded::Lane(lop3_exec(decoder.level()), Args::of(&slots, table)));
    };
    slots[4] = decoder.dst(p, Type::Pred)?;
    let (q, negate) = match q {
        Operand::NotReg(reg) => (decoder.src(&Operand::Reg(*reg), Type::Pred)?, LOP3_NEGATE),
        q => (decoder.src(q, Type::Pred)?, 0),
    };
    slots[5] = q;
    let combine = if combine == Some("and") { LOP3_AND } else { 0 };
    Ok(Decoded::Lane(lop3_tested, Args::of(&slots, table | combine | negate)))
}

const LOP3_AND: i64 = 1 << 8;
const LOP3_NEGATE: i64 = 1 << 9;

unsafe fn lop3_tested(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, _, _, _, p, q] = args.slots;
    // SAFETY: the decoder gave 32-bit registers and predicates. The destination may be a source, so it is read when it has
    // been written; lanes that are not active are not stored below.
    unsafe {
        let third = lanes.get_pred(q) ^ if args.imm & LOP3_NEGATE != 0 { u32::MAX } else { 0 };
        lop3_body(lanes, &Args { imm: args.imm & 0xFF, ..*args })?;
        let set = super::relations::pack(lanes.get::<u32>(d).map(|value| value != 0));
        lanes.set_pred(p, if args.imm & LOP3_AND != 0 { set & third } else { set | third });
    }
    Ok(())
}
