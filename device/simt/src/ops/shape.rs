//! The shapes of lane functions: one, two or three values in, one value or a predicate out.
//!
//! An operation is a type without values that says what happens in one lane. The shape runs it over arrays of 32, which the
//! compiler turns into vector code, three times over (see [`crate::lane::multiversion`]).

use crate::lane::{Args, LANES, Lane, Lanes, Step, multiversion};

/// `T` to `U`.
pub(crate) trait Unary<T, U> {
    fn apply(a: T) -> U;
}

/// Two `T`s to a `U`.
pub(crate) trait Binary<T, U> {
    fn apply(a: T, b: T) -> U;
}

/// A `T` and a `u32` to a `T`: shifts.
pub(crate) trait Shift<T> {
    fn apply(a: T, by: u32) -> T;
}

/// Two `T`s and a `U` to a `U`: multiply-add and its relatives.
pub(crate) trait Ternary<T, U> {
    fn apply(a: T, b: T, c: U) -> U;
}

#[inline(always)]
unsafe fn unary_body<T: Lane, U: Lane, O: Unary<T, U>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, ..] = args.slots;
    // SAFETY: the decoder gave registers of these widths.
    unsafe {
        let a = lanes.get::<T>(a);
        let mut out = [U::default(); LANES];
        for lane in 0..LANES {
            out[lane] = O::apply(a[lane]);
        }
        lanes.set(d, out);
    }
    Ok(())
}
multiversion!(unary<T: Lane, U: Lane, O: Unary<T, U>> => unary_body);

#[inline(always)]
unsafe fn binary_body<T: Lane, U: Lane, O: Binary<T, U>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, ..] = args.slots;
    // SAFETY: the decoder gave registers of these widths.
    unsafe {
        let (a, b) = (lanes.get::<T>(a), lanes.get::<T>(b));
        let mut out = [U::default(); LANES];
        for lane in 0..LANES {
            out[lane] = O::apply(a[lane], b[lane]);
        }
        lanes.set(d, out);
    }
    Ok(())
}
multiversion!(binary<T: Lane, U: Lane, O: Binary<T, U>> => binary_body);

#[inline(always)]
unsafe fn shift_body<T: Lane, O: Shift<T>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, ..] = args.slots;
    // SAFETY: the decoder gave registers of these widths.
    unsafe {
        let (a, b) = (lanes.get::<T>(a), lanes.get::<u32>(b));
        let mut out = [T::default(); LANES];
        for lane in 0..LANES {
            out[lane] = O::apply(a[lane], b[lane]);
        }
        lanes.set(d, out);
    }
    Ok(())
}
multiversion!(shift<T: Lane, O: Shift<T>> => shift_body);

#[inline(always)]
unsafe fn ternary_body<T: Lane, U: Lane, O: Ternary<T, U>>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, c, ..] = args.slots;
    // SAFETY: the decoder gave registers of these widths.
    unsafe {
        let (a, b, c) = (lanes.get::<T>(a), lanes.get::<T>(b), lanes.get::<U>(c));
        let mut out = [U::default(); LANES];
        for lane in 0..LANES {
            out[lane] = O::apply(a[lane], b[lane], c[lane]);
        }
        lanes.set(d, out);
    }
    Ok(())
}
multiversion!(ternary<T: Lane, U: Lane, O: Ternary<T, U>> => ternary_body);

/// Defines an operation for several types at once: `op!(binary Add: u16 u32 u64 => |a, b| a.wrapping_add(b))`.
macro_rules! op {
    ($(#[$meta:meta])* unary $name:ident: $($t:ty)* => |$a:ident| $body:expr) => {
        $(#[$meta])* pub(crate) struct $name;
        $(impl $crate::ops::shape::Unary<$t, $t> for $name {
            #[inline(always)]
            fn apply($a: $t) -> $t { $body }
        })*
    };
    ($(#[$meta:meta])* binary $name:ident: $($t:ty)* => |$a:ident, $b:ident| $body:expr) => {
        $(#[$meta])* pub(crate) struct $name;
        $(impl $crate::ops::shape::Binary<$t, $t> for $name {
            #[inline(always)]
            fn apply($a: $t, $b: $t) -> $t { $body }
        })*
    };
    ($(#[$meta:meta])* ternary $name:ident: $($t:ty)* => |$a:ident, $b:ident, $c:ident| $body:expr) => {
        $(#[$meta])* pub(crate) struct $name;
        $(impl $crate::ops::shape::Ternary<$t, $t> for $name {
            #[inline(always)]
            fn apply($a: $t, $b: $t, $c: $t) -> $t { $body }
        })*
    };
}
pub(crate) use op;
