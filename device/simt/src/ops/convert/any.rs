//! Any conversion, lane by lane.

use gridstride_ptx::Type;

use super::{Direction, Rounding, Spec};
use crate::code::Width;
use crate::lane::{Args, LANES, Lanes, Step};
use crate::ops::exact::{BF16, Exact, F16, F32, F64, Format, is_tiny};
use crate::ops::float::Float;
use crate::ops::half::{self, Half};

/// A conversion and the widths of its registers, in an immediate.
#[derive(Clone, Copy)]
pub(super) struct Packed(pub(super) i64);

impl Packed {
    pub(super) fn of(spec: &Spec, from: Width, to: Width) -> Self {
        let rounding = match spec.rounding {
            Rounding::None => 0,
            Rounding::To(direction) => 4 | direction.number(),
            Rounding::Whole(direction) => 8 | direction.number(),
        };
        let flags = i64::from(spec.sat) | i64::from(spec.ftz) << 1 | i64::from(spec.relu) << 2;
        let bytes = |width: Width| i64::from(width.bytes()) / LANES as i64;
        let fields = [type_number(spec.from), type_number(spec.to), rounding, flags, bytes(from), bytes(to)];
        Self(fields.iter().rev().fold(0, |packed, field| packed << 8 | field))
    }

    fn field(self, at: u32) -> u8 {
        (self.0 >> (8 * at)) as u8
    }

    fn spec(self) -> Spec {
        let rounding = i64::from(self.field(2));
        let flags = self.field(3);
        Spec {
            from: TYPES[self.field(0) as usize],
            to: TYPES[self.field(1) as usize],
            rounding: match rounding >> 2 {
                0 => Rounding::None,
                1 => Rounding::To(Direction::of(rounding)),
                _ => Rounding::Whole(Direction::of(rounding)),
            },
            sat: flags & 1 != 0,
            ftz: flags & 2 != 0,
            relu: flags & 4 != 0,
        }
    }
}

const TYPES: [Type; 12] = [
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
];

fn type_number(ty: Type) -> i64 {
    TYPES.iter().position(|known| *known == ty).expect("checked by the decoder") as i64
}

/// Any conversion between registers of up to 64 bits.
pub(super) unsafe fn exec(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, ..] = args.slots;
    let packed = Packed(args.imm);
    let spec = packed.spec();
    // SAFETY: the decoder gave registers of the widths that the immediate holds.
    unsafe {
        let from: [u64; LANES] = match packed.field(4) {
            2 => lanes.get::<u16>(a).map(u64::from),
            4 => lanes.get::<u32>(a).map(u64::from),
            _ => lanes.get(a),
        };
        let out = from.map(|bits| convert(bits, &spec));
        match packed.field(5) {
            2 => lanes.set(d, out.map(|bits| bits as u16)),
            4 => lanes.set(d, out.map(|bits| bits as u32)),
            _ => lanes.set(d, out),
        }
    }
    Ok(())
}

/// The operand as a number that every type fits in.
enum Value {
    Int(i128),
    Float(f64),
}

/// Converts one value; what is above the result type in a wider register is filled by the sign of that type.
pub(super) fn convert(bits: u64, spec: &Spec) -> u64 {
    match operand(bits, spec) {
        Value::Int(value) if !spec.to.is_float() => fit(value, spec.to, spec.sat),
        Value::Int(value) if spec.sat => of_exact(Exact::whole(value.clamp(0, 1)), spec),
        Value::Int(value) => of_exact(Exact::whole(value), spec),
        Value::Float(value) if !spec.to.is_float() => {
            if value.is_nan() {
                let lost = spec.from == Type::F64 || spec.to.bytes() == 8;
                return fit(if lost { 1 << (8 * spec.to.bytes() - 1) } else { 0 }, spec.to, false);
            }
            fit(whole(value, spec.rounding) as i128, spec.to, true)
        }
        Value::Float(value) if value.is_nan() => of_nan(bits, value, spec),
        Value::Float(value) => {
            let value = whole(value, spec.rounding);
            let value = if !spec.sat {
                value
            } else if value > 0.0 {
                value.min(1.0)
            } else {
                0.0
            };
            if value.is_infinite() {
                return of_infinity(value < 0.0, spec);
            }
            if spec.ftz && spec.from == Type::F64 && is_tiny(value, 0.0, direction(spec)) {
                return of_exact(Exact::of(0.0f64.copysign(value)), spec);
            }
            of_exact(Exact::of(value), spec)
        }
    }
}

fn operand(bits: u64, spec: &Spec) -> Value {
    match spec.from {
        Type::F16 => Value::Float(half::F16::wide(bits as u16)),
        Type::BF16 => Value::Float(half::BF16::wide(bits as u16)),
        Type::F32 => {
            let value = f32::from_bits(bits as u32);
            Value::Float(f64::from(if spec.ftz { value.flush() } else { value }))
        }
        Type::F64 => Value::Float(f64::from_bits(bits)),
        Type::S8 => Value::Int((bits as i8).into()),
        Type::S16 => Value::Int((bits as i16).into()),
        Type::S32 => Value::Int((bits as i32).into()),
        Type::S64 => Value::Int((bits as i64).into()),
        Type::U8 => Value::Int((bits as u8).into()),
        Type::U16 => Value::Int((bits as u16).into()),
        Type::U32 => Value::Int((bits as u32).into()),
        _ => Value::Int(bits.into()),
    }
}

