//! The device heap, and how much shared memory a block has.
//!
//! The heap is there on request: with the feature `alloc` of this crate, and `CudaBuilder::alloc(true)`, `Box`, `Vec` and
//! `String` work in kernels, and the [prelude](crate::prelude) has them. It is slow, since all threads share it, and small: 8 MiB
//! unless the host sets another limit. A panic ends the launch where there is no room.

use crate::gpu_only;
#[cfg(target_arch = "nvptx64")]
use core::ffi::c_void;

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    /// `size` bytes of the device heap, aligned to 16, or null.
    pub fn malloc(size: usize) -> *mut c_void;
    /// Gives back what `malloc` gave. Null is nothing.
    pub fn free(ptr: *mut c_void);
}

/// What `malloc` aligns to (CUDA C++ Programming Guide, "Dynamic Global Memory Allocation").
#[cfg(target_arch = "nvptx64")]
const ALIGNED: usize = 16;

/// The device heap as Rust's allocator.
#[derive(Debug, Clone, Copy)]
pub struct CUDAAllocator;

// SAFETY: memory of the layout's size and alignment, from `malloc`, until it is given back.
#[cfg(target_arch = "nvptx64")]
unsafe impl core::alloc::GlobalAlloc for CUDAAllocator {
    unsafe fn alloc(&self, layout: core::alloc::Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        if align <= ALIGNED {
            // SAFETY: any size will do.
            return unsafe { malloc(size) }.cast();
        }
        // Room to move the start up, at least far enough to keep the start that `free` wants before it.
        let Some(whole) = size.checked_add(align) else { return core::ptr::null_mut() };
        // SAFETY: any size will do.
        let start = unsafe { malloc(whole) }.cast::<u8>();
        if start.is_null() {
            return start;
        }
        let offset = align - start.addr() % align;
        // SAFETY: `offset` is from 16 to `align`, so the result and the word before it are inside.
        unsafe {
            let result = start.add(offset);
            result.cast::<*mut u8>().sub(1).write(start);
            result
        }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: core::alloc::Layout) {
        // SAFETY: the caller got it from `alloc`, which put the start before it where it moved it.
        unsafe {
            let start = if layout.align() <= ALIGNED { ptr } else { ptr.cast::<*mut u8>().sub(1).read() };
            free(start.cast());
        }
    }
}

/// The device heap is the heap.
#[cfg(all(target_arch = "nvptx64", feature = "alloc"))]
#[global_allocator]
pub static GLOBAL_ALLOCATOR: CUDAAllocator = CUDAAllocator;

/// Bytes of shared memory that the launch asked for (`%dynamic_smem_size`).
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn dynamic_smem_size() -> u32 {
    let bytes;
    // SAFETY: reads a special register.
    unsafe {
        core::arch::asm!("mov.u32 {}, %dynamic_smem_size;", out(reg32) bytes, options(pure, nomem, nostack));
    }
    bytes
}

/// Bytes of shared memory that the block has, static and launch-sized, rounded up to what the hardware allocates
/// (`%total_smem_size`).
#[gpu_only]
#[inline(always)]
#[must_use]
pub fn total_smem_size() -> u32 {
    let bytes;
    // SAFETY: reads a special register.
    unsafe { core::arch::asm!("mov.u32 {}, %total_smem_size;", out(reg32) bytes, options(pure, nomem, nostack)) };
    bytes
}
