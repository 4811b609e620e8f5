//! Gravity: the acceleration of each of `n` bodies by all of them.
//!
//! Floor: operations, 20 a pair by custom (Nyland and others, GPU Gems 3, chapter 31), for 16 bytes a body: n times as many
//! operations as reads.
//! Shape of the code: a thread keeps a body in registers and goes through all others. In `nbody_simple` every thread reads
//! every body from memory, through the caches. In `nbody` the threads of a block bring as many bodies as they are into shared
//! memory, one each, and then all of them read them there, all lanes the same one at a time, which is a broadcast.

use cuda_std::prelude::*;
use cuda_std::shared_array;

use crate::math::{Float, rsqrt};
use crate::team;

/// Position and mass; acceleration and 0.
type Body = Packed<f32, 4>;

/// Keeps a body from pulling infinitely at itself; the square of a length.
const SOFTENING: f32 = 1e-4;

/// `sum` and what `other` does to `body`: mass · distance / |distance|³.
#[inline(always)]
fn pull(Packed([x, y, z, _]): Body, Packed([ox, oy, oz, mass]): Body, sum: [f32; 3]) -> [f32; 3] {
    let (dx, dy, dz) = (ox - x, oy - y, oz - z);
    let square = Float::mul_add(dx, dx, Float::mul_add(dy, dy, Float::mul_add(dz, dz, SOFTENING)));
    let inverse = rsqrt(square);
    let strength = mass * inverse * inverse * inverse;
    [Float::mul_add(dx, strength, sum[0]), Float::mul_add(dy, strength, sum[1]), Float::mul_add(dz, strength, sum[2])]
}

/// `out[i]` is the acceleration of `bodies[i]`; every thread reads every body from memory.
///
/// # Safety
/// `out` must be valid for `bodies.len()` writes that no one else reads or makes meanwhile.
#[kernel]
pub unsafe fn nbody_simple_f32(bodies: &[Body], out: *mut Body) {
    for i in thread::grid_stride(bodies.len()) {
        let mut sum = [0.0; 3];
        for other in bodies {
            sum = pull(bodies[i], *other, sum);
        }
        // SAFETY: `i` is a body, and this thread alone has it.
        unsafe { *out.add(i) = Packed([sum[0], sum[1], sum[2], 0.0]) };
    }
}

/// `out[i]` is the acceleration of `bodies[i]`; the bodies pass through shared memory.
///
/// # Safety
/// As for `nbody_simple_f32`.
#[kernel]
pub unsafe fn nbody_f32(bodies: &[Body], out: *mut Body) {
    let tile = shared_array![Packed<f32, 4>; 1024];
    let (me, width, n) = (team::thread() as usize, team::threads() as usize, bodies.len());
    let mut first = team::block() * width;
    // The same trips for every thread of the block: all of them meet at the barriers, also those that have no body.
    while first < n {
        let i = first + me;
        let body = if i < n { bodies[i] } else { Packed([0.0; 4]) };
        let mut sum = [0.0; 3];
        let mut from = 0;
        while from < n {
            let count = width.min(n - from);
            if me < count {
                // SAFETY: `me` is below the 1024 threads that a block has at most; the barriers keep writes and reads apart.
                unsafe { *tile.add(me) = bodies[from + me] };
            }
            thread::sync_threads();
            let mut k = 0;
            // Eight at a time, so that the loop itself costs little.
            while k + 8 <= count {
                let mut part = 0;
                while part < 8 {
                    // SAFETY: written above.
                    sum = pull(body, unsafe { *tile.add(k + part) }, sum);
                    part += 1;
                }
                k += 8;
            }
            while k < count {
                // SAFETY: written above.
                sum = pull(body, unsafe { *tile.add(k) }, sum);
                k += 1;
            }
            thread::sync_threads();
            from += width;
        }
        if i < n {
            // SAFETY: `i` is a body, and this thread alone has it.
            unsafe { *out.add(i) = Packed([sum[0], sum[1], sum[2], 0.0]) };
        }
        first += team::blocks() * width;
    }
}
