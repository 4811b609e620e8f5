//! Two GPUs, or as many as there are: each adds its part, all at the same time. `cargo run --example all_devices`
//!
//! Where there is one device it does everything, and the program says so.

use cust::context::{Context, CurrentContext};
use cust::device::Device;
use cust::prelude::*;
use gridstride_driver as _;

/// A device at work on its part.
struct Part {
    // Dropped in this order: what belongs to the context before the context.
    out: DeviceBuffer<f32>,
    _inputs: [DeviceBuffer<f32>; 2],
    stream: Stream,
    _module: Module,
    context: Context,
}

fn begin(device: Device, a: &[f32], b: &[f32]) -> Result<Part, Box<dyn std::error::Error>> {
    let context = Context::new(device)?;
    let module = Module::from_ptx(gridstride::PTX, &[])?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let inputs = [DeviceBuffer::from_slice(a)?, DeviceBuffer::from_slice(b)?];
    let out = DeviceBuffer::<f32>::zeroed(a.len())?;
    CurrentContext::synchronize()?;
    let [x, y] = &inputs;
    // SAFETY: the arguments are those of `add_f32`; all buffers have as many elements and live in the part.
    unsafe {
        launch!(module.add_f32<<<256, 256, 0, stream>>>(
            x.as_device_ptr(), x.len(), y.as_device_ptr(), y.len(), out.as_device_ptr()
        ))?;
    }
    Ok(Part { out, _inputs: inputs, stream, _module: module, context })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    cust::init(CudaFlags::empty())?;
    let devices: Vec<Device> = Device::devices()?.collect::<Result<_, _>>()?;
    let n = 1_000_003_usize;
    let (a, b): (Vec<f32>, Vec<f32>) = (0..n).map(|i| (i as f32, 1.0)).unzip();
    let each = n.div_ceil(devices.len());
    println!("{} device(s), {each} elements each", devices.len());

    // All launches first, then the waits: the devices work at the same time.
    let parts: Vec<Part> = devices
        .iter()
        .zip(a.chunks(each).zip(b.chunks(each)))
        .map(|(device, (a, b))| begin(*device, a, b))
        .collect::<Result<_, _>>()?;
    let mut sums = Vec::new();
    for part in parts {
        CurrentContext::set_current(&part.context)?;
        part.stream.synchronize()?;
        sums.extend(part.out.as_host_vec()?);
    }
    assert!(sums.iter().enumerate().all(|(i, sum)| *sum == i as f32 + 1.0) && sums.len() == n);
    println!("{n} sums are right");
    Ok(())
}
