//! Approximations that the hardware computes in an instruction or a few, by the name of what they are.
//!
//! The errors are those of the PTX ISA for each instruction. All flush no denormals here; the ones of `sin` and `cos` are absolute
//! and hold from -π to π, beyond which the result gets worse with the argument. On the host they are `std`'s functions, which are
//! more accurate.

/// One instruction of one operand.
macro_rules! approximations {
    ($($(#[doc = $doc:literal])+ $name:ident = $ptx:literal, |$x:ident| $host:expr;)*) => {$(
        $(#[doc = $doc])+
        #[inline(always)]
        #[must_use]
        pub fn $name(x: f32) -> f32 {
            let result: f32;
            #[cfg(target_arch = "nvptx64")]
            // SAFETY: computes a number.
            unsafe {
                core::arch::asm!(
                    concat!($ptx, " {0}, {1};"), out(reg32) result, in(reg32) x, options(pure, nomem, nostack),
                );
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let $x = x;
                result = $host;
            }
            result
        }
    )*};
}

approximations! {
    #[doc = "`2^x` (`ex2.approx.f32`): 2 units of the last place."]
    exp2 = "ex2.approx.f32", |x| x.exp2();
    #[doc = "`log2(x)` (`lg2.approx.f32`): an absolute error of 2^-22 from 0.5 to 2, else 2 units of the last place or so."]
    log2 = "lg2.approx.f32", |x| x.log2();
    #[doc = "`1 / sqrt(x)` (`rsqrt.approx.f32`): a relative error of 2^-22.9."]
    rsqrt = "rsqrt.approx.f32", |x| 1.0 / x.sqrt();
    #[doc = "`sqrt(x)` (`sqrt.approx.f32`): a relative error of 2^-23."]
    sqrt = "sqrt.approx.f32", |x| x.sqrt();
    #[doc = "`1 / x` (`rcp.approx.f32`): 1 unit of the last place."]
    recip = "rcp.approx.f32", |x| 1.0 / x;
    #[doc = "`sin(x)` (`sin.approx.f32`): an absolute error of 2^-20.5 from -π to π."]
    sin = "sin.approx.f32", |x| x.sin();
    #[doc = "`cos(x)` (`cos.approx.f32`): an absolute error of 2^-20.5 from -π to π."]
    cos = "cos.approx.f32", |x| x.cos();
}

/// `x / y` (`div.approx.f32`): 2 units of the last place where `|y|` is 2^-126 to 2^126.
#[inline(always)]
#[must_use]
pub fn div(x: f32, y: f32) -> f32 {
    let result: f32;
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: computes a number.
    unsafe {
        core::arch::asm!(
            "div.approx.f32 {0}, {1}, {2};", out(reg32) result, in(reg32) x, in(reg32) y, options(pure, nomem, nostack),
        );
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        result = x / y;
    }
    result
}

/// `e^x`, as `ex2.approx` of a product: 2 units of the last place and what rounding the product adds, 1 in 2^22 for each unit of
/// `|x|`.
#[inline(always)]
#[must_use]
pub fn exp(x: f32) -> f32 {
    exp2(x * core::f32::consts::LOG2_E)
}

/// `ln(x)`, as a product with `lg2.approx`.
#[inline(always)]
#[must_use]
pub fn ln(x: f32) -> f32 {
    log2(x) * core::f32::consts::LN_2
}

/// `x^y` for `x` above 0, as `ex2.approx(y * lg2.approx(x))`.
#[inline(always)]
#[must_use]
pub fn pow(x: f32, y: f32) -> f32 {
    exp2(y * log2(x))
}

/// `tanh(x)`: `tanh.approx.f32` where the crate is built for sm_75 or later, a relative error of 2^-11; before that from
/// `ex2.approx`, an absolute error of 2^-21.
#[inline(always)]
#[must_use]
#[allow(unexpected_cfgs, reason = "`cuda_builder` sets `compute_XX`, which the compiler does not know of")]
pub fn tanh(x: f32) -> f32 {
    let result: f32;
    #[cfg(all(target_arch = "nvptx64", target_feature = "compute_75"))]
    // SAFETY: computes a number.
    unsafe {
        core::arch::asm!("tanh.approx.f32 {0}, {1};", out(reg32) result, in(reg32) x, options(pure, nomem, nostack));
    }
    #[cfg(not(all(target_arch = "nvptx64", target_feature = "compute_75")))]
    {
        result = 1.0 - 2.0 * recip(1.0 + exp2(x * (2.0 * core::f32::consts::LOG2_E)));
    }
    result
}
