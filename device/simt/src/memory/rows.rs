//! Rows of vectors: from 32 lanes of `N` elements each, as memory has them, to `N` registers of 32 elements, and back.

use std::mem::MaybeUninit;

use super::raw::Element;
use crate::lane::LANES;

/// `row[lane][part]` to `registers[part][lane]`.
///
/// # Safety
/// Each register must have room for `LANES` elements, aligned to an element.
#[inline(always)]
pub(crate) unsafe fn split<E: Element, const N: usize>(row: &[[E; N]; LANES], registers: [*mut E; N]) {
    // SAFETY: by the caller; the row has `LANES * N` elements. SSE2 is part of x86-64.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if sse::split::<E, N>(row.as_ptr().cast(), registers.map(<*mut E>::cast)) {
            return;
        }
        for (lane, elements) in row.iter().enumerate() {
            for (register, element) in registers.iter().zip(elements) {
                register.add(lane).write(*element);
            }
        }
    }
}

/// `registers[part][lane]` to `row[lane][part]`.
///
/// # Safety
/// Each register must have `LANES` elements, aligned to an element.
#[inline(always)]
pub(crate) unsafe fn join<E: Element, const N: usize>(
    registers: [*const E; N],
    row: &mut MaybeUninit<[[E; N]; LANES]>,
) {
    let row: *mut E = row.as_mut_ptr().cast();
    // SAFETY: by the caller; the row has room for `LANES * N` elements. SSE2 is part of x86-64.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if sse::join::<E, N>(registers.map(<*const E>::cast), row.cast()) {
            return;
        }
        for lane in 0..LANES {
            for (part, register) in registers.iter().enumerate() {
                row.add(lane * N + part).write(register.add(lane).read());
            }
        }
    }
}

/// Elements of 4 and 8 bytes, a block of 16 bytes at a time.
#[cfg(target_arch = "x86_64")]
mod sse {
    use std::arch::x86_64::{
        __m128i, _mm_loadu_si128, _mm_shuffle_epi32, _mm_storeu_si128, _mm_unpackhi_epi32, _mm_unpackhi_epi64,
        _mm_unpacklo_epi32, _mm_unpacklo_epi64,
    };

    use crate::lane::LANES;

    /// False if there is nothing special for this size and number.
    ///
    /// # Safety
    /// `row` must have `LANES * N` elements, each of `registers` `LANES`.
    #[inline(always)]
    pub(super) unsafe fn split<E, const N: usize>(row: *const __m128i, registers: [*mut __m128i; N]) -> bool {
        // In units of 16 bytes: a register has `length`, a lane of the row has `N * size_of::<E>() / 16`.
        let length = LANES * size_of::<E>() / 16;
        // SAFETY: all places in the row are below `LANES * N * size_of::<E>() / 16`, in a register below `length`.
        unsafe {
            let load = |at: usize| _mm_loadu_si128(row.add(at));
            let store = |part: usize, at: usize, value| _mm_storeu_si128(registers[part].add(at), value);
            match (size_of::<E>(), N) {
                (4, 4) => {
                    for block in 0..length {
                        let from = 4 * block;
                        let parts = transpose([load(from), load(from + 1), load(from + 2), load(from + 3)]);
                        (0..4).for_each(|part| store(part, block, parts[part]));
                    }
                }
                (4, 2) => {
                    for block in 0..length {
                        let (low, high) = (deal(load(2 * block)), deal(load(2 * block + 1)));
                        store(0, block, _mm_unpacklo_epi64(low, high));
                        store(1, block, _mm_unpackhi_epi64(low, high));
                    }
                }
                (8, 2 | 4) => {
                    let lane = N / 2;
                    for block in 0..length {
                        for pair in 0..lane {
                            let (a, b) = (load(2 * block * lane + pair), load((2 * block + 1) * lane + pair));
                            store(2 * pair, block, _mm_unpacklo_epi64(a, b));
                            store(2 * pair + 1, block, _mm_unpackhi_epi64(a, b));
                        }
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// The other way round.
    ///
    /// # Safety
    /// As for [`split`].
    #[inline(always)]
    pub(super) unsafe fn join<E, const N: usize>(registers: [*const __m128i; N], row: *mut __m128i) -> bool {
        let length = LANES * size_of::<E>() / 16;
        // SAFETY: all places in the row are below `LANES * N * size_of::<E>() / 16`, in a register below `length`.
        unsafe {
            let load = |part: usize, at: usize| _mm_loadu_si128(registers[part].add(at));
            let store = |at: usize, value| _mm_storeu_si128(row.add(at), value);
            match (size_of::<E>(), N) {
                (4, 4) => {
                    for block in 0..length {
                        let lanes = transpose([load(0, block), load(1, block), load(2, block), load(3, block)]);
                        (0..4).for_each(|lane| store(4 * block + lane, lanes[lane]));
                    }
                }
                (4, 2) => {
                    for block in 0..length {
                        let (a, b) = (load(0, block), load(1, block));
                        store(2 * block, _mm_unpacklo_epi32(a, b));
                        store(2 * block + 1, _mm_unpackhi_epi32(a, b));
                    }
                }
                (8, 2 | 4) => {
                    let lane = N / 2;
                    for block in 0..length {
                        for pair in 0..lane {
                            let (a, b) = (load(2 * pair, block), load(2 * pair + 1, block));
                            store(2 * block * lane + pair, _mm_unpacklo_epi64(a, b));
                            store((2 * block + 1) * lane + pair, _mm_unpackhi_epi64(a, b));
                        }
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// Four times four elements of 4 bytes, mirrored.
    #[inline(always)]
    unsafe fn transpose([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
            let (ab_high, cd_high) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
            [
                _mm_unpacklo_epi64(ab, cd),
                _mm_unpackhi_epi64(ab, cd),
                _mm_unpacklo_epi64(ab_high, cd_high),
                _mm_unpackhi_epi64(ab_high, cd_high),
            ]
        }
    }

    /// Elements 0, 2, 1, 3.
    #[inline(always)]
    unsafe fn deal(value: __m128i) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_shuffle_epi32::<0b11_01_10_00>(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back<E: Element + PartialEq + std::fmt::Debug, const N: usize>(of: impl Fn(usize) -> E) {
        let row: [[E; N]; LANES] = std::array::from_fn(|lane| std::array::from_fn(|part| of(lane * N + part)));
        let mut registers = [[of(0); LANES]; N];
        // SAFETY: registers have `LANES` elements each.
        unsafe { split(&row, registers.each_mut().map(|register| register.as_mut_ptr())) };
        for lane in 0..LANES {
            for part in 0..N {
                assert_eq!(registers[part][lane], row[lane][part]);
            }
        }
        let mut back = MaybeUninit::uninit();
        // SAFETY: registers have `LANES` elements each, and `join` fills the row.
        let back = unsafe {
            join(registers.each_ref().map(|register| register.as_ptr()), &mut back);
            back.assume_init()
        };
        assert_eq!(back, row);
    }

    #[test]
    fn rows_become_registers_and_rows_again() {
        there_and_back::<u8, 4>(|at| at as u8);
        there_and_back::<u16, 2>(|at| at as u16);
        there_and_back::<u32, 2>(|at| at as u32);
        there_and_back::<u32, 4>(|at| at as u32);
        there_and_back::<u64, 2>(|at| at as u64);
        there_and_back::<u64, 4>(|at| at as u64);
    }
}
