// Barriers with numbers and counts, those that answer, and warps that only arrive.
// compile: -arch=sm_80
// run: named <<<2,1,1 128,1,1 0>>> in:rand:1:256 out:256
// run: answers <<<2,1,1 100,1,1 0>>> in:rand:2:200 out:600
// run: pairs <<<1,1,1 128,1,1 0>>> in:rand:3:512 out:512
extern "C" __global__ void named(const unsigned *in, unsigned *out) {
    __shared__ unsigned s[128];
    unsigned t = threadIdx.x, half = t / 64, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    if (half == 0) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    unsigned v = s[half * 64 + (t * 7 + 3) % 64];
    asm volatile("barrier.sync %0, %1;" ::"r"(half + 3), "r"(64) : "memory");
    s[t] = v + 1;
    __syncthreads();
    out[i] = s[127 - t];
}
extern "C" __global__ void answers(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    out[3 * i] = __syncthreads_count(v & 1);
    out[3 * i + 1] = __syncthreads_and(v > 100);
    out[3 * i + 2] = __syncthreads_or(v % 100 == 1);
}
// Warps 0 and 1 produce, 2 and 3 consume.
extern "C" __global__ void pairs(const unsigned *in, unsigned *out) {
    __shared__ unsigned s[64];
    unsigned t = threadIdx.x;
    for (int round = 0; round < 8; round++) {
        if (t < 64) {
            asm volatile("bar.sync 4, 128;" ::: "memory");
            s[t] = in[round * 64 + t];
            asm volatile("bar.arrive 5, 128;" ::: "memory");
        } else {
            asm volatile("bar.arrive 4, 128;" ::: "memory");
            asm volatile("bar.sync 5, 128;" ::: "memory");
            out[round * 64 + t - 64] = s[(t + round) % 64] + round;
        }
        __syncwarp();
    }
}
