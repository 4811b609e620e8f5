use cuda_std::kernel;

#[kernel]
pub unsafe fn k(counter: &mut u32) {}

fn main() {}
