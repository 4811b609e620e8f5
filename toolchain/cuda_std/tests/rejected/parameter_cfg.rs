use cuda_std::kernel;

#[kernel]
pub unsafe fn k(out: *mut f32, #[cfg(debug_assertions)] checked: u32) {}

fn main() {}
