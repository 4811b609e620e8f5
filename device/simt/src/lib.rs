//! Executes PTX on the CPU as a GPU would: warps of 32 lanes in lockstep, blocks over all cores.
