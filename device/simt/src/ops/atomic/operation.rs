//! What atomic operations compute, and how the processor does them at once.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use half::{bf16, f16};

use crate::memory::raw::Element;

/// An atomic operation on values of one type.
pub(super) trait Operation {
    /// The type as registers have it.
    type T: Cell;

    /// The value that is left.
    fn apply(old: Self::T, b: Self::T, c: Self::T) -> Self::T;

    /// Updates memory in one step; the value that was there.
    ///
    /// # Safety
    /// As for [`Element::store`].
    #[inline(always)]
    unsafe fn update(at: u64, b: Self::T, c: Self::T) -> Self::T {
        // SAFETY: by the caller.
        unsafe { Self::T::update(at, |old| Self::apply(old, b, c)) }
    }
}

/// A type that can be updated in one step.
pub(super) trait Cell: Element {
    /// # Safety
    /// As for [`Element::store`].
    unsafe fn update(at: u64, new: impl Fn(Self) -> Self) -> Self;
}
macro_rules! cell {
    ($($t:ty, $atomic:ty;)*) => { $(
        impl Cell for $t {
            #[inline(always)]
            unsafe fn update(at: u64, new: impl Fn(Self) -> Self) -> Self {
                // SAFETY: by the caller.
                let cell = unsafe { <$atomic>::from_ptr(at as *mut $t) };
                let mut old = cell.load(Relaxed);
                loop {
                    match cell.compare_exchange_weak(old, new(old), Relaxed, Relaxed) {
                        Ok(old) => return old,
                        Err(now) => old = now,
                    }
                }
            }
        }
    )* };
}
cell! {
    u16, AtomicU16;
    u32, AtomicU32;
    u64, AtomicU64;
    i32, AtomicI32;
    i64, AtomicI64;
}

/// An operation on integers.
pub(super) struct Word<T, O>(PhantomData<(T, O)>);

/// `op!(Name for types: old, b, c => value)`, with the processor's own operation where there is one.
macro_rules! op {
    ($op:ident for $($t:ty)*: $old:ident, $b:ident, $c:ident => $value:expr) => {
        pub(super) struct $op;
        $(
            impl Operation for Word<$t, $op> {
                type T = $t;
                #[inline(always)]
                fn apply($old: $t, $b: $t, $c: $t) -> $t {
                    $value
                }
            }
        )*
    };
    ($op:ident $method:ident for $($t:ty, $atomic:ty;)*: $old:ident, $b:ident => $value:expr) => {
        pub(super) struct $op;
        $(
            impl Operation for Word<$t, $op> {
                type T = $t;
                #[inline(always)]
                fn apply($old: $t, $b: $t, _: $t) -> $t {
                    $value
                }
                #[inline(always)]
                unsafe fn update(at: u64, b: $t, _: $t) -> $t {
                    // SAFETY: by the caller.
                    unsafe { <$atomic>::from_ptr(at as *mut $t) }.$method(b, Relaxed)
                }
            }
        )*
    };
}

op!(Add fetch_add for u32, AtomicU32; u64, AtomicU64;: old, b => old.wrapping_add(b));
op!(And fetch_and for u32, AtomicU32; u64, AtomicU64;: old, b => old & b);
op!(Or fetch_or for u32, AtomicU32; u64, AtomicU64;: old, b => old | b);
op!(Xor fetch_xor for u32, AtomicU32; u64, AtomicU64;: old, b => old ^ b);
op!(Exch swap for u32, AtomicU32; u64, AtomicU64;: _old, b => b);
op!(Min fetch_min for u32, AtomicU32; u64, AtomicU64; i32, AtomicI32; i64, AtomicI64;: old, b => old.min(b));
op!(Max fetch_max for u32, AtomicU32; u64, AtomicU64; i32, AtomicI32; i64, AtomicI64;: old, b => old.max(b));
impl Operation for Word<u128, Exch> {
    type T = u128;

    #[inline(always)]
    fn apply(_: u128, b: u128, _: u128) -> u128 {
        b
    }
}
op!(IncWrap for u32: old, b, _c => if old >= b { 0 } else { old + 1 });
op!(DecWrap for u32: old, b, _c => if old == 0 || old > b { b } else { old - 1 });
op!(Cas for u16 u32 u64 u128: old, b, c => if old == b { c } else { old });