/// To a whole number where the rounding is one of those.
fn whole(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Whole(Direction::Nearest) => value.round_ties_even(),
        Rounding::Whole(Direction::Zero) => value.trunc(),
        Rounding::Whole(Direction::Down) => value.floor(),
        Rounding::Whole(Direction::Up) => value.ceil(),
        _ => value,
    }
}

/// An integer in the bits of a type, cut or clamped to it, and extended to 64 bits.
pub(super) fn fit(value: i128, ty: Type, clamp: bool) -> u64 {
    let bits = 8 * ty.bytes();
    let (low, high) =
        if ty.is_signed() { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
    let value = if clamp { value.clamp(low, high) } else { value } as u64;
    let unused = 64 - bits;
    if ty.is_signed() { ((value << unused) as i64 >> unused) as u64 } else { value << unused >> unused }
}

fn format(ty: Type) -> Format {
    match ty {
        Type::F16 => F16,
        Type::BF16 => BF16,
        Type::F32 => F32,
        _ => F64,
    }
}

fn of_exact(value: Exact, spec: &Spec) -> u64 {
    finish(value.round(format(spec.to), direction(spec)), spec)
}

fn direction(spec: &Spec) -> Direction {
    match spec.rounding {
        Rounding::To(direction) => direction,
        _ => Direction::Nearest,
    }
}

fn of_infinity(negative: bool, spec: &Spec) -> u64 {
    let (infinity, sign) = match spec.to {
        Type::F16 => (0x7C00, 1 << 15),
        Type::BF16 => (0x7F80, 1 << 15),
        Type::F32 => (0x7F80_0000, 1 << 31),
        _ => (0x7FF0_0000_0000_0000, 1 << 63),
    };
    finish(infinity | if negative { sign } else { 0 }, spec)
}

fn finish(bits: u64, spec: &Spec) -> u64 {
    match spec.to {
        Type::F32 if spec.ftz => u64::from(f32::from_bits(bits as u32).flush().to_bits()),
        Type::F16 | Type::BF16 if spec.relu && bits & 0x8000 != 0 => 0,
        _ => bits,
    }
}

/// What becomes of a NaN: `bits` as it was, `wide` in double precision.
fn of_nan(bits: u64, wide: f64, spec: &Spec) -> u64 {
    if spec.sat {
        return 0;
    }
    // Quiet, with as much of the payload as there is room for.
    let wide = wide.to_bits() | 1 << 51;
    match (spec.from, spec.to) {
        (_, Type::F64) if spec.ftz => 0x7FFF_FFFF_E000_0000,
        (_, Type::F64) => wide,
        (Type::F64, Type::F32) => wide >> 32 & 0x8000_0000 | 0x7F80_0000 | wide >> 29 & 0x7F_FFFF,
        (Type::BF16, Type::F32) => bits << 16,
        (_, Type::F32) => 0x7FFF_FFFF,
        (Type::F64, Type::F16) => wide >> 48 & 0x8000 | 0x7C00 | wide >> 42 & 0x3FF,
        (Type::F64, Type::BF16) => wide >> 48 & 0x8000 | 0x7F80 | wide >> 45 & 0x7F,
        _ => 0x7FFF,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(bits: u64, from: Type, to: Type, rounding: Rounding) -> u64 {
        convert(bits, &Spec { from, to, rounding, sat: false, ftz: false, relu: false })
    }

    #[test]
    fn an_immediate_holds_a_conversion() {
        for rounding in [Rounding::None, Rounding::To(Direction::Down), Rounding::Whole(Direction::Up)] {
            let spec = Spec { from: Type::S8, to: Type::F64, rounding, sat: true, ftz: false, relu: true };
            let packed = Packed::of(&spec, Width::W16, Width::W64);
            assert_eq!((packed.spec(), packed.field(4), packed.field(5)), (spec, 2, 8));
        }
    }

    #[test]
    fn floats_to_integers() {
        let f = |v: f32| u64::from(v.to_bits());
        let to = |v, ty, direction| run(f(v), Type::F32, ty, Rounding::Whole(direction));
        assert_eq!(to(2.5, Type::S32, Direction::Nearest), 2);
        assert_eq!(to(-2.5, Type::S32, Direction::Down) as i32, -3);
        assert_eq!(to(3e9, Type::S32, Direction::Zero) as i32, i32::MAX);
        assert_eq!(to(-1.0, Type::U8, Direction::Zero), 0);
        assert_eq!(to(f32::NAN, Type::S32, Direction::Zero), 0);
        assert_eq!(to(f32::NAN, Type::S64, Direction::Zero), 1 << 63);
    }

    #[test]
    fn integers_to_floats_by_every_rounding() {
        let value = (1u64 << 24) + 1;
        let to = |direction| f32::from_bits(run(value, Type::U64, Type::F32, Rounding::To(direction)) as u32);
        assert_eq!(to(Direction::Nearest), 16_777_216.0);
        assert_eq!(to(Direction::Up), 16_777_218.0);
        assert_eq!(to(Direction::Zero), 16_777_216.0);
        let negative = (-(value as i64)) as u64;
        let down = run(negative, Type::S64, Type::F32, Rounding::To(Direction::Down));
        assert_eq!(f32::from_bits(down as u32), -16_777_218.0);
    }

    #[test]
    fn sign_extends_into_a_wider_register() {
        assert_eq!(run(0xFF, Type::S8, Type::S16, Rounding::None), u64::MAX);
        assert_eq!(run(0xFF, Type::U8, Type::S16, Rounding::None), 0xFF);
        assert_eq!(run(0x1_0000_00FF, Type::U64, Type::U8, Rounding::None), 0xFF);
    }
}
