//! Attribute macros of `cuda_std`: `#[kernel]`, `#[gpu_only]`, `#[externally_visible]`, `#[address_space]`.
//!
//! Use them through `cuda_std`; each is documented here. Every rule that a macro enforces has its own error, at the span
//! of what breaks it.

mod atomics;
mod contract;
mod gpu_only;
mod kernel;
mod launch;
mod shared;

use proc_macro::TokenStream;

/// Makes a function a kernel: an entry point of the PTX module, under the function's own name.
///
/// On the GPU target the function becomes an `extern "ptx-kernel"` entry; elsewhere it stays an ordinary function, so
/// that the crate passes `cargo check` on the host.
///
/// # Parameters
///
/// | Rust | PTX parameters | what the host passes |
/// | --- | --- | --- |
/// | integers, floats, `bool`, `char` | one of that width | the value |
/// | `*const T`, `*mut T`, `&T` | one `.u64` | the device pointer |
/// | `&[T]` | two: pointer, then length in elements | pointer and length, as two arguments |
/// | `GridMut<T>`, which each thread writes its own elements of | two, as for `&[T]` | pointer and length |
/// | `ThisBlock` | none | nothing |
/// | `#[repr(C)]` structs, arrays, `u128` | one block of their size and alignment, 16 at most | the value |
/// | `()` and other types of size 0 | none | nothing |
///
/// A slice, `GridMut` or `ThisBlock` must be written as one: behind a `type` of another name it is refused. Parameters may be
/// patterns.
///
/// Every other parameter must be `Copy`. Data that the kernel writes comes as `GridMut<T>`, or as `*mut T`: all threads share
/// it, so a `&mut [T]` would promise what a launch cannot keep, and is refused.
///
/// # Safety of the call
///
/// A kernel is a `fn`, or an `unsafe fn` where it asks for more than its types say. A launch is unsafe either way: whoever
/// launches the kernel promises that a `&[T]` parameter names that many initialised elements
/// that nothing writes while the kernel runs, that a `GridMut<T>` names that many which nothing else reaches, and what its
/// own documentation asks for. The pointer of an empty slice may be null.
///
/// # The host's side
///
/// On the host the macro writes a type beside the kernel, `AddKernel` beside `add`, with `load` and a `launch` that takes the
/// kernel's parameters, each as what the host has for it; the crate `cuda_launch` says which. Attributes below `#[kernel]` say
/// what a launch must keep to, and it is checked before the driver is asked:
///
/// | attribute | what it says | in the PTX |
/// | --- | --- | --- |
/// | `#[launch_bounds(256)]`, `#[launch_bounds(256, 2)]` | at most 256 threads a block; at least 2 blocks a multiprocessor | `.maxntid`, `.minnctapersm` |
/// | `#[block_size(16, 16)]` | blocks have 16 x 16 threads | `.reqntid` |
/// | `#[dynamic_shared(4 * block.x as usize)]` | bytes of dynamic shared memory, from `block`, `grid` and the arguments | |
/// | `#[requires(a.len() == b.len(), n > 0)]` | what must hold of lengths and numbers | |
/// | `#[instances(f32, f64)]` | types of a generic kernel; the entry points are `add_f32`, `add_f64` | |
///
/// # Refused
///
/// Functions that return something, are generic without `#[instances]`, `async`, `const` or variadic, take `self`, take
/// `&mut`, `&str` or `&dyn`, have a `#[cfg]` on a parameter, or name an ABI of their own. A kernel is a free function, not one
/// of an `impl`.
#[proc_macro_attribute]
pub fn kernel(args: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(args.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Marks a function that only the GPU can run. On the host it keeps its signature and panics when it is called, naming
/// itself, so that code for both sides still compiles there.
#[proc_macro_attribute]
pub fn gpu_only(args: TokenStream, item: TokenStream) -> TokenStream {
    gpu_only::expand(args.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Keeps a `#[no_mangle]` device function in the PTX although no kernel calls it.
///
/// The compiler's own NVPTX back end keeps every function that is exported, so nothing needs to be added; the macro
/// checks that the function is.
#[proc_macro_attribute]
pub fn externally_visible(args: TokenStream, item: TokenStream) -> TokenStream {
    gpu_only::externally_visible(args.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Places a `static mut` in the block's shared memory.
///
/// ```text
/// #[address_space(shared)]
/// static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
/// …
/// unsafe { TILE[i].write(x) };
/// ```
///
/// The type must be of `MaybeUninit`s: no GPU gives shared memory an initial value. Use the variable as the array that it is
/// declared as: index it, call its methods. Its address is `TILE.as_mut_ptr()`; `&raw mut TILE` would be that of a stand-in, and
/// code that takes it does not link. `shared_array!` gives the pointer at once.
///
/// `global`, `constant` and `local` are refused: `static`s are in global memory without an attribute, and the compiler cannot
/// place them elsewhere.
#[proc_macro_attribute]
pub fn address_space(args: TokenStream, item: TokenStream) -> TokenStream {
    gpu_only::address_space(args.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// `shared_array![T; LEN]`: memory for `LEN` elements, shared by the threads of a block, as a `*mut T`.
///
/// One buffer for each place in the source where the macro stands, whatever is inlined or instantiated; the pointer is the same
/// every time. Aligned to 16 bytes at least, so that packs of 16 bytes fit. Uninitialised. `T` and `LEN` cannot name generic
/// parameters of the function around it, as for any item.
#[proc_macro]
pub fn shared_array(input: TokenStream) -> TokenStream {
    shared::array(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// The functions of `cuda_std::atomic::intrinsics`. For `cuda_std` alone.
#[doc(hidden)]
#[proc_macro]
pub fn __atomic_intrinsics(_: TokenStream) -> TokenStream {
    atomics::intrinsics().into()
}

/// The functions of `cuda_std::atomic::mid`. For `cuda_std` alone.
#[doc(hidden)]
#[proc_macro]
pub fn __atomic_mid(_: TokenStream) -> TokenStream {
    atomics::mid().into()
}

/// The table that the two are made from. For the tests of `cuda_std` alone.
#[doc(hidden)]
#[proc_macro]
pub fn __atomic_table(input: TokenStream) -> TokenStream {
    atomics::table(input.into()).into()
}
