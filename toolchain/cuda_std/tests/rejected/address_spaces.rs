use cuda_std::address_space;

#[address_space(shared)]
static mut TILE: [f32; 256] = [0.0; 256];

#[address_space(constant)]
static TABLE: [f32; 4] = [0.0; 4];

fn main() {}