/// Defines an addition of floating-point values, each rounded to nearest even.
macro_rules! float {
    ($($op:ident $t:ty: $old:ident, $b:ident => $value:expr;)*) => { $(
        pub(super) struct $op;
        impl Operation for $op {
            type T = $t;
            #[inline(always)]
            fn apply($old: $t, $b: $t, _: $t) -> $t {
                $value
            }
        }
    )* };
}

float! {
    Double u64: old, b => (f64::from_bits(old) + f64::from_bits(b)).to_bits();
    Half u16: old, b => add_half(old, b);
    HalfPair u32: old, b => pair(old, b, add_half);
    Brain u16: old, b => add_brain(old, b);
    BrainPair u32: old, b => pair(old, b, add_brain);
    HalfMin u16: old, b => lesser(old, b, 0x7C00);
    HalfMax u16: old, b => greater(old, b, 0x7C00);
    HalfPairMin u32: old, b => pair(old, b, |a, b| lesser(a, b, 0x7C00));
    HalfPairMax u32: old, b => pair(old, b, |a, b| greater(a, b, 0x7C00));
    BrainMin u16: old, b => lesser(old, b, 0x7F80);
    BrainMax u16: old, b => greater(old, b, 0x7F80);
    BrainPairMin u32: old, b => pair(old, b, |a, b| lesser(a, b, 0x7F80));
    BrainPairMax u32: old, b => pair(old, b, |a, b| greater(a, b, 0x7F80));
}

/// `.add.f32`: in memory that is shared with other blocks, subnormal operands and results become zeros of their sign; in
/// shared memory they do not (PTX ISA, "atom"; as measured on an H200). NaNs are the one that additions give.
pub(super) struct Single;
impl Operation for Single {
    type T = u32;

    #[inline(always)]
    fn apply(old: u32, b: u32, _: u32) -> u32 {
        let sum = f32::from_bits(old) + f32::from_bits(b);
        if sum.is_nan() { 0x7FFF_FFFF } else { sum.to_bits() }
    }

    #[inline(always)]
    unsafe fn update(at: u64, b: u32, c: u32) -> u32 {
        let add = |old| flushed(Self::apply(flushed(old), flushed(b), c));
        // SAFETY: by the caller.
        unsafe { u32::update(at, add) }
    }
}

fn flushed(bits: u32) -> u32 {
    if bits & 0x7F80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

// The sum of two half-precision values is exact, or rounded once too often in a place that does not matter, in f32.
fn add_half(a: u16, b: u16) -> u16 {
    let sum = f16::from_bits(a).to_f32() + f16::from_bits(b).to_f32();
    if sum.is_nan() { 0x7FFF } else { f16::from_f32(sum).to_bits() }
}

fn add_brain(a: u16, b: u16) -> u16 {
    let sum = bf16::from_bits(a).to_f32() + bf16::from_bits(b).to_f32();
    if sum.is_nan() { 0x7FFF } else { bf16::from_f32(sum).to_bits() }
}

/// The lesser of two 16-bit floats whose infinity has these bits; the other one of a NaN; -0 is less than 0.
fn lesser(a: u16, b: u16, infinity: u16) -> u16 {
    choose(a, b, infinity, |a, b| a < b)
}

fn greater(a: u16, b: u16, infinity: u16) -> u16 {
    choose(a, b, infinity, |a, b| a > b)
}

fn choose(a: u16, b: u16, infinity: u16, first: impl Fn(i32, i32) -> bool) -> u16 {
    // Numbers whose order is that of the floats.
    let order = |bits: u16| if bits & 0x8000 != 0 { !i32::from(bits & 0x7FFF) } else { i32::from(bits) };
    match (a & 0x7FFF > infinity, b & 0x7FFF > infinity) {
        (true, true) => 0x7FFF,
        (true, false) => b,
        (false, true) => a,
        _ if first(order(a), order(b)) => a,
        _ => b,
    }
}

fn pair(a: u32, b: u32, add: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(add(a as u16, b as u16)) | u32::from(add((a >> 16) as u16, (b >> 16) as u16)) << 16
}
