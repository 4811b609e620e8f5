#![doc = "Grid-stride GPU kernels in Rust."]
#![cfg_attr(target_arch = "nvptx64", no_std)]
