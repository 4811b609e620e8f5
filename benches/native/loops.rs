//! What the kernels do, as loops over slices on so many cores.

use std::hint::black_box;

pub fn add(n: usize, cores: usize) -> Box<dyn FnMut()> {
    let (a, b, mut out) = (vec![1.0f32; n], vec![2.0f32; n], vec![0.0f32; n]);
    let part = n.div_ceil(cores);
    Box::new(move || {
        std::thread::scope(|scope| {
            for ((a, b), out) in a.chunks(part).zip(b.chunks(part)).zip(out.chunks_mut(part)) {
                scope.spawn(move || out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = a + b));
            }
        });
        black_box(&mut out);
    })
}

/// Square matrices, row by row, so that the inner loop is vector code.
pub fn matmul(n: usize, cores: usize) -> Box<dyn FnMut()> {
    let side = n.isqrt();
    let (a, b, mut out) = (vec![1.0f32; n], vec![2.0f32; n], vec![0.0f32; n]);
    let part = side.div_ceil(cores) * side;
    Box::new(move || {
        let b = &b;
        std::thread::scope(|scope| {
            for (a, out) in a.chunks(part).zip(out.chunks_mut(part)) {
                scope.spawn(move || {
                    for (a, out) in a.chunks(side).zip(out.chunks_mut(side)) {
                        out.fill(0.0);
                        for (a, b) in a.iter().zip(b.chunks(side)) {
                            out.iter_mut().zip(b).for_each(|(out, b)| *out += a * b);
                        }
                    }
                });
            }
        });
        black_box(&mut out);
    })
}

pub fn histogram(n: usize, cores: usize) -> Box<dyn FnMut()> {
    let x: Vec<u8> = (0..n as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(20) as u8).collect();
    let part = n.div_ceil(cores);
    Box::new(move || {
        let mut totals = [0u32; 256];
        std::thread::scope(|scope| {
            let parts: Vec<_> = x
                .chunks(part)
                .map(|x| {
                    scope.spawn(move || {
                        let mut bins = [0u32; 256];
                        x.iter().for_each(|value| bins[usize::from(*value)] += 1);
                        bins
                    })
                })
                .collect();
            for part in parts {
                let bins = part.join().expect("it only counts");
                totals.iter_mut().zip(bins).for_each(|(total, bin)| *total += bin);
            }
        });
        black_box(&mut totals);
    })
}

/// Each core scans its part; then what came before is added to all parts but the first.
pub fn scan(n: usize, cores: usize) -> Box<dyn FnMut()> {
    let (x, mut out) = (vec![1.0f32; n], vec![0.0f32; n]);
    let part = n.div_ceil(cores);
    Box::new(move || {
        std::thread::scope(|scope| {
            for (x, out) in x.chunks(part).zip(out.chunks_mut(part)) {
                scope.spawn(move || {
                    let mut sum = 0.0;
                    for (out, x) in out.iter_mut().zip(x) {
                        sum += x;
                        *out = sum;
                    }
                });
            }
        });
        let mut before = 0.0;
        let sums: Vec<f32> = out.chunks(part).map(|part| part[part.len() - 1]).collect();
        for (at, sum) in sums.iter().enumerate() {
            let this = &mut out[at * part..(at * part + part).min(n)];
            if at > 0 {
                let piece = this.len().div_ceil(cores);
                std::thread::scope(|scope| {
                    for piece in this.chunks_mut(piece) {
                        scope.spawn(move || piece.iter_mut().for_each(|out| *out += before));
                    }
                });
            }
            before += sum;
        }
        black_box(&mut out);
    })
}

/// The view of the kernel: 256 steps at most.
pub fn mandelbrot(n: usize, cores: usize) -> Box<dyn FnMut()> {
    let side = n.isqrt();
    let mut out = vec![0u32; n];
    // Rows in turn, so that all cores get as much of the set.
    let steps = move |at: usize| {
        let step = 2.5 / side as f32;
        let (cx, cy) = ((at % side) as f32 * step - 2.0, (at / side) as f32 * step - 1.25);
        let (mut x, mut y) = (0.0f32, 0.0f32);
        for count in 0..256 {
            let (xx, yy) = (x * x, y * y);
            if xx + yy > 4.0 {
                return count;
            }
            y = 2.0 * x * y + cy;
            x = xx - yy + cx;
        }
        256
    };
    Box::new(move || {
        let mut shares: Vec<Vec<(usize, &mut [u32])>> = (0..cores).map(|_| Vec::new()).collect();
        for (row, out) in out.chunks_mut(side).enumerate() {
            shares[row % cores].push((row, out));
        }
        std::thread::scope(|scope| {
            for share in shares {
                scope.spawn(move || {
                    for (row, out) in share {
                        for (column, out) in out.iter_mut().enumerate() {
                            *out = steps(row * side + column);
                        }
                    }
                });
            }
        });
        black_box(&mut out);
    })
}
