//! Roundings other than to nearest, and `.sat`, of the arithmetic in `float.rs`.
//!
//! `f32`: the operation in `f64`, and the sign of what that lost; the result to nearest is then moved by one place where
//! the rounding asked for goes the other way. All of it is vector code: `expf` of CUDA C++ rests on `fma.rm.f32`.
//! `f64`: lane by lane in integers, see [`super::exact`].

use gridstride_ptx::{Operand, Type};

use super::exact::{Exact, F64, Rounding, is_tiny};
use super::float::{self, Float, Form, Settled};
use super::modifiers::wrong_type;
use super::relations::pack;
use super::shape::{Binary, Ternary, Unary};
use super::{Decoded, Reason};
use crate::decode::Decoder;
use crate::lane::{Args, LANES, Lanes, Step, multiversion};

/// An operation of up to three operands; those that it does not have are ignored.
pub(crate) trait Operation: 'static {
    fn nearest(a: f32, b: f32, c: f32) -> f32;
    /// The result in `f64`, and a number with the sign of exact result minus this one (a NaN if there is no such).
    fn wide(a: f64, b: f64, c: f64) -> (f64, f64);
    /// The two numbers whose sum the result is, for the sign of a zero.
    fn addends(_a: f64, _b: f64, _c: f64) -> Option<(f64, f64)> {
        None
    }
    fn nearest64(a: f64, b: f64, c: f64) -> f64;
    /// The exact result of finite operands; `None` where there is no finite one.
    fn exact(a: f64, b: f64, c: f64, rounding: Rounding) -> Option<Exact>;
}

/// Sum and what rounding it lost (Knuth).
#[inline(always)]
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let other = sum - a;
    (sum, (a - (sum - other)) + (b - other))
}

pub(crate) struct Add;
pub(crate) struct Sub;
pub(crate) struct Mul;
pub(crate) struct Fma;
pub(crate) struct Div;
pub(crate) struct Rcp;
pub(crate) struct Sqrt;

macro_rules! operation {
    ($name:ident($a:ident, $b:ident, $c:ident)
        nearest: $nearest:expr, wide: $wide:expr, addends: $addends:expr,
        exact($rounding:ident): $exact:expr;) => {
        impl Operation for $name {
            #[inline(always)]
            fn nearest($a: f32, $b: f32, $c: f32) -> f32 {
                let _ = ($b, $c);
                $nearest
            }
            #[inline(always)]
            fn wide($a: f64, $b: f64, $c: f64) -> (f64, f64) {
                let _ = ($b, $c);
                $wide
            }
            #[inline(always)]
            fn addends($a: f64, $b: f64, $c: f64) -> Option<(f64, f64)> {
                let _ = ($a, $b, $c);
                $addends
            }
            fn nearest64($a: f64, $b: f64, $c: f64) -> f64 {
                let _ = ($b, $c);
                $nearest
            }
            fn exact($a: f64, $b: f64, $c: f64, $rounding: Rounding) -> Option<Exact> {
                let _ = ($b, $c, $rounding);
                $exact
            }
        }
    };
}

operation! { Add(a, b, c)
    nearest: Settled::<float::Add>::apply(a, b), wide: two_sum(a, b), addends: Some((a, b)),
    exact(rounding): Some(Exact::of(a).add(Exact::of(b), rounding));
}
operation! { Sub(a, b, c)
    nearest: Settled::<float::Sub>::apply(a, b), wide: two_sum(a, -b), addends: Some((a, -b)),
    exact(rounding): Some(Exact::of(a).add(Exact::of(-b), rounding));
}
operation! { Mul(a, b, c)
    nearest: Settled::<float::Mul>::apply(a, b), wide: (a * b, 0.0), addends: None,
    exact(rounding): Some(Exact::of(a).mul(Exact::of(b)));
}
operation! { Fma(a, b, c)
    nearest: Settled::<float::Fma>::apply(a, b, c), wide: two_sum(a * b, c), addends: Some((a * b, c)),
    exact(rounding): Some(Exact::of(a).mul(Exact::of(b)).add(Exact::of(c), rounding));
}
operation! { Div(a, b, c)
    nearest: Settled::<float::Div, true>::apply(a, b),
    wide: { let q = a / b; (q, (-q).mul_add(b, a) * b.signum()) }, addends: None,
    exact(rounding): (b != 0.0).then(|| Exact::of(a).div(Exact::of(b)));
}
operation! { Rcp(a, b, c)
    nearest: Settled::<float::Rcp>::apply(a),
    wide: { let q = 1.0 / a; (q, (-q).mul_add(a, 1.0) * a.signum()) }, addends: None,
    exact(rounding): (a != 0.0).then(|| Exact::of(1.0).div(Exact::of(a)));
}
operation! { Sqrt(a, b, c)
    nearest: Settled::<float::Sqrt>::apply(a), wide: { let r = a.sqrt(); (r, (-r).mul_add(r, a)) }, addends: None,
    exact(rounding): (a >= 0.0).then(|| Exact::of(a).sqrt());
}

