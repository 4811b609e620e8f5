//! 16 bytes in one step.

use std::sync::Mutex;

use super::operation::Cell;
use crate::memory::raw::Element;

/// Where the processor has no such operation.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

impl Cell for u128 {
    #[inline(always)]
    unsafe fn update(at: u64, new: impl Fn(Self) -> Self) -> Self {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("cmpxchg16b") {
            use std::sync::atomic::Ordering::SeqCst;
            // SAFETY: by the caller. What is read here may be torn; the exchange only happens if it was not.
            let mut old = unsafe { Self::load(at) };
            loop {
                // SAFETY: by the caller the 16 bytes are there, and aligned; the processor has the instruction.
                let now = unsafe { std::arch::x86_64::cmpxchg16b(at as *mut Self, old, new(old), SeqCst, SeqCst) };
                if now == old {
                    return old;
                }
                old = now;
            }
        }
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // SAFETY: by the caller.
        unsafe {
            let old = Self::load(at);
            Self::store(at, new(old));
            old
        }
    }
}
