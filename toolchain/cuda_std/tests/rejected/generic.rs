use cuda_std::kernel;

#[kernel]
pub unsafe fn k<T: Copy>(a: &[T], out: *mut T) {}

fn main() {}
