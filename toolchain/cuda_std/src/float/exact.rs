//! What the hardware does in an instruction, exactly: `core`'s functions on the GPU, `std`'s on the host.

macro_rules! exact {
    ($($module:ident: $t:ident;)*) => {$(
        #[cfg(target_arch = "nvptx64")]
        pub(super) mod $module {
            pub(in crate::float) use core::$t::math::{ceil, floor, mul_add, round, sqrt, trunc};
        }

        #[cfg(not(target_arch = "nvptx64"))]
        pub(super) mod $module {
            pub(in crate::float) fn floor(x: $t) -> $t {
                x.floor()
            }
            pub(in crate::float) fn ceil(x: $t) -> $t {
                x.ceil()
            }
            pub(in crate::float) fn round(x: $t) -> $t {
                x.round()
            }
            pub(in crate::float) fn trunc(x: $t) -> $t {
                x.trunc()
            }
            pub(in crate::float) fn sqrt(x: $t) -> $t {
                x.sqrt()
            }
            pub(in crate::float) fn mul_add(x: $t, a: $t, b: $t) -> $t {
                x.mul_add(a, b)
            }
        }
    )*};
}

exact! {
    single: f32;
    double: f64;
}
