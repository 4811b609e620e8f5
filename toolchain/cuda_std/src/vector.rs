//! 16-byte accesses without pointer casts: a slice seen as packs of `N` elements.
//!
//! A thread that moves 16 bytes an instruction needs a quarter of the instructions and keeps four times the bytes in
//! flight; on a memory-bound kernel that is the difference between most of the bandwidth and all of it.

/// `N` elements that are loaded and stored as one, aligned to 16 bytes.
///
/// `Packed<f32, 4>` and `Packed<f64, 2>` are CUDA C++'s `float4` and `double2`.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Packed<T, const N: usize>(pub [T; N]);

impl<T: Copy, const N: usize> Packed<T, N> {
    /// `f` of each pair of elements.
    #[inline(always)]
    #[must_use]
    pub fn zip_with(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        let mut out = self;
        let mut lane = 0;
        while lane < N {
            out.0[lane] = f(self.0[lane], other.0[lane]);
            lane += 1;
        }
        out
    }
}

/// The packs of a slice: as many whole ones as it holds if its start is aligned to 16 bytes, else none. The elements
/// behind the packs are the caller's to handle.
#[inline(always)]
#[must_use]
pub fn packs<T: Copy, const N: usize>(slice: &[T]) -> &[Packed<T, N>] {
    const { assert!(size_of::<Packed<T, N>>() == N * size_of::<T>(), "a pack has no padding: N elements of 16 bytes") };
    let first = slice.as_ptr().cast::<Packed<T, N>>();
    if !first.is_aligned() {
        return crate::empty::empty();
    }
    // SAFETY: aligned; `len / N * N` elements of T are inside the slice, and a pack is exactly N of them.
    unsafe { core::slice::from_raw_parts(first, slice.len() / N) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_are_whole_and_aligned() {
        let data = [Packed([1f32, 2.0, 3.0, 4.0]), Packed([5.0, 6.0, 7.0, 8.0])];
        // SAFETY: two packs are eight floats.
        let flat = unsafe { core::slice::from_raw_parts(data.as_ptr().cast::<f32>(), 8) };
        assert_eq!(packs::<f32, 4>(flat), data);
        assert_eq!(packs::<f32, 4>(&flat[..7]), &data[..1]);
        assert!(packs::<f32, 4>(&flat[1..]).is_empty());
        assert!(packs::<f32, 4>(&[]).is_empty());
    }
}
