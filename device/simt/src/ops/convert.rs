//! Conversion (PTX ISA, "cvt").
//!
//! The conversions that loops are full of are vector code, one function a pair of types. All others go through one scalar
//! function that knows every pair, rounding and saturation.

use gridstride_ptx::{Instr, Operand, Type};
use half::{bf16, f16};

use super::float::Float;
use super::modifiers::{Modifiers, wrong_type};
use super::shape::{self, Unary};
use super::{DecodeFn, Decoded, Reason};
use crate::code::Width;
use crate::decode::{Decoder, width};
use crate::lane::{Args, ExecFn, LANES, Lanes, Level, Step};

pub(super) const OPCODES: &[(&str, DecodeFn)] = &[("cvt", cvt), ("szext", unsupported)];

fn unsupported(_: &mut Decoder<'_>, _: &Instr) -> Result<Decoded, Reason> {
    Err("the opcode".into())
}

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
    u16 as u16 => u32 u64; u16 as i16 => u32 u64;
    u32 as u8 => u16 u32 u64; u32 as i8 => u16 u32 u64;
    u32 as u16 => u16 u32 u64; u32 as i16 => u16 u32 u64;
    u32 as u32 => u64; u32 as i32 => u64;
    u64 as u8 => u16 u32 u64; u64 as i8 => u16 u32 u64;
    u64 as u16 => u16 u32 u64; u64 as i16 => u16 u32 u64;
    u64 as u32 => u32 u64; u64 as i32 => u32 u64;
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
truncate! { f32 => u32 i32 u64 i64; f64 => u32 i32; }

struct Narrow;
impl Unary<f64, f32> for Narrow {
    #[inline(always)]
    fn apply(a: f64) -> f32 {
        (a as f32).canonical()
    }
}

/// The vector form of a conversion, if it has one.
fn fast(spec: &Spec, from: Width, to: Width, level: Level) -> Option<ExecFn> {
    if spec.sat || spec.ftz {
        return None;
    }
    macro_rules! int {
        ($reg:ty, $v:ty, $($width:ident $to:ty),*) => {
            match to { $(Width::$width => Some(shape::unary::<$reg, $to, Via<$v>>(level)),)* _ => None }
        };
    }
    let (a, d) = (spec.from, spec.to);
    if a.is_float() || d.is_float() {
        return match (a, d, spec.rounding) {
            (Type::U32, Type::F32, Rounding::Nearest) => Some(shape::unary::<u32, f32, As>(level)),
            (Type::S32, Type::F32, Rounding::Nearest) => Some(shape::unary::<i32, f32, As>(level)),
            (Type::U64, Type::F32, Rounding::Nearest) => Some(shape::unary::<u64, f32, As>(level)),
            (Type::S64, Type::F32, Rounding::Nearest) => Some(shape::unary::<i64, f32, As>(level)),
            (Type::U32, Type::F64, Rounding::Nearest) => Some(shape::unary::<u32, f64, As>(level)),
            (Type::S32, Type::F64, Rounding::Nearest) => Some(shape::unary::<i32, f64, As>(level)),
            (Type::U64, Type::F64, Rounding::Nearest) => Some(shape::unary::<u64, f64, As>(level)),
            (Type::S64, Type::F64, Rounding::Nearest) => Some(shape::unary::<i64, f64, As>(level)),
            (Type::F32, Type::F64, _) => Some(shape::unary::<f32, f64, As>(level)),
            (Type::F64, Type::F32, Rounding::Nearest) => Some(shape::unary::<f64, f32, Narrow>(level)),
            (Type::F32, Type::U32, Rounding::IntZero) => Some(shape::unary::<f32, u32, Truncate>(level)),
            (Type::F32, Type::S32, Rounding::IntZero) => Some(shape::unary::<f32, i32, Truncate>(level)),
            _ => None,
        };
    }
    // To a narrower register: the low bits, whatever the signs. To a wider type: by the sign of the source type.
    let narrow = if d.bytes() < a.bytes() { d } else { a };
    // The destination register may be wider than the destination type, which then decides how it is filled.
    if d.bytes() > a.bytes() && u32::from(d.is_signed()) != u32::from(a.is_signed()) && to_bytes(to) > d.bytes() {
        return None;
    }
    match (from, narrow) {
        (Width::W16, Type::U8 | Type::B8) => int!(u16, u8, W16 u16, W32 u32, W64 u64),
        (Width::W16, Type::S8) => int!(u16, i8, W16 u16, W32 u32, W64 u64),
        (Width::W16, Type::U16) => int!(u16, u16, W32 u32, W64 u64),
        (Width::W16, Type::S16) => int!(u16, i16, W32 u32, W64 u64),
        (Width::W32, Type::U8) => int!(u32, u8, W16 u16, W32 u32, W64 u64),
        (Width::W32, Type::S8) => int!(u32, i8, W16 u16, W32 u32, W64 u64),
        (Width::W32, Type::U16) => int!(u32, u16, W16 u16, W32 u32, W64 u64),
        (Width::W32, Type::S16) => int!(u32, i16, W16 u16, W32 u32, W64 u64),
        (Width::W32, Type::U32) => int!(u32, u32, W64 u64),
        (Width::W32, Type::S32) => int!(u32, i32, W64 u64),
        (Width::W64, Type::U8) => int!(u64, u8, W16 u16, W32 u32, W64 u64),
        (Width::W64, Type::S8) => int!(u64, i8, W16 u16, W32 u32, W64 u64),
        (Width::W64, Type::U16) => int!(u64, u16, W16 u16, W32 u32, W64 u64),
        (Width::W64, Type::S16) => int!(u64, i16, W16 u16, W32 u32, W64 u64),
        (Width::W64, Type::U32) => int!(u64, u32, W32 u32, W64 u64),
        (Width::W64, Type::S32) => int!(u64, i32, W32 u32, W64 u64),
        _ => None,
    }
}

