//! Kernels that do wrong: the launch fails with a sentence, and the process goes on.

use std::ffi::c_void;

use cust::context::{Context, CurrentContext};
use cust::function::Function;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use gridstride_driver::{Choice, last_error_detail};

fn open() -> (Context, Module, Stream) {
    gridstride_driver::choose(Choice::Cpu).unwrap();
    let context = cust::quick_init().unwrap();
    let module = Module::from_ptx(gridstride::PTX, &[]).unwrap();
    (context, module, Stream::new(StreamFlags::DEFAULT, None).unwrap())
}

fn launch(stream: &Stream, function: &Function<'_>, a: (u64, usize), b: (u64, usize), out: u64) {
    let args: [*mut c_void; 5] = [
        (&raw const a.0).cast_mut().cast(),
        (&raw const a.1).cast_mut().cast(),
        (&raw const b.0).cast_mut().cast(),
        (&raw const b.1).cast_mut().cast(),
        (&raw const out).cast_mut().cast(),
    ];
    // SAFETY: wrong on purpose; the CPU device checks every access.
    unsafe { stream.launch(function, 2, 64, 0, &args) }.unwrap();
}

/// One test, because a fault stays with the context that all threads of a process share.
#[test]
fn faults_are_reported_and_survived() {
    let (context, module, stream) = open();
    let function = module.get_function("add_f32").unwrap();
    let a = DeviceBuffer::from_slice(&[1f32; 100]).unwrap();
    let out = DeviceBuffer::from_slice(&[0f32; 100]).unwrap();
    let pointer = |buffer: &DeviceBuffer<f32>| buffer.as_device_ptr().as_raw();

    // `b` is shorter than `a`: the kernel's own check panics.
    launch(&stream, &function, (pointer(&a), 100), (pointer(&a), 99), pointer(&out));
    let error = CurrentContext::synchronize().unwrap_err();
    let detail = last_error_detail().expect("a fault has a detail");
    assert!(detail.contains("gpu/src/add.rs:"), "{error}: {detail}");
    assert!(
        detail.contains("add_f32") && detail.contains("block (0, 0, 0)") && detail.contains("thread (0, 0, 0)"),
        "{detail}"
    );
    // It stays: whoever asks next is told as well.
    assert!(out.copy_to(&mut [0f32; 100]).is_err());

    // A new context on the same device works.
    std::mem::forget((a, out, stream, module));
    // SAFETY: what belonged to the context is not used again.
    unsafe { cust::sys::cuDevicePrimaryCtxReset_v2(0) };
    drop(context);
    let (_context, module, stream) = open();
    let function = module.get_function("add_f32").unwrap();
    let a = DeviceBuffer::from_slice(&[1f32; 100]).unwrap();
    let out = DeviceBuffer::from_slice(&[0f32; 100]).unwrap();
    launch(&stream, &function, (pointer(&a), 100), (pointer(&a), 100), pointer(&out));
    stream.synchronize().unwrap();
    let mut sums = [0f32; 100];
    out.copy_to(&mut sums).unwrap();
    assert_eq!(sums, [2f32; 100]);

    // The output is one element too short, and the kernel cannot know.
    let short = DeviceBuffer::from_slice(&[0f32; 99]).unwrap();
    launch(&stream, &function, (pointer(&a), 100), (pointer(&a), 100), pointer(&short));
    let error = stream.synchronize().unwrap_err();
    assert_eq!(format!("{error:?}"), "IllegalAddress");
    let detail = last_error_detail().expect("a fault has a detail");
    let named = ["write of", "global memory", "396 bytes", "gpu/src/add.rs"];
    assert!(named.iter().all(|part| detail.contains(part)), "{detail}");
    std::mem::forget((a, out, short));
}
