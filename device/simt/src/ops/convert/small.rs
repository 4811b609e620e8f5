//! Conversions to and from formats that no register type has: `.e4m3x2` and `.e5m2x2` (pairs of 8-bit floats), `.tf32`;
//! and `.satfinite`, which keeps halves finite.

use gridstride_ptx::{Instr, Type};
use half::{bf16, f16};

use super::{Direction, Rounding, Spec, any};
use crate::decode::Decoder;
use crate::lane::{Args, LANES, Lanes, Step};
use crate::ops::modifiers::Modifiers;
use crate::ops::{Decoded, Reason};

/// An 8-bit float: bits of the mantissa, the exponent's bias, the largest number, NaN.
struct Format {
    mantissa: i32,
    bias: i32,
    most: f64,
    most_bits: u8,
    nan: u8,
}

const E4M3: Format = Format { mantissa: 3, bias: 7, most: 448.0, most_bits: 0x7E, nan: 0x7F };
const E5M2: Format = Format { mantissa: 2, bias: 15, most: 57344.0, most_bits: 0x7B, nan: 0x7F };

impl Format {
    /// To nearest even; beyond the largest number, and at infinity, that number.
    fn narrow(&self, value: f64, relu: bool) -> u8 {
        if value.is_nan() {
            return self.nan;
        }
        if relu && value <= 0.0 {
            return 0;
        }
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        let size = value.abs();
        if size >= self.most {
            return sign | self.most_bits;
        }
        let lowest = 1 - self.bias;
        let exponent = if size == 0.0 { lowest } else { exponent(size).max(lowest) };
        // Exact: a division by a power of two.
        let steps = (size / f64::from(exponent - self.mantissa).exp2()).round_ties_even() as i32;
        // A mantissa that overflows carries into the exponent, as it should; subnormal numbers have exponent 0 so.
        sign | (((exponent - lowest) << self.mantissa) + steps) as u8
    }

    fn widen(&self, bits: u8) -> f64 {
        let (exponent, mantissa) =
            (i32::from(bits >> self.mantissa) & (0x7F >> self.mantissa), bits & ((1 << self.mantissa) - 1));
        let special = if self.mantissa == 3 { bits & 0x7F == 0x7F } else { exponent == 31 };
        if special {
            let infinite = self.mantissa == 2 && mantissa == 0;
            let value = if infinite { f64::INFINITY } else { f64::NAN };
            return if bits & 0x80 != 0 { -value } else { value };
        }
        let whole = f64::from(mantissa) + if exponent == 0 { 0.0 } else { f64::from(1 << self.mantissa) };
        let value = whole * f64::from(exponent.max(1) - self.bias - self.mantissa).exp2();
        if bits & 0x80 != 0 { -value } else { value }
    }
}

fn exponent(value: f64) -> i32 {
    // Nothing that is narrowed is subnormal as an f64.
    (value.to_bits() >> 52 & 0x7FF) as i32 - 1023
}

/// True for the conversions that are decoded here.
pub(super) fn concerns(instr: &Instr) -> bool {
    instr.modifiers.iter().any(|word| matches!(&**word, "e4m3x2" | "e5m2x2" | "tf32" | "satfinite"))
}

