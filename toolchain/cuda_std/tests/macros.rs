//! What the macros take, and what they refuse with which words.

use cuda_std::prelude::*;
use cuda_std::{externally_visible, gpu_only};

/// A struct by value.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Scale {
    factor: f32,
    offset: f32,
}

/// Every kind of parameter that a kernel may have; on the host it is an ordinary function.
///
/// # Safety
/// `out` must be valid for `x.len()` writes.
#[kernel]
#[allow(clippy::too_many_arguments)]
pub unsafe fn everything(
    x: &[f32],
    scale: Scale,
    shift: [f32; 2],
    one: &f32,
    count: usize,
    flag: bool,
    wide: u128,
    _: i64,
    out: *mut f32,
) {
    let extra = if flag { *one + shift[1] + count as f32 + wide as f32 } else { 0.0 };
    for (i, value) in x.iter().enumerate() {
        // SAFETY: by the caller.
        unsafe { *out.add(i) = value * scale.factor + scale.offset + extra };
    }
}

/// # Safety
/// `out` must be valid for `'a`'s slice.
#[kernel]
pub unsafe fn with_a_lifetime<'a>(x: &'a [u8], out: *mut u8) {
    let first: Option<&'a u8> = x.first();
    // SAFETY: by the caller.
    unsafe { *out = first.copied().unwrap_or(0) };
}

/// Names that the entry point could have wanted for itself, patterns, and a keyword.
///
/// # Safety
/// `out` must be valid for one write.
#[kernel]
#[allow(clippy::too_many_arguments)]
pub unsafe fn r#loop(
    x: &[u32],
    x_len: u32,
    p0: u32,
    p0_len: &[u32],
    (a, b): (u32, u32),
    mut sum: u32,
    _: u32,
    _: u8,
    out: *mut u32,
) {
    sum += x.iter().sum::<u32>() + x_len + p0 + p0_len.len() as u32 + a + b;
    // SAFETY: by the caller.
    unsafe { *out = sum };
}

/// # Safety
/// None is needed.
#[kernel]
pub unsafe fn with_bounds<'a, 'b>(x: &'a [u8], y: &'b [u8])
where
    'a: 'b,
{
    let _shorter: &'b [u8] = if y.is_empty() { x } else { y };
}

/// A slice type that arrives through a macro is still two parameters.
macro_rules! of_type {
    ($name:ident, $slice:ty) => {
        /// # Safety
        /// `out` must be valid for one write.
        #[kernel]
        pub unsafe fn $name(x: $slice, out: *mut usize) {
            // SAFETY: by the caller.
            unsafe { *out = x.len() };
        }
    };
}
of_type!(through_a_macro, &[f32]);

#[gpu_only]
fn only_there(value: u32) -> u32 {
    value + 1
}

/// Kept although no kernel calls it.
#[externally_visible]
#[unsafe(no_mangle)]
pub extern "C" fn cuda_std_test_helper(x: f32) -> f32 {
    x
}

#[test]
fn a_kernel_is_an_ordinary_function_on_the_host() {
    let scale = Scale { factor: 2.0, offset: 1.0 };
    let mut out = [0.0; 3];
    // SAFETY: `out` has as many elements as `x`.
    unsafe { everything(&[1.0, 2.0, 3.0], scale, [0.0, 0.5], &1.0, 2, true, 3, 0, out.as_mut_ptr()) };
    assert_eq!(out, [9.5, 11.5, 13.5]);
    let mut byte = 9;
    // SAFETY: one byte is there.
    unsafe { with_a_lifetime(&[], &raw mut byte) };
    assert_eq!(byte, 0);
    let mut sum = 0;
    // SAFETY: one number is there.
    unsafe { r#loop(&[1, 2], 10, 100, &[7], (1000, 2000), 10_000, 0, 0, &raw mut sum) };
    assert_eq!(sum, 13_114);
    let mut len = 0;
    // SAFETY: one number is there.
    unsafe { through_a_macro(&[1.0], &raw mut len) };
    assert_eq!(len, 1);
    // SAFETY: nothing is asked for.
    unsafe { with_bounds(&[], &[]) };
}

#[test]
#[should_panic(expected = "`only_there` runs on the GPU only")]
fn a_gpu_function_says_so_on_the_host() {
    only_there(1);
}

#[test]
fn refusals() {
    trybuild::TestCases::new().compile_fail("tests/rejected/*.rs");
}
