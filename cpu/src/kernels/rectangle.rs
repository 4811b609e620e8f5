//! `n` elements as rows and columns.

use std::fmt;

/// A matrix or an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rectangle {
    pub(crate) rows: u64,
    pub(crate) columns: u64,
}

impl Rectangle {
    /// The nearest to a square that `n` elements fill: a square number gives the square, and up to a row's worth of elements is
    /// left over else.
    pub(crate) fn of(n: u64) -> Self {
        let columns = n.isqrt() + u64::from(n.isqrt().pow(2) < n);
        Self { rows: n.checked_div(columns).unwrap_or(0), columns }
    }

    pub(crate) fn elements(self) -> u64 {
        self.rows * self.columns
    }
}

impl fmt::Display for Rectangle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.rows, self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_squares_and_the_rest_nearly() {
        assert_eq!(Rectangle::of(1 << 28), Rectangle { rows: 16384, columns: 16384 });
        assert_eq!(Rectangle::of(0).elements(), 0);
        assert_eq!(Rectangle::of(1), Rectangle { rows: 1, columns: 1 });
        for n in 1..5000 {
            let rectangle = Rectangle::of(n);
            assert!(rectangle.elements() <= n && n - rectangle.elements() < rectangle.columns, "{n}: {rectangle}");
        }
    }
}
