//! A workspace of a device crate and a path dependency, in a folder with a space in its name.

use std::fs;
use std::path::{Path, PathBuf};

pub fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Makes the workspace and returns the folder of the device crate.
pub fn device_crate(folder: &Path) -> PathBuf {
    // A profile that would spoil the build if it were used.
    write(
        &folder.join("Cargo.toml"),
        "[workspace]\nresolver = \"3\"\nmembers = [\"my kernels\", \"maths\"]\n[profile.release]\nopt-level = 0\nlto = false\n",
    );
    write(&folder.join("maths/Cargo.toml"), "[package]\nname = \"maths\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    write(&folder.join("maths/src/lib.rs"), "#![no_std]\npub fn triple(x: f32) -> f32 { 3.0 * x }\n");
    write(
        &folder.join("my kernels/Cargo.toml"),
        "[package]\nname = \"my-kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n[dependencies]\nmaths = { path = \"../maths\" }\n",
    );
    write(&folder.join("my kernels/src/lib.rs"), KERNELS);
    folder.join("my kernels")
}

/// A barrier between two branches on one condition: a compiler that duplicates it deadlocks (rust-lang/rust#137086).
pub const KERNELS: &str = r#"#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg(target_arch = "nvptx64")]
#![feature(core_float_math)]
use core::arch::nvptx::{_syncthreads, _thread_idx_x, trap};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! { unsafe { trap() } }

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn triple(x: *mut f32) {
    unsafe { *x = maths::triple(*x) }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn arithmetic(x: *mut f32) {
    unsafe {
        *x = *x * *x.add(1) + *x.add(2);
        *x.add(3) = *x.add(3) / *x.add(4);
        *x.add(5) = core::f32::math::sqrt(*x.add(5));
    }
}

/// Panics name their place, in the compiler's library as well.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn looks(x: &[u32; 4], at: usize, out: *mut u32) {
    unsafe { *out = x[at..][1] }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn two_branches(flags: &[u32; 1024], out: *mut u32) {
    unsafe {
        let i = _thread_idx_x() as usize;
        if flags[i] == 7 { *out.add(i) = 1; }
        _syncthreads();
        if flags[i] == 7 { *out.add(i + 1024) = *out.add(i ^ 1); }
    }
}

core::arch::global_asm!("// cuda_builder: entry triple .maxntid 128, 1, 1 .minnctapersm 2");

#[cfg(target_feature = "compute_75")]
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn from_75() {}

#[cfg(target_feature = "compute_80")]
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn from_80() {}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn arch(out: *mut u8) { unsafe { *out = env!("CUDA_ARCH").as_bytes()[0] } }
"#;
