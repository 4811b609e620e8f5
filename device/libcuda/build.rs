//! Gives the library the name that loaders look for, and makes a folder that can stand in `LD_LIBRARY_PATH`.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    // target/PROFILE/build/PACKAGE-HASH/out
    if let Some(profile) = out.ancestors().nth(3)
        && let Err(error) = folder(profile)
    {
        println!("cargo::warning=no folder for LD_LIBRARY_PATH in {}: {error}", profile.display());
    }
}

/// `target/PROFILE/libcuda/` with the two names, each a link to the library that cargo will put beside the folder.
fn folder(profile: &Path) -> std::io::Result<()> {
    let folder = profile.join("libcuda");
    std::fs::create_dir_all(&folder)?;
    for name in ["libcuda.so.1", "libcuda.so"] {
        let link = folder.join(name);
        if link.symlink_metadata().is_err() {
            symlink("../libgridstride_cuda.so", &link)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn symlink(to: &str, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to, link)
}

#[cfg(not(unix))]
fn symlink(_: &str, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
