//! `add` over launch shapes against native Rust, and what a launch of an empty kernel costs.
//!
//! `cargo bench -p gridstride-simt` prints medians; the time of a warp instruction is core time.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gridstride_simt::{AllocKind, Device, LaunchConfig, Memory, Program};

const N: usize = 10_000_000;

/// A grid-stride loop as compilers write it, and a kernel that does nothing.
const TEXT: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 out, .param .u64 n) {
    .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %d<20>; .reg .f32 %f<4>;
    ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [out]; ld.param.u64 %d4, [n];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x;
    mul.wide.u32 %d5, %r1, %r2;
    cvt.u64.u32 %d6, %r3;
    add.s64 %d7, %d5, %d6;
    mul.wide.u32 %d8, %r2, %r4;
    setp.ge.u64 %p1, %d7, %d4;
    @%p1 bra END;
LOOP:
    shl.b64 %d9, %d7, 2;
    add.s64 %d10, %d1, %d9;
    ld.global.nc.f32 %f1, [%d10];
    add.s64 %d11, %d2, %d9;
    ld.global.nc.f32 %f2, [%d11];
    add.rn.f32 %f3, %f1, %f2;
    add.s64 %d12, %d3, %d9;
    st.global.f32 [%d12], %f3;
    add.s64 %d7, %d7, %d8;
    setp.lt.u64 %p2, %d7, %d4;
    @%p2 bra LOOP;
END:
    ret;
}
.visible .entry empty() { ret; }";

fn median(times: usize, mut run: impl FnMut()) -> Duration {
    run();
    let mut all: Vec<Duration> = (0..times)
        .map(|_| {
            let began = Instant::now();
            run();
            began.elapsed()
        })
        .collect();
    all.sort_unstable();
    all[times / 2]
}

fn native(cores: usize) -> Duration {
    let (a, b, mut out) = (vec![1.0f32; N], vec![2.0f32; N], vec![0.0f32; N]);
    let part = N.div_ceil(cores);
    median(11, || {
        std::thread::scope(|scope| {
            for ((a, b), out) in a.chunks(part).zip(b.chunks(part)).zip(out.chunks_mut(part)) {
                scope.spawn(move || out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = a + b));
            }
        });
        black_box(&mut out);
    })
}

fn main() {
    let memory = Arc::new(Memory::new(1 << 30));
    let module = gridstride_ptx::parse(TEXT).expect("it is PTX");
    let program = Arc::new(Program::load(&module, &memory).expect("only supported instructions"));
    let bytes = 4 * N as u64;
    let [a, b, out] = [(); 3].map(|()| memory.alloc(bytes, AllocKind::Device).expect("120 MB of 1 GB"));
    let params: Vec<u8> = [a, b, out, N as u64].iter().flat_map(|arg| arg.to_le_bytes()).collect();
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    for cores in if most == 1 { vec![1] } else { vec![1, most] } {
        let device = Device::new(cores, memory.clone());
        println!("{cores} core(s)");
        println!("  add, native Rust         {:>9.3} ms", native(cores).as_secs_f64() * 1e3);
        for (blocks, threads) in [(1024, 256), (39_063, 256), (1, 256), (1, 1)] {
            let config = launch(blocks, threads);
            let run = || device.launch(&program, 0, &config, &params).expect("it stays in bounds");
            let time = median(if threads == 1 { 3 } else { 11 }, || {
                run();
            });
            let busy = cores.min(blocks as usize) as f64;
            let each = time.as_secs_f64() * 1e9 * busy / run().instructions as f64;
            let shape = format!("<<<{blocks}, {threads}>>>");
            println!("  add, {shape:<18}  {:>9.3} ms, {each:.2} ns a warp instruction", time.as_secs_f64() * 1e3);
        }
        for blocks in [1, 1024] {
            let config = launch(blocks, 256);
            let time = median(1001, || {
                device.launch(&program, 1, &config, &[]).expect("it does nothing");
            });
            let shape = format!("<<<{blocks}, 256>>>");
            println!("  empty, {shape:<16}  {:>9.3} us", time.as_secs_f64() * 1e6);
        }
    }
}

fn launch(blocks: u32, threads: u32) -> LaunchConfig {
    let (grid, block) = ([blocks, 1, 1], [threads, 1, 1]);
    LaunchConfig { grid, block, dynamic_shared: 0, cooperative: false, count_memory: false }
}
