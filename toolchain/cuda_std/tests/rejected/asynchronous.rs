use cuda_std::kernel;

#[kernel]
pub async unsafe fn k(out: *mut f32) {}

fn main() {}