/// `cvt.rn.satfinite{.relu}.E.f32 d, a, b`, `….E.f16x2 d, a`, `cvt.rn{.relu}.f16x2.E d, a`, `cvt.rna.tf32.f32` and the like.
pub(super) fn decode(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let away = words.take("rna");
    let rounding = words.take_map(super::rounding);
    let (finite, relu) = (words.take("satfinite"), words.take("relu"));
    if words.take("tf32") {
        let direction = match rounding {
            None if away => None,
            Some(Rounding::To(direction @ (Direction::Nearest | Direction::Zero))) => Some(direction),
            _ => return Err("neither `.rna`, `.rn` nor `.rz`".into()),
        };
        if words.ty()? != Type::F32 {
            return Err("only `.f32` becomes `.tf32`".into());
        }
        words.done()?;
        let [d, a] = decoder.operands(instr)?;
        let slots = [decoder.dst(d, Type::B32)?, decoder.src(a, Type::F32)?];
        let imm = match direction {
            None => 0,
            Some(Direction::Nearest) => 1,
            Some(_) => 2,
        };
        return Ok(Decoded::Lane(tensor, Args::of(&slots, imm | i64::from(finite) << 2 | i64::from(relu) << 3)));
    }
    if away || !matches!(rounding, Some(Rounding::To(Direction::Nearest | Direction::Zero))) {
        return Err("neither `.rn` nor `.rz`".into());
    }
    let nearest = rounding == Some(Rounding::To(Direction::Nearest));
    let small = |word: &str| ["e4m3x2", "e5m2x2"].iter().position(|name| *name == word);
    let first = instr.modifiers.iter().find_map(|word| Type::from_name(word).map(Some).or(small(word).map(|_| None)));
    let format = words.take_map(small);
    let ty = words.ty()?;
    let flag = |bit: bool, at: u32| i64::from(bit) << at;
    let Some(format) = format else {
        let from = words.ty()?;
        words.done()?;
        return finite_half(
            decoder,
            instr,
            Spec { from, to: ty, rounding: rounding.expect("checked"), sat: false, ftz: false, relu },
        );
    };
    words.done()?;
    if !nearest {
        return Err("an 8-bit float is rounded `.rn`".into());
    }
    let imm = format as i64 | flag(relu, 1);
    match (first, ty, finite) {
        (Some(None), Type::F32, true) => {
            let [d, a, b] = decoder.operands(instr)?;
            let slots = [decoder.dst(d, Type::B16)?, decoder.src(a, Type::F32)?, decoder.src(b, Type::F32)?];
            Ok(Decoded::Lane(narrow_singles, Args::of(&slots, imm)))
        }
        (Some(None), Type::F16x2, true) => {
            let [d, a] = decoder.operands(instr)?;
            let slots = [decoder.dst(d, Type::B16)?, decoder.src(a, Type::B32)?];
            Ok(Decoded::Lane(narrow_halves, Args::of(&slots, imm)))
        }
        (Some(Some(_)), Type::F16x2, false) => {
            let [d, a] = decoder.operands(instr)?;
            let slots = [decoder.dst(d, Type::B32)?, decoder.src(a, Type::B16)?];
            Ok(Decoded::Lane(widen, Args::of(&slots, imm)))
        }
        _ => Err("8-bit floats come from `.f32` and `.f16x2` with `.satfinite`, and become `.f16x2` without".into()),
    }
}

fn format(imm: i64) -> &'static Format {
    if imm & 1 == 0 { &E4M3 } else { &E5M2 }
}

unsafe fn narrow_singles(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, ..] = args.slots;
    let (format, relu) = (format(args.imm), args.imm & 2 != 0);
    // SAFETY: the decoder gave a 16-bit register and two of 32 bits.
    unsafe {
        let (a, b) = (lanes.get::<f32>(a), lanes.get::<f32>(b));
        let mut out = [0u16; LANES];
        for lane in 0..LANES {
            let [high, low] = [a[lane], b[lane]].map(|value| format.narrow(f64::from(value), relu));
            out[lane] = u16::from_le_bytes([low, high]);
        }
        lanes.set(d, out);
    }
    Ok(())
}

unsafe fn narrow_halves(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let (format, relu) = (format(args.imm), args.imm & 2 != 0);
    // SAFETY: the decoder gave a 16-bit register and one of 32 bits.
    unsafe {
        let a = lanes.get::<u32>(args.slots[1]);
        let part = |bits: u32| format.narrow(f16::from_bits(bits as u16).to_f64(), relu);
        lanes.set(args.slots[0], a.map(|pair| u16::from_le_bytes([part(pair), part(pair >> 16)])));
    }
    Ok(())
}

unsafe fn widen(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let (format, relu) = (format(args.imm), args.imm & 2 != 0);
    let part = |bits: u8| {
        let value = format.widen(bits);
        if value.is_nan() {
            return 0x7FFF;
        }
        if relu && value <= 0.0 { 0 } else { f16::from_f64(value).to_bits() }
    };
    // SAFETY: the decoder gave a 32-bit register and one of 16 bits.
    unsafe {
        let a = lanes.get::<u16>(args.slots[1]);
        lanes.set(args.slots[0], a.map(|pair| u32::from(part((pair >> 8) as u8)) << 16 | u32::from(part(pair as u8))));
    }
    Ok(())
}

