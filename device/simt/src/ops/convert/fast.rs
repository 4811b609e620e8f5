//! The conversions that loops are full of, as vector code: one function a pair of types.

use gridstride_ptx::Type;

use super::{Rounding, Spec};
use crate::code::Width;
use crate::lane::{ExecFn, LANES, Level};
use crate::ops::exact::Rounding as Direction;
use crate::ops::float::Float;
use crate::ops::half::{BF16, F16, Half};
use crate::ops::shape::{self, Binary, Unary};

/// `T` as `U`, by way of `V`: the narrow type that stands in a wider register.
struct Via<V>(std::marker::PhantomData<V>);
macro_rules! via {
    ($($from:ty as $v:ty => $($to:ty)*;)*) => {$($(
        impl Unary<$from, $to> for Via<$v> {
            #[inline(always)]
            fn apply(a: $from) -> $to { a as $v as $to }
        }
    )*)*};
}
via! {
    u16 as u8 => u16 u32 u64; u16 as i8 => u16 u32 u64;
    u16 as u16 => u16 u32 u64; u16 as i16 => u16 u32 u64;
    u32 as u8 => u16 u32 u64; u32 as i8 => u16 u32 u64;
    u32 as u16 => u16 u32 u64; u32 as i16 => u16 u32 u64;
    u32 as u32 => u32 u64; u32 as i32 => u32 u64;
    u64 as u8 => u16 u32 u64; u64 as i8 => u16 u32 u64;
    u64 as u16 => u16 u32 u64; u64 as i16 => u16 u32 u64;
    u64 as u32 => u32 u64; u64 as i32 => u32 u64;
    u64 as u64 => u64;
}

/// Plain conversions of whole registers.
struct As;
macro_rules! as_is {
    ($($from:ty => $($to:ty)*;)*) => {$($(
        impl Unary<$from, $to> for As {
            #[inline(always)]
            fn apply(a: $from) -> $to { a as $to }
        }
    )*)*};
}
as_is! { u32 => f32 f64; i32 => f32 f64; u64 => f32 f64; i64 => f32 f64; f32 => f64; }

/// Float to integer toward zero, saturating, a NaN to 0: Rust's `as`.
struct Truncate;
macro_rules! truncate {
    ($($from:ty => $($to:ty)*;)*) => {$($(
        impl Unary<$from, $to> for Truncate {
            #[inline(always)]
            fn apply(a: $from) -> $to { a as $to }
        }
    )*)*};
}
truncate! { f32 => u32 i32; }

/// The same for 64 bits on either side, where a NaN becomes the highest bit alone.
struct TruncateLong;
macro_rules! truncate_long {
    ($($from:ty => $($to:ty)*;)*) => {$($(
        impl Unary<$from, $to> for TruncateLong {
            #[inline(always)]
            fn apply(a: $from) -> $to { if a.is_nan() { 1 << (<$to>::BITS - 1) } else { a as $to } }
        }
    )*)*};
}
truncate_long! { f32 => u64 i64; f64 => u32 i32 u64 i64; }

/// `f64` to `f32`: the machine's own conversion, which treats NaNs as a GPU does.
struct Narrow;
impl Unary<f64, f32> for Narrow {
    #[inline(always)]
    fn apply(a: f64) -> f32 {
        a as f32
    }
}

/// To and from halves.
struct ToHalf<H>(std::marker::PhantomData<H>);
impl<H: Half> Unary<f32, u16> for ToHalf<H> {
    #[inline(always)]
    fn apply(a: f32) -> u16 {
        H::narrow(f64::from(a))
    }
}
impl<H: Half> Binary<f32, u32> for ToHalf<H> {
    #[inline(always)]
    fn apply(a: f32, b: f32) -> u32 {
        u32::from(H::narrow(f64::from(a))) << 16 | u32::from(H::narrow(f64::from(b)))
    }
}
struct FromHalf;
impl Unary<u16, f32> for FromHalf {
    #[inline(always)]
    fn apply(a: u16) -> f32 {
        (F16::wide(a) as f32).settle([])
    }
}
/// A `bf16` is the upper half of an `f32`, NaNs included.
struct FromBrain;
impl Unary<u16, u32> for FromBrain {
    #[inline(always)]
    fn apply(a: u16) -> u32 {
        u32::from(a) << 16
    }
}

