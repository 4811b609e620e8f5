//! The environment of the inner cargo: that of the user, without what the outer build put there.
//!
//! Flags, wrappers and profiles of the host build mean nothing for the GPU, or break it (`-Ctarget-cpu=native`, clippy's
//! driver as `rustc`). What says where to download from and how stays.

use std::env;
use std::ffi::OsStr;
use std::process::Command;

/// Cargo variables that stay.
const KEPT: &[&str] =
    &["CARGO_HOME", "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR", "CARGO_SOURCE_", "CARGO_TERM_", "CARGO_CACHE_"];

/// Variables outside of cargo's own prefix that the outer build, or a tool around it, sets.
const DROPPED: &[&str] = &[
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_LINKER",
    "RUSTC_BOOTSTRAP",
    "RUSTC_LOG",
    "RUSTDOC",
    "TARGET",
    "HOST",
    "NUM_JOBS",
    "OPT_LEVEL",
    "DEBUG",
    "PROFILE",
    "OUT_DIR",
    "CLIPPY_ARGS",
    "CLIPPY_CONF_DIR",
    "MAKEFLAGS",
    "MFLAGS",
    "__CARGO_DEFAULT_LIB_METADATA",
];

/// Removes from the environment of `command` what would change its result.
pub(crate) fn clean(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if is_dropped(&name) {
            command.env_remove(name);
        }
    }
}

fn is_dropped(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let ours = name.starts_with("CARGO") && !KEPT.iter().any(|kept| name.starts_with(kept));
    ours || DROPPED.contains(&name) || name.starts_with("DEP_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_what_the_outer_build_set_and_keeps_what_the_user_needs() {
        for name in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_PROFILE_RELEASE_LTO",
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_TARGET",
            "CARGO",
            "CARGO_MAKEFLAGS",
            "CARGO_PKG_NAME",
            "RUSTC_WORKSPACE_WRAPPER",
        ] {
            assert!(is_dropped(OsStr::new(name)), "{name}");
        }
        for name in ["CARGO_HOME", "CARGO_NET_OFFLINE", "CARGO_HTTP_PROXY", "PATH", "RUSTUP_TOOLCHAIN", "HOME"] {
            assert!(!is_dropped(OsStr::new(name)), "{name}");
        }
    }
}
