// Which space an address is in; addresses of parameters; one function that reads through pointers to all spaces.
// compile: -arch=sm_75
// run: spaces <<<1,1,1 32,1,1 64>>> in:rand:1:32 out:64 hex:11000000220000003300000044000000
struct Four { unsigned a[4]; };
__device__ unsigned global_word = 1000;
__constant__ unsigned constant_word = 2000;
extern __shared__ unsigned dynamic[];
__device__ __noinline__ unsigned read(const unsigned *p) { return *p; }
extern "C" __global__ void spaces(const unsigned *in, unsigned *out, const __grid_constant__ Four four) {
    __shared__ unsigned s[32];
    unsigned local[4], t = threadIdx.x;
    for (int i = 0; i < 4; i++) local[i] = in[(t + i) % 32];
    s[t] = t * 7;
    if (t == 0) dynamic[0] = 5;
    __syncthreads();
    const unsigned *p;
    switch (t % 6) {
    case 0: p = in + t; break;
    case 1: p = s + t; break;
    case 2: p = local + t % 4; break;
    case 3: p = &constant_word; break;
    case 4: p = &global_word; break;
    default: p = four.a + t % 4;
    }
    out[t] = read(p);
    unsigned r = 0;
    r |= __isGlobal(p) << 0 | __isShared(p) << 1 | __isLocal(p) << 2 | __isConstant(p) << 3 | __isGridConstant(p) << 4;
    r |= __isGlobal(dynamic) << 5 | __isShared(dynamic) << 6;
    out[32 + t] = r;
}
