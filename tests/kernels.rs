//! Every kernel, for every element type, over a lattice of launch shapes and sizes, on the CPU device: what the host computes,
//! bit for bit or within a derived bound, whatever was in the output before.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cust::memory::DeviceBuffer;
use gridstride_cpu::kernels::{self, Prepared};
use gridstride_cpu::{Bench, Choice, Device, Dtype, LaunchShape, Module, Result, Runs, lattice};

/// Operations or elements moved that one launch of the lattice may ask for: one thread does them all, interpreted.
const MOST_WORK: u64 = 30_000;

/// The counters are those of the launch that finished last in the process, so the tests of this file take turns.
static TURN: Mutex<()> = Mutex::new(());

fn open() -> (Device, Module, MutexGuard<'static, ()>) {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let device = Device::open(Choice::Cpu).unwrap();
    let module = Module::load(&device, gridstride::PTX).unwrap();
    (device, module, turn)
}

#[test]
fn every_shape_and_size_gives_the_hosts_result() {
    let (device, module, _turn) = open();
    // New inputs each run; the seed is in the message of a failure.
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
    for kernel in kernels::ALL {
        for &dtype in kernel.dtypes() {
            let verified = lattice::verify(&device, &module, *kernel, dtype, MOST_WORK, seed).unwrap();
            let name = kernel.name();
            assert!(verified.launches >= 4 * lattice::SHAPES.len() as u64, "{name} {dtype}: {verified:?}");
        }
    }
}

#[test]
fn verification_fails_for_another_kernels_result() {
    let (device, module, _turn) = open();
    let kernel = kernels::find("add").unwrap();
    let mut prepared = kernel.prepare(&device, Dtype::F32, 1000, 1).unwrap();
    // The sum of the bits as integers is not the sum of the floats.
    let runs = Runs { warmup: 0, timed: 1, ..Runs::default() };
    let shape = LaunchShape::linear(2, 64);
    let mut bench =
        Bench { device: &device, module: &module, entry: "add_i32", prepared: &mut *prepared, bytes: 12_000, runs };
    let error = bench.measure(shape, &()).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("gave a wrong result") && message.contains("out["), "{message}");
}

/// `add` of ones, of which the reference says that they are as many as `expected`. Also what a kernel of one's own needs
/// on the host, outside of `gridstride_cpu`.
struct Ones {
    input: DeviceBuffer<f32>,
    out: DeviceBuffer<f32>,
    expected: f32,
}

impl Prepared for Ones {
    fn launch(&mut self, device: &Device, module: &Module, entry: &str, shape: LaunchShape) -> Result<()> {
        let (input, out, n) = (self.input.as_device_ptr(), self.out.as_device_ptr(), self.input.len());
        let (input, n) = ((&raw const input).cast_mut().cast(), (&raw const n).cast_mut().cast());
        // SAFETY: the parameters of `add_f32`; the buffers have `n` elements, and every test synchronises before it drops them.
        unsafe { module.launch(device, entry, shape, &[input, n, input, n, (&raw const out).cast_mut().cast()]) }
    }

    fn poison(&mut self) -> Result<()> {
        self.out = DeviceBuffer::from_slice(&vec![f32::NAN; self.input.len()]).unwrap();
        Ok(())
    }

    fn read_one(&mut self) -> Result<()> {
        self.verify().map(|_| ())
    }

    fn verify(&self) -> Result<std::result::Result<(), String>> {
        let got = self.out.as_host_vec().unwrap();
        let wrong = got.iter().position(|sum| *sum != self.expected);
        Ok(wrong.map_or(Ok(()), |at| Err(format!("out[{at}] is {}, and {} is right", got[at], self.expected))))
    }
}

#[test]
fn verification_fails_for_a_wrong_reference() {
    let (device, module, _turn) = open();
    let measure = |expected: f32| {
        let (input, out) = (DeviceBuffer::from_slice(&[1.0; 100]).unwrap(), DeviceBuffer::zeroed(100).unwrap());
        let mut ones = Ones { input, out, expected };
        let runs = Runs { warmup: 0, timed: 1, ..Runs::default() };
        let mut bench =
            Bench { device: &device, module: &module, entry: "add_f32", prepared: &mut ones, bytes: 1200, runs };
        bench.measure(LaunchShape::linear(2, 64), &())
    };
    assert!(measure(2.0).is_ok());
    let message = measure(3.0).unwrap_err().to_string();
    assert_eq!(message, "`add_f32` as <<<2, 64>>> gave a wrong result: out[0] is 2, and 3 is right");
}

#[test]
fn verification_fails_for_a_result_that_was_not_written() {
    let (device, _module, _turn) = open();
    for kernel in kernels::ALL {
        for &dtype in kernel.dtypes() {
            let prepared = kernel.prepare(&device, dtype, 64, 1).unwrap();
            let verdict = prepared.verify().unwrap();
            assert!(verdict.is_err(), "{} {dtype}: the poison passes for a result", kernel.name());
        }
    }
}

#[test]
fn counters_are_exact_and_repeat() {
    let (device, module, _turn) = open();
    let kernel = kernels::find("add_scalar").unwrap();
    let count = |shape: LaunchShape| {
        let mut prepared = kernel.prepare(&device, Dtype::F32, 32 * 64, 7).unwrap();
        let runs = Runs { warmup: 0, timed: 1, ..Runs::default() };
        let prepared = &mut *prepared;
        let mut bench = Bench { device: &device, module: &module, entry: "add_scalar_f32", prepared, bytes: 0, runs };
        let measured = bench.measure(shape, &()).unwrap();
        measured.counters.expect("the CPU device counts")
    };
    let full = count(LaunchShape::linear(8, 256));
    assert_eq!(full, count(LaunchShape::linear(8, 256)));
    // 64 warps, each with two loads and a store of 32 neighbours: four sectors of 32 bytes a request, all lanes at work.
    assert_eq!((full.warps, full.global_requests, full.global_sectors), (64, 3 * 64, 3 * 64 * 4));
    assert_eq!(full.active_lanes_percent(), Some(100.0));
    let single = count(LaunchShape::single_thread());
    assert_eq!((single.warps, single.global_requests, single.global_sectors), (1, 3 * 2048, 3 * 2048));
    assert_eq!(single.active_lanes_percent(), Some(100.0 / 32.0));
    // The same work with one lane a warp instruction instead of 32; a launch of 64 warps repeats what comes before the loop.
    assert!(single.instructions > 5 * full.instructions);
}
