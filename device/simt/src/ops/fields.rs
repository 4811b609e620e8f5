//! Counts, positions, fields and bytes of words (PTX ISA, the bit instructions of "Integer Arithmetic Instructions", "prmt").

use gridstride_ptx::{Instr, Type};

use super::bits::{Left, Right};
use super::modifiers::{Modifiers, wrong_type};
use super::shape::{self, Binary, Shift, Ternary, Unary, op};
use super::{DecodeFn, Decoded, Reason, int};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, LANES, Lanes, Level, Step, multiversion};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[
    ("popc", popc),
    ("clz", clz),
    ("brev", brev),
    ("bfind", bfind),
    ("fns", fns),
    ("bfe", bfe),
    ("bfi", bfi),
    ("bmsk", bmsk),
    ("szext", szext),
    ("prmt", prmt),
];

op!(unary Brev: u32 u64 => |a| a.reverse_bits());

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
                    // Eight bits of either count, but for 64-bit fields, which a GPU puts together from shifts, all.
                    let counts = if BITS == 32 { 0xFF } else { u32::MAX };
                    let (pos, len) = (pos[lane] & counts, len[lane] & counts);
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
    int::four(decoder, instr, [ty, ty, Type::U32, Type::U32], exec)
}

/// `bfi`: `b` with `len` bits of `a` put in at `pos`.
macro_rules! insert {
    ($name:ident, $body:ident, $t:ty) => {
        #[inline(always)]
        unsafe fn $body(lanes: &mut Lanes<'_>, args: &Args) -> Step {
            const BITS: u32 = <$t>::BITS;
            let [d, a, b, pos, len, ..] = args.slots;
            // SAFETY: the decoder gave registers of the type's width and two of 32 bits.
            unsafe {
                let (a, b) = (lanes.get::<$t>(a), lanes.get::<$t>(b));
                let (pos, len) = (lanes.get::<u32>(pos), lanes.get::<u32>(len));
                let mut out = [0; LANES];
                for lane in 0..LANES {
                    // Eight bits of either count, but for 64-bit fields, which a GPU puts together from shifts, all.
                    let counts = if BITS == 32 { 0xFF } else { u32::MAX };
                    let (pos, len) = (pos[lane] & counts, len[lane] & counts);
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
            _ => [0, 1, 0, 1].map(|at| 2 * (s & 1) + at),                      // rc16
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
    if ty != Type::B32 {
        return Err(wrong_type(ty));
    }
    int::four(decoder, instr, [ty; 4], exec)
}

/// `fns`: the place of the `offset`-th bit that is set, counting from `base` upwards (or, if negative, downwards); of none,
/// all ones. An offset of 0 asks for the bit at `base` itself.
struct FindNth;
impl Ternary<u32, u32> for FindNth {
    fn apply(mask: u32, base: u32, offset: u32) -> u32 {
        let offset = offset as i32;
        if offset == i32::MIN {
            // As measured on an H200.
            return 0;
        }
        if base > 31 {
            return u32::MAX;
        }
        if offset == 0 {
            return if mask >> base & 1 != 0 { base } else { u32::MAX };
        }
        let mut left = offset.unsigned_abs();
        let mut at = base as i32;
        while (0..32).contains(&at) {
            if mask >> at & 1 != 0 {
                left -= 1;
                if left == 0 {
                    return at as u32;
                }
            }
            at += offset.signum();
        }
        u32::MAX
    }
}

fn fns(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    words.done()?;
    if ty != Type::B32 {
        return Err(wrong_type(ty));
    }
    int::four(decoder, instr, [ty; 4], shape::ternary::<u32, u32, FindNth>(Level::Baseline))
}

/// `bmsk`: ones from place `a` on, `b` of them. Amounts beyond 31 clamp or wrap.
struct Mask<const WRAP: bool>;
impl<const WRAP: bool> Binary<u32, u32> for Mask<WRAP> {
    #[inline(always)]
    fn apply(a: u32, b: u32) -> u32 {
        let (a, b) = if WRAP { (a & 31, b & 31) } else { (a, b) };
        let ones = <Left as Shift<u32>>::apply(1, b).wrapping_sub(1);
        <Left as Shift<u32>>::apply(ones, a)
    }
}

/// Takes `.clamp` or `.wrap`; true for the latter.
fn take_wrap(words: &mut Modifiers<'_>) -> Result<bool, Reason> {
    Ok(words.take_any(&["clamp", "wrap"]).ok_or("neither `.clamp` nor `.wrap`")? == "wrap")
}

fn bmsk(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let wrap = take_wrap(&mut words)?;
    let ty = words.ty()?;
    words.done()?;
    let exec = match (ty, wrap) {
        (Type::B32, false) => shape::binary::<u32, u32, Mask<false>>(Level::Baseline),
        (Type::B32, true) => shape::binary::<u32, u32, Mask<true>>(Level::Baseline),
        _ => return Err(wrong_type(ty)),
    };
    int::three(decoder, instr, ty, exec)
}

/// `szext`: the lower `b` bits of `a`, extended by their sign or by zeros.
struct Extend<const WRAP: bool>;
macro_rules! extend {
    ($($t:ty)*) => {$(
        impl<const WRAP: bool> Binary<$t, $t> for Extend<WRAP> {
            #[inline(always)]
            fn apply(a: $t, b: $t) -> $t {
                let bits = if WRAP { b as u32 & 31 } else { b as u32 };
                match bits {
                    0 => 0,
                    1..32 => a << (32 - bits) >> (32 - bits),
                    _ => a,
                }
            }
        }
    )*};
}
extend!(u32 i32);

fn szext(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let wrap = take_wrap(&mut words)?;
    let ty = words.ty()?;
    words.done()?;
    let exec = match (ty, wrap) {
        (Type::U32, false) => shape::binary::<u32, u32, Extend<false>>(Level::Baseline),
        (Type::U32, true) => shape::binary::<u32, u32, Extend<true>>(Level::Baseline),
        (Type::S32, false) => shape::binary::<i32, i32, Extend<false>>(Level::Baseline),
        (Type::S32, true) => shape::binary::<i32, i32, Extend<true>>(Level::Baseline),
        _ => return Err(wrong_type(ty)),
    };
    int::three(decoder, instr, ty, exec)
}