fn to_bytes(width: Width) -> u32 {
    width.bytes() / LANES as u32
}

/// How a result that is not exact is rounded; the `Int` ones round to a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounding {
    None,
    Nearest,
    Zero,
    Down,
    Up,
    IntNearest,
    IntZero,
    IntDown,
    IntUp,
}

const ROUNDINGS: &[(&str, Rounding)] = &[
    ("rn", Rounding::Nearest),
    ("rz", Rounding::Zero),
    ("rm", Rounding::Down),
    ("rp", Rounding::Up),
    ("rni", Rounding::IntNearest),
    ("rzi", Rounding::IntZero),
    ("rmi", Rounding::IntDown),
    ("rpi", Rounding::IntUp),
];

/// A conversion.
#[derive(Debug, Clone, Copy)]
struct Spec {
    from: Type,
    to: Type,
    rounding: Rounding,
    sat: bool,
    ftz: bool,
}

/// `cvt[.rounding][.ftz][.sat].DTYPE.ATYPE d, a`, and `cvt.rn.f16x2.f32 d, a, b`.
fn cvt(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let rounding = words.take_map(|word| ROUNDINGS.iter().find(|(name, _)| *name == word).map(|(_, r)| *r));
    let (ftz, sat) = (words.take("ftz"), words.take("sat"));
    let (to, from) = (words.ty()?, words.ty()?);
    words.done()?;
    let spec = Spec { from, to, rounding: rounding.unwrap_or(Rounding::None), sat, ftz };
    if let Type::F16x2 | Type::BF16x2 = to {
        return packed(decoder, instr, &spec);
    }
    let [d, a] = decoder.operands(instr)?;
    let (a, a_type) = match a {
        Operand::Reg(_) => decoder.src_any(a, from)?,
        // An immediate of a narrow type still needs a register of its own width.
        a => (decoder.src(a, from)?, from),
    };
    let (d, d_type) = decoder.dst_any(d, to)?;
    let (wide_from, wide_to) = (width(a_type), width(d_type));
    let exec = fast(&spec, wide_from, wide_to, decoder.level()).unwrap_or(any_body);
    if wide_from == Width::Pred || wide_to == Width::Pred || from.bytes() == 16 || to.bytes() == 16 {
        return Err(wrong_type(if wide_from == Width::Pred { a_type } else { d_type }));
    }
    Ok(Decoded::Lane(exec, Args::of(&[d, a], Packed::of(&spec, wide_from, wide_to).0)))
}

