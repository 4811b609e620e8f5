//! What a kernel gave against what was expected.

use super::{Array, Value};

/// How two arrays differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// First element that differs.
    pub at: usize,
    /// What is there.
    pub got: Value,
    /// What was expected.
    pub expected: Value,
    /// Elements that differ.
    pub count: usize,
    /// Largest distance of a pair, where it can be told.
    pub largest: f64,
}

impl Array {
    /// Compares with what was expected: integers exactly, floats within `tolerance * max(1, |expected|)`. Two NaNs are equal.
    /// `None` where nothing differs. Elements behind the end of the shorter array are not looked at.
    #[must_use]
    pub fn difference(&self, expected: &Self, tolerance: f64) -> Option<Difference> {
        let mut difference: Option<Difference> = None;
        for (at, (got, expected)) in self.iter().zip(expected.iter()).enumerate() {
            if same(got, expected, tolerance) {
                continue;
            }
            let distance = (got.as_f64() - expected.as_f64()).abs();
            let first = Difference { at, got, expected, count: 0, largest: 0.0 };
            let difference = difference.get_or_insert(first);
            difference.count += 1;
            difference.largest = difference.largest.max(distance);
        }
        difference
    }
}

fn same(got: Value, expected: Value, tolerance: f64) -> bool {
    match (got, expected) {
        (Value::Int(got), Value::Int(expected)) => got == expected,
        _ => {
            let (got, expected) = (got.as_f64(), expected.as_f64());
            // Infinities are equal and have no distance.
            got == expected
                || (got.is_nan() && expected.is_nan())
                || (got - expected).abs() <= tolerance * expected.abs().max(1.0) && expected.is_finite()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{Element, Fill};

    #[test]
    fn within_the_tolerance_or_named() {
        let floats =
            |values: [f32; 3]| Array::from_bytes(Element::F32, values.iter().flat_map(|v| v.to_ne_bytes()).collect());
        let expected = floats([1.0, f32::NAN, f32::INFINITY]);
        assert_eq!(floats([1.0, f32::NAN, f32::INFINITY]).difference(&expected, 0.0), None);
        assert_eq!(floats([1.001, f32::NAN, f32::INFINITY]).difference(&expected, 0.01), None);
        let difference = floats([1.25, f32::NAN, 3.0]).difference(&expected, 0.1).unwrap();
        assert_eq!((difference.at, difference.count, difference.largest), (0, 2, f64::INFINITY));
        let ints = Array::filled(Element::I32, 3, Fill::Iota, 0);
        let zeros = Array::filled(Element::I32, 3, Fill::Constant(Value::Int(0)), 0);
        assert_eq!(ints.difference(&zeros, 10.0).map(|d| (d.at, d.got, d.count)), Some((1, Value::Int(1), 2)));
    }
}
