//! Address spaces of pointers (PTX ISA, "isspacep", "cvta").
//!
//! A Rust pointer is a generic address: it may point into any space. Code that knows the space can use shorter instructions,
//! and inline PTX may need the address within the space.

use crate::gpu_only;

/// Where memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// The device's memory.
    Global,
    /// The block's memory.
    Shared,
    /// Constant memory.
    Constant,
    /// The thread's own memory.
    Local,
}

#[cfg(target_arch = "nvptx64")]
macro_rules! spaces {
    ($space:ident, $text:ident, $($operand:tt)*) => {
        // SAFETY: computes from an address; reads nothing.
        unsafe {
            match $space {
                AddressSpace::Global => core::arch::asm!(spaces!(@ $text, "global"), $($operand)*),
                AddressSpace::Shared => core::arch::asm!(spaces!(@ $text, "shared"), $($operand)*),
                AddressSpace::Constant => core::arch::asm!(spaces!(@ $text, "const"), $($operand)*),
                AddressSpace::Local => core::arch::asm!(spaces!(@ $text, "local"), $($operand)*),
            }
        }
    };
    (@ isspacep, $name:literal) => {
        concat!("{{ .reg .pred in; isspacep.", $name, " in, {1}; selp.u32 {0}, 1, 0, in; }}")
    };
    (@ to, $name:literal) => { concat!("cvta.to.", $name, ".u64 {0}, {1};") };
    (@ from, $name:literal) => { concat!("cvta.", $name, ".u64 {0}, {1};") };
}

/// Whether a generic pointer is into an address space (`isspacep`).
///
/// # Safety
/// None is needed: the pointer is not followed. Unsafe as Rust-CUDA has it.
#[gpu_only]
#[inline(always)]
#[must_use]
pub unsafe fn is_in_address_space<T>(ptr: *const T, address_space: AddressSpace) -> bool {
    let inside: u32;
    spaces!(address_space, isspacep, out(reg32) inside, in(reg64) ptr, options(pure, nomem, nostack));
    inside != 0
}

/// The address within a space of a generic pointer (`cvta.to`), for inline PTX. Not to be followed in Rust.
///
/// # Safety
/// The pointer must be into that space.
#[gpu_only]
#[inline(always)]
#[must_use]
pub unsafe fn convert_generic_to_specific_address_space<T>(ptr: *const T, address_space: AddressSpace) -> *const T {
    let address: *const T;
    spaces!(address_space, to, out(reg64) address, in(reg64) ptr, options(pure, nomem, nostack));
    address
}

/// The generic pointer of an address within a space (`cvta`).
///
/// # Safety
/// The address must be one of that space.
#[gpu_only]
#[inline(always)]
#[must_use]
pub unsafe fn convert_specific_address_space_to_generic<T>(ptr: *const T, address_space: AddressSpace) -> *const T {
    let address: *const T;
    spaces!(address_space, from, out(reg64) address, in(reg64) ptr, options(pure, nomem, nostack));
    address
}