/// A conversion and the widths of its registers, in an immediate.
#[derive(Clone, Copy)]
struct Packed(i64);

impl Packed {
    fn of(spec: &Spec, from: Width, to: Width) -> Self {
        let rounding = 1 + ROUNDINGS.iter().position(|(_, r)| *r == spec.rounding).map_or(-1, |at| at as i64);
        let fields = [
            type_number(spec.from),
            type_number(spec.to),
            rounding,
            i64::from(spec.sat),
            i64::from(spec.ftz),
            i64::from(to_bytes(from)),
            i64::from(to_bytes(to)),
        ];
        Self(fields.iter().rev().fold(0, |packed, field| packed << 8 | field))
    }

    fn field(self, at: u32) -> u8 {
        (self.0 >> (8 * at)) as u8
    }

    fn spec(self) -> Spec {
        let rounding = self.field(2).checked_sub(1).map_or(Rounding::None, |at| ROUNDINGS[at as usize].1);
        Spec {
            from: TYPES[self.field(0) as usize],
            to: TYPES[self.field(1) as usize],
            rounding,
            sat: self.field(3) != 0,
            ftz: self.field(4) != 0,
        }
    }
}

const TYPES: &[Type] = &[
    Type::U8,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S8,
    Type::S16,
    Type::S32,
    Type::S64,
    Type::F16,
    Type::BF16,
    Type::F32,
    Type::F64,
    Type::B8,
    Type::B16,
    Type::B32,
    Type::B64,
];

fn type_number(ty: Type) -> i64 {
    TYPES.iter().position(|known| *known == ty).map_or(0, |at| at as i64)
}

/// Any conversion, lane by lane.
unsafe fn any_body(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, ..] = args.slots;
    let packed = Packed(args.imm);
    let spec = packed.spec();
    // SAFETY: the decoder gave registers of the widths that the immediate holds.
    unsafe {
        let from: [u64; LANES] = match packed.field(5) {
            2 => lanes.get::<u16>(a).map(u64::from),
            4 => lanes.get::<u32>(a).map(u64::from),
            _ => lanes.get::<u64>(a),
        };
        let out = from.map(|bits| convert(bits, &spec));
        match packed.field(6) {
            2 => lanes.set(d, out.map(|bits| bits as u16)),
            4 => lanes.set(d, out.map(|bits| bits as u32)),
            _ => lanes.set(d, out),
        }
    }
    Ok(())
}

/// A value on its way from one type to another.
enum Value {
    Int(i128),
    Float(f64),
}

/// The bits of a value of type `spec.from` as those of type `spec.to`, extended to 64.
fn convert(bits: u64, spec: &Spec) -> u64 {
    let value = match spec.from {
        Type::F16 => Value::Float(f16::from_bits(bits as u16).to_f64()),
        Type::BF16 => Value::Float(bf16::from_bits(bits as u16).to_f64()),
        Type::F32 => {
            let value = f32::from_bits(bits as u32);
            Value::Float(f64::from(if spec.ftz { value.flush() } else { value }))
        }
        Type::F64 => Value::Float(f64::from_bits(bits)),
        Type::S8 => Value::Int(i128::from(bits as i8)),
        Type::S16 => Value::Int(i128::from(bits as i16)),
        Type::S32 => Value::Int(i128::from(bits as i32)),
        Type::S64 => Value::Int(i128::from(bits as i64)),
        ty => Value::Int(i128::from(bits & low_bits(ty))),
    };
    if !spec.to.is_float() {
        return to_int(value, spec);
    }
    let value = match value {
        Value::Int(value) => return int_to_float(value, spec),
        Value::Float(value) => round_whole(value, spec.rounding),
    };
    let value = if spec.sat { value.saturate() } else { value };
    float_bits(value, spec)
}

fn low_bits(ty: Type) -> u64 {
    u64::MAX >> (64 - 8 * ty.bytes())
}

