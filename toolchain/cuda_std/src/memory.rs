//! The functions of C that compiled code may call and that nobody else brings: comparisons of memory. (Copies and fills LLVM
//! writes out as loops.) `core::fmt` calls them, and so does `==` of byte slices.

/// The sign of the first difference, as C has it.
///
/// # Safety
/// Both must be valid for `n` reads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    let mut i = 0;
    while i < n {
        // SAFETY: by the caller.
        let (a, b) = unsafe { (*a.add(i), *b.add(i)) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
        i += 1;
    }
    0
}

/// Not 0 if there is a difference.
///
/// # Safety
/// As for `memcmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    // SAFETY: by the caller.
    unsafe { memcmp(a, b, n) }
}
