//! Arrays whose element type is known only at run time: inputs and outputs of kernels that this project has never seen.

mod compare;
mod element;

pub use compare::Difference;
pub use element::{Element, Value};

/// What an array holds to begin with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fill {
    /// Bytes that a result seldom has, so that what no kernel has written can be seen: NaN in floats.
    Unset,
    /// 0, 1, 2, …
    Iota,
    /// One value.
    Constant(Value),
    /// Random values from low to high; the high end is left out.
    Random {
        /// Smallest.
        low: f64,
        /// One beyond the largest.
        high: f64,
    },
}

/// Elements of one type, as bytes in the order of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    element: Element,
    bytes: Vec<u8>,
}

impl Array {
    /// `n` elements.
    #[must_use]
    pub fn filled(element: Element, n: usize, fill: Fill, seed: u64) -> Self {
        let mut bytes = Vec::with_capacity(n * element.bytes());
        match fill {
            Fill::Unset => bytes.resize(n * element.bytes(), element.unset()),
            Fill::Constant(value) => bytes = element.encode(value).repeat(n),
            // In a type that is too narrow for them the numbers begin again.
            Fill::Iota => (0..n as u64).for_each(|i| bytes.extend(element.encode(Value::Int(i.into())))),
            Fill::Random { low, high } => {
                let mut rng = fastrand::Rng::with_seed(seed);
                for _ in 0..n {
                    let value = low + rng.f64() * (high - low);
                    let value =
                        if element.is_float() { Value::Float(value) } else { Value::Int(value.floor() as i128) };
                    bytes.extend(element.encode(value));
                }
            }
        }
        Self { element, bytes }
    }

    /// Elements from their bytes; a last part of an element is left out.
    #[must_use]
    pub fn from_bytes(element: Element, mut bytes: Vec<u8>) -> Self {
        bytes.truncate(bytes.len() / element.bytes() * element.bytes());
        Self { element, bytes }
    }

    /// Type of the elements.
    #[must_use]
    pub fn element(&self) -> Element {
        self.element
    }

    /// The elements' bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.element.bytes()
    }

    /// True where there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The elements one after another.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Value> {
        self.bytes.chunks_exact(self.element.bytes()).map(|bytes| self.element.decode(bytes))
    }

    /// Which elements still hold the bytes of [`Fill::Unset`], as runs of first and last.
    #[must_use]
    pub fn unset_runs(&self) -> Vec<(usize, usize)> {
        let unset = self.element.unset();
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (at, bytes) in self.bytes.chunks_exact(self.element.bytes()).enumerate() {
            if bytes.iter().any(|byte| *byte != unset) {
                continue;
            }
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == at => *last = at,
                _ => runs.push((at, at)),
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills() {
        let values = |element, fill| {
            Array::filled(element, 3, fill, 1).iter().map(|value| value.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(values(Element::F32, Fill::Iota), ["0", "1", "2"]);
        assert_eq!(values(Element::I64, Fill::Constant(Value::Int(-7))), ["-7"; 3]);
        assert_eq!(values(Element::F16, Fill::Constant(Value::Float(0.5))), ["0.5"; 3]);
        assert_eq!(values(Element::F64, Fill::Unset), ["NaN"; 3]);
        let random = Array::filled(Element::U8, 1000, Fill::Random { low: 3.0, high: 6.0 }, 7);
        let seen: std::collections::BTreeSet<String> = random.iter().map(|value| value.to_string()).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["3", "4", "5"]);
    }

    #[test]
    fn what_was_not_written_is_found() {
        let mut array = Array::filled(Element::F32, 6, Fill::Unset, 0);
        array.bytes[4..12].fill(0);
        assert_eq!(array.unset_runs(), [(0, 0), (3, 5)]);
    }
}
