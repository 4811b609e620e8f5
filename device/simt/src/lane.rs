//! The shape of a lane function: what one decoded instruction is, and what it may touch when it runs.
//!
//! An instruction is a function pointer and its arguments. The function does its work for all 32 lanes at once, as a
//! plain loop over arrays of 32 that the compiler turns into vector code, and commits the lanes of the active mask.
//! [`multiversion!`] compiles each family of functions three times (baseline, AVX2, AVX-512); which one a program uses
//! is decided once, when it is decoded.
//!
//! ```text
//! registers of a warp, one frame an activation (byte offsets are `Slot`s):
//!   predicate       u32, one bit a lane
//!   8- and 16-bit   [u16; 32]      32-bit  [u32; 32]      64-bit  [u64; 32]      128-bit  [u128; 32]
//!   constants       immediates, addresses and special registers used as operands, spread over the lanes beforehand
//! ```

use crate::counters::Counters;
use crate::fault::FaultKind;

/// Lanes a warp.
pub(crate) const LANES: usize = 32;
/// All lanes.
pub(crate) const FULL: u32 = u32::MAX;

/// Generic addresses from here on are shared memory: `SHARED_WINDOW + offset`. Beyond any host address.
pub(crate) const SHARED_WINDOW: u64 = 1 << 48;
/// Generic addresses from here on are the accessing lane's own local memory: `LOCAL_WINDOW + offset`.
pub(crate) const LOCAL_WINDOW: u64 = 2 << 48;
/// Size of each window in bytes.
pub(crate) const WINDOW_BYTES: u64 = 1 << 32;

/// Place of a register in its frame, in bytes from the frame's start. Aligned to the register's whole array (at most 64).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Slot(pub(crate) u32);

/// Operands of a lane function. What each place means is the function's own business.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Args {
    /// Destinations first, then sources.
    pub(crate) slots: [Slot; 6],
    /// An offset, a table or whatever else is fixed when the instruction is decoded.
    pub(crate) imm: i64,
}

/// The outcome of a lane function: nothing, or the fault of its first faulting lane.
pub(crate) type Step = Result<(), Box<LaneFault>>;

/// A fault, before the engine adds where it happened.
#[derive(Debug)]
pub(crate) struct LaneFault {
    /// Lane.
    pub(crate) lane: u32,
    /// What it did.
    pub(crate) kind: FaultKind,
}

/// A lane function.
///
/// # Safety
/// `Args` must come from the decoder for the function's own type parameters, and `Lanes::frame` must be a frame of the
/// function that the instruction stands in; the CPU must have the features of the [`Level`] it was made for.
pub(crate) type ExecFn = unsafe fn(&mut Lanes<'_>, &Args) -> Step;

/// What lane functions see of the warp that runs them.
pub(crate) struct Lanes<'a> {
    /// Registers of the running activation.
    pub(crate) frame: *mut u8,
    /// Lanes that execute the instruction at hand: active, and not masked off by its guard. Never 0.
    pub(crate) mask: u32,
    /// Shared memory of the block.
    pub(crate) shared: *mut u8,
    /// Bytes at `shared`: static and dynamic together.
    pub(crate) shared_bytes: u32,
    /// Local memory of the warp's 32 lanes: lane `l` owns `local_bytes` bytes from `local + l * local_bytes`.
    pub(crate) local: *mut u8,
    /// Bytes of local memory of each lane.
    pub(crate) local_bytes: u32,
    /// Thread index of lane 0 within the block, x fastest (warp number times 32).
    pub(crate) first_thread: u32,
    /// What the block's launch shares with all of its warps.
    pub(crate) launch: &'a crate::launch::LaunchContext<'a>,
    /// What the lane function counts: atomics.
    pub(crate) counters: &'a mut Counters,
    /// The allocations that this warp's accesses fell into lately.
    pub(crate) recent: crate::memory::RecentRanges,
    /// Accesses that may wait for another thread (atomics, volatile and acquiring loads): a loop that makes them may spin.
    pub(crate) spins: u32,
}

/// A register element.
pub(crate) trait Lane: Copy + Default + 'static {}
macro_rules! lane { ($($t:ty)*) => { $(impl Lane for $t {})* } }
lane!(u8 u16 u32 u64 u128 i8 i16 i32 i64 f32 f64);

