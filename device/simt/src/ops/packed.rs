//! Several integers in a word: `add`, `min` and `max` of `.s16x2` and `.u16x2`, `.relu`, and dot products.

use gridstride_ptx::{Instr, Type};

use super::modifiers::Modifiers;
use super::shape::{self, Binary, Ternary};
use super::{DecodeFn, Decoded, Reason, int};
use crate::decode::Decoder;

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("dp4a", dp4a), ("dp2a", dp2a)];

/// True for the forms of `add`, `min` and `max` that are decoded here.
pub(super) fn is_packed(instr: &Instr) -> bool {
    let float = |word: &str| word.contains('f');
    instr.modifiers.iter().any(|word| matches!(&**word, "s16x2" | "u16x2"))
        || (instr.modifiers.iter().any(|word| &**word == "relu") && !instr.modifiers.iter().any(|word| float(word)))
}

struct Add;
struct Min;
struct Max;
struct MinRelu;
struct MaxRelu;

macro_rules! pairs {
    ($($name:ident, $t:ty, |$a:ident, $b:ident| $body:expr;)*) => {$(
        impl Binary<$t, $t> for $name {
            #[inline(always)]
            fn apply($a: $t, $b: $t) -> $t { $body }
        }
    )*};
}
pairs! {
    Add, u16, |a, b| a.wrapping_add(b);
    Min, u16, |a, b| a.min(b);
    Min, i16, |a, b| a.min(b);
    Max, u16, |a, b| a.max(b);
    Max, i16, |a, b| a.max(b);
    MinRelu, i16, |a, b| a.min(b).max(0);
    MaxRelu, i16, |a, b| a.max(b).max(0);
    MinRelu, i32, |a, b| a.min(b).max(0);
    MaxRelu, i32, |a, b| a.max(b).max(0);
}

/// `O` of both halves of a word.
struct Both<T, O>(std::marker::PhantomData<(T, O)>);
macro_rules! both {
    ($($t:ty)*) => {$(
        impl<O: Binary<$t, $t>> Binary<u32, u32> for Both<$t, O> {
            #[inline(always)]
            fn apply(a: u32, b: u32) -> u32 {
                let half = |shift: u32| O::apply((a >> shift) as $t, (b >> shift) as $t) as u16;
                u32::from(half(16)) << 16 | u32::from(half(0))
            }
        }
    )*};
}
both!(u16 i16);

/// `add`, `min` and `max` of pairs, and `min` and `max` with `.relu`.
pub(super) fn arithmetic(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let ty = words.take_any(&["s16x2", "u16x2", "s32"]).ok_or("`.relu` of this type")?;
    let relu = ty != "u16x2" && words.take("relu");
    words.done()?;
    let level = decoder.level();
    let exec = match (&*instr.opcode, ty, relu) {
        ("add", "s16x2" | "u16x2", false) => shape::binary::<u32, u32, Both<u16, Add>>(level),
        ("min", "u16x2", false) => shape::binary::<u32, u32, Both<u16, Min>>(level),
        ("max", "u16x2", false) => shape::binary::<u32, u32, Both<u16, Max>>(level),
        ("min", "s16x2", false) => shape::binary::<u32, u32, Both<i16, Min>>(level),
        ("max", "s16x2", false) => shape::binary::<u32, u32, Both<i16, Max>>(level),
        ("min", "s16x2", true) => shape::binary::<u32, u32, Both<i16, MinRelu>>(level),
        ("max", "s16x2", true) => shape::binary::<u32, u32, Both<i16, MaxRelu>>(level),
        ("min", "s32", true) => shape::binary::<i32, i32, MinRelu>(level),
        ("max", "s32", true) => shape::binary::<i32, i32, MaxRelu>(level),
        _ => return Err(format!("`.relu` of `{}`", instr.opcode)),
    };
    int::three(decoder, instr, Type::B32, exec)
}

/// Element `at` of `bits` bits of a word, as a number.
#[inline(always)]
fn element(word: u32, at: u32, bits: u32, signed: bool) -> i64 {
    let up = word << (32 - bits * (at + 1));
    if signed { i64::from(up as i32 >> (32 - bits)) } else { i64::from(up >> (32 - bits)) }
}

/// `c` plus the products of the four bytes of `a` and `b`.
struct Dp4a<const A: bool, const B: bool>;
impl<const A: bool, const B: bool> Ternary<u32, u32> for Dp4a<A, B> {
    #[inline(always)]
    fn apply(a: u32, b: u32, c: u32) -> u32 {
        (0..4).fold(c, |sum, at| sum.wrapping_add((element(a, at, 8, A) * element(b, at, 8, B)) as u32))
    }
}

/// `c` plus the products of the two halves of `a` and two bytes of `b`, the lower or the upper ones.
struct Dp2a<const A: bool, const B: bool, const HIGH: bool>;
impl<const A: bool, const B: bool, const HIGH: bool> Ternary<u32, u32> for Dp2a<A, B, HIGH> {
    #[inline(always)]
    fn apply(a: u32, b: u32, c: u32) -> u32 {
        let first = if HIGH { 2 } else { 0 };
        (0..2).fold(c, |sum, at| sum.wrapping_add((element(a, at, 16, A) * element(b, first + at, 8, B)) as u32))
    }
}

/// The signs of the elements of `a` and `b`.
fn signs(words: &mut Modifiers<'_>) -> Result<(bool, bool), Reason> {
    let mut next = || words.take_any(&["s32", "u32"]).map(|ty| ty == "s32").ok_or("`.s32` or `.u32` twice expected");
    Ok((next()?, next()?))
}

fn dp4a(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let signs = signs(&mut words)?;
    words.done()?;
    let level = decoder.level();
    let exec = match signs {
        (false, false) => shape::ternary::<u32, u32, Dp4a<false, false>>(level),
        (false, true) => shape::ternary::<u32, u32, Dp4a<false, true>>(level),
        (true, false) => shape::ternary::<u32, u32, Dp4a<true, false>>(level),
        (true, true) => shape::ternary::<u32, u32, Dp4a<true, true>>(level),
    };
    int::four(decoder, instr, [Type::B32; 4], exec)
}

fn dp2a(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let high = words.take_any(&["lo", "hi"]).ok_or("neither `.lo` nor `.hi`")? == "hi";
    let (a, b) = signs(&mut words)?;
    words.done()?;
    let level = decoder.level();
    let exec = match (a, b, high) {
        (false, false, false) => shape::ternary::<u32, u32, Dp2a<false, false, false>>(level),
        (false, true, false) => shape::ternary::<u32, u32, Dp2a<false, true, false>>(level),
        (true, false, false) => shape::ternary::<u32, u32, Dp2a<true, false, false>>(level),
        (true, true, false) => shape::ternary::<u32, u32, Dp2a<true, true, false>>(level),
        (false, false, true) => shape::ternary::<u32, u32, Dp2a<false, false, true>>(level),
        (false, true, true) => shape::ternary::<u32, u32, Dp2a<false, true, true>>(level),
        (true, false, true) => shape::ternary::<u32, u32, Dp2a<true, false, true>>(level),
        (true, true, true) => shape::ternary::<u32, u32, Dp2a<true, true, true>>(level),
    };
    int::four(decoder, instr, [Type::B32; 4], exec)
}
