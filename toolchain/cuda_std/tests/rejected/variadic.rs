use cuda_std::kernel;

#[kernel]
pub unsafe fn k(out: *mut f32, mut rest: ...) {}

fn main() {}
