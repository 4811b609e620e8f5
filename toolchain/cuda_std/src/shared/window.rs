//! Where shared memory is, told to the compiler in a form that it can follow.
//!
//! A pointer that comes out of inline PTX is of no address space that LLVM knows, and it loads through it with the generic
//! `ld`. A pointer that is computed from the start of launch-sized memory, which core has an intrinsic for, is known to be
//! shared, however far from that start it is. So every piece of shared memory is expressed as a distance from there:
//!
//! ```text
//! static memory       launch-sized memory
//! |---A---|--B--|     |-------…
//!         <-- distance ^ start()
//! ```
//!
//! ptxas computes the distance away: the code is that of CUDA C++. LLVM, which sees one object and unknown distances, never
//! assumes that two pieces do not overlap.

/// Start of launch-sized shared memory, whose alignment is 16.
//
// Each call of the intrinsic that the compiler sees is a symbol of its own, and LLVM takes different symbols for different
// memory. Not inlined before LLVM, this is one call.
#[cfg(target_arch = "nvptx64")]
#[rustc_no_mir_inline]
#[inline]
pub(super) fn start() -> *mut u8 {
    #[repr(align(16))]
    struct Aligned;
    core::intrinsics::gpu::gpu_launch_sized_workgroup_mem::<Aligned>().cast()
}

/// Address of [`start`] within shared memory. For the code that macros write.
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
#[inline(always)]
#[must_use]
pub fn shared_start() -> u64 {
    let address;
    // SAFETY: computes a number; the pointer is one into shared memory.
    unsafe {
        core::arch::asm!(
            "cvta.to.shared.u64 {0}, {1};", out(reg64) address, in(reg64) start(),
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    address
}

/// The pointer at a distance from [`start`]. For the code that macros write.
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
#[inline(always)]
#[must_use]
pub fn shared_at<T>(distance: u64) -> *mut T {
    start().wrapping_add(distance as usize).cast()
}

/// Static shared memory that a kernel may have, on every GPU so far (CUDA C++ Programming Guide, "Compute Capabilities").
const MOST: usize = 48 << 10;

/// Bytes that a piece of shared memory takes: those of `T`, and at least one, since PTX has no empty arrays. Fails to compile
/// where no piece can hold a `T`.
#[doc(hidden)]
#[must_use]
pub const fn shared_size<T>() -> usize {
    assert!(align_of::<T>() <= 16, "shared memory is aligned to 16 bytes: this type asks for more");
    assert!(
        size_of::<T>() <= MOST,
        "a block has 48 KiB of static shared memory at most: use `dynamic_shared_mem` and ask for the bytes at the launch"
    );
    if size_of::<T>() == 0 { 1 } else { size_of::<T>() }
}

/// A piece of shared memory, for the code that macros write.
#[doc(hidden)]
pub trait SharedMemory {
    const SIZE: usize;
}

/// What the code that macros write evaluates on the host.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
#[must_use]
pub fn no_shared_memory<T>() -> *mut T {
    panic!("shared memory is the GPU's, and was used on the host")
}
