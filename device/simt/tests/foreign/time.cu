// Clocks only go forward; sleeping ends; assumptions and hints to the compiler.
// compile: -arch=sm_75
// run: clocks <<<2,1,1 33,1,1 0>>> out:66
// run: hints <<<1,1,1 64,1,1 0>>> in:rand:1:64 out:64 u32:64
extern "C" __global__ void clocks(unsigned *out) {
    long long a = clock64(); clock_t b = clock();
    unsigned long long g, h;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g));
    __nanosleep(threadIdx.x * 100);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(h));
    unsigned warp, sm, n;
    asm volatile("mov.u32 %0, %%warpid; mov.u32 %1, %%smid; mov.u32 %2, %%nsmid;" : "=r"(warp), "=r"(sm), "=r"(n));
    out[blockIdx.x * 33 + threadIdx.x] = (clock64() >= a) + 2 * (h >= g) + 4 * (sm < n) + 8 * (warp < 64) + 16 * (clock() != b || true);
}
extern "C" __global__ void __launch_bounds__(64, 2) hints(const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned n) {
    __builtin_assume(n == 64);
    unsigned i = threadIdx.x;
    if (__builtin_expect(i >= n, 0)) __builtin_unreachable();
    if (n != blockDim.x) __trap();
    const unsigned *p = (const unsigned *)__builtin_assume_aligned(in, 16);
    unsigned r = 0;
#pragma unroll 3
    for (unsigned k = 0; k < i % 10; k++) r += p[(i + k) % n] >> k;
    unsigned a[6];
    for (unsigned k = 0; k <= i % 5; k++) a[k] = r * k;
    for (unsigned k = 0; k <= i % 5; k++) r += a[i % 5 - k] ^ k;
    out[i] = r;
}
