//! Arithmetic of the kernels beyond operators: what the hardware has an instruction for.
//!
//! On the host the same names are the standard library's, so that the kernels' formulas can be tried there.

/// Fused multiply-add: rounded once.
pub trait Float: Copy {
    /// `self * factor + summand`, rounded once.
    #[must_use]
    fn mul_add(self, factor: Self, summand: Self) -> Self;
}

macro_rules! floats {
    ($($t:ty: $path:path;)*) => {$(
        impl Float for $t {
            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                $path(self, factor, summand)
            }
        }
    )*};
}

#[cfg(target_arch = "nvptx64")]
floats! { f32: core::f32::math::mul_add; f64: core::f64::math::mul_add; }
#[cfg(not(target_arch = "nvptx64"))]
floats! { f32: f32::mul_add; f64: f64::mul_add; }

/// `2^x`, off by at most 2^-22 of it (`ex2.approx`); 0 where that is too small for a normal number, infinite where too large.
#[inline(always)]
#[must_use]
pub fn exp2(x: f32) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let power;
        // SAFETY: computes a number from a number.
        unsafe {
            core::arch::asm!("ex2.approx.ftz.f32 {0}, {1};", out(reg32) power, in(reg32) x, options(pure, nomem, nostack));
        }
        power
    }
    #[cfg(not(target_arch = "nvptx64"))]
    x.exp2()
}

/// `x / y`, off by at most 2 units in the last place (`div.full`); a third of the instructions of one that is rounded right.
#[inline(always)]
#[must_use]
pub fn divide(x: f32, y: f32) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let quotient;
        // SAFETY: computes a number from two numbers.
        unsafe {
            core::arch::asm!(
                "div.full.f32 {0}, {1}, {2};", out(reg32) quotient, in(reg32) x, in(reg32) y, options(pure, nomem, nostack),
            );
        }
        quotient
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        x / y
    }
}

/// `1 / √x`, off by at most 2^-22.4 of it (`rsqrt.approx`); infinite where `x` is too small for a normal number.
#[inline(always)]
#[must_use]
pub fn rsqrt(x: f32) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let root;
        // SAFETY: computes a number from a number.
        unsafe {
            core::arch::asm!("rsqrt.approx.ftz.f32 {0}, {1};", out(reg32) root, in(reg32) x, options(pure, nomem, nostack));
        }
        root
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        1.0 / x.sqrt()
    }
}
