use cuda_std::kernel;

#[kernel(threads = 256)]
pub unsafe fn k(out: *mut f32) {}

fn main() {}
