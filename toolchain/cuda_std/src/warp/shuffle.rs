//! Shuffles: a lane reads another lane's register ("shfl.sync").
//!
//! `width` cuts the warp into segments of 1, 2, 4, 8, 16 or 32 lanes that work apart from each other. The second result says
//! whether the lane that was read is in this lane's segment; where it is not, the value is this lane's own. Reading a lane
//! that is not in `mask` gives an undefined value.

use crate::gpu_only;

#[cfg(target_arch = "nvptx64")]
#[allow(improper_ctypes)]
unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32p"]
    fn shfl_idx(mask: u32, value: u32, b: u32, segment: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.shfl.sync.up.i32p"]
    fn shfl_up(mask: u32, value: u32, b: u32, segment: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.shfl.sync.down.i32p"]
    fn shfl_down(mask: u32, value: u32, b: u32, segment: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32p"]
    fn shfl_xor(mask: u32, value: u32, b: u32, segment: u32) -> (u32, bool);
}

/// Which lane a shuffle reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum WarpShuffleMode {
    /// Lane `b` of the segment.
    Idx = 0,
    /// The lane `b` below.
    Up = 1,
    /// The lane `b` above.
    Down = 2,
    /// The lane whose number differs in the bits of `b`.
    Xor = 3,
}

macro_rules! shuffles {
    ($($(#[doc = $doc:literal])+ $name:ident($operand:ident) = $mode:ident;)*) => {$(
        $(#[doc = $doc])+
        ///
        /// # Safety
        /// See [`warp`](crate::warp).
        ///
        /// # Panics
        /// Where `width` is not 1, 2, 4, 8, 16 or 32.
        #[inline(always)]
        #[must_use]
        pub unsafe fn $name<T: WarpShuffleValue>(mask: u32, value: T, $operand: u32, width: u32) -> (T, bool) {
            // SAFETY: by the caller.
            unsafe { T::shuffle(WarpShuffleMode::$mode, mask, value, $operand, width) }
        }
    )*};
}

shuffles! {
    #[doc = "The value of lane `idx` of the segment; a number above the segment wraps round."]
    warp_shuffle_idx(idx) = Idx;
    #[doc = "The value of the lane `delta` below, lane − `delta`."]
    warp_shuffle_up(delta) = Up;
    #[doc = "The value of the lane `delta` above, lane + `delta`."]
    warp_shuffle_down(delta) = Down;
    #[doc = "The value of the lane whose number in the warp differs in the bits of `lane_mask`. A lane of an earlier segment is\nread as well; only later ones are out of reach."]
    warp_shuffle_xor(lane_mask) = Xor;
}

/// A value that lanes can pass to each other.
pub trait WarpShuffleValue: Sized {
    /// The shuffle of this mode.
    ///
    /// # Safety
    /// See [`warp`](crate::warp).
    unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool);
}

/// The instruction's third operand: the segment in bits 8 to 12, and the lane that bounds it, which for `up` is the first
/// and else the last.
#[inline(always)]
const fn segment(mode: WarpShuffleMode, width: u32) -> u32 {
    assert!(width.is_power_of_two() && width <= 32, "the width of a shuffle is 1, 2, 4, 8, 16 or 32");
    ((32 - width) << 8) | if matches!(mode, WarpShuffleMode::Up) { 0 } else { 31 }
}

/// A word of 32 bits, which is what the hardware moves.
#[gpu_only]
#[inline(always)]
unsafe fn word(mode: WarpShuffleMode, mask: u32, value: u32, b: u32, segment: u32) -> (u32, bool) {
    // SAFETY: by the caller.
    unsafe {
        match mode {
            WarpShuffleMode::Idx => shfl_idx(mask, value, b, segment),
            WarpShuffleMode::Up => shfl_up(mask, value, b, segment),
            WarpShuffleMode::Down => shfl_down(mask, value, b, segment),
            WarpShuffleMode::Xor => shfl_xor(mask, value, b, segment),
        }
    }
}

macro_rules! values {
    ($($t:ty as $bits:ty: $words:literal, $to:path, $from:path;)*) => {$(
        impl WarpShuffleValue for $t {
            #[inline(always)]
            unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool) {
                let segment = segment(mode, width);
                let bits: $bits = $to(value);
                let (mut whole, mut inside): ($bits, bool) = (0, false);
                let mut part = 0;
                while part < $words {
                    // SAFETY: by the caller.
                    let (got, same) = unsafe { word(mode, mask, (bits >> (32 * part)) as u32, b, segment) };
                    whole |= <$bits>::from(got) << (32 * part);
                    inside = same;
                    part += 1;
                }
                ($from(whole), inside)
            }
        }
    )*};
}

values! {
    u32 as u32: 1, u32::from, u32::from;
    i32 as u32: 1, i32::cast_unsigned, u32::cast_signed;
    f32 as u32: 1, f32::to_bits, f32::from_bits;
    u64 as u64: 2, u64::from, u64::from;
    i64 as u64: 2, i64::cast_unsigned, u64::cast_signed;
    f64 as u64: 2, f64::to_bits, f64::from_bits;
    u128 as u128: 4, u128::from, u128::from;
    i128 as u128: 4, i128::cast_unsigned, u128::cast_signed;
}

macro_rules! small_values {
    ($($t:ty)*) => {$(
        impl WarpShuffleValue for $t {
            #[inline(always)]
            unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool) {
                // SAFETY: by the caller.
                let (got, inside) = unsafe { u32::shuffle(mode, mask, value as u32, b, width) };
                (got as $t, inside)
            }
        }
    )*};
}

small_values!(u8 i8 u16 i16);

macro_rules! half_values {
    ($($t:ty)*) => {$(
        impl WarpShuffleValue for $t {
            #[inline(always)]
            unsafe fn shuffle(mode: WarpShuffleMode, mask: u32, value: Self, b: u32, width: u32) -> (Self, bool) {
                // SAFETY: by the caller.
                let (got, inside) = unsafe { u16::shuffle(mode, mask, value.to_bits(), b, width) };
                (<$t>::from_bits(got), inside)
            }
        }
    )*};
}

half_values!(half::f16 half::bf16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_segment_operand_is_that_of_the_ptx_isa() {
        assert_eq!(segment(WarpShuffleMode::Down, 32), 0x1f);
        assert_eq!(segment(WarpShuffleMode::Idx, 8), 0x181f);
        assert_eq!(segment(WarpShuffleMode::Up, 32), 0);
        assert_eq!(segment(WarpShuffleMode::Up, 16), 0x1000);
        for width in [0, 3, 33, 64] {
            assert!(std::panic::catch_unwind(|| segment(WarpShuffleMode::Xor, width)).is_err(), "{width}");
        }
    }
}
