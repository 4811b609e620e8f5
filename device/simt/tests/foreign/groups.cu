// Cooperative groups: tiles, coalesced and labelled groups, reductions and scans, and a grid that waits for itself.
// compile: -arch=sm_80
// run: tiles <<<2,1,1 64,1,1 0>>> in:rand:1:128 out:1024
// run: grid <<<4,1,1 64,1,1 0>>> coop io:rand:2:256 out:256
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tiles(const unsigned *in, unsigned *out) {
    auto block = cg::this_thread_block();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], *o = out + 8 * i;
    auto tile = cg::tiled_partition<8>(block);
    o[0] = cg::reduce(tile, v, cg::plus<unsigned>());
    o[1] = tile.shfl_xor(v, 3) + tile.thread_rank() + 100 * tile.meta_group_rank();
    o[2] = tile.ballot(v & 1) + tile.any(v % 8 == 0);
    o[3] = cg::exclusive_scan(tile, v);
    auto warp = cg::tiled_partition<32>(block);
    o[4] = cg::reduce(warp, v, cg::greater<unsigned>());
    o[5] = warp.match_any(v % 4);
    if (v % 3 == 1) {
        auto some = cg::coalesced_threads();
        o[6] = some.thread_rank() + 100 * some.size() + some.shfl(v, 0);
        auto label = cg::labeled_partition(some, (int)(v % 5));
        o[7] = cg::reduce(label, v, cg::bit_xor<unsigned>());
    } else {
        auto half = cg::binary_partition(cg::coalesced_threads(), v % 2 == 0);
        o[6] = half.size();
        o[7] = cg::inclusive_scan(half, v % 1000);
    }
    block.sync();
}
extern "C" __global__ void grid(unsigned *data, unsigned *out) {
    auto grid = cg::this_grid();
    unsigned i = grid.thread_rank(), n = grid.size();
    for (int round = 0; round < 3; round++) {
        unsigned v = data[(i * 7 + 64) % n];
        grid.sync();
        data[i] = v * 3 + round;
        grid.sync();
    }
    out[i] = data[n - 1 - i];
}
