//! The plain comparisons as vector code: 32 answers become a mask at once.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    clippy::nonminimal_bool,
    clippy::double_comparisons,
    reason = "written as the ISA defines them: what a NaN does is the point"
)]

use gridstride_ptx::Type;

use crate::lane::{Args, ExecFn, LANES, Lane, Lanes, Level, Step, multiversion};

/// A comparison of two `T`s.
pub(super) trait Test<T>: 'static {
    fn test(a: T, b: T) -> bool;
}

macro_rules! tests {
    ($($name:ident: $($t:ty)*, |$a:ident, $b:ident| $body:expr;)*) => {$(
        struct $name;
        $(impl Test<$t> for $name {
            #[inline(always)]
            fn test($a: $t, $b: $t) -> bool { $body }
        })*
    )*};
}

tests! {
    Eq: u16 u32 u64 f32 f64, |a, b| a == b;
    Ne: u16 u32 u64, |a, b| a != b;
    Lt: u16 u32 u64 i16 i32 i64 f32 f64, |a, b| a < b;
    Le: u16 u32 u64 i16 i32 i64 f32 f64, |a, b| a <= b;
    Gt: u16 u32 u64 i16 i32 i64 f32 f64, |a, b| a > b;
    Ge: u16 u32 u64 i16 i32 i64 f32 f64, |a, b| a >= b;
    // Ordered: false where there is a NaN. Unordered (`u`): true there.
    NeOrdered: f32 f64, |a, b| a < b || a > b;
    EqU: f32 f64, |a, b| !(a < b || a > b);
    NeU: f32 f64, |a, b| a != b;
    LtU: f32 f64, |a, b| !(a >= b);
    LeU: f32 f64, |a, b| !(a > b);
    GtU: f32 f64, |a, b| !(a <= b);
    GeU: f32 f64, |a, b| !(a < b);
    Num: f32 f64, |a, b| !a.is_nan() && !b.is_nan();
    AnyNan: f32 f64, |a, b| a.is_nan() || b.is_nan();
}

/// 32 answers as a mask.
#[inline(always)]
pub(super) fn pack(answers: [bool; LANES]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_cmpgt_epi8, _mm_movemask_epi8, _mm_setzero_si128};
        // SAFETY: SSE2 is part of x86-64; an array of bools is bytes of 0 and 1, read whole by two vectors.
        unsafe {
            let [low, high] = std::mem::transmute::<[bool; LANES], [__m128i; 2]>(answers);
            let bits = |half| _mm_movemask_epi8(_mm_cmpgt_epi8(half, _mm_setzero_si128())) as u32;
            bits(low) | bits(high) << 16
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        answers.iter().enumerate().fold(0, |mask, (lane, answer)| mask | u32::from(*answer) << lane)
    }
}

/// `d = a OP b`
#[inline(always)]
unsafe fn plain_body<T: Lane, O: Test<T>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, ..] = args.slots;
    // SAFETY: the decoder gave registers of T's width and a predicate.
    unsafe {
        let (a, b) = (lanes.get::<T>(a), lanes.get::<T>(b));
        let mut answers = [false; LANES];
        for lane in 0..LANES {
            answers[lane] = O::test(a[lane], b[lane]);
        }
        lanes.set_pred(d, pack(answers));
    }
    Ok(())
}
multiversion!(plain<T: Lane, O: Test<T>> => plain_body);

/// The vector code of a comparison, if it has any.
pub(super) fn fast(op: &str, ty: Type, level: Level) -> Option<ExecFn> {
    macro_rules! int {
        ($t:ty, $s:ty) => {
            match op {
                "eq" => plain::<$t, Eq>(level),
                "ne" => plain::<$t, Ne>(level),
                "lt" | "lo" => plain::<$s, Lt>(level),
                "le" | "ls" => plain::<$s, Le>(level),
                "gt" | "hi" => plain::<$s, Gt>(level),
                "ge" | "hs" => plain::<$s, Ge>(level),
                _ => return None,
            }
        };
    }
    macro_rules! float {
        ($t:ty) => {
            match op {
                "eq" => plain::<$t, Eq>(level),
                "ne" => plain::<$t, NeOrdered>(level),
                "lt" => plain::<$t, Lt>(level),
                "le" => plain::<$t, Le>(level),
                "gt" => plain::<$t, Gt>(level),
                "ge" => plain::<$t, Ge>(level),
                "equ" => plain::<$t, EqU>(level),
                "neu" => plain::<$t, NeU>(level),
                "ltu" => plain::<$t, LtU>(level),
                "leu" => plain::<$t, LeU>(level),
                "gtu" => plain::<$t, GtU>(level),
                "geu" => plain::<$t, GeU>(level),
                "num" => plain::<$t, Num>(level),
                "nan" => plain::<$t, AnyNan>(level),
                _ => return None,
            }
        };
    }
    Some(match ty {
        Type::B16 | Type::U16 => int!(u16, u16),
        Type::B32 | Type::U32 => int!(u32, u32),
        Type::B64 | Type::U64 => int!(u64, u64),
        Type::S16 => int!(u16, i16),
        Type::S32 => int!(u32, i32),
        Type::S64 => int!(u64, i64),
        Type::F32 => float!(f32),
        Type::F64 => float!(f64),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_become_bits_of_their_lanes() {
        assert_eq!(pack(std::array::from_fn(|lane| lane % 3 == 0)), 0x4924_9249);
        assert_eq!(pack([true; LANES]), u32::MAX);
    }
}
