//! The standard library of GPU kernels: indices, barriers, atomics, shared memory.
