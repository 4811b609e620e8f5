//! Fused multiply-adds and nothing else: what the arithmetic of a device reaches, which kernels that compute are compared with.
//!
//! Shape of the code: 8 chains a thread that do not wait for each other, since one takes 4 cycles and a multiprocessor begins one
//! of each warp's in every cycle.

use cuda_std::prelude::*;

use crate::math::Float;

/// Chains of a thread.
const CHAINS: usize = 8;
/// Steps between two looks at the counter.
const UNROLLED: u32 = 16;

/// `steps / 16` rounds of 16 fused multiply-adds on each of 8 chains. Nothing is written unless a result is negative, which none
/// is for a positive `factor` and `summand`; the compiler does not know that.
///
/// # Safety
/// `out` must be valid for a write.
#[kernel]
pub unsafe fn peak_fma_f32(steps: u32, factor: f32, summand: f32, out: *mut f32) {
    let mut chains = [0.0f32; CHAINS];
    let mut k = 0;
    while k < CHAINS {
        chains[k] = k as f32 + thread::thread_idx_x() as f32;
        k += 1;
    }
    let mut round = 0;
    while round < steps / UNROLLED {
        let mut step = 0;
        while step < UNROLLED {
            let mut k = 0;
            while k < CHAINS {
                chains[k] = Float::mul_add(chains[k], factor, summand);
                k += 1;
            }
            step += 1;
        }
        round += 1;
    }
    let sum = chains.iter().fold(0.0, |a, b| a + b);
    if sum < 0.0 {
        // SAFETY: by the caller.
        unsafe { *out = sum };
    }
}
