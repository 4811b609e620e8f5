//! The CUDA Driver API: forwards to the NVIDIA driver where there is one, else runs on the CPU device.
