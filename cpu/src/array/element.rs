//! Element types by name, and single elements as values.

use std::fmt;
use std::str::FromStr;

use half::f16;

use crate::error::nearest;

/// Type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is the Rust type of its own name")]
pub enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
}

/// An element, without its type. Integers of every type fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// An integer.
    Int(i128),
    /// A float; an `f16` or `f32` widened, which changes no value.
    Float(f64),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            // As many digits as tell an f32 from its neighbours; shorter where the value is.
            Self::Float(value) if f64::from(*value as f32) == *value => (*value as f32).fmt(f),
            Self::Float(value) => value.fmt(f),
        }
    }
}

impl Value {
    /// As a float, rounded where it has more digits.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl Element {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::U64,
        Self::I64,
        Self::F16,
        Self::F32,
        Self::F64,
    ];

    /// As Rust calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Bytes an element.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// True for floats.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// True for signed integers.
    #[must_use]
    pub fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The byte that fills what nobody has written: all bits for floats, a NaN; for integers a pattern that is neither 0 nor -1.
    pub(super) fn unset(self) -> u8 {
        if self.is_float() { 0xFF } else { 0xA5 }
    }

    /// A value's bytes in the order of this machine. Integers wrap, floats round.
    #[must_use]
    pub fn encode(self, value: Value) -> Vec<u8> {
        match (self, value) {
            (Self::F16, value) => f16::from_f64(value.as_f64()).to_ne_bytes().to_vec(),
            (Self::F32, value) => (value.as_f64() as f32).to_ne_bytes().to_vec(),
            (Self::F64, value) => value.as_f64().to_ne_bytes().to_vec(),
            (_, Value::Float(value)) => self.encode(Value::Int(value as i128)),
            (Self::U8 | Self::I8, Value::Int(value)) => (value as u8).to_ne_bytes().to_vec(),
            (Self::U16 | Self::I16, Value::Int(value)) => (value as u16).to_ne_bytes().to_vec(),
            (Self::U32 | Self::I32, Value::Int(value)) => (value as u32).to_ne_bytes().to_vec(),
            (Self::U64 | Self::I64, Value::Int(value)) => (value as u64).to_ne_bytes().to_vec(),
        }
    }

    /// The value of an element's bytes. Bytes that are missing count as 0.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> Value {
        let mut eight = [0; 8];
        let n = bytes.len().min(self.bytes());
        eight[..n].copy_from_slice(&bytes[..n]);
        let ([a, b, ..], [c, d, e, f, ..]) = (eight, eight);
        let (two, four) = ([a, b], [c, d, e, f]);
        match self {
            Self::U8 => Value::Int(a.into()),
            Self::I8 => Value::Int((a as i8).into()),
            Self::U16 => Value::Int(u16::from_ne_bytes(two).into()),
            Self::I16 => Value::Int(i16::from_ne_bytes(two).into()),
            Self::U32 => Value::Int(u32::from_ne_bytes(four).into()),
            Self::I32 => Value::Int(i32::from_ne_bytes(four).into()),
            Self::U64 => Value::Int(u64::from_ne_bytes(eight).into()),
            Self::I64 => Value::Int(i64::from_ne_bytes(eight).into()),
            Self::F16 => Value::Float(f16::from_ne_bytes(two).into()),
            Self::F32 => Value::Float(f32::from_ne_bytes(four).into()),
            Self::F64 => Value::Float(f64::from_ne_bytes(eight)),
        }
    }

    /// A value as people write it, if the type has it.
    ///
    /// # Errors
    /// A sentence.
    pub fn parse(self, text: &str) -> Result<Value, String> {
        let plain = text.replace('_', "");
        if self.is_float() {
            let value = plain.parse().map_err(|_| format!("`{text}` is not a number for {self}"))?;
            return Ok(Value::Float(value));
        }
        let digits = |text: &str, radix| i128::from_str_radix(text, radix).ok();
        let value = match plain.strip_prefix("0x") {
            Some(hex) => digits(hex, 16),
            None => digits(&plain, 10),
        };
        let value = value.ok_or_else(|| format!("`{text}` is not a whole number for {self}"))?;
        let (low, high) = self.limits();
        if (low..=high).contains(&value) {
            return Ok(Value::Int(value));
        }
        Err(format!("{value} does not fit {self}, which goes from {low} to {high}"))
    }

    /// The smallest and the largest integer.
    fn limits(self) -> (i128, i128) {
        let bits = 8 * self.bytes();
        if self.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Element {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Self::ALL.iter().map(|element| element.name());
        let found = Self::ALL.iter().find(|element| element.name() == text.to_lowercase());
        found.copied().ok_or_else(|| {
            let hint = nearest(text, known()).map_or(String::new(), |near| format!(": did you mean `{near}`?"));
            format!("there is no element type `{text}`{hint} (known: {})", known().collect::<Vec<_>>().join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_type_come_back() {
        for element in Element::ALL {
            let value = if element.is_float() { Value::Float(-2.5) } else { Value::Int(113) };
            assert_eq!(element.decode(&element.encode(value)), value, "{element}");
        }
        assert_eq!(Element::I8.decode(&Element::I8.encode(Value::Int(-1))), Value::Int(-1));
    }

    #[test]
    fn values_that_a_type_does_not_have_are_refused() {
        assert_eq!(Element::U8.parse("0xff"), Ok(Value::Int(255)));
        assert_eq!(Element::U64.parse("18_446_744_073_709_551_615"), Ok(Value::Int(u64::MAX.into())));
        assert!(Element::U8.parse("256").unwrap_err().contains("from 0 to 255"));
        assert!(Element::I32.parse("1.5").is_err() && Element::F32.parse("x").is_err());
        assert!("f23".parse::<Element>().unwrap_err().contains("did you mean `f32`"));
    }
}
