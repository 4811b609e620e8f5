use cuda_std::gpu_only;

#[gpu_only(please)]
fn arguments() {}

#[gpu_only]
static NOT_A_FUNCTION: u32 = 0;

fn main() {}
