//! The `cudarc` crate, unmodified, on this library. It opens `libcuda.so` by name, so the test runs its cases in a process of its
//! own whose `LD_LIBRARY_PATH` begins with ours.
#![cfg(target_os = "linux")]

mod support;

use std::process::Command;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, DriverError, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;

/// `saxpy`: y = a x + y, grid-stride. `spread`: out[0] += the sum of x, by one warp's shuffles and an atomic.
const KERNELS: &str = r"
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 answer = 42;
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u64 n)
{
    .reg .pred %p<2>;
    .reg .f32 %f<4>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<10>;
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %nctaid.x;
    mad.lo.u32 %r5, %r1, %r2, %r3;
    cvt.u64.u32 %rd4, %r5;
    mul.wide.u32 %rd5, %r2, %r4;
again:
    setp.ge.u64 %p1, %rd4, %rd3;
    @%p1 bra done;
    shl.b64 %rd6, %rd4, 2;
    add.s64 %rd7, %rd1, %rd6;
    add.s64 %rd8, %rd2, %rd6;
    ld.global.f32 %f2, [%rd7];
    ld.global.f32 %f3, [%rd8];
    fma.rn.f32 %f3, %f1, %f2, %f3;
    st.global.f32 [%rd8], %f3;
    add.s64 %rd4, %rd4, %rd5;
    bra again;
done:
    ret;
}
.visible .entry spread(.param .u64 x, .param .u64 out)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.u32 %r2, [%rd4];
    redux.sync.add.s32 %r3, %r2, 0xffffffff;
    shfl.sync.idx.b32 %r4, %r3, 7, 31, 0xffffffff;
    atom.global.add.u32 %r5, [%rd2], %r4;
    ret;
}
";

#[test]
fn a_cudarc_program() {
    const CASE: &str = "GRIDSTRIDE_TEST_CASE";
    if std::env::var_os(CASE).is_some() {
        return program().unwrap();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_cudarc_program", "--nocapture"])
        .env(CASE, "cudarc")
        .env("LD_LIBRARY_PATH", support::folder("cudarc"))
        .env_remove("GRIDSTRIDE_DEVICE")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn program() -> Result<(), DriverError> {
    let context = CudaContext::new(0)?;
    assert!(context.name()?.contains("gridstride CPU device"));
    assert_eq!(context.compute_capability()?, (9, 0));
    let (free, total) = context.mem_get_info()?;
    assert!(free > 0 && free <= total);
    let module = context.load_module(Ptx::from_src(KERNELS))?;
    let saxpy = module.load_function("saxpy")?;
    assert!(module.load_function("nothing").is_err());
    assert!(saxpy.num_regs()? > 0);
    let (_, block) = saxpy.occupancy_max_potential_block_size(no_shared, 0, 0, None)?;
    assert!(block > 0 && block.is_multiple_of(32));

    // Several streams, each forked from the default one and joined to it.
    let main = context.default_stream();
    let n = 10_007_u64;
    let x: Vec<f32> = (0..n).map(|i| (i % 1000) as f32).collect();
    let on_device = main.clone_htod(&x)?;
    for shape in [(1, 1), (1, 32), (3, 96), (40, 256)] {
        let side = main.fork()?;
        let mut y = side.alloc_zeros::<f32>(n as usize)?;
        let config = LaunchConfig { grid_dim: (shape.0, 1, 1), block_dim: (shape.1, 1, 1), shared_mem_bytes: 0 };
        for a in [2.0_f32, 0.5] {
            // SAFETY: the parameters are the kernel's.
            unsafe { side.launch_builder(&saxpy).arg(&a).arg(&on_device).arg(&mut y).arg(&n).launch(config) }?;
        }
        main.join(&side)?;
        let y = main.clone_dtoh(&y)?;
        assert!(y.iter().zip(&x).all(|(y, x)| *y == 2.5 * x), "{shape:?}");
    }

    let spread = module.load_function("spread")?;
    let numbers: Vec<i32> = (0..32).map(|i| i * i - 100).collect();
    let mut out: CudaSlice<i32> = main.alloc_zeros(1)?;
    let numbers_there = main.clone_htod(&numbers)?;
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the parameters are the kernel's.
    unsafe { main.launch_builder(&spread).arg(&numbers_there).arg(&mut out).launch(config) }?;
    assert_eq!(main.clone_dtoh(&out)?, [32 * numbers.iter().sum::<i32>()]);
    threads(&context)?;

    // A fault comes back as an error, and stays.
    let far = 1_u64;
    // SAFETY: an address that is nobody's; the CPU device refuses it.
    unsafe { main.launch_builder(&spread).arg(&far).arg(&far).launch(config) }?;
    let error = main.synchronize().unwrap_err();
    assert!(matches!(
        error.0,
        sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS | sys::CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
    ));
    // The slices are left to the process: with the context broken, freeing them is an error too.
    std::mem::forget((on_device, out, numbers_there));
    Ok(())
}

extern "C" fn no_shared(_block: i32) -> usize {
    0
}

/// Host threads with a stream each, on the same context and module.
fn threads(context: &Arc<CudaContext>) -> Result<(), DriverError> {
    let module = context.load_module(Ptx::from_src(KERNELS))?;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4_u32)
            .map(|seed| {
                let module = module.clone();
                scope.spawn(move || -> Result<(), DriverError> {
                    context.bind_to_thread()?;
                    let stream = context.new_stream()?;
                    let saxpy = module.load_function("saxpy")?;
                    for round in 0..20_u32 {
                        let n = u64::from(seed * 1000 + round * 37 + 1);
                        let x: Vec<f32> = (0..n).map(|i| (i + u64::from(seed)) as f32).collect();
                        let (there, mut y) = (stream.clone_htod(&x)?, stream.alloc_zeros::<f32>(x.len())?);
                        let config =
                            LaunchConfig { grid_dim: (round + 1, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 };
                        // SAFETY: the parameters are the kernel's.
                        unsafe {
                            stream.launch_builder(&saxpy).arg(&3.0_f32).arg(&there).arg(&mut y).arg(&n).launch(config)
                        }?;
                        let back = stream.clone_dtoh(&y)?;
                        assert!(back.iter().zip(&x).all(|(y, x)| *y == 3.0 * x), "{seed} {round}");
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap())
    })
}
