use cuda_std::kernel;

#[kernel]
pub unsafe extern "C" fn k(out: *mut f32) {}

fn main() {}
