use cuda_std::kernel;

#[kernel]
pub struct K;

fn main() {}
