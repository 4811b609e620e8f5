use cuda_std::kernel;

#[kernel]
pub unsafe fn text(name: &str) {}

#[kernel]
pub unsafe fn object(f: &dyn Fn()) {}

fn main() {}
