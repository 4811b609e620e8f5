use cuda_launch_fixtures::AddKernel;
use cust::function::Function;
use cust::memory::DeviceBuffer;
use cust::stream::Stream;

fn launch(
    add: &AddKernel<Function<'_>>,
    on: &Stream,
    a: &DeviceBuffer<f32>,
    _b: &DeviceBuffer<f64>,
    out: &mut DeviceBuffer<f32>,
) {
    let _ = add.launch(on, (1, 1), a, a, out);
}

fn main() {}
