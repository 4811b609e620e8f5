//! The kernels on the CPU device against native Rust that does the same arithmetic on the same cores, in one run.
//!
//! `cargo bench --bench native`, on a machine that does nothing else. The native loops (`loops.rs`) are what a Rust
//! programmer writes: threads over chunks, zipped slices.

mod loops;

use std::time::{Duration, Instant};

use gridstride_cpu::{Bench, Choice, Device, Dtype, LaunchShape, Module, Runs, kernels};

const RUNS: u32 = 21;

/// A kernel, how many elements, and the native loop.
struct Task {
    kernels: &'static [&'static str],
    dtype: Dtype,
    elements: usize,
    /// Also as one thread.
    single: bool,
    native: fn(usize, usize) -> Box<dyn FnMut()>,
}

const TASKS: &[Task] = &[
    Task { kernels: &["add", "add_scalar"], dtype: Dtype::F32, elements: 10_000_000, single: true, native: loops::add },
    Task { kernels: &["matmul"], dtype: Dtype::F32, elements: 512 * 512, single: false, native: loops::matmul },
    Task { kernels: &["histogram"], dtype: Dtype::U8, elements: 10_000_000, single: false, native: loops::histogram },
    Task { kernels: &["scan"], dtype: Dtype::F32, elements: 10_000_000, single: false, native: loops::scan },
    Task { kernels: &["mandelbrot"], dtype: Dtype::F32, elements: 1 << 20, single: false, native: loops::mandelbrot },
];

fn main() {
    let device = Device::open(Choice::Cpu).expect("the CPU device is always there");
    let module = Module::load(&device, gridstride::PTX).expect("the project's own kernels");
    let cores = device.facts().multiprocessors as usize;
    println!("{cores} cores, medians of {RUNS}");
    for task in TASKS {
        let native = median((task.native)(task.elements, cores));
        let what = format!("{} {}, n = {}, native Rust", task.kernels[0], task.dtype, task.elements);
        println!("{what:<52} {:>9.3} ms", native.as_secs_f64() * 1e3);
        for name in task.kernels {
            on_the_device(&device, &module, task, name, native);
        }
    }
}

fn on_the_device(device: &Device, module: &Module, task: &Task, name: &str, native: Duration) {
    let kernel = kernels::find(name).expect("it is in the list");
    let mut prepared = kernel.prepare(device, task.dtype, task.elements, 42).expect("it fits");
    let entry = kernel.entry(task.dtype);
    let n = task.elements as u64;
    let bytes = kernel.bytes(task.dtype, n);
    let runs = Runs { warmup: 2, timed: RUNS, patience: Some(Duration::from_secs(5)) };
    let mut bench = Bench { device, module, entry: &entry, prepared: &mut *prepared, bytes, runs };
    let full = kernels::full_shape(kernel, task.dtype, n, device.facts());
    let single = task.single.then(LaunchShape::single_thread);
    for shape in [Some(full), single].into_iter().flatten() {
        let time = bench.measure(shape, &()).expect("it runs and is right").timing.kernel.median();
        let ratio = time.as_secs_f64() / native.as_secs_f64();
        let what = format!("  {name} {shape}, CPU device");
        println!("{what:<52} {:>9.3} ms, {ratio:.1} times native", time.as_secs_f64() * 1e3);
    }
}

fn median(mut run: Box<dyn FnMut()>) -> Duration {
    // The first run touches the output's pages for the first time.
    run();
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let began = Instant::now();
            run();
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}