fn round_whole(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::IntNearest => value.round_ties_even(),
        Rounding::IntZero => value.trunc(),
        Rounding::IntDown => value.floor(),
        Rounding::IntUp => value.ceil(),
        _ => value,
    }
}

fn to_int(value: Value, spec: &Spec) -> u64 {
    let bits = 8 * spec.to.bytes();
    let (low, high) = if spec.to.is_signed() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    let value = match value {
        // Without `.sat` an integer is cut to size; a float always saturates, and a NaN becomes 0.
        Value::Int(value) if !spec.sat => value,
        Value::Int(value) => value.clamp(low, high),
        Value::Float(value) => (round_whole(value, spec.rounding) as i128).clamp(low, high),
    };
    let cut = value as u64 & low_bits(spec.to);
    if spec.to.is_signed() {
        let unused = 64 - bits;
        ((cut << unused) as i64 >> unused) as u64
    } else {
        cut
    }
}

fn int_to_float(value: i128, spec: &Spec) -> u64 {
    let clamp = |value: i128| if spec.sat { value.clamp(0, 1) } else { value };
    let value = clamp(value);
    match spec.to {
        Type::F64 => {
            let near = value as f64;
            adjust(near, near as i128 - value, spec.rounding, f64::next_down, f64::next_up).to_bits()
        }
        Type::F32 => {
            let near = value as f32;
            u64::from(adjust(near, near as i128 - value, spec.rounding, f32::next_down, f32::next_up).to_bits())
        }
        // Whole numbers of up to 53 bits are exact in f64; larger ones overflow a half anyway, or round the same.
        _ => float_bits(value as f64, spec),
    }
}

/// A value rounded to nearest, moved by one place where the rounding asked for goes another way. `error` is by how much it
/// is too large.
fn adjust<T: Copy + PartialOrd + Default>(
    near: T,
    error: i128,
    rounding: Rounding,
    down: fn(T) -> T,
    up: fn(T) -> T,
) -> T {
    let negative = near < T::default();
    match (rounding, error.signum()) {
        (Rounding::Down, 1) => down(near),
        (Rounding::Up, -1) => up(near),
        (Rounding::Zero, 1) if !negative => down(near),
        (Rounding::Zero, -1) if negative => up(near),
        _ => near,
    }
}

fn float_bits(value: f64, spec: &Spec) -> u64 {
    match spec.to {
        Type::F64 => value.to_bits(),
        Type::F32 => {
            let near = value as f32;
            let error = f64::from(near).partial_cmp(&value).map_or(0, |order| order as i128);
            let rounded = adjust(near, error, spec.rounding, f32::next_down, f32::next_up).canonical();
            u64::from(if spec.ftz { rounded.flush() } else { rounded }.to_bits())
        }
        _ if value.is_nan() => 0x7FFF,
        Type::F16 => u64::from(directed_half(
            value,
            spec.rounding,
            |v| f16::from_f64(v).to_bits(),
            |b| f16::from_bits(b).to_f64(),
        )),
        _ => u64::from(directed_half(
            value,
            spec.rounding,
            |v| bf16::from_f64(v).to_bits(),
            |b| bf16::from_bits(b).to_f64(),
        )),
    }
}

/// A 16-bit float: consecutive bit patterns of one sign are neighbours.
fn directed_half(value: f64, rounding: Rounding, narrow: impl Fn(f64) -> u16, wide: impl Fn(u16) -> f64) -> u16 {
    let near = narrow(value);
    let error = wide(near).partial_cmp(&value).map_or(0, |order| order as i32);
    let negative = near & 0x8000 != 0;
    let toward_zero = |bits: u16| if bits & 0x7FFF == 0 { bits } else { bits - 1 };
    match (rounding, error, negative) {
        (Rounding::Zero, 1, false) | (Rounding::Zero, -1, true) => toward_zero(near),
        (Rounding::Down, 1, false) | (Rounding::Up, -1, true) => toward_zero(near),
        (Rounding::Down, 1, true) | (Rounding::Up, -1, false) => near + 1,
        _ => near,
    }
}

