use cuda_std::kernel;

#[kernel]
pub const unsafe fn k(out: *mut f32) {}

fn main() {}
