//! The Mandelbrot set: for each pixel, how many steps `z = z² + c` stays within 2.
//!
//! Floor: operations, 7 a step; the 4 bytes of a pixel do not count. What it shows is divergence: the lanes of a warp go on
//! until the last of them is done, so pixels beside the set's edge cost their neighbours' steps as well.
//! Shape of the code: a grid-stride loop over pixels, neighbours in a warp beside each other in a row, whose counts are alike.

use cuda_std::prelude::*;

use crate::math::Float;
use crate::team;

/// `out[y * width + x]` is the number of steps, up to `most`, that pixel `(x, y)` of the `width` by `height` view of
/// [-2, 0.5] × [-1.25, 1.25] stays within 2.
///
/// # Safety
/// `out` must be valid for `width * height` writes that no one else reads or makes meanwhile.
#[kernel]
pub unsafe fn mandelbrot_f32(out: *mut u32, width: u32, height: u32, most: u32) {
    // 32 bits where the pixels fit: a division of 64 takes four times as long.
    let (across, down) = (2.5 / width as f32, 2.5 / height as f32);
    for i in thread::grid_stride(width as usize * height as usize) {
        let (x, y) = match u32::try_from(i) {
            Ok(i) => (i % width, i / width),
            Err(_) => ((i % width as usize) as u32, (i / width as usize) as u32),
        };
        let steps = steps(Float::mul_add(x as f32, across, -2.0), Float::mul_add(y as f32, down, -1.25), most);
        // SAFETY: `i` is a pixel, and this thread alone has it.
        unsafe { *out.add(i) = steps };
    }
}

/// Steps of one point. Each product and sum is rounded as it is written, so that the host gets the same number.
#[inline(always)]
fn steps(cx: f32, cy: f32, most: u32) -> u32 {
    let (mut x, mut y) = (0.0f32, 0.0f32);
    let mut step = 0;
    // Four steps between two looks at the counter.
    while step + 4 <= most {
        let mut part = 0;
        while part < 4 {
            if leaves(&mut x, &mut y, cx, cy) {
                return step + part;
            }
            part += 1;
        }
        step += 4;
    }
    while step < most && !leaves(&mut x, &mut y, cx, cy) {
        step += 1;
    }
    step
}

/// True where the point is beyond 2; else it takes a step.
#[inline(always)]
fn leaves(x: &mut f32, y: &mut f32, cx: f32, cy: f32) -> bool {
    let (xx, yy) = (*x * *x, *y * *y);
    if xx + yy > 4.0 {
        return true;
    }
    *y = Float::mul_add(2.0 * *x, *y, cy);
    *x = xx - yy + cx;
    false
}

/// As `mandelbrot_f32`, each thread with a piece of its own of the picture, as one divides work among the cores of a CPU: the lanes of
/// a warp are at different places, whose counts have nothing to do with each other.
///
/// # Safety
/// As for `mandelbrot_f32`.
#[kernel]
pub unsafe fn mandelbrot_naive_f32(out: *mut u32, width: u32, height: u32, most: u32) {
    let (across, down) = (2.5 / width as f32, 2.5 / height as f32);
    let (pixels, width) = (width as usize * height as usize, width as usize);
    let threads = team::blocks() * team::threads() as usize;
    let me = team::block() * team::threads() as usize + team::thread() as usize;
    let each = pixels.div_ceil(threads);
    for i in each * me..(each * (me + 1)).min(pixels) {
        let (x, y) = (i % width, i / width);
        let steps = steps(Float::mul_add(x as f32, across, -2.0), Float::mul_add(y as f32, down, -1.25), most);
        // SAFETY: `i` is a pixel, and this thread alone has it.
        unsafe { *out.add(i) = steps };
    }
}
