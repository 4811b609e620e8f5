//! Typed launches through `cust`, on the CPU device where there is no GPU.

use std::sync::{LazyLock, Once};

use cuda_builder::{CudaBuilder, NvvmArch};
use cuda_launch::{Image, Images};
use cuda_launch_fixtures::{AddKernel, MixedKernel, Nothing, ReversedKernel, Scale, ScaledKernel};
use cust::memory::{CopyDestination, DeviceBox, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use gridstride_driver as _;

static PTX: LazyLock<String> = LazyLock::new(|| {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/kernels");
    let copy = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda_launch.ptx");
    let built = CudaBuilder::new(folder).copy_to(copy).build().unwrap_or_else(|error| panic!("{error}"));
    std::fs::read_to_string(built).unwrap()
});

/// Whoever holds it may use the device.
fn device() -> cust::context::Context {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| cust::init(cust::CudaFlags::empty()).unwrap());
    let context = cust::context::Context::new(cust::device::Device::get_device(0).unwrap()).unwrap();
    cust::context::CurrentContext::set_current(&context).unwrap();
    context
}

fn ready() -> (cust::context::Context, Module, Stream) {
    let context = device();
    let module = Module::from_ptx(&*PTX, &[]).unwrap();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    (context, module, stream)
}

fn read<T: cust::memory::DeviceCopy + Default + Clone>(buffer: &DeviceBuffer<T>) -> Vec<T> {
    let mut host = vec![T::default(); buffer.len()];
    buffer.copy_to(&mut host).unwrap();
    host
}

#[test]
fn slices_are_pointer_and_length() {
    let (_context, module, stream) = ready();
    let add = AddKernel::load(&module).unwrap();
    for n in [0usize, 1, 33, 1000] {
        let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let b: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
        let (a, b) = (DeviceBuffer::from_slice(&a).unwrap(), DeviceBuffer::from_slice(&b).unwrap());
        let mut out = DeviceBuffer::from_slice(&vec![f32::NAN; n + 1]).unwrap();
        for (grid, block) in [(1, 1), (3, 64), (7, 256)] {
            // SAFETY: the module is of the fixtures, and the stream is waited for before anything is touched.
            unsafe { add.launch(&stream, (grid, block), &a, &b, &mut out) }.unwrap();
            stream.synchronize().unwrap();
            let got = read(&out);
            assert!(got[..n].iter().enumerate().all(|(i, x)| *x == 1.5 * i as f32) && got[n].is_nan(), "{got:?}");
        }
    }
}

#[test]
fn rules_are_checked_with_their_numbers() {
    let (_context, module, stream) = ready();
    let add = AddKernel::load(&module).unwrap();
    let buffer = |n: usize| DeviceBuffer::from_slice(&vec![1f32; n]).unwrap();
    let (three, four, mut out) = (buffer(3), buffer(4), buffer(3));
    let says = |result: Result<(), cuda_launch::LaunchError>, message: &str| {
        assert_eq!(result.unwrap_err().to_string(), message);
    };
    // SAFETY: none of these is launched.
    unsafe {
        says(
            add.launch(&stream, (1, 32), &three, &four, &mut out),
            "`add` requires `a.len() == b.len()`, and a.len() is 3, b.len() is 4",
        );
        says(
            add.launch(&stream, (1, 32), &four, &four, &mut out),
            "`add` requires `out.len() >= a.len()`, and a.len() is 4, out.len() is 3",
        );
        let large = add.launch(&stream, (1, 257), &three, &three, &mut out).unwrap_err().to_string();
        assert!(large.contains("at most 256 threads a block") && large.contains("257"), "{large}");
    }
    let reversed = ReversedKernel::load(&module).unwrap();
    let (x, mut y) = (DeviceBuffer::from_slice(&[0u32; 64]).unwrap(), DeviceBuffer::from_slice(&[0u32; 64]).unwrap());
    // SAFETY: it is not launched.
    let wrong = unsafe { reversed.launch(&stream, (1, 64), &x, &mut y) }.unwrap_err().to_string();
    assert!(wrong.contains("blocks of 16x4 threads") && wrong.contains("launched with 64"), "{wrong}");
}

