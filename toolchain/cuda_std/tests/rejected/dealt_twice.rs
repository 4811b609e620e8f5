//! Ways around what `GridMut` and `Tile` guarantee.

use cuda_std::prelude::*;
use cuda_std::shared::ThisBlock;
use cuda_std::shared_tile;

#[kernel]
pub fn in_two_ways(out: GridMut<u32>) {
    for (_, out) in out.grid_stride_mut() {
        *out = 1;
    }
    let (low, _high) = out.split_at(1);
    low.grid_stride_mut().for_each(|(_, out)| *out += 1);
}

#[kernel]
pub fn before_the_barrier(block: ThisBlock) {
    let tile = shared_tile!(block => [u32; 32]);
    let _ = tile[0];
}

#[kernel]
pub fn across_the_barrier(block: ThisBlock) {
    let tile = shared_tile!(block => [u32; 32]).sync();
    let first = &tile[0];
    let _own = tile.sync();
    let _ = *first;
}

#[kernel]
pub fn same_memory_twice(block: ThisBlock) {
    for _ in 0..2 {
        let _ = shared_tile!(block => [u32; 32]);
    }
}

#[kernel]
pub fn no_plain_value(block: ThisBlock) {
    let _ = shared_tile!(block => [bool; 32]);
}

#[kernel]
pub fn two_parts(_a: ThisBlock, _b: ThisBlock) {}

type Hidden<'a> = GridMut<'a, u32>;

#[kernel]
pub fn hidden(_out: Hidden) {}

fn main() {}
