use cuda_std::kernel;

pub struct Config {
    name: Box<u32>,
}

#[kernel]
pub unsafe fn k(config: Config) {}

fn main() {}
