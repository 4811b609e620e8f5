//! The `gridstride` command as a library.

/// The project's kernels, as PTX.
pub const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/gridstride.ptx"));
