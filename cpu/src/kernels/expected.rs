//! What a kernel should have written: exact elements, or values in double precision with a bound on the error of each.
//!
//! Bounds are derived, not tried out: where a kernel rounds `k` times on the way to an element, [`gamma`] of `k` times the
//! magnitude of what was summed is the most that it can be off (Higham, "Accuracy and Stability of Numerical Algorithms", §3.1).

use std::fmt::Debug;

use cust::memory::DeviceCopy;

use super::random::first;

/// A type of elements.
pub(crate) trait Element: DeviceCopy + Debug + Default + PartialEq + Copy + Send + Sync + 'static {
    /// Half the distance from 1 to the next number: the most that one rounding is off, relatively. 0 for integers.
    const UNIT: f64;
    /// An element from 64 random bits: floats of [-1, 1), integers of any value.
    fn random(bits: u64) -> Self;
    /// As a double, exactly.
    fn wide(self) -> f64;
    /// Equal in every bit.
    fn same(self, other: Self) -> bool;
}

macro_rules! elements {
    ($($t:ty: $unit:expr, $random:expr, $same:expr;)*) => {$(
        impl Element for $t {
            const UNIT: f64 = $unit;
            fn random(bits: u64) -> Self {
                let random: fn(u64) -> Self = $random;
                random(bits)
            }
            fn wide(self) -> f64 {
                self as f64
            }
            fn same(self, other: Self) -> bool {
                let same: fn(Self, Self) -> bool = $same;
                same(self, other)
            }
        }
    )*};
}

elements! {
    f32: f32::EPSILON as f64 / 2.0, |bits| (bits >> 40) as f32 / (1_u32 << 23) as f32 - 1.0, |a, b| a.to_bits() == b.to_bits();
    f64: f64::EPSILON / 2.0, |bits| (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0, |a, b| a.to_bits() == b.to_bits();
    i32: 0.0, |bits| (bits >> 32) as i32, |a, b| a == b;
    u32: 0.0, |bits| (bits >> 32) as u32, |a, b| a == b;
    u64: 0.0, |bits| bits, |a, b| a == b;
    u8: 0.0, |bits| (bits >> 56) as u8, |a, b| a == b;
}

/// γ(k): the most that `k` roundings in a row are off, relatively.
pub(crate) fn gamma<T: Element>(k: u64) -> f64 {
    let error = k as f64 * T::UNIT;
    error / (1.0 - error)
}

/// A check of a whole output.
type Check<T> = Box<dyn Fn(&[T]) -> Result<(), String>>;

/// What an output should hold.
pub(crate) struct Expected<T> {
    pub(super) len: usize,
    pub(super) check: Check<T>,
}

impl<T: Element> Expected<T> {
    /// Element `i` is `at(i)`, in every bit.
    pub(crate) fn exactly(len: usize, at: impl Fn(usize) -> T + Sync + 'static) -> Self {
        Self::each(len, move |i, got| {
            let right = at(i);
            (!got.same(right)).then(|| format!("{right:?} is right"))
        })
    }

    /// Element `i` is within a bound of a value: `at(i)` gives both.
    pub(crate) fn within(len: usize, at: impl Fn(usize) -> (f64, f64) + Sync + 'static) -> Self {
        Self::each(len, move |i, got| {
            let (right, bound) = at(i);
            not_near(got, right, bound)
        })
    }

    /// Whatever `check` finds wrong with all of it.
    pub(crate) fn by(len: usize, check: impl Fn(&[T]) -> Result<(), String> + 'static) -> Self {
        Self { len, check: Box::new(check) }
    }

    /// As [`Expected::within`], with something that is computed once for all elements.
    pub(crate) fn within_prepared<P: Sync + 'static>(
        len: usize,
        prepare: impl Fn() -> P + 'static,
        at: impl Fn(&P, usize) -> (f64, f64) + Sync + 'static,
    ) -> Self {
        Self::prepared(len, prepare, move |known, i, got| {
            let (right, bound) = at(known, i);
            not_near(got, right, bound)
        })
    }

    /// What `wrong` finds wrong with an element, given something that is computed once for all.
    pub(crate) fn prepared<P: Sync + 'static>(
        len: usize,
        prepare: impl Fn() -> P + 'static,
        wrong: impl Fn(&P, usize, T) -> Option<String> + Sync + 'static,
    ) -> Self {
        Self::by(len, move |got| {
            let known = prepare();
            first_wrong(got, |i, got| wrong(&known, i, got))
        })
    }

    fn each(len: usize, wrong: impl Fn(usize, T) -> Option<String> + Sync + 'static) -> Self {
        Self::by(len, move |got| first_wrong(got, &wrong))
    }
}

fn first_wrong<T: Element>(got: &[T], wrong: impl Fn(usize, T) -> Option<String> + Sync) -> Result<(), String> {
    let found = first(got.len(), |mut part| {
        part.find_map(|i| wrong(i, got[i]).map(|why| format!("out[{i}] is {:?}, and {why}", got[i])))
    });
    found.map_or(Ok(()), Err)
}

fn not_near<T: Element>(got: T, right: f64, bound: f64) -> Option<String> {
    // Not `> bound`: a NaN is never near.
    let near = (got.wide() - right).abs() <= bound;
    (!near).then(|| format!("{right:e} is right, give or take {bound:.1e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wrong_element_is_named() {
        let exact = Expected::<f32>::exactly(3, |i| i as f32);
        assert_eq!((exact.check)(&[0.0, 1.0, 2.0]), Ok(()));
        assert_eq!((exact.check)(&[0.0, 1.5, 9.0]), Err("out[1] is 1.5, and 1.0 is right".into()));
        assert!((exact.check)(&[-0.0, 1.0, 2.0]).is_err());
        let near = Expected::<f32>::within(2, |_| (1.0, 0.25));
        assert_eq!((near.check)(&[1.25, 0.75]), Ok(()));
        assert_eq!((near.check)(&[1.0, 1.5]), Err("out[1] is 1.5, and 1e0 is right, give or take 2.5e-1".into()));
        assert!((near.check)(&[f32::NAN, 1.0]).is_err());
    }

    #[test]
    fn a_bound_grows_with_the_roundings() {
        assert_eq!(gamma::<i32>(100), 0.0);
        assert!(gamma::<f32>(1) > 5.9e-8 && gamma::<f32>(1) < 6.0e-8);
        assert!(gamma::<f32>(1000) > 1000.0 * gamma::<f32>(1));
    }
}
