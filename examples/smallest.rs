//! The smallest program: a kernel, a launch, a check. `cargo run --example smallest`, with or without a GPU.
//!
//! The kernel is `add_f32` of `gpu/src/add.rs`; `gridstride new` makes a project with one of your own.

use cust::prelude::*;
// Defines the CUDA Driver API that cust calls: NVIDIA's where there is a GPU, else the CPU device.
use gridstride_driver as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(gridstride::PTX, &[])?;
    let stream = Stream::new(StreamFlags::DEFAULT, None)?;

    let n = 1_000_003;
    let a = DeviceBuffer::from_slice(&(0..n).map(|i| i as f32).collect::<Vec<_>>())?;
    let b = DeviceBuffer::from_slice(&vec![0.5f32; n])?;
    let out = DeviceBuffer::<f32>::zeroed(n)?;

    // Round up, or the last elements have no thread. A slice is two arguments, its pointer and its length.
    let (threads, blocks) = (256, n.div_ceil(256) as u32);
    // SAFETY: the arguments are those of `add_f32`, and all three buffers have `n` elements.
    unsafe {
        launch!(module.add_f32<<<blocks, threads, 0, stream>>>(
            a.as_device_ptr(), a.len(), b.as_device_ptr(), b.len(), out.as_device_ptr()
        ))?;
    }
    // The launch only began: what goes wrong in the kernel is told here.
    stream.synchronize()?;

    let mut sums = vec![0.0; n];
    out.copy_to(&mut sums)?;
    let wrong = sums.iter().enumerate().find(|(i, sum)| **sum != *i as f32 + 0.5);
    assert_eq!(wrong, None, "element and value");
    println!("{n} sums are right");
    Ok(())
}
