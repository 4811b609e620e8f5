use cuda_std::kernel;

#[kernel]
pub fn k(out: *mut f32) {}

fn main() {}
