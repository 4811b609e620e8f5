//! Random inputs as functions of the index: the same number for the same seed, stream and index, in any order and on any
//! number of threads. A reference asks for an input again instead of keeping it.

use std::ops::Range;

use super::expected::Element;

/// An input: element `i` of stream `stream` of a seed.
pub(crate) fn random<T: Element>(seed: u64, stream: u64) -> impl Fn(usize) -> T + Copy + Send + Sync {
    let key = mix(seed ^ mix(stream.wrapping_add(1)));
    move |i| T::random(mix(key.wrapping_add((i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))))
}

/// The finaliser of SplitMix64: every bit of the result depends on every bit of `x`.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// `at(i)` for every `i` below `len`, computed on all cores.
pub(crate) fn collect<T: Copy + Default + Send>(len: usize, at: impl Fn(usize) -> T + Sync) -> Vec<T> {
    in_parts(len, part(len), at)
}

/// `combine` over `at(0)`, `at(1)`, …, in parts of 65,536 on all cores.
pub(crate) fn fold<R: Copy + Default + Send + Sync>(
    n: usize,
    identity: R,
    at: impl Fn(usize) -> R + Sync,
    combine: impl Fn(R, R) -> R + Sync,
) -> R {
    const PART: usize = 1 << 16;
    let of_part = |part: usize| (part * PART..((part + 1) * PART).min(n)).map(&at).fold(identity, &combine);
    let parts = n.div_ceil(PART);
    in_parts(parts, parts.div_ceil(cores()).max(1), of_part).into_iter().fold(identity, &combine)
}

/// `work(i)` for every `i` below `len`, few and long, on all cores.
pub(crate) fn each(len: usize, work: impl Fn(usize) + Sync) {
    in_parts(len, len.div_ceil(cores()).max(1), work);
}

fn in_parts<T: Copy + Default + Send>(len: usize, part: usize, at: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut all = vec![T::default(); len];
    std::thread::scope(|scope| {
        for (number, chunk) in all.chunks_mut(part).enumerate() {
            let at = &at;
            scope.spawn(move || {
                let from = number * part;
                chunk.iter_mut().enumerate().for_each(|(i, place)| *place = at(from + i));
            });
        }
    });
    all
}

/// The first `Some` in the order of the indices of what `find` gives for parts of `0..len`, looked for on all cores.
pub(crate) fn first<R: Send>(len: usize, find: impl Fn(Range<usize>) -> Option<R> + Sync) -> Option<R> {
    let part = part(len);
    std::thread::scope(|scope| {
        let find = &find;
        let starts = (0..len).step_by(part);
        let running: Vec<_> = starts.map(|from| scope.spawn(move || find(from..(from + part).min(len)))).collect();
        running.into_iter().find_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Elements a thread: few enough for all cores to have some, many enough to be worth starting a thread for.
fn part(len: usize) -> usize {
    len.div_ceil(cores()).max(1 << 16)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_depend_on_seed_stream_and_index_alone() {
        let x = random::<u32>(7, 0);
        let all = collect(200_000, x);
        assert!(all.iter().enumerate().all(|(i, value)| *value == x(i)));
        assert_ne!(all[..10], collect(10, random::<u32>(7, 1)));
        assert_ne!(all[..10], collect(10, random::<u32>(8, 0)));
        let floats = collect(100_000, random::<f32>(7, 0));
        assert!(floats.iter().all(|x| (-1.0..1.0).contains(x)));
        let mean = floats.iter().map(|x| f64::from(*x)).sum::<f64>() / 1e5;
        // Six standard deviations of the mean of that many.
        assert!(mean.abs() < 6.0 * (1.0 / 3.0_f64).sqrt() / 1e5_f64.sqrt(), "{mean}");
    }

    #[test]
    fn the_first_is_found_wherever_it_is() {
        for len in [0, 1, 65_536, 300_001] {
            let found = |wanted: usize| first(len, |part| part.contains(&wanted).then_some(wanted));
            assert_eq!(found(len), None);
            assert_eq!(found(len.saturating_sub(1)), len.checked_sub(1));
        }
    }
}