/// A rounding that is known when the code is compiled, so that each loop has only its own.
trait Direction {
    fn round(wide: f64, lost: f64) -> f32;
}
struct Zero;
struct Down;
struct Up;

/// What `near`, the result to nearest, is against the exact one: too large, too small.
#[inline(always)]
fn off(near: f32, wide: f64, lost: f64) -> (bool, bool) {
    let over = f64::from(near) - wide;
    (over > 0.0 || (over == 0.0 && lost < 0.0), over < 0.0 || (over == 0.0 && lost > 0.0))
}

/// One place toward (or away from) zero.
#[inline(always)]
fn step(near: f32, toward_zero: bool) -> f32 {
    let bits = near.to_bits();
    f32::from_bits(if toward_zero { bits.wrapping_sub(1) } else { bits.wrapping_add(1) })
}

impl Direction for Zero {
    #[inline(always)]
    fn round(wide: f64, lost: f64) -> f32 {
        let near = wide as f32;
        let (large, small) = off(near, wide, lost);
        if if near.is_sign_negative() { small } else { large } { step(near, true) } else { near }
    }
}
impl Direction for Down {
    #[inline(always)]
    fn round(wide: f64, lost: f64) -> f32 {
        let near = wide as f32;
        let (large, _) = off(near, wide, lost);
        // A result of 0 that is too large is -0 here, so its sign tells the way as any other's does.
        if large { step(near, near.is_sign_positive()) } else { near }
    }
}
impl Direction for Up {
    #[inline(always)]
    fn round(wide: f64, lost: f64) -> f32 {
        let near = wide as f32;
        let (_, small) = off(near, wide, lost);
        if small { step(near, near.is_sign_negative()) } else { near }
    }
}

const FTZ: i64 = 4;
const SAT: i64 = 8;

#[inline(always)]
fn directed<O: Operation, D: Direction, const DOWN: bool>(values: [[f32; LANES]; 3]) -> [f32; LANES] {
    let [a, b, c] = values;
    let mut out = [0.0; LANES];
    for lane in 0..LANES {
        let (a, b, c) = (f64::from(a[lane]), f64::from(b[lane]), f64::from(c[lane]));
        let (wide, lost) = O::wide(a, b, c);
        let mut result = D::round(wide, lost);
        if DOWN && let Some((x, y)) = O::addends(a, b, c) {
            // x - x is -0 when rounding down.
            let negative = x.is_sign_negative() || y.is_sign_negative();
            result = if wide == 0.0 && negative { -0.0 } else { result };
        }
        out[lane] = result.settle([]);
    }
    out
}

#[inline(always)]
unsafe fn single_body<O: Operation>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, c, ..] = args.slots;
    // SAFETY: the decoder gave 32-bit registers.
    unsafe {
        let mut values = [lanes.get::<f32>(a), lanes.get::<f32>(b), lanes.get::<f32>(c)];
        if args.imm & FTZ != 0 {
            values = values.map(|operand| operand.map(Float::flush));
        }
        let mut out = match Rounding::of(args.imm) {
            Rounding::Nearest => {
                let [a, b, c] = values;
                let mut out = [0.0; LANES];
                for lane in 0..LANES {
                    out[lane] = O::nearest(a[lane], b[lane], c[lane]);
                }
                out
            }
            Rounding::Zero => directed::<O, Zero, false>(values),
            Rounding::Down => directed::<O, Down, true>(values),
            Rounding::Up => directed::<O, Up, false>(values),
        };
        if args.imm & FTZ != 0 {
            let [a, b, c] = values;
            for lane in 0..LANES {
                let (wide, lost) = O::wide(f64::from(a[lane]), f64::from(b[lane]), f64::from(c[lane]));
                let tiny = is_tiny(wide, lost, Rounding::of(args.imm));
                out[lane] = if tiny { 0.0f32.copysign(out[lane]) } else { out[lane] };
            }
        }
        if args.imm & SAT != 0 {
            out = out.map(float::saturate);
        }
        lanes.set(d, out);
    }
    Ok(())
}
multiversion!(single<O: Operation> => single_body);