/// To 10 bits of mantissa, the lower 13 bits zero. `imm`: 0 away from zero, 1 to even, 2 toward zero.
unsafe fn tensor(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let (finite, relu) = (args.imm & 4 != 0, args.imm & 8 != 0);
    let round = |bits: u32| {
        if bits & 0x7FFF_FFFF > 0x7F80_0000 {
            return 0x7FFF_FFFF;
        }
        if relu && bits >> 31 != 0 {
            return 0;
        }
        let infinite = bits & 0x7FFF_FFFF == 0x7F80_0000;
        let up = match args.imm & 3 {
            _ if infinite => 0,
            0 => 0x1000,
            1 => 0xFFF + (bits >> 13 & 1),
            _ => 0,
        };
        let rounded = bits.wrapping_add(up) & !0x1FFF;
        if finite && rounded & 0x7F80_0000 == 0x7F80_0000 { rounded & 0x8000_0000 | 0x7F7F_E000 } else { rounded }
    };
    // SAFETY: the decoder gave 32-bit registers.
    unsafe {
        let a = lanes.get::<u32>(args.slots[1]);
        lanes.set(args.slots[0], a.map(round));
    }
    Ok(())
}

/// `cvt.rn.satfinite.f16.f32` and its relatives.
fn finite_half(decoder: &mut Decoder<'_>, instr: &Instr, spec: Spec) -> Result<Decoded, Reason> {
    if spec.from != Type::F32 {
        return Err("`.satfinite` is for conversions from `.f32`".into());
    }
    let direction = match spec.rounding {
        Rounding::To(direction) => direction.number(),
        _ => return Err("a rounding expected".into()),
    };
    let pair = matches!(spec.to, Type::F16x2 | Type::BF16x2);
    let brain = matches!(spec.to, Type::BF16 | Type::BF16x2);
    if !pair && !matches!(spec.to, Type::F16 | Type::BF16) {
        return Err("`.satfinite` of this type".into());
    }
    let slots = if pair {
        let [d, a, b] = decoder.operands(instr)?;
        [decoder.dst(d, Type::B32)?, decoder.src(a, Type::F32)?, decoder.src(b, Type::F32)?]
    } else {
        let [d, a] = decoder.operands(instr)?;
        let a = decoder.src(a, Type::F32)?;
        [decoder.dst(d, Type::B16)?, a, a]
    };
    let imm = direction | i64::from(spec.relu) << 2 | i64::from(brain) << 3 | i64::from(pair) << 4;
    Ok(Decoded::Lane(finite_exec, Args::of(&slots, imm)))
}

unsafe fn finite_exec(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, ..] = args.slots;
    let (brain, pair) = (args.imm & 8 != 0, args.imm & 16 != 0);
    let to = if brain { Type::BF16 } else { Type::F16 };
    let rounding = Rounding::To(Direction::of(args.imm));
    let spec = Spec { from: Type::F32, to, rounding, sat: false, ftz: false, relu: args.imm & 4 != 0 };
    let convert = |bits: u32| {
        let half = any::convert(u64::from(bits), &spec) as u16;
        let (infinity, most) = if brain {
            (bf16::INFINITY.to_bits(), bf16::MAX.to_bits())
        } else {
            (f16::INFINITY.to_bits(), f16::MAX.to_bits())
        };
        if half & 0x7FFF == infinity { half & 0x8000 | most } else { half }
    };
    // SAFETY: the decoder gave registers of these widths.
    unsafe {
        let (a, b) = (lanes.get::<u32>(a), lanes.get::<u32>(b));
        if pair {
            lanes.set(d, std::array::from_fn(|lane| u32::from(convert(a[lane])) << 16 | u32::from(convert(b[lane]))));
        } else {
            lanes.set(d, a.map(convert));
        }
    }
    Ok(())
}
