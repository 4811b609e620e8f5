use cuda_launch_fixtures::AddKernel;
use cust::function::Function;
use cust::memory::DeviceBuffer;
use cust::stream::Stream;

unsafe fn launch(
    add: &AddKernel<Function<'_>>,
    on: &Stream,
    a: &DeviceBuffer<f32>,
    b: &DeviceBuffer<f64>,
    out: &mut DeviceBuffer<f32>,
) {
    let _ = unsafe { add.launch(on, (1, 1), a, b, out) };
}

fn main() {}
