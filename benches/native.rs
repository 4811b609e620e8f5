//! The kernels on the CPU device against native Rust on the same cores, in one run.
//!
//! `cargo bench --bench native`. The native loop is what a Rust programmer writes: threads over chunks, zipped slices.

use std::hint::black_box;
use std::time::{Duration, Instant};

use gridstride_cpu::{Bench, Choice, Device, Dtype, LaunchShape, Module, Runs, kernels};

const N: usize = 10_000_000;
const RUNS: u32 = 21;

fn main() {
    let device = Device::open(Choice::Cpu).expect("the CPU device is always there");
    let module = Module::load(&device, gridstride::PTX).expect("the project's own kernels");
    let cores = device.facts().multiprocessors as usize;
    let native = native(cores);
    println!("add f32, n = {N}, {cores} cores, medians of {RUNS}");
    println!("  {:<34} {:>9.3} ms", "native Rust", native.as_secs_f64() * 1e3);
    for name in ["add", "add_scalar"] {
        let kernel = kernels::find(name).expect("it is in the list");
        let mut prepared = kernel.prepare(&device, Dtype::F32, N, 42).expect("120 MB fit");
        let entry = kernel.entry(Dtype::F32);
        let bytes = kernel.bytes(Dtype::F32, N as u64);
        let runs = Runs { warmup: 2, timed: RUNS, patience: None };
        let mut bench =
            Bench { device: &device, module: &module, entry: &entry, prepared: &mut *prepared, bytes, runs };
        let full = kernels::full_shape(kernel, Dtype::F32, N as u64, device.facts());
        for shape in [full, LaunchShape::single_thread()] {
            let time = bench.measure(shape, &()).expect("it runs and is right").timing.kernel.median();
            let ratio = time.as_secs_f64() / native.as_secs_f64();
            let what = format!("{name} {shape}, CPU device");
            println!("  {what:<34} {:>9.3} ms, {ratio:.1} times native", time.as_secs_f64() * 1e3);
        }
    }
}

fn native(cores: usize) -> Duration {
    let (a, b, mut out) = (vec![1.0f32; N], vec![2.0f32; N], vec![0.0f32; N]);
    let part = N.div_ceil(cores);
    let mut times: Vec<Duration> = (0..=RUNS)
        .map(|_| {
            let began = Instant::now();
            std::thread::scope(|scope| {
                for ((a, b), out) in a.chunks(part).zip(b.chunks(part)).zip(out.chunks_mut(part)) {
                    scope.spawn(move || out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = a + b));
                }
            });
            black_box(&mut out);
            began.elapsed()
        })
        .collect();
    // The first run touches the output's pages for the first time.
    times.remove(0);
    times.sort_unstable();
    times[times.len() / 2]
}
