//! How to test a kernel where there is no GPU, CI for example: launch it on the CPU device over the shapes and sizes that go wrong.
//! The guide shows this file; copy it. (The project's own kernels are tested in `tests/kernels.rs`.)

// ANCHOR: test
use cust::prelude::*;

/// Blocks and threads: one thread, odd ones, fewer threads than elements, more blocks than elements.
const SHAPES: [(u32, u32); 5] = [(1, 1), (1, 33), (3, 96), (64, 256), (1000, 32)];
/// No element, one, a warp and its neighbours, and a number that nothing divides.
const SIZES: [usize; 6] = [0, 1, 31, 32, 33, 10_007];

#[test]
fn add_is_right_for_every_shape_and_size() {
    // No GPU is asked for, so that the test says the same everywhere.
    gridstride_driver::choose(gridstride_driver::Choice::Cpu).unwrap();
    let _context = cust::quick_init().unwrap();
    let module = Module::from_ptx(gridstride::PTX, &[]).unwrap();
    let stream = Stream::new(StreamFlags::DEFAULT, None).unwrap();
    for n in SIZES {
        let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let expected: Vec<f32> = a.iter().map(|x| x + x).collect();
        let a = DeviceBuffer::from_slice(&a).unwrap();
        for (blocks, threads) in SHAPES {
            // What no thread writes stays NaN, and a NaN equals nothing.
            let out = DeviceBuffer::from_slice(&vec![f32::NAN; n]).unwrap();
            // SAFETY: the arguments are those of `add_f32`, and all buffers have `n` elements.
            unsafe {
                launch!(module.add_f32<<<blocks, threads, 0, stream>>>(
                    a.as_device_ptr(), n, a.as_device_ptr(), n, out.as_device_ptr()
                ))
                .unwrap();
            }
            let done = stream.synchronize();
            // An access out of bounds ends here, with kernel, block, thread and line.
            assert!(done.is_ok(), "{:?}", gridstride_driver::last_error_detail());
            assert_eq!(out.as_host_vec().unwrap(), expected, "n = {n}, <<<{blocks}, {threads}>>>");
        }
    }
}
// ANCHOR_END: test
