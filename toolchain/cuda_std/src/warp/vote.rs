//! Votes and matches: what every lane learns of the predicates and values of the others ("vote.sync", "match.sync").

use crate::gpu_only;

#[cfg(target_arch = "nvptx64")]
unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn vote_all(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn match_any_32(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    fn match_any_64(mask: u32, value: u64) -> u32;
    #[allow(improper_ctypes)]
    #[link_name = "llvm.nvvm.match.all.sync.i32p"]
    fn match_all_32(mask: u32, value: u32) -> (u32, bool);
    #[allow(improper_ctypes)]
    #[link_name = "llvm.nvvm.match.all.sync.i64p"]
    fn match_all_64(mask: u32, value: u64) -> (u32, bool);
}

/// Whether `predicate` holds in every lane of `mask` (`vote.sync.all`).
///
/// # Safety
/// See [`warp`](crate::warp).
#[gpu_only]
#[inline(always)]
#[must_use]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: by the caller.
    unsafe { vote_all(mask, predicate) }
}

/// Whether `predicate` holds in any lane of `mask` (`vote.sync.any`).
///
/// # Safety
/// See [`warp`](crate::warp).
#[gpu_only]
#[inline(always)]
#[must_use]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    // SAFETY: by the caller.
    unsafe { vote_any(mask, predicate) }
}

/// The lanes of `mask` in which `predicate` holds, one bit each (`vote.sync.ballot`).
///
/// # Safety
/// See [`warp`](crate::warp).
#[gpu_only]
#[inline(always)]
#[must_use]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: by the caller.
    unsafe { vote_ballot(mask, predicate) }
}

/// The lanes of `mask` whose `value` has the bits of this lane's (`match.any.sync`).
///
/// # Safety
/// See [`warp`](crate::warp).
#[inline(always)]
#[must_use]
pub unsafe fn warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32 {
    // SAFETY: by the caller.
    unsafe { T::match_any(mask, value) }
}

/// `Some(mask)` if `value` has the same bits in every lane of `mask` (`match.all.sync`).
///
/// # Safety
/// See [`warp`](crate::warp).
#[inline(always)]
#[must_use]
pub unsafe fn warp_match_all<T: WarpMatchValue>(mask: u32, value: T) -> Option<u32> {
    // SAFETY: by the caller.
    unsafe { T::match_all(mask, value) }
}

/// A value that lanes can compare, bit by bit: floats that are equal but differ in bits (0 and -0) do not match.
pub trait WarpMatchValue: Sized {
    /// [`warp_match_any`].
    ///
    /// # Safety
    /// See [`warp`](crate::warp).
    unsafe fn match_any(mask: u32, value: Self) -> u32;

    /// [`warp_match_all`].
    ///
    /// # Safety
    /// See [`warp`](crate::warp).
    unsafe fn match_all(mask: u32, value: Self) -> Option<u32>;
}

macro_rules! match_values {
    ($($t:ty: $any:ident, $all:ident, $bits:path;)*) => {$(
        impl WarpMatchValue for $t {
            #[gpu_only]
            #[inline(always)]
            unsafe fn match_any(mask: u32, value: Self) -> u32 {
                // SAFETY: by the caller.
                unsafe { $any(mask, $bits(value)) }
            }

            #[gpu_only]
            #[inline(always)]
            unsafe fn match_all(mask: u32, value: Self) -> Option<u32> {
                // SAFETY: by the caller.
                let (lanes, same) = unsafe { $all(mask, $bits(value)) };
                same.then_some(lanes)
            }
        }
    )*};
}

match_values! {
    u32: match_any_32, match_all_32, u32::from;
    i32: match_any_32, match_all_32, i32::cast_unsigned;
    f32: match_any_32, match_all_32, f32::to_bits;
    u64: match_any_64, match_all_64, u64::from;
    i64: match_any_64, match_all_64, i64::cast_unsigned;
    f64: match_any_64, match_all_64, f64::to_bits;
}
