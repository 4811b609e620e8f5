//! Events and streams: two halves of the work in two streams, each timed on the device, and the waits in the right places.
//! `cargo run --example streams`

use std::time::Instant;

use cust::event::{Event, EventFlags};
use cust::prelude::*;
use gridstride_driver as _;

/// A stream with the events around its kernel.
struct Half {
    stream: Stream,
    begin: Event,
    end: Event,
}

impl Half {
    fn new() -> Result<Self, cust::error::CudaError> {
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
        Ok(Self { stream, begin: Event::new(EventFlags::DEFAULT)?, end: Event::new(EventFlags::DEFAULT)? })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(gridstride::PTX, &[])?;
    let n = 1 << 20;
    let a = DeviceBuffer::from_slice(&vec![1.0f32; n])?;
    let b = DeviceBuffer::from_slice(&vec![2.0f32; n])?;
    let out = DeviceBuffer::<f32>::zeroed(n)?;
    // The copies above are on the default stream, and these streams do not wait for it.
    cust::context::CurrentContext::synchronize()?;

    let halves = [Half::new()?, Half::new()?];
    let began = Instant::now();
    for (at, half) in halves.iter().enumerate() {
        let (from, len) = (at * n / 2, n / 2);
        let (a, b, out, stream) =
            (a.index(from..from + len), b.index(from..from + len), out.index(from..from + len), &half.stream);
        half.begin.record(stream)?;
        // SAFETY: the arguments are those of `add_f32`; the halves do not overlap.
        unsafe {
            launch!(module.add_f32<<<64, 256, 0, stream>>>(
                a.as_device_ptr(), len, b.as_device_ptr(), len, out.as_device_ptr()
            ))?;
        }
        half.end.record(stream)?;
    }
    println!("both launches returned after {:?}: they are asynchronous", began.elapsed());

    for (at, half) in halves.iter().enumerate() {
        half.end.synchronize()?;
        println!("half {at}: {:.3} ms between its events", half.end.elapsed_time_f32(&half.begin)?);
    }
    println!("both halves were done {:?} after the first call", began.elapsed());

    let mut sums = vec![0.0; n];
    out.copy_to(&mut sums)?;
    assert!(sums.iter().all(|sum| *sum == 3.0));
    println!("{n} sums are right");
    Ok(())
}