impl Lanes<'_> {
    /// The 32 values of a register.
    ///
    /// # Safety
    /// `slot` must be that of a register whose elements have the size of `T`, in the frame at hand.
    #[inline(always)]
    pub(crate) unsafe fn get<T: Lane>(&self, slot: Slot) -> [T; LANES] {
        // SAFETY: by the caller, the slot holds LANES elements of T's size; every bit pattern is a valid T.
        unsafe { self.frame.add(slot.0 as usize).cast::<[T; LANES]>().read() }
    }

    /// Stores the active lanes of `value`.
    ///
    /// # Safety
    /// As for [`Lanes::get`].
    #[inline(always)]
    pub(crate) unsafe fn set<T: Lane>(&mut self, slot: Slot, value: [T; LANES]) {
        // SAFETY: as for `get`; the frame belongs to this warp alone.
        let register = unsafe { &mut *self.frame.add(slot.0 as usize).cast::<[T; LANES]>() };
        if self.mask == FULL {
            *register = value;
        } else {
            // Chosen in a copy that is then stored whole: stores under a condition would not become vector code.
            let mut chosen = *register;
            for lane in 0..LANES {
                chosen[lane] = if self.mask >> lane & 1 != 0 { value[lane] } else { chosen[lane] };
            }
            *register = chosen;
        }
    }

    /// A predicate register: bit `l` is lane `l`'s.
    ///
    /// # Safety
    /// `slot` must be that of a predicate.
    #[inline(always)]
    pub(crate) unsafe fn get_pred(&self, slot: Slot) -> u32 {
        // SAFETY: by the caller.
        unsafe { self.frame.add(slot.0 as usize).cast::<u32>().read() }
    }

    /// Stores the active lanes of a predicate.
    ///
    /// # Safety
    /// `slot` must be that of a predicate.
    #[inline(always)]
    pub(crate) unsafe fn set_pred(&mut self, slot: Slot, value: u32) {
        // SAFETY: by the caller.
        let register = unsafe { &mut *self.frame.add(slot.0 as usize).cast::<u32>() };
        *register = *register & !self.mask | value & self.mask;
    }
}

/// Which vector instructions the lane functions of a program use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// What every CPU of the architecture has.
    Baseline,
    /// AVX2, FMA, F16C, BMI.
    Avx2,
    /// AVX-512 F, BW, DQ, VL.
    Avx512,
}

impl Level {
    /// The best level of the machine at hand, or a lower one that `GRIDSTRIDE_CPU_LEVEL` names (`baseline`, `avx2`).
    pub(crate) fn detect() -> Self {
        let most = match std::env::var("GRIDSTRIDE_CPU_LEVEL").as_deref() {
            Ok("baseline") => Self::Baseline,
            Ok("avx2") => Self::Avx2,
            _ => Self::Avx512,
        };
        Self::best().min(most)
    }

    fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx512 {
                return Self::Avx512;
            }
            if avx2 {
                return Self::Avx2;
            }
        }
        Self::Baseline
    }
}

/// Defines `fn NAME<G…>(level) -> ExecFn` that picks the copy of `BODY::<G…>` compiled for `level`. `BODY` must be
/// `#[inline(always)] unsafe fn(&mut Lanes<'_>, &Args) -> Step`.
macro_rules! multiversion {
    ($(#[$meta:meta])* $name:ident $(<$($g:ident : $bound:path),+>)? => $body:ident) => {
        $(#[$meta])*
        pub(crate) fn $name $(<$($g: $bound),+>)? (level: $crate::lane::Level) -> $crate::lane::ExecFn {
            use $crate::lane::{Args, Lanes, Level, Step};
            unsafe fn baseline $(<$($g: $bound),+>)? (lanes: &mut Lanes<'_>, args: &Args) -> Step {
                // SAFETY: the caller's promise is the body's own.
                unsafe { $body $(::<$($g),+>)? (lanes, args) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx2 $(<$($g: $bound),+>)? (lanes: &mut Lanes<'_>, args: &Args) -> Step {
                // SAFETY: the caller's promise is the body's own.
                unsafe { $body $(::<$($g),+>)? (lanes, args) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx512 $(<$($g: $bound),+>)? (lanes: &mut Lanes<'_>, args: &Args) -> Step {
                // SAFETY: the caller's promise is the body's own.
                unsafe { $body $(::<$($g),+>)? (lanes, args) }
            }
            match level {
                Level::Baseline => baseline $(::<$($g),+>)?,
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => avx2 $(::<$($g),+>)?,
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => avx512 $(::<$($g),+>)?,
                #[cfg(not(target_arch = "x86_64"))]
                _ => baseline $(::<$($g),+>)?,
            }
        }
    };
}
pub(crate) use multiversion;

impl Args {
    /// Arguments from their slots and immediate.
    pub(crate) fn of(slots: &[Slot], imm: i64) -> Self {
        let mut args = Self { imm, ..Self::default() };
        args.slots[..slots.len()].copy_from_slice(slots);
        args
    }
}