/// Two floats to a pair of halves: the first becomes the upper one.
fn packed(decoder: &mut Decoder<'_>, instr: &Instr, spec: &Spec) -> Result<Decoded, Reason> {
    if spec.from != Type::F32 || spec.sat || spec.ftz || !matches!(spec.rounding, Rounding::Nearest | Rounding::Zero) {
        return Err("only `.rn` and `.rz` from `.f32`".into());
    }
    let exec: ExecFn = match (spec.to, spec.rounding) {
        (Type::F16x2, Rounding::Nearest) => packed_body::<true, true>,
        (Type::F16x2, _) => packed_body::<true, false>,
        (_, Rounding::Nearest) => packed_body::<false, true>,
        _ => packed_body::<false, false>,
    };
    let [d, a, b] = decoder.operands(instr)?;
    let slots = [decoder.dst(d, spec.to)?, decoder.src(a, Type::F32)?, decoder.src(b, Type::F32)?];
    Ok(Decoded::Lane(exec, Args::of(&slots, 0)))
}

unsafe fn packed_body<const F16: bool, const NEAREST: bool>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, ..] = args.slots;
    let to = if F16 { Type::F16 } else { Type::BF16 };
    let rounding = if NEAREST { Rounding::Nearest } else { Rounding::Zero };
    let spec = Spec { from: Type::F32, to, rounding, sat: false, ftz: false };
    // SAFETY: the decoder gave 32-bit registers.
    unsafe {
        let (a, b) = (lanes.get::<u32>(a), lanes.get::<u32>(b));
        let mut out = [0u32; LANES];
        for lane in 0..LANES {
            let [high, low] = [a[lane], b[lane]].map(|bits| convert(u64::from(bits), &spec) as u32);
            out[lane] = high << 16 | low;
        }
        lanes.set(d, out);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(bits: u64, from: Type, to: Type, rounding: Rounding) -> u64 {
        convert(bits, &Spec { from, to, rounding, sat: false, ftz: false })
    }

    #[test]
    fn floats_to_integers() {
        let f = |v: f32| u64::from(v.to_bits());
        assert_eq!(run(f(2.5), Type::F32, Type::S32, Rounding::IntNearest), 2);
        assert_eq!(run(f(-2.5), Type::F32, Type::S32, Rounding::IntDown) as i32, -3);
        assert_eq!(run(f(3e9), Type::F32, Type::S32, Rounding::IntZero) as i32, i32::MAX);
        assert_eq!(run(f(-1.0), Type::F32, Type::U8, Rounding::IntZero), 0);
        assert_eq!(run(f(f32::NAN), Type::F32, Type::S32, Rounding::IntZero), 0);
    }

    #[test]
    fn integers_to_floats_by_every_rounding() {
        let value = (1u64 << 24) + 1;
        let to = |rounding| f32::from_bits(run(value, Type::U64, Type::F32, rounding) as u32);
        assert_eq!(to(Rounding::Nearest), 16_777_216.0);
        assert_eq!(to(Rounding::Up), 16_777_218.0);
        assert_eq!(to(Rounding::Zero), 16_777_216.0);
        let negative = (-(value as i64)) as u64;
        assert_eq!(f32::from_bits(run(negative, Type::S64, Type::F32, Rounding::Down) as u32), -16_777_218.0);
    }

    #[test]
    fn doubles_to_halves() {
        let third = (1.0f64 / 3.0).to_bits();
        let nearest = run(third, Type::F64, Type::F16, Rounding::Nearest);
        let up = run(third, Type::F64, Type::F16, Rounding::Up);
        assert_eq!(nearest, u64::from(f16::from_f64(1.0 / 3.0).to_bits()));
        assert!(f16::from_bits(up as u16).to_f64() >= 1.0 / 3.0);
        assert_eq!(run(f64::NAN.to_bits(), Type::F64, Type::F16, Rounding::Nearest), 0x7FFF);
    }

    #[test]
    fn sign_extends_into_a_wider_register() {
        assert_eq!(run(0xFF, Type::S8, Type::S16, Rounding::None), u64::MAX);
        assert_eq!(run(0xFF, Type::U8, Type::S16, Rounding::None), 0xFF);
        assert_eq!(run(0x1_0000_00FF, Type::U64, Type::U8, Rounding::None), 0xFF);
    }
}