#[test]
fn every_kind_of_parameter_arrives() {
    let (_context, module, stream) = ready();
    let mixed = MixedKernel::load(&module).unwrap();
    let x = DeviceBuffer::from_slice(&[1f32, 2.0, 3.0]).unwrap();
    let (one, ten) = (DeviceBox::new(&1f32).unwrap(), DeviceBox::new(&10f32).unwrap());
    let mut out = DeviceBuffer::from_slice(&[0f32; 3]).unwrap();
    let scale = Scale { factor: 2.0, offset: 0.5 };
    for (maybe, more) in [(Some(&ten), 10.0), (None, 1000.0)] {
        // SAFETY: as above.
        unsafe { mixed.launch(&stream, (2, 32), &x, 3, 3, (4, 5), scale, Nothing, &one, maybe, &mut out) }.unwrap();
        stream.synchronize().unwrap();
        let expected: Vec<f32> = [1f32, 2.0, 3.0].iter().map(|x| x * 2.0 + 0.5 + (1.0 + more + 12.0)).collect();
        assert_eq!(read(&out), expected);
    }
    // SAFETY: it is not launched.
    let wrong = unsafe { mixed.launch(&stream, (1, 1), &x, 0, 3, (4, 5), scale, Nothing, &one, None, &mut out) };
    assert_eq!(wrong.unwrap_err().to_string(), "`mixed` requires `stream > 0`, and stream is 0");
    // SAFETY: a pointer of `cust` will do where no rule asks for its length.
    unsafe { mixed.launch(&stream, (1, 1), &x, 1, 0, (0, 0), scale, Nothing, &one, None, out.as_device_ptr()) }
        .unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn generic_kernels_are_launched_by_type() {
    /// Generic host code.
    fn run<T, const N: usize>(module: &Module, stream: &Stream, by: T, x: &[T]) -> Vec<T>
    where
        T: cust::memory::DeviceCopy + Default + Send + std::ops::Mul<Output = T> + std::ops::Add<Output = T>,
        for<'m> ScaledKernel<T, N, cust::function::Function<'m>>: cuda_launch::Instance,
    {
        let scaled = ScaledKernel::<T, N, _>::load(module).unwrap();
        let x = DeviceBuffer::from_slice(x).unwrap();
        let mut out = DeviceBuffer::from_slice(&vec![T::default(); x.len()]).unwrap();
        // SAFETY: as above.
        unsafe { scaled.launch(stream, (1, 32), by, &x, &mut out) }.unwrap();
        stream.synchronize().unwrap();
        read(&out)
    }
    let (_context, module, stream) = ready();
    assert_eq!(run::<f32, 2>(&module, &stream, 1.5, &[1.0, 2.0]), [3.0, 6.0]);
    assert_eq!(run::<f64, 3>(&module, &stream, 2.0, &[1.0, 0.5]), [6.0, 3.0]);
    assert_eq!(run::<u32, 2>(&module, &stream, 7, &[1, 2, 3]), [14, 28, 42]);
}

#[test]
fn required_blocks_and_shared_memory_need_no_words() {
    let (_context, module, stream) = ready();
    let reversed = ReversedKernel::load(&module).unwrap();
    let x = DeviceBuffer::from_slice(&(0..128).collect::<Vec<u32>>()).unwrap();
    let mut out = DeviceBuffer::from_slice(&[0u32; 128]).unwrap();
    // SAFETY: as above.
    unsafe { reversed.launch(&stream, (2, (16, 4)), &x, &mut out) }.unwrap();
    stream.synchronize().unwrap();
    let expected: Vec<u32> = (0..64).rev().chain((64..128).rev()).collect();
    assert_eq!(read(&out), expected);
}

#[test]
fn the_ptx_says_what_the_kernels_say() {
    let of = |entry: &str| {
        let rest = PTX.split(&format!(".entry {entry}(")).nth(1).unwrap_or_else(|| panic!("no {entry}"));
        rest.split('{').next().unwrap().to_owned()
    };
    let add = of("add");
    assert!(add.contains(".maxntid 256, 1, 1") && add.contains(".minnctapersm 2"), "{add}");
    assert!(of("reversed").contains(".reqntid 16, 4, 1"));
    assert!(!of("scaled_f32_2").contains("ntid"));
}

#[test]
fn a_module_without_the_kernel_is_told_from_one_with_it() {
    let _context = device();
    let module = Module::from_ptx(".version 7.0\n.target sm_70\n.address_size 64\n", &[]).unwrap();
    let error = AddKernel::load(&module).unwrap_err().to_string();
    assert!(error.starts_with("the module has no kernel `add`"), "{error}");
}

#[test]
fn images_load_what_the_device_runs() {
    let _context = device();
    let image = |capability| Image::new(capability, None, &PTX);
    let images: &'static [Image] = Box::leak(Box::new([image(70), image(999)]));
    let module = Images::new(images).load().unwrap();
    AddKernel::load(&module).unwrap();
    let error = Images::new(&images[1..]).load().unwrap_err().to_string();
    assert!(error.contains("sm_999"), "{error}");
    assert_eq!(NvvmArch::default().capability_value(), 70);
}

#[test]
fn what_does_not_fit_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/rejected/*.rs");
}
