//! Pageable, pinned and managed memory compared: the same bytes to the device and back. `cargo run --example memory`
//!
//! On a GPU pinned memory is copied by the device itself, and pageable memory through a staging buffer. On the CPU device all
//! memory is the host's, and the figures say so.

use std::time::{Duration, Instant};

use cust::memory::{DeviceBuffer, LockedBuffer, UnifiedBuffer};
use cust::prelude::*;
use gridstride_driver as _;

const N: usize = 1 << 22;
const RUNS: usize = 5;

/// The shortest of some runs, as GB/s over what was copied there and back.
fn rate(mut run: impl FnMut() -> Result<(), cust::error::CudaError>) -> Result<f64, cust::error::CudaError> {
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let began = Instant::now();
        run()?;
        best = best.min(began.elapsed());
    }
    Ok((2 * N * size_of::<f32>()) as f64 / best.as_secs_f64() / 1e9)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _context = cust::quick_init()?;
    println!("on {}", Device::get_device(0)?.name()?);
    let mut device = DeviceBuffer::<f32>::zeroed(N)?;

    let mut pageable = vec![1.0f32; N];
    let pageable_rate = rate(|| {
        device.copy_from(&pageable)?;
        device.copy_to(&mut pageable)
    })?;

    let mut pinned = LockedBuffer::new(&1.0f32, N)?;
    let pinned_rate = rate(|| {
        device.copy_from(&pinned[..])?;
        device.copy_to(&mut pinned[..])
    })?;

    // Both sides use one address; the driver moves pages as they are touched.
    let module = Module::from_ptx(gridstride::PTX, &[])?;
    let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    let (mut x, mut out) = (UnifiedBuffer::new(&1.0f32, N)?, UnifiedBuffer::new(&0.0f32, N)?);
    let began = Instant::now();
    x[0] = 2.0;
    // SAFETY: the arguments are those of `add_f32`, `out` overlaps neither input, and the host waits before it reads.
    unsafe {
        launch!(module.add_f32<<<256, 256, 0, stream>>>(
            x.as_unified_ptr(), N, x.as_unified_ptr(), N, out.as_unified_ptr()
        ))?;
    }
    stream.synchronize()?;
    assert_eq!((out[0], out[N - 1]), (4.0, 2.0));
    let managed = began.elapsed();

    println!("pageable: {pageable_rate:.1} GB/s there and back");
    println!("pinned:   {pinned_rate:.1} GB/s there and back");
    println!("managed:  written, added on the device and read in {managed:?}, with no copy in the program");
    Ok(())
}
