//! Compiles a crate of GPU kernels to PTX from a build script, on a stable compiler.
