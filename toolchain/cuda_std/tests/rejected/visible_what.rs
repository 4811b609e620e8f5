use cuda_std::externally_visible;

#[externally_visible(always)]
#[unsafe(no_mangle)]
pub extern "C" fn arguments() {}

#[externally_visible]
pub static NOT_A_FUNCTION: u32 = 0;

fn main() {}
