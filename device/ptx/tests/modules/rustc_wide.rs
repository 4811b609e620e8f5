//! Small kernels that make rustc write its ways of saying things. `rustc_wide.ptx` beside this file is what rustc
//! 1.99.1 makes of it for `sm_70`: `lto = "fat"`, `codegen-units = 1`, `panic = "abort"`, `debug = "line-tables-only"`.

#![no_std]
#![feature(abi_ptx, stdarch_nvptx, asm_experimental_arch)]
use core::arch::asm;
use core::arch::nvptx::*;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { trap() }
}

core::arch::global_asm!(".shared .align 16 .b8 TILE[4096];");

trait Shape {
    fn area(&self, x: f32) -> f32;
}
struct Square(f32);
struct Circle(f32, u8);
impl Shape for Square {
    #[inline(never)]
    fn area(&self, x: f32) -> f32 {
        self.0 * self.0 + x
    }
}
impl Shape for Circle {
    #[inline(never)]
    fn area(&self, x: f32) -> f32 {
        self.0 * 3.0 * x + self.1 as f32
    }
}

static COUNT: AtomicU64 = AtomicU64::new(7);
static POINTS: [&[u16]; 3] = [&[1, 2], &[3], &[]];
static SHAPES: [&(dyn Shape + Sync); 2] = [&Square(2.0), &Circle(1.5, 3)];
static mut SCRATCH: [[f64; 2]; 3] = [[1.0, 2.0], [0.0, -4.5], [f64::NAN, 0.0]];

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn switch(kind: u32, out: *mut i64, n: usize) {
    unsafe {
        let i = _thread_idx_x() as usize;
        let mut v = *out.add(i);
        v = match kind {
            0 => v + 3,
            1 => v * 5,
            2 => v ^ 77,
            3 => v.leading_zeros() as i64,
            4 => v.count_ones() as i64,
            5 => v.reverse_bits(),
            6 => v / 7,
            7 => v % 9,
            8 => v.rotate_left(3),
            9 => (v as i128 * v as i128 >> 3) as i64,
            _ => -v,
        };
        *out.add(i) = v;
        let table = core::slice::from_raw_parts_mut(out, n);
        table[i + 1] = COUNT.fetch_add(1, Ordering::Relaxed) as i64;
        _syncthreads();
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn indirect(which: usize, x: f32, out: *mut f32) {
    unsafe {
        *out = SHAPES[which & 1].area(x) + POINTS[which % 3].len() as f32;
        *out.add(1) = SCRATCH[which % 3][which & 1] as f32;
        SCRATCH[0][1] = x as f64;
        *out.add(2) = fib(which as u32) as f32;
    }
}

#[inline(never)]
fn fib(n: u32) -> u32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn assembly(out: *mut u32, flag: *const AtomicU32) {
    unsafe {
        let (lane, smaller): (u32, u32);
        asm!("mov.u32 {}, %laneid;", out(reg32) lane);
        asm!("{{ .reg .pred p; .reg .u32 %r; setp.lt.u32 p, {1}, 16;", "mov.u32 %r, (1<<4)-1;", "@!p mov.u32 %r, 0;", "mov.u32 {0}, %r; }}",
            out(reg32) smaller, in(reg32) lane);
        let tile: *mut u32;
        asm!("{{ .reg .u64 t; mov.u64 t, TILE; cvta.shared.u64 {0}, t; }}", out(reg64) tile);
        *tile.add(lane as usize) = smaller;
        while (*flag).load(Ordering::Acquire) == 0 {}
        *out.add(lane as usize) = *tile.add(lane as usize ^ 1);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn local(out: *mut u32, n: u32) {
    let mut a = [0u32; 24];
    for i in 0..n {
        let k = (i * 7 % 24) as usize;
        a[k] += i;
        a[(k + 5) % 24] ^= a[k];
    }
    unsafe {
        for (i, v) in a.iter().enumerate() {
            *out.add(i) = *v
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn endless(flag: *const AtomicU32, out: *mut u32) -> () {
    unsafe {
        loop {
            if (*flag).load(Ordering::Relaxed) == 2 {
                *out += 1
            }
        }
    }
}
