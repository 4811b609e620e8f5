// Scans of a warp, of a block, and of a grid that looks back at blocks before.
// compile: -arch=sm_80
// run: warp_scan <<<3,1,1 96,1,1 0>>> in:rand:1:288 out:288
// run: block_scan <<<2,1,1 200,1,1 0>>> in:rand:2:400 out:400
// run: look_back <<<37,1,1 128,1,1 0>>> in:small:3:4736 out:4736 io:zero:0:128 io:zero:0:1
extern "C" __global__ void warp_scan(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = in[i];
    for (int d = 1; d < 32; d *= 2) {
        unsigned t = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += t;
    }
    out[i] = v;
}
extern "C" __global__ void block_scan(const unsigned *in, unsigned *out) {
    __shared__ unsigned sums[32];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    unsigned v = in[i], mask = __activemask();
    for (int d = 1; d < 32; d *= 2) {
        unsigned t = __shfl_up_sync(mask, v, d);
        if (lane >= d) v += t;
    }
    if (lane == 31 || threadIdx.x == blockDim.x - 1) sums[warp] = v;
    __syncthreads();
    if (threadIdx.x == 0) for (int w = 1; w < (blockDim.x + 31) / 32; w++) sums[w] += sums[w - 1];
    __syncthreads();
    out[i] = v + (warp ? sums[warp - 1] : 0);
}
// state: per block flag (1 aggregate, 2 prefix) in the high word
extern "C" __global__ void look_back(const unsigned *in, unsigned *out, unsigned long long *state, unsigned *ticket) {
    __shared__ unsigned part[128], tile, base;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    unsigned b = tile, i = b * 128 + threadIdx.x;
    part[threadIdx.x] = in[i];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        unsigned t = threadIdx.x >= d ? part[threadIdx.x - d] : 0;
        __syncthreads();
        part[threadIdx.x] += t;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        unsigned total = part[127];
        volatile unsigned long long *s = state;
        if (b == 0) { base = 0; s[0] = 2ull << 32 | total; }
        else {
            s[b] = 1ull << 32 | total;
            unsigned sum = 0;
            for (int p = b - 1; p >= 0;) {
                unsigned long long v = s[p];
                if (v >> 32 == 0) continue;
                sum += (unsigned)v;
                if (v >> 32 == 2) break;
                p--;
            }
            base = sum;
            s[b] = 2ull << 32 | (sum + total);
        }
    }
    __syncthreads();
    out[i] = base + part[threadIdx.x];
}
