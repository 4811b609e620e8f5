use cuda_std::kernel;

#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub struct Wide([f32; 8]);

#[kernel]
pub unsafe fn k(wide: Wide) {}

fn main() {}
