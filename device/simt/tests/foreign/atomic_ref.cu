// cuda::atomic_ref and cuda::std::atomic with orders and scopes, fences, a flag that hands over data.
// compile: -arch=sm_75
// run: refs <<<4,1,1 64,1,1 0>>> io:zero:0:16
// run: hand_over <<<2,1,1 32,1,1 0>>> in:rand:1:32 out:32 io:zero:0:33
#include <cuda/atomic>
extern "C" __global__ void refs(unsigned *c) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> a(c[0]);
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> b(c[1 + blockIdx.x]);
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> s(c[5]);
    a.fetch_add(3, cuda::memory_order_relaxed);
    b.fetch_max(threadIdx.x, cuda::memory_order_acq_rel);
    s.fetch_xor(1u << (threadIdx.x % 32), cuda::memory_order_seq_cst);
    unsigned old = a.load(cuda::memory_order_acquire);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> d(c[6]);
    unsigned seen = d.load();
    while (!d.compare_exchange_weak(seen, seen + 2, cuda::memory_order_release, cuda::memory_order_relaxed)) {}
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    cuda::atomic_ref<unsigned long long> w(*(unsigned long long *)(c + 8));
    w.fetch_add(1ull << 33);
    cuda::atomic_ref<float> f(*(float *)(c + 10));
    f.fetch_add(0.5f);
    if (old == 0) c[15] = 1;
}
extern "C" __global__ void hand_over(const unsigned *in, unsigned *out, unsigned *box) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(box[32]);
    if (blockIdx.x == 0) {
        box[threadIdx.x] = in[threadIdx.x] * 5;
        flag.fetch_add(1, cuda::memory_order_release);
    } else {
        while (flag.load(cuda::memory_order_acquire) != 32) __nanosleep(50);
        out[threadIdx.x] = box[31 - threadIdx.x];
    }
}
