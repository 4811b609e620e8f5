//! Mathematical functions of floats: accurate by default ([`GpuFloat`], [`FloatExt`]), fast by name ([`fast`]).
//!
//! A `no_std` crate has no `x.sin()`; with `use cuda_std::GpuFloat` it has. There is no libdevice without a CUDA toolkit, so what
//! the hardware does not do exactly is computed by the crate `libm`, in the same steps on the host and on the GPU: both give the
//! same bits.
//!
//! | functions | error, in units of the last place | PTX |
//! | --- | --- | --- |
//! | `floor`, `ceil`, `trunc`, `round`, `fract`, `abs`, `copysign`, `sqrt`, `mul_add`, `frexp`, `ldexp` | 0, or rounded correctly | `cvt.rmi`, `sqrt.rn`, `fma.rn`, … |
//! | `exp`, `exp2`, `ln`, `log2`, `log10`, `sin`, `cos`, `tan`, `asin`, `acos`, `atan`, `cbrt`, `hypot`, `exp_m1`, `ln_1p`, `powf` | 1 | `libm` |
//! | `atan2` | 2 | `libm` |
//! | `sinh`, `cosh`, `tanh` | 3 | `libm` |
//! | `asinh`, `acosh`, `atanh` | 4 | `libm` |
//! | the rest of `FloatExt` | not measured over the range; 4e-15 of the size at the values of tables that the tests have | `libm` |
//!
//! The tests of this crate hold `f32` to that over samples of its whole range, against `f64`, and `f64` to one more against the
//! C library's. `sin`, `cos` and `tan` of an `f32` compute in `f64`, of which many GPUs do one for 32 or 64 of `f32`:
//! [`fast`] does not.

mod exact;
mod ext;
pub mod fast;
mod gpu_float;

pub use ext::FloatExt;
pub use gpu_float::GpuFloat;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}
