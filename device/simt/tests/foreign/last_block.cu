// The last block to finish sums what all have left (threadFenceReduction of the CUDA samples, in short).
// compile: -arch=sm_75
// run: total <<<23,1,1 192,1,1 0>>> in:rand:1:10000 u32:10000 out:23 out:1 io:zero:0:1
// run: total <<<1,1,1 32,1,1 0>>> in:rand:2:7 u32:7 out:1 out:1 io:zero:0:1
template <unsigned WIDTH> __device__ unsigned warp_sum(unsigned v) {
#pragma unroll
    for (unsigned d = WIDTH / 2; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    return v;
}
extern "C" __global__ void total(const unsigned *in, unsigned n, volatile unsigned *parts, unsigned *out, unsigned *done) {
    __shared__ unsigned sums[32];
    __shared__ bool last;
    unsigned v = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
    v = warp_sum<32>(v);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned w = 0; w < blockDim.x / 32; w++) sum += sums[w];
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        unsigned sum = 0;
        for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum += parts[b];
        for (unsigned d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
        __syncthreads();
        if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            unsigned all = 0;
            for (unsigned w = 0; w < blockDim.x / 32; w++) all += sums[w];
            *out = all;
        }
    }
}
