//! Reductions over the lanes of a warp ("redux.sync", which sm_80 brought; shuffles before it).

// `cuda_builder` sets `compute_XX`, which the compiler does not know of.
#![allow(unexpected_cfgs)]

use super::{WarpShuffleValue, lane_id, warp_shuffle_idx, warp_shuffle_up, warp_shuffle_xor};
use crate::gpu_only;

/// What a reduction does to two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum WarpReductionOp {
    /// Sum; wraps.
    Add,
    /// Lesser.
    Min,
    /// Greater.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// The reduction of `value` over the lanes of `mask`, which each of them gets. Give `op` as a constant.
///
/// One instruction (`redux.sync`) where the crate is built for sm_80 or later; before that five shuffles if all lanes take part,
/// else one for each that does.
///
/// # Safety
/// See [`warp`](crate::warp).
#[inline(always)]
#[must_use]
pub unsafe fn warp_reduce<T: WarpReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T {
    // SAFETY: by the caller.
    unsafe { T::reduce(mask, value, op) }
}

/// The reduction by any operation that does not care for the order of its operands, as 5 shuffles. All 32 lanes must take part.
///
/// # Safety
/// See [`warp`](crate::warp); the mask is all lanes.
#[inline(always)]
#[must_use]
pub unsafe fn warp_reduce_with<T: WarpShuffleValue + Copy>(value: T, f: impl Fn(T, T) -> T) -> T {
    let (mut value, mut distance) = (value, 16);
    while distance > 0 {
        // SAFETY: by the caller.
        let (other, _) = unsafe { warp_shuffle_xor(!0, value, distance, 32) };
        value = f(value, other);
        distance /= 2;
    }
    value
}

/// What the lanes up to this one reduce to, this one included, by an associative operation, as 5 shuffles. All 32 lanes must
/// take part.
///
/// # Safety
/// See [`warp`](crate::warp); the mask is all lanes.
#[inline(always)]
#[must_use]
pub unsafe fn warp_scan_with<T: WarpShuffleValue + Copy>(value: T, f: impl Fn(T, T) -> T) -> T {
    let (mut value, mut distance) = (value, 1);
    while distance < 32 {
        // SAFETY: by the caller.
        let (before, inside) = unsafe { warp_shuffle_up(!0, value, distance, 32) };
        if inside {
            value = f(before, value);
        }
        distance *= 2;
    }
    value
}

/// A value that lanes can reduce.
pub trait WarpReduceValue: Sized {
    /// [`warp_reduce`].
    ///
    /// # Safety
    /// See [`warp`](crate::warp).
    unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self;
}

#[cfg(all(target_arch = "nvptx64", target_feature = "compute_80"))]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.redux.sync.add"]
    fn redux_add(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.min"]
    fn redux_min(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.max"]
    fn redux_max(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    fn redux_umin(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    fn redux_umax(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.and"]
    fn redux_and(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.or"]
    fn redux_or(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.xor"]
    fn redux_xor(value: u32, mask: u32) -> u32;
}

/// Reduces by shuffles: in halves where all lanes take part, else lane by lane.
#[allow(dead_code)]
#[inline(always)]
unsafe fn by_shuffles<T: WarpShuffleValue + Copy>(mask: u32, value: T, f: impl Fn(T, T) -> T) -> T {
    // SAFETY: by the caller; every lane of the mask goes through the same lanes in the same order.
    unsafe {
        if mask == !0 {
            return warp_reduce_with(value, f);
        }
        let own = lane_id();
        let (mut left, mut sum) = (mask, value);
        while left != 0 {
            let lane = left.trailing_zeros();
            let (other, _) = warp_shuffle_idx(mask, value, lane, 32);
            sum = if lane == own { sum } else { f(sum, other) };
            left &= left - 1;
        }
        sum
    }
}

macro_rules! reduce_values {
    ($($t:ty: $min:ident $max:ident;)*) => {$(
        impl WarpReduceValue for $t {
            #[gpu_only]
            #[inline(always)]
            unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self {
                // SAFETY: by the caller.
                #[cfg(target_feature = "compute_80")]
                unsafe {
                    let value = value as u32;
                    (match op {
                        WarpReductionOp::Add => redux_add(value, mask),
                        WarpReductionOp::Min => $min(value, mask),
                        WarpReductionOp::Max => $max(value, mask),
                        WarpReductionOp::And => redux_and(value, mask),
                        WarpReductionOp::Or => redux_or(value, mask),
                        WarpReductionOp::Xor => redux_xor(value, mask),
                    }) as $t
                }
                // SAFETY: by the caller.
                #[cfg(not(target_feature = "compute_80"))]
                unsafe {
                    match op {
                        WarpReductionOp::Add => by_shuffles(mask, value, <$t>::wrapping_add),
                        WarpReductionOp::Min => by_shuffles(mask, value, <$t>::min),
                        WarpReductionOp::Max => by_shuffles(mask, value, <$t>::max),
                        WarpReductionOp::And => by_shuffles(mask, value, |a, b| a & b),
                        WarpReductionOp::Or => by_shuffles(mask, value, |a, b| a | b),
                        WarpReductionOp::Xor => by_shuffles(mask, value, |a, b| a ^ b),
                    }
                }
            }
        }
    )*};
}

reduce_values! {
    u32: redux_umin redux_umax;
    i32: redux_min redux_max;
}
