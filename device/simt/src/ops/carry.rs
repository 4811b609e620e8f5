//! Chains of carries (PTX ISA, "Extended-Precision Integer Arithmetic Instructions").
//!
//! The carry flag is a predicate of the frame. After a subtraction it holds "no borrow": a subtraction adds the complement,
//! and a carry is what such an addition leaves.

use gridstride_ptx::{Instr, Type};

use super::modifiers::{Modifiers, wrong_type};
use super::{DecodeFn, Decoded, Reason};
use crate::decode::Decoder;
use crate::lane::{Args, ExecFn, LANES, Lane, Lanes, Step, multiversion};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("addc", with_carry), ("subc", with_carry), ("madc", product)];

/// Unsigned numbers as the chains need them.
pub(super) trait Word: Lane {
    fn carrying(self, other: Self, carry: bool) -> (Self, bool);
    fn complement(self) -> Self;
    fn product(self, other: Self, high: bool, signed: bool) -> Self;
}
macro_rules! word {
    ($($t:ty, $s:ty, $wide:ty, $wide_s:ty;)*) => {$(impl Word for $t {
        #[inline(always)]
        fn carrying(self, other: Self, carry: bool) -> (Self, bool) {
            let (sum, a) = self.overflowing_add(other);
            let (sum, b) = sum.overflowing_add(Self::from(carry));
            (sum, a | b)
        }
        #[inline(always)]
        fn complement(self) -> Self { !self }
        #[inline(always)]
        fn product(self, other: Self, high: bool, signed: bool) -> Self {
            match (high, signed) {
                (false, _) => self.wrapping_mul(other),
                (true, false) => ((self as $wide * other as $wide) >> Self::BITS) as Self,
                (true, true) => ((self as $s as $wide_s * other as $s as $wide_s) >> Self::BITS) as Self,
            }
        }
    })*};
}
word! { u32, i32, u64, i64; u64, i64, u128, i128; }

// Bits of `Args::imm`.
const SUBTRACT: i64 = 1;
const CARRY_IN: i64 = 2;
const CARRY_OUT: i64 = 4;
const HIGH: i64 = 8;
const SIGNED: i64 = 16;

/// `d = a ± b ± carry`
#[inline(always)]
unsafe fn sum_body<T: Word>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, carry, ..] = args.slots;
    // SAFETY: the decoder gave registers of T's width, and a predicate for the carry.
    unsafe {
        let (a, mut b) = (lanes.get::<T>(a), lanes.get::<T>(b));
        if args.imm & SUBTRACT != 0 {
            b = b.map(T::complement);
        }
        add(lanes, a, b, d, carry, args.imm);
    }
    Ok(())
}
multiversion!(sum_exec<T: Word> => sum_body);

/// `d = half of a × b + c + carry`
unsafe fn product_body<T: Word>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, c, carry, _] = args.slots;
    // SAFETY: the decoder gave registers of T's width, and a predicate for the carry.
    unsafe {
        let (mut a, b) = (lanes.get::<T>(a), lanes.get::<T>(b));
        for lane in 0..LANES {
            a[lane] = a[lane].product(b[lane], args.imm & HIGH != 0, args.imm & SIGNED != 0);
        }
        let c = lanes.get::<T>(c);
        add(lanes, a, c, d, carry, args.imm);
    }
    Ok(())
}

#[inline(always)]
unsafe fn add<T: Word>(
    lanes: &mut Lanes<'_>,
    a: [T; LANES],
    b: [T; LANES],
    d: crate::lane::Slot,
    carry: crate::lane::Slot,
    imm: i64,
) {
    // SAFETY: by the callers, `d` is of T's width and `carry` a predicate.
    unsafe {
        // Without a carry in, an addition begins with 0 and a subtraction with "no borrow".
        let first = if imm & SUBTRACT != 0 { u32::MAX } else { 0 };
        let flags = if imm & CARRY_IN != 0 { lanes.get_pred(carry) } else { first };
        let mut out = [T::default(); LANES];
        let mut carries = [false; LANES];
        for lane in 0..LANES {
            (out[lane], carries[lane]) = a[lane].carrying(b[lane], flags >> lane & 1 != 0);
        }
        lanes.set(d, out);
        if imm & CARRY_OUT != 0 {
            lanes.set_pred(carry, super::relations::pack(carries));
        }
    }
}

/// `add.cc` and `sub.cc`, whose modifiers `int.rs` has read.
pub(super) fn sum(decoder: &mut Decoder<'_>, instr: &Instr, ty: Type) -> Result<Decoded, Reason> {
    chained(decoder, instr, ty, CARRY_OUT)
}

/// `addc` and `subc`, with `.cc` or without.
fn with_carry(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let out = if words.take("cc") { CARRY_OUT } else { 0 };
    words.done()?;
    chained(decoder, instr, ty, CARRY_IN | out)
}

fn chained(decoder: &mut Decoder<'_>, instr: &Instr, ty: Type, imm: i64) -> Result<Decoded, Reason> {
    let subtract = if instr.opcode.starts_with("sub") { SUBTRACT } else { 0 };
    let exec = match ty {
        Type::U32 | Type::S32 => sum_exec::<u32>(decoder.level()),
        Type::U64 | Type::S64 => sum_exec::<u64>(decoder.level()),
        _ => return Err(wrong_type(ty)),
    };
    let [d, a, b] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?, decoder.carry()];
    Ok(Decoded::Lane(exec, Args::of(&slots, imm | subtract)))
}

/// `mad.lo.cc`, `mad.hi.cc`, and `madc` with `.cc` or without.
pub(super) fn product(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.ty()?;
    let half = words.take_any(&["lo", "hi"]).ok_or("neither `.lo` nor `.hi`")?;
    let out = if words.take("cc") { CARRY_OUT } else { 0 };
    words.done()?;
    let carry_in = if &*instr.opcode == "madc" { CARRY_IN } else { 0 };
    let exec: ExecFn = match ty {
        Type::U32 | Type::S32 => product_body::<u32>,
        Type::U64 | Type::S64 => product_body::<u64>,
        _ => return Err(wrong_type(ty)),
    };
    let high = if half == "hi" { HIGH } else { 0 };
    let signed = if ty.is_signed() { SIGNED } else { 0 };
    let [d, a, b, c] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, ty)?, decoder.src(a, ty)?, decoder.src(b, ty)?, decoder.src(c, ty)?, decoder.carry()];
    Ok(Decoded::Lane(exec, Args::of(&slots, carry_in | out | high | signed)))
}