/// To a whole number by the rounding of this number: nearest, zero, down, up.
struct Whole<const R: u8>;
impl<const R: u8> Whole<R> {
    #[inline(always)]
    fn of(a: f32) -> f32 {
        match R {
            0 => a.round_ties_even(),
            1 => a.trunc(),
            2 => a.floor(),
            _ => a.ceil(),
        }
    }
}
impl<const R: u8> Unary<f32, f32> for Whole<R> {
    #[inline(always)]
    fn apply(a: f32) -> f32 {
        Self::of(a).settle([])
    }
}
impl<const R: u8> Unary<f32, i32> for Whole<R> {
    #[inline(always)]
    fn apply(a: f32) -> i32 {
        Self::of(a) as i32
    }
}

/// Two floats to a pair of halves, rounded to nearest.
pub(super) fn pair(to: Type, level: Level) -> ExecFn {
    match to {
        Type::F16x2 => shape::binary::<f32, u32, ToHalf<F16>>(level),
        _ => shape::binary::<f32, u32, ToHalf<BF16>>(level),
    }
}

/// The vector code of a conversion between registers of these widths, if it has any.
pub(super) fn find(spec: &Spec, from: Width, to: Width, level: Level) -> Option<ExecFn> {
    if spec.sat || spec.ftz || spec.relu {
        return None;
    }
    if !spec.from.is_float() && !spec.to.is_float() {
        return integers(spec, from, to, level);
    }
    const NEAREST: Rounding = Rounding::To(Direction::Nearest);
    let whole = match spec.rounding {
        Rounding::Whole(direction) => Some(direction),
        _ => None,
    };
    // Where a register is wider than its type, the slow way knows how it is filled.
    if to.bytes() / LANES as u32 != spec.to.bytes() || from.bytes() / LANES as u32 != spec.from.bytes() {
        return None;
    }
    Some(match (spec.from, spec.to, spec.rounding) {
        (Type::U32, Type::F32, NEAREST) => shape::unary::<u32, f32, As>(level),
        (Type::S32, Type::F32, NEAREST) => shape::unary::<i32, f32, As>(level),
        (Type::U64, Type::F32, NEAREST) => shape::unary::<u64, f32, As>(level),
        (Type::S64, Type::F32, NEAREST) => shape::unary::<i64, f32, As>(level),
        (Type::U32, Type::F64, NEAREST) => shape::unary::<u32, f64, As>(level),
        (Type::S32, Type::F64, NEAREST) => shape::unary::<i32, f64, As>(level),
        (Type::U64, Type::F64, NEAREST) => shape::unary::<u64, f64, As>(level),
        (Type::S64, Type::F64, NEAREST) => shape::unary::<i64, f64, As>(level),
        (Type::F32, Type::F64, _) if whole.is_none() => shape::unary::<f32, f64, As>(level),
        (Type::F64, Type::F32, NEAREST) => shape::unary::<f64, f32, Narrow>(level),
        (Type::F32, Type::F16, NEAREST) => shape::unary::<f32, u16, ToHalf<F16>>(level),
        (Type::F32, Type::BF16, NEAREST) => shape::unary::<f32, u16, ToHalf<BF16>>(level),
        (Type::F16, Type::F32, Rounding::None) => shape::unary::<u16, f32, FromHalf>(level),
        (Type::BF16, Type::F32, Rounding::None) => shape::unary::<u16, u32, FromBrain>(level),
        (Type::F32, Type::F32 | Type::S32 | Type::U32 | Type::S64 | Type::U64, _) => match (spec.to, whole?) {
            (Type::F32, Direction::Nearest) => shape::unary::<f32, f32, Whole<0>>(level),
            (Type::F32, Direction::Zero) => shape::unary::<f32, f32, Whole<1>>(level),
            (Type::F32, Direction::Down) => shape::unary::<f32, f32, Whole<2>>(level),
            (Type::F32, Direction::Up) => shape::unary::<f32, f32, Whole<3>>(level),
            (Type::S32, Direction::Nearest) => shape::unary::<f32, i32, Whole<0>>(level),
            (Type::S32, Direction::Zero) => shape::unary::<f32, i32, Truncate>(level),
            (Type::S32, Direction::Down) => shape::unary::<f32, i32, Whole<2>>(level),
            (Type::S32, Direction::Up) => shape::unary::<f32, i32, Whole<3>>(level),
            (Type::U32, Direction::Zero) => shape::unary::<f32, u32, Truncate>(level),
            (Type::U64, Direction::Zero) => shape::unary::<f32, u64, TruncateLong>(level),
            (Type::S64, Direction::Zero) => shape::unary::<f32, i64, TruncateLong>(level),
            _ => return None,
        },
        (Type::F64, Type::S32, Rounding::Whole(Direction::Zero)) => shape::unary::<f64, i32, TruncateLong>(level),
        (Type::F64, Type::U32, Rounding::Whole(Direction::Zero)) => shape::unary::<f64, u32, TruncateLong>(level),
        (Type::F64, Type::S64, Rounding::Whole(Direction::Zero)) => shape::unary::<f64, i64, TruncateLong>(level),
        (Type::F64, Type::U64, Rounding::Whole(Direction::Zero)) => shape::unary::<f64, u64, TruncateLong>(level),
        _ => return None,
    })
}

