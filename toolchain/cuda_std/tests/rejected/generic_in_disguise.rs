use cuda_std::kernel;

#[kernel]
pub unsafe fn function(f: impl Fn(f32) -> f32 + Copy) {}

#[kernel]
pub unsafe fn reference(f: &impl Fn(f32) -> f32) {}

#[kernel]
pub unsafe fn length<const N: usize>(a: [f32; N]) {}

fn main() {}
