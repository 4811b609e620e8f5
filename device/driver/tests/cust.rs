//! The CPU device through `cust`, unmodified: what its users write works.

use cust::event::{Event, EventFlags};
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBox, DeviceBuffer, LockedBuffer, UnifiedBuffer};
use cust::stream::{Stream, StreamFlags};
use gridstride_driver::{Choice, Kind, choose, open};

#[test]
fn buffers_streams_and_events() -> Result<(), Box<dyn std::error::Error>> {
    choose(Choice::Cpu)?;
    let _context = cust::quick_init()?;
    assert_eq!(open()?.kind, Kind::Cpu);
    let device = cust::device::Device::get_device(0)?;
    assert!(device.name()?.contains("CPU"));
    assert!(device.total_memory()? > 0);

    let host: Vec<u32> = (0..10_000).collect();
    let mut buffer = DeviceBuffer::from_slice(&host)?;
    assert_eq!(buffer.as_host_vec()?, host);
    // SAFETY: any bits are a number.
    let mut copy = unsafe { DeviceBuffer::<u32>::uninitialized(host.len())? };
    copy.copy_from(&buffer)?;
    assert_eq!(copy.as_host_vec()?, host);

    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let (start, end) = (Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?);
    let mut locked = LockedBuffer::new(&0_u32, host.len())?;
    start.record(&stream)?;
    // SAFETY: the buffers live until the stream has been waited for.
    unsafe {
        buffer.set_32_async(7, &stream)?;
        buffer.async_copy_to(&mut locked, &stream)?;
    }
    end.record(&stream)?;
    stream.synchronize()?;
    assert!(end.elapsed_time_f32(&start)? >= 0.0);
    assert!(locked.iter().all(|&value| value == 7));

    let mut unified = UnifiedBuffer::new(&1_u64, 100)?;
    unified[99] = 2;
    assert_eq!(unified.iter().sum::<u64>(), 101);

    let (send, seen) = std::sync::mpsc::channel();
    stream.add_callback(Box::new(move || send.send(()).unwrap()))?;
    stream.synchronize()?;
    seen.recv()?;

    let value = DeviceBox::new(&3.5_f64)?;
    let mut back = 0.0;
    value.copy_to(&mut back)?;
    assert_eq!(back, 3.5);
    Ok(())
}
