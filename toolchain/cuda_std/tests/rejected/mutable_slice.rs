use cuda_std::kernel;

#[kernel]
pub unsafe fn k(a: &[f32], out: &mut [f32]) {}

fn main() {}
