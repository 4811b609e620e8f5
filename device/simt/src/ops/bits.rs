//! Bits (PTX ISA, "Logic and Shift Instructions" and the bit instructions of "Integer Arithmetic Instructions").

use gridstride_ptx::{Instr, Type};

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
    ("popc", popc),
    ("clz", clz),
    ("brev", brev),
    ("bfind", bfind),
    ("bfe", bfe),
    ("bfi", bfi),
    ("prmt", prmt),
];

op!(binary And: u16 u32 u64 => |a, b| a & b);
op!(binary Or: u16 u32 u64 => |a, b| a | b);
op!(binary Xor: u16 u32 u64 => |a, b| a ^ b);
op!(unary Not: u16 u32 u64 => |a| !a);
op!(unary CNot: u16 u32 u64 => |a| <_>::from(a == 0));
op!(unary Brev: u32 u64 => |a| a.reverse_bits());

/// Shifts by the width or more give 0 (or the sign): the amount is not cut as Rust's and x86's are.
struct Left;
struct Right;
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
    four(decoder, instr, [ty; 4], exec, 0)
}

/// Four operands, destination first, of these types.
fn four(d: &mut Decoder<'_>, instr: &Instr, types: [Type; 4], exec: ExecFn, imm: i64) -> Result<Decoded, Reason> {
    let [out, a, b, c] = d.operands(instr)?;
    let slots = [d.dst(out, types[0])?, d.src(a, types[1])?, d.src(b, types[2])?, d.src(c, types[3])?];
    Ok(Decoded::Lane(exec, Args::of(&slots, imm)))
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

fn lop3(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    words.ty()?;
    words.done()?;
    let [d, a, b, c, table] = decoder.operands(instr)?;
    let gridstride_ptx::Operand::Int(table) = table else { return Err("the truth table is not a constant".into()) };
    let slots = [d, a, b, c];
    let mut found = [decoder.dst(slots[0], Type::B32)?; 4];
    for (slot, operand) in found.iter_mut().zip(slots).skip(1) {
        *slot = decoder.src(operand, Type::B32)?;
    }
    Ok(Decoded::Lane(lop3_exec(decoder.level()), Args::of(&found, *table)))
}

/// Counts and positions: 32-bit results of 32- and 64-bit values.
struct Popc;
struct Clz;
struct Find;
struct FindShift;
macro_rules! counts {
    ($($name:ident: $($t:ty)*, |$a:ident| $body:expr;)*) => {$($(
        impl Unary<$t, u32> for $name {
            #[inline(always)]
            fn apply($a: $t) -> u32 { $body }
        }
    )*)*};
}
counts! {
    Popc: u32 u64, |a| a.count_ones();
    Clz: u32 u64, |a| a.leading_zeros();
    // The highest bit that differs from the sign; all ones if there is none.
    Find: u32 u64, |a| if a == 0 { u32::MAX } else { a.ilog2() };
    Find: i32 i64, |a| { let a = if a < 0 { !a } else { a }; if a == 0 { u32::MAX } else { a.ilog2() } };
    FindShift: u32 u64, |a| if a == 0 { u32::MAX } else { a.leading_zeros() };
    FindShift: i32 i64, |a| { let a = if a < 0 { !a } else { a }; if a == 0 { u32::MAX } else { a.leading_zeros() } };
}

fn count(d: &mut Decoder<'_>, instr: &Instr, ty: Type, exec: ExecFn) -> Result<Decoded, Reason> {
    let [out, a] = d.operands(instr)?;
    let slots = [d.dst(out, Type::U32)?, d.src(a, ty)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

fn popc(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let exec = match ty {
        Type::B32 => shape::unary::<u32, u32, Popc>(decoder.level()),
        Type::B64 => shape::unary::<u64, u32, Popc>(decoder.level()),
        _ => return Err(wrong_type(ty)),
    };
    count(decoder, instr, ty, exec)
}

fn clz(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let exec = match ty {
        Type::B32 => shape::unary::<u32, u32, Clz>(decoder.level()),
        Type::B64 => shape::unary::<u64, u32, Clz>(decoder.level()),
        _ => return Err(wrong_type(ty)),
    };
    count(decoder, instr, ty, exec)
}

fn brev(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let exec = match ty {
        Type::B32 => shape::unary::<u32, u32, Brev>(decoder.level()),
        Type::B64 => shape::unary::<u64, u64, Brev>(decoder.level()),
        _ => return Err(wrong_type(ty)),
    };
    int::two(decoder, instr, ty, exec)
}

fn bfind(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let shift = words.take("shiftamt");
    let ty = words.ty()?;
    words.done()?;
    let level = decoder.level();
    let exec = match (ty, shift) {
        (Type::U32, false) => shape::unary::<u32, u32, Find>(level),
        (Type::S32, false) => shape::unary::<i32, u32, Find>(level),
        (Type::U64, false) => shape::unary::<u64, u32, Find>(level),
        (Type::S64, false) => shape::unary::<i64, u32, Find>(level),
        (Type::U32, true) => shape::unary::<u32, u32, FindShift>(level),
        (Type::S32, true) => shape::unary::<i32, u32, FindShift>(level),
        (Type::U64, true) => shape::unary::<u64, u32, FindShift>(level),
        (Type::S64, true) => shape::unary::<i64, u32, FindShift>(level),
        _ => return Err(wrong_type(ty)),
    };
    count(decoder, instr, ty, exec)
}

/// `bfe`: `len` bits of `a` from `pos`, extended by zeros or by the field's (or the value's) highest bit.
macro_rules! extract {
    ($name:ident, $body:ident, $t:ty) => {
        #[inline(always)]
        unsafe fn $body(lanes: &mut Lanes<'_>, args: &Args) -> Step {
            const BITS: u32 = <$t>::BITS;
            let [d, a, pos, len, ..] = args.slots;
            // SAFETY: the decoder gave a register of the type's width and two of 32 bits.
            unsafe {
                let (a, pos, len) = (lanes.get::<$t>(a), lanes.get::<u32>(pos), lanes.get::<u32>(len));
                let mut out = [0; LANES];
                for lane in 0..LANES {
                    let (pos, len) = (pos[lane] & 0xFF, len[lane] & 0xFF);
                    let from = <Right as Shift<$t>>::apply(a[lane], pos);
                    let room = BITS.saturating_sub(len);
                    let cut = if len >= BITS.saturating_sub(pos) { from } else { from.wrapping_shl(room).wrapping_shr(room) };
                    out[lane] = if len == 0 { 0 } else { cut };
                }
                lanes.set(d, out);
            }
            Ok(())
        }
        multiversion!($name => $body);
    };
}
extract!(extract_u32, extract_u32_body, u32);
extract!(extract_s32, extract_s32_body, i32);
extract!(extract_u64, extract_u64_body, u64);
extract!(extract_s64, extract_s64_body, i64);

fn bfe(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let level = decoder.level();
    let exec = match ty {
        Type::U32 => extract_u32(level),
        Type::S32 => extract_s32(level),
        Type::U64 => extract_u64(level),
        Type::S64 => extract_s64(level),
        _ => return Err(wrong_type(ty)),
    };
    four(decoder, instr, [ty, ty, Type::U32, Type::U32], exec, 0)
}

/// `bfi`: `b` with `len` bits of `a` put in at `pos`.
macro_rules! insert {
    ($name:ident, $body:ident, $t:ty) => {
        #[inline(always)]
        unsafe fn $body(lanes: &mut Lanes<'_>, args: &Args) -> Step {
            let [d, a, b, pos, len, ..] = args.slots;
            // SAFETY: the decoder gave registers of the type's width and two of 32 bits.
            unsafe {
                let (a, b) = (lanes.get::<$t>(a), lanes.get::<$t>(b));
                let (pos, len) = (lanes.get::<u32>(pos), lanes.get::<u32>(len));
                let mut out = [0; LANES];
                for lane in 0..LANES {
                    let (pos, len) = (pos[lane] & 0xFF, len[lane] & 0xFF);
                    let ones = <Left as Shift<$t>>::apply(1, len).wrapping_sub(1);
                    let field = <Left as Shift<$t>>::apply(ones, pos);
                    out[lane] = b[lane] & !field | <Left as Shift<$t>>::apply(a[lane], pos) & field;
                }
                lanes.set(d, out);
            }
            Ok(())
        }
        multiversion!($name => $body);
    };
}
insert!(insert_32, insert_32_body, u32);
insert!(insert_64, insert_64_body, u64);

fn bfi(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    let exec = match ty {
        Type::B32 => insert_32(decoder.level()),
        Type::B64 => insert_64(decoder.level()),
        _ => return Err(wrong_type(ty)),
    };
    let [d, a, b, pos, len] = decoder.operands(instr)?;
    let slots = [
        decoder.dst(d, ty)?,
        decoder.src(a, ty)?,
        decoder.src(b, ty)?,
        decoder.src(pos, Type::U32)?,
        decoder.src(len, Type::U32)?,
    ];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

/// `prmt`: four bytes out of the eight of `b:a`, each by a nibble of the selector; its highest bit repeats the sign.
struct Permute;
impl Ternary<u32, u32> for Permute {
    #[inline(always)]
    fn apply(a: u32, b: u32, selector: u32) -> u32 {
        let bytes = u64::from(b) << 32 | u64::from(a);
        let mut out = 0;
        for place in 0..4 {
            let nibble = selector >> (4 * place);
            let byte = (bytes >> (8 * (nibble & 7))) as u8;
            let byte = if nibble & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte };
            out |= u32::from(byte) << (8 * place);
        }
        out
    }
}

/// The modes of `prmt` that take two bits of the selector.
struct PermuteMode<const MODE: u8>;
impl<const MODE: u8> Ternary<u32, u32> for PermuteMode<MODE> {
    #[inline(always)]
    fn apply(a: u32, b: u32, selector: u32) -> u32 {
        let s = selector & 3;
        let bytes = u64::from(b) << 32 | u64::from(a);
        let pick = |at: u32| (bytes >> (8 * (at & 7))) as u8;
        let at: [u32; 4] = match MODE {
            0 => [s, s + 1, s + 2, s + 3],                                     // f4e
            1 => [s, s.wrapping_sub(1), s.wrapping_sub(2), s.wrapping_sub(3)], // b4e
            2 => [s; 4],                                                       // rc8
            3 => [s, s.max(1), s.max(2), 3],                                   // ecl
            4 => [0, s.min(1), s.min(2), s],                                   // ecr
            _ => [s & 2, (s & 2) + 1, s & 2, (s & 2) + 1],                     // rc16
        };
        u32::from_le_bytes(at.map(pick))
    }
}

fn prmt(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let mode = words.take_any(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
    words.done()?;
    let level = decoder.level();
    let exec = match mode {
        None => shape::ternary::<u32, u32, Permute>(level),
        Some("f4e") => shape::ternary::<u32, u32, PermuteMode<0>>(level),
        Some("b4e") => shape::ternary::<u32, u32, PermuteMode<1>>(level),
        Some("rc8") => shape::ternary::<u32, u32, PermuteMode<2>>(level),
        Some("ecl") => shape::ternary::<u32, u32, PermuteMode<3>>(level),
        Some("ecr") => shape::ternary::<u32, u32, PermuteMode<4>>(level),
        Some(_) => shape::ternary::<u32, u32, PermuteMode<5>>(level),
    };
    four(decoder, instr, [ty; 4], exec, 0)
}