fn integers(spec: &Spec, from: Width, to: Width, level: Level) -> Option<ExecFn> {
    macro_rules! int {
        ($reg:ty, $v:ty, $($width:ident $to:ty),*) => {
            match to { $(Width::$width => Some(shape::unary::<$reg, $to, Via<$v>>(level)),)* _ => None }
        };
    }
    let (a, d) = (spec.from, spec.to);
    // To a narrower register: the low bits, whatever the signs. To a wider type: by the sign of the source type.
    let narrow = if d.bytes() <= a.bytes() { d } else { a };
    // The destination register may be wider than the destination type, which then decides how it is filled.
    if d.bytes() > a.bytes()
        && u32::from(d.is_signed()) != u32::from(a.is_signed())
        && to.bytes() / LANES as u32 > d.bytes()
    {
        return None;
    }
    match (from, narrow) {
        (Width::W16, Type::U8) => int!(u16, u8, W16 u16, W32 u32, W64 u64),
        (Width::W16, Type::S8) => int!(u16, i8, W16 u16, W32 u32, W64 u64),
        (Width::W16, Type::U16) => int!(u16, u16, W16 u16, W32 u32, W64 u64),
        (Width::W16, Type::S16) => int!(u16, i16, W16 u16, W32 u32, W64 u64),
        (Width::W32, Type::U8) => int!(u32, u8, W16 u16, W32 u32, W64 u64),
        (Width::W32, Type::S8) => int!(u32, i8, W16 u16, W32 u32, W64 u64),
        (Width::W32, Type::U16) => int!(u32, u16, W16 u16, W32 u32, W64 u64),
        (Width::W32, Type::S16) => int!(u32, i16, W16 u16, W32 u32, W64 u64),
        (Width::W32, Type::U32) => int!(u32, u32, W32 u32, W64 u64),
        (Width::W32, Type::S32) => int!(u32, i32, W32 u32, W64 u64),
        (Width::W64, Type::U8) => int!(u64, u8, W16 u16, W32 u32, W64 u64),
        (Width::W64, Type::S8) => int!(u64, i8, W16 u16, W32 u32, W64 u64),
        (Width::W64, Type::U16) => int!(u64, u16, W16 u16, W32 u32, W64 u64),
        (Width::W64, Type::S16) => int!(u64, i16, W16 u16, W32 u32, W64 u64),
        (Width::W64, Type::U32) => int!(u64, u32, W32 u32, W64 u64),
        (Width::W64, Type::S32) => int!(u64, i32, W32 u32, W64 u64),
        (Width::W64, Type::U64 | Type::S64) => int!(u64, u64, W64 u64),
        _ => None,
    }
}
