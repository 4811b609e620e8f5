//! The order in which warps and blocks run: their own, or one that a seed determines.
//!
//! A shuffled order is one that a GPU might have chosen: blocks start in any order, warps take turns of any length. It is
//! the same each time for the same seed, on any machine, because such a launch runs on one core.

use fastrand::Rng;

/// Grids up to this size are shuffled; of larger ones the blocks come in jumps.
const SHUFFLED: u64 = 1 << 20;
/// A warp gives way after one jump or branch in so many, on average.
const TURN: u32 = 48;

/// An order.
#[derive(Debug)]
pub(crate) struct Schedule {
    rng: Rng,
    blocks: Blocks,
}

#[derive(Debug)]
enum Blocks {
    Listed(Vec<u32>),
    /// Number `i` is `(first + i * step) % count`.
    Jumps {
        first: u64,
        step: u64,
        count: u64,
    },
}

impl Schedule {
    /// The order of `seed` for a grid of so many blocks.
    pub(crate) fn new(seed: u64, count: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let blocks = if count <= SHUFFLED {
            let mut list: Vec<u32> = (0..count as u32).collect();
            rng.shuffle(&mut list);
            Blocks::Listed(list)
        } else {
            let mut step = rng.u64(1..count);
            while gcd(step, count) != 1 {
                step = rng.u64(1..count);
            }
            Blocks::Jumps { first: rng.u64(0..count), step, count }
        };
        Self { rng, blocks }
    }

    /// The block that is started as number `at`.
    pub(crate) fn block(&self, at: u64) -> u64 {
        match &self.blocks {
            Blocks::Listed(list) => list[at as usize].into(),
            Blocks::Jumps { first, step, count } => {
                ((u128::from(*first) + u128::from(at) * u128::from(*step)) % u128::from(*count)) as u64
            }
        }
    }

    /// Is the warp's turn over?
    pub(crate) fn gives_way(&mut self) -> bool {
        self.rng.u32(0..TURN) == 0
    }

    /// Puts things into another order.
    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        self.rng.shuffle(things);
    }

    /// One of so many.
    pub(crate) fn pick(&mut self, count: usize) -> usize {
        self.rng.usize(0..count)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_comes_once() {
        for count in [1u64, 2, 7, 1000] {
            let schedule = Schedule::new(5, count);
            let mut order: Vec<u64> = (0..count).map(|at| schedule.block(at)).collect();
            let same = (0..count).map(|at| Schedule::new(5, count).block(at)).eq(order.iter().copied());
            assert!(same);
            order.sort_unstable();
            assert!(order.into_iter().eq(0..count));
        }
        let schedule = Schedule::new(1, 3 << 20);
        let mut seen = vec![false; 3 << 20];
        (0..3 << 20).for_each(|at| assert!(!std::mem::replace(&mut seen[schedule.block(at) as usize], true)));
    }
}
