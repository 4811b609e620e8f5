// cuda::barrier and mbarrier in shared memory, static locals, sorting and searching with libcu++.
// compile: -arch=sm_80
// run: phases <<<2,1,1 64,1,1 0>>> in:rand:1:128 out:128
// run: bitonic <<<2,1,1 64,1,1 0>>> io:rand:2:128
// run: life <<<1,1,1 16,16,1 0>>> in:rand:3:256 out:256
// run: containers <<<1,1,1 32,1,1 0>>> in:rand:4:32 out:64
#include <cuda/barrier>
#include <cuda/std/array>
#include <cuda/std/tuple>
#include <cuda/std/complex>
#include <cuda/std/optional>
extern "C" __global__ void phases(const unsigned *in, unsigned *out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ unsigned s[64];
    unsigned t = threadIdx.x, i = blockIdx.x * 64 + t, v = in[i];
    if (t == 0) init(&bar, 64);
    __syncthreads();
    for (int round = 0; round < 4; round++) {
        s[t] = v;
        bar.arrive_and_wait();
        v = s[(t + 5) % 64] * 3 + round;
        auto token = bar.arrive();
        v ^= t;
        bar.wait(cuda::std::move(token));
    }
    out[i] = v;
}
extern "C" __global__ void bitonic(unsigned *a) {
    __shared__ unsigned s[64];
    unsigned t = threadIdx.x;
    s[t] = a[blockIdx.x * 64 + t];
    for (unsigned k = 2; k <= 64; k *= 2)
        for (unsigned j = k / 2; j; j /= 2) {
            __syncthreads();
            unsigned x = t ^ j;
            if (x > t && (s[t] > s[x]) == !(t & k)) { unsigned u = s[t]; s[t] = s[x]; s[x] = u; }
        }
    __syncthreads();
    a[blockIdx.x * 64 + t] = s[t];
}
extern "C" __global__ void life(const unsigned *in, unsigned *out) {
    __shared__ bool now[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    now[y][x] = in[y * 16 + x] & 1;
    for (int step = 0; step < 10; step++) {
        __syncthreads();
        int n = 0;
        for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) if (dx || dy) n += now[(y + dy) & 15][(x + dx) & 15];
        bool next = n == 3 || (n == 2 && now[y][x]);
        __syncthreads();
        now[y][x] = next;
    }
    __syncthreads();
    out[y * 16 + x] = now[y][x] * (x + 1);
}
extern "C" __global__ void containers(const unsigned *in, unsigned *out) {
    unsigned v = in[threadIdx.x];
    cuda::std::array<unsigned, 7> a{};
    for (unsigned i = 0; i < 7; i++) a[(v + i) % 7] = i * v;
    auto t = cuda::std::make_tuple(v, (short)v, a);
    cuda::std::complex<float> z((float)(v % 5), 1), w = z * z + z;
    cuda::std::optional<unsigned> o;
    if (v & 1) o = v >> 1;
    out[2 * threadIdx.x] = cuda::std::get<2>(t)[v % 7] + cuda::std::get<1>(t) + o.value_or(17);
    out[2 * threadIdx.x + 1] = (int)(w.real() * 4 + w.imag());
}
