// Votes, matches, reductions and active masks of a warp, also inside branches.
// compile: -arch=sm_80
// run: votes <<<2,1,1 64,1,1 0>>> in:rand:1:128 out:1024
// run: shuffles <<<1,1,1 96,1,1 0>>> in:rand:2:96 out:1152
// run: reductions <<<1,1,1 64,1,1 0>>> in:edge:3:64 out:512
extern "C" __global__ void votes(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], *o = out + 8 * i;
    o[0] = __ballot_sync(~0u, v & 1);
    o[1] = __all_sync(~0u, v > 3) | __any_sync(~0u, v % 16 == 3) << 1;
    o[2] = __match_any_sync(~0u, v % 5);
    int pred;
    o[3] = __match_all_sync(~0u, v & 0, &pred) + pred;
    if (v & 2) {
        o[4] = __activemask();
        o[5] = __ballot_sync(o[4], v & 4);
        if (v & 8) o[6] = __popc(__activemask()); else o[6] = ~__activemask();
    } else {
        unsigned m = __activemask();
        o[4] = m;
        o[5] = __match_any_sync(m, (unsigned long long)(v % 3) << 40);
        o[6] = __any_sync(m, v & 64);
    }
    unsigned eq, lt, le, gt, ge;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    o[7] = eq + 3 * lt + 5 * le + 7 * gt + 11 * ge;
}
extern "C" __global__ void shuffles(const unsigned *in, unsigned *out) {
    unsigned i = threadIdx.x, v = in[i], *o = out + 12 * i;
    o[0] = __shfl_sync(~0u, v, v);
    o[1] = __shfl_sync(~0u, v, i + 3, 8);
    o[2] = __shfl_up_sync(~0u, v, 3, 16);
    o[3] = __shfl_down_sync(~0u, v, 5);
    o[4] = __shfl_down_sync(~0u, v, 5, 4);
    o[5] = __shfl_xor_sync(~0u, v, 21);
    o[6] = __shfl_xor_sync(~0u, v, 6, 4);
    double d = __shfl_sync(~0u, (double)v, 7);
    o[7] = (unsigned)(__double_as_longlong(d) >> 20);
    unsigned long long w = __shfl_xor_sync(~0u, (unsigned long long)v << 17, 1);
    o[8] = (unsigned)(w >> 16);
    o[9] = __float_as_uint(__shfl_up_sync(~0u, (float)v, 1));
    o[10] = 0;
    if (v & 1) o[10] = __shfl_sync(__activemask(), v, __ffs(__activemask()) - 1);
    o[11] = __reduce_xor_sync(~0u, v);
}
extern "C" __global__ void reductions(const unsigned *in, unsigned *out) {
    unsigned i = threadIdx.x, v = in[i], *o = out + 8 * i;
    o[0] = __reduce_add_sync(~0u, v);
    o[1] = __reduce_min_sync(~0u, v);
    o[2] = __reduce_max_sync(~0u, v);
    o[3] = __reduce_min_sync(~0u, (int)v);
    o[4] = __reduce_max_sync(~0u, (int)v);
    o[5] = __reduce_and_sync(~0u, v);
    o[6] = __reduce_or_sync(~0u, v);
    unsigned m = __match_any_sync(~0u, v & 3);
    o[7] = __reduce_add_sync(m, v);
}
