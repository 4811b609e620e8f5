use cuda_std::address_space;

#[address_space(shared)]
static mut TILE: [f32; 256] = [0.0; 256];

#[address_space(constant)]
static TABLE: [f32; 4] = [0.0; 4];

#[address_space(local)]
static mut SCRATCH: [f32; 4] = [0.0; 4];

#[address_space(global)]
static COUNTERS: [u32; 4] = [0; 4];

#[address_space(texture)]
static IMAGE: [u32; 4] = [0; 4];

#[address_space]
static NOWHERE: u32 = 0;

fn main() {}
