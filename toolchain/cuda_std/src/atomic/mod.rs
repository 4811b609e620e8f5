//! Atomic floats, and atomics with a scope (PTX ISA, "atom", "fence", "Memory Consistency Model").
//!
//! For integers use `core::sync::atomic`: a kernel takes `&[AtomicU32]`, and every ordering compiles to the instructions that
//! it needs, with the scope of the whole system. What is here adds floats, and the narrower scopes of [`mid`] and
//! [`intrinsics`], which are faster where the threads that meet are of one device or block.
//!
//! An operation whose result is not used becomes a reduction (`red`) in ptxas, which does not wait for memory.

mod floats;
/// One PTX instruction each. `device`, `block` and `system` are the scopes `gpu`, `cta` and `sys`; `volatile` is without an
/// ordering word, which is relaxed.
pub mod intrinsics {
    cuda_std_macros::__atomic_intrinsics!();
}
/// Every operation and scope, with the ordering as an argument. Give it as a constant, and one instruction is left.
pub mod mid {
    use super::intrinsics;
    use core::sync::atomic::Ordering;

    cuda_std_macros::__atomic_mid!();
}

pub use floats::*;

/// What a function of the GPU does on the host.
#[cfg(not(target_arch = "nvptx64"))]
#[cold]
fn on_host<T>(name: &str) -> T {
    panic!("`{name}` runs on the GPU only, and was called on the host")
}
