// Loads and stores with hints and orders, volatile, unaligned structs, asynchronous copies, matrices in shared memory.
// compile: -arch=sm_80
// run: hints <<<1,1,1 64,1,1 0>>> in:rand:1:512 out:1024
// run: copies <<<2,1,1 64,1,1 0>>> in:rand:2:512 out:512
// run: transpose <<<3,2,1 32,8,1 0>>> in:rand:3:6144 out:6144
// run: matmul <<<2,2,1 16,16,1 0>>> in:float:4:1024 in:float:5:1024 out:1024
// run: histogram <<<5,1,1 96,1,1 0>>> in:rand:6:3000 u32:3000 io:zero:0:64
#include <cuda_pipeline.h>
extern "C" __global__ void hints(const unsigned *in, unsigned *out) {
    unsigned t = threadIdx.x, *o = out + 16 * t;
    in += t;
    o[0] = __ldg(in); o[1] = __ldca(in + 64); o[2] = __ldcg(in + 128); o[3] = __ldcs(in + 192); o[4] = __ldlu(in + 256); o[5] = __ldcv(in + 320);
    __stwb(o + 6, in[3]); __stcg(o + 7, in[4]); __stcs(o + 8, in[5]); __stwt(o + 9, in[6]);
    volatile unsigned *v = o + 10; *v = in[7]; *v = *v + 1;
    o[11] = __ldg((const signed char *)in + 1); o[12] = __ldg((const unsigned short *)in + 1); o[13] = (unsigned)__ldg((const long long *)(in - t) + t);
    __threadfence_system();
    unsigned r; asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(r) : "l"(in)); o[14] = r;
    asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(o + 15), "r"(r + 1) : "memory");
}
extern "C" __global__ void copies(const uint4 *in, uint4 *out) {
    __shared__ uint4 s[64];
    unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[blockIdx.x * 64 + t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[63 - t];
    __syncthreads();
    __pipeline_memcpy_async(&s[t], &in[blockIdx.x * 64 + t], 8, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[blockIdx.x * 64 + t].x ^= s[t].x + s[t].y * 3;
}
extern "C" __global__ void transpose(const unsigned *in, unsigned *out) {
    __shared__ unsigned tile[32][33];
    int w = 96, h = 64, x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void matmul(const float *a, const float *b, float *c) {
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < 32; k += 16) {
        as[y][x] = a[row * 32 + k + x]; bs[y][x] = b[(k + y) * 32 + col];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += as[y][j] * bs[j][x];
        __syncthreads();
    }
    c[row * 32 + col] = sum;
}
extern "C" __global__ void histogram(const unsigned *in, unsigned n, unsigned *bins) {
    __shared__ unsigned s[64];
    for (unsigned i = threadIdx.x; i < 64; i += blockDim.x) s[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[in[i] % 64], 1);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(&bins[i], s[i]);
}