/// `.ftz` of a result to nearest, which loops of fast arithmetic are full of. Only the smallest normal number can have been
/// tiny, so the slower question is asked where that is seen.
#[inline(always)]
unsafe fn flushed_body<O: Operation>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, c, ..] = args.slots;
    // SAFETY: the decoder gave 32-bit registers.
    unsafe {
        let (a, b, c) = (lanes.get::<f32>(a), lanes.get::<f32>(b), lanes.get::<f32>(c));
        let mut out = [0.0; LANES];
        let mut edge = [false; LANES];
        for lane in 0..LANES {
            out[lane] = O::nearest(a[lane].flush(), b[lane].flush(), c[lane].flush()).flush();
            edge[lane] = out[lane].abs() == f32::MIN_POSITIVE;
        }
        if pack(edge) != 0 {
            for lane in 0..LANES {
                let [a, b, c] = [a[lane], b[lane], c[lane]].map(|value| f64::from(value.flush()));
                let (wide, lost) = O::wide(a, b, c);
                if is_tiny(wide, lost, Rounding::Nearest) {
                    out[lane] = 0.0f32.copysign(out[lane]);
                }
            }
        }
        lanes.set(d, out);
    }
    Ok(())
}
multiversion!(flushed<O: Operation> => flushed_body);

unsafe fn double_body<O: Operation>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, c, ..] = args.slots;
    let rounding = Rounding::of(args.imm);
    // SAFETY: the decoder gave 64-bit registers.
    unsafe {
        let (a, b, c) = (lanes.get::<f64>(a), lanes.get::<f64>(b), lanes.get::<f64>(c));
        let mut out = [0.0; LANES];
        for lane in 0..LANES {
            let (a, b, c) = (a[lane], b[lane], c[lane]);
            let exact =
                (a.is_finite() && b.is_finite() && c.is_finite()).then(|| O::exact(a, b, c, rounding)).flatten();
            out[lane] = match exact {
                Some(exact) => f64::from_bits(exact.round(F64, rounding)),
                None => O::nearest64(a, b, c),
            };
        }
        lanes.set(d, out);
    }
    Ok(())
}

/// The lane function of an operation on three operands (some may stand there twice).
pub(super) fn decode<O: Operation>(
    decoder: &mut Decoder<'_>,
    form: &Form,
    d: &Operand,
    operands: [&Operand; 3],
) -> Result<Decoded, Reason> {
    let ty = form.ty;
    let exec = match ty {
        Type::F32 if form.plain() => flushed::<O>(decoder.level()),
        Type::F32 => single::<O>(decoder.level()),
        Type::F64 => double_body::<O>,
        _ => return Err(wrong_type(ty)),
    };
    let mut slots = [decoder.dst(d, ty)?; 4];
    for (slot, operand) in slots[1..].iter_mut().zip(operands) {
        *slot = decoder.src(operand, ty)?;
    }
    let flags = if form.ftz { FTZ } else { 0 } | if form.sat { SAT } else { 0 };
    Ok(Decoded::Lane(exec, Args::of(&slots, form.rounding.number() | flags)))
}

#[cfg(test)]
mod tests {
    use super::super::exact;
    use super::*;

    const EDGES: [f32; 18] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e-45,
        -1e-45,
        1.175_494_2e-38,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
        0.333_333_34,
        1.000_000_1,
        -3.0,
        1e30,
        1e-30,
        16_777_217.0,
        f32::INFINITY,
        7.0,
    ];

    fn check<O: Operation>(a: f32, b: f32, c: f32) {
        let wide = [a, b, c].map(f64::from);
        for rounding in [Rounding::Zero, Rounding::Down, Rounding::Up] {
            let operands = [[a; LANES], [b; LANES], [c; LANES]];
            let found = match rounding {
                Rounding::Zero => directed::<O, Zero, false>(operands),
                Rounding::Down => directed::<O, Down, true>(operands),
                _ => directed::<O, Up, false>(operands),
            }[0];
            let finite = wide.iter().all(|value| value.is_finite());
            let Some(exact) = finite.then(|| O::exact(wide[0], wide[1], wide[2], rounding)).flatten() else {
                assert_eq!(found.to_bits(), O::nearest(a, b, c).to_bits(), "{a} {b} {c}");
                continue;
            };
            let expected = exact.round(exact::F32, rounding) as u32;
            assert_eq!(found.to_bits(), expected, "{} {a:e} {b:e} {c:e} {rounding:?}", std::any::type_name::<O>());
        }
    }

    #[test]
    fn single_precision_agrees_with_exact_rounding() {
        for a in EDGES {
            check::<Rcp>(a, a, a);
            check::<Sqrt>(a, a, a);
            for b in EDGES {
                check::<Add>(a, b, b);
                check::<Sub>(a, b, b);
                check::<Mul>(a, b, b);
                check::<Div>(a, b, b);
                for c in EDGES {
                    check::<Fma>(a, b, c);
                }
            }
        }
    }
}
