// Atomics of every operation, type, scope and space; what they return where that does not depend on the order.
// compile: -arch=sm_80
// run: integers <<<4,1,1 100,1,1 0>>> in:rand:1:400 io:zero:0:64
// run: floats <<<2,1,1 64,1,1 0>>> io:zero:0:32
// run: shared <<<2,1,1 128,1,1 0>>> in:rand:2:256 out:64
// run: scopes <<<3,1,1 64,1,1 0>>> io:zero:0:32
// run: returns <<<1,1,1 1,1,1 0>>> io:edge:5:64 out:64
// run: subnormals <<<1,1,1 1,1,1 0>>> out:32
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void integers(const unsigned *in, unsigned *c) {
    unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(c, v); atomicSub((int *)c + 1, v); atomicMin(c + 2, v); atomicMax(c + 3, v); atomicMin((int *)c + 4, v); atomicMax((int *)c + 5, v);
    atomicInc(c + 6, 17); atomicDec(c + 7, 23); atomicAnd(c + 8, v | 1); atomicOr(c + 9, v & 0xff0f); atomicXor(c + 10, v);
    unsigned long long *w = (unsigned long long *)c + 8, l = (unsigned long long)v * v;
    atomicAdd(w, l); atomicMin(w + 1, l); atomicMax(w + 2, l); atomicMin((long long *)w + 3, -(long long)l); atomicMax((long long *)w + 4, (long long)l - (1ll << 40));
    atomicAnd(w + 5, l); atomicOr(w + 6, l); atomicXor(w + 7, l);
    unsigned old = c[32], seen;
    do { seen = old; old = atomicCAS(c + 32, seen, seen * 1 + v % 10); } while (old != seen);
    unsigned short *s = (unsigned short *)c + 70, so = *s, ss;
    do { ss = so; so = atomicCAS(s, ss, (unsigned short)(ss + 3)); } while (so != ss);
}
extern "C" __global__ void floats(float *c) {
    unsigned t = threadIdx.x;
    atomicAdd(c, (float)(t % 8)); atomicAdd((double *)c + 1, 0.25 * t);
    atomicAdd((__half *)c + 8, __float2half(0.5f)); atomicAdd((__half2 *)c + 5, __floats2half2_rn(1, -1));
    atomicAdd((__nv_bfloat16 *)c + 12, __float2bfloat16(0.5f)); atomicAdd((__nv_bfloat162 *)c + 7, __floats2bfloat162_rn(0.25f, -1));
}
extern "C" __global__ void shared(const unsigned *in, unsigned *out) {
    __shared__ unsigned c[16];
    __shared__ unsigned long long w[4];
    __shared__ float f;
    unsigned t = threadIdx.x, v = in[blockIdx.x * blockDim.x + t];
    if (t < 16) c[t] = 0;
    if (t < 4) w[t] = 0;
    if (t == 0) f = 0;
    __syncthreads();
    atomicAdd(c + v % 5, 1); atomicMax(c + 5, v); atomicInc(c + 6, 100); atomicXor(c + 7, v); atomicOr(c + 8, v); atomicExch(c + 9, 5);
    atomicMax((int *)c + 10, v); atomicCAS(c + 11, 0, 9); atomicAdd(w, v); atomicMax(w + 1, (unsigned long long)v << 20); atomicAdd(&f, 2.0f);
    __syncthreads();
    if (t < 16) out[blockIdx.x * 32 + t] = c[t];
    if (t < 4) { out[blockIdx.x * 32 + 16 + 2 * t] = w[t]; out[blockIdx.x * 32 + 17 + 2 * t] = w[t] >> 32; }
    if (t < 8) out[blockIdx.x * 32 + 24 + t] = f;
}
extern "C" __global__ void scopes(unsigned *c) {
    atomicAdd_block(c + blockIdx.x, 2); atomicAdd_system(c + 4, 3); atomicMax_system(c + 5, threadIdx.x); atomicOr_block(c + 6 + blockIdx.x, 1 << threadIdx.x % 32);
    atomicCAS_system(c + 10, 0, 7); atomicExch_block(c + 11 + blockIdx.x, 9); atomicAdd_system((double *)(c + 16), 1.0); atomicAdd_block((float *)c + 18, 0.0f);
}
extern "C" __global__ void returns(unsigned *c, unsigned *o) {
    int k = 0;
    o[k++] = atomicAdd(c, 5); o[k++] = atomicSub(c + 1, 5); o[k++] = atomicMin(c + 2, 5); o[k++] = atomicMax((int *)c + 3, 5); o[k++] = atomicInc(c + 4, 5);
    o[k++] = atomicDec(c + 5, 5); o[k++] = atomicAnd(c + 6, 5); o[k++] = atomicOr(c + 7, 5); o[k++] = atomicXor(c + 8, 5); o[k++] = atomicExch(c + 9, 5);
    o[k++] = atomicCAS(c + 10, c[10], 5); o[k++] = atomicCAS(c + 11, c[11] + 1, 5); o[k++] = __float_as_uint(atomicAdd((float *)c + 12, 1.5f));
    o[k++] = __float_as_uint(atomicExch((float *)c + 13, 1.5f)); o[k++] = atomicInc(c + 14, 0xffffffff); o[k++] = atomicDec(c + 15, 0);
    unsigned long long w = atomicExch((unsigned long long *)c + 8, 77ull); o[k++] = w; o[k++] = w >> 32;
    w = atomicCAS((unsigned long long *)c + 9, *((unsigned long long *)c + 9), 78ull); o[k++] = w; o[k++] = w >> 32;
}
extern "C" __global__ void subnormals(unsigned *out) {
    __shared__ float s[4];
    float *g = (float *)out;
    for (int i = 0; i < 32; i++) out[i] = 0;
    const float tiny = __uint_as_float(0x00000123), edge = __uint_as_float(0x00800000);
    g[0] = tiny; s[0] = tiny; g[1] = edge; s[1] = edge; g[2] = 0; s[2] = 0;
    atomicAdd(g, tiny); atomicAdd(s, tiny); atomicAdd(g + 1, -tiny); atomicAdd(s + 1, -tiny); atomicAdd(g + 2, tiny); atomicAdd(s + 2, tiny);
    out[3] = __float_as_uint(atomicAdd(g + 4, tiny)); out[5] = __float_as_uint(atomicAdd(g + 4, tiny));
    out[8] = __float_as_uint(s[0]); out[9] = __float_as_uint(s[1]); out[10] = __float_as_uint(s[2]);
    g[12] = __uint_as_float(0x7fc12345); atomicAdd(g + 12, 1.0f); g[13] = __uint_as_float(0x7f800000); atomicAdd(g + 13, -g[13]);
    s[3] = __uint_as_float(0xffc12345); atomicAdd(s + 3, 1.0f); out[14] = __float_as_uint(s[3]);
    unsigned short *h = (unsigned short *)(out + 16);
    h[0] = 0x0001; atomicAdd((__half *)h, __ushort_as_half(1)); h[1] = 0x7e01; atomicAdd((__half *)h + 1, __ushort_as_half(0x3c00));
    h[2] = 0x0001; atomicAdd((__nv_bfloat16 *)h + 2, __ushort_as_bfloat16(1));
    h[4] = 1; h[5] = 0x8001; atomicAdd((__half2 *)(h + 4), __floats2half2_rn(0, 0));
    double *d = (double *)(out + 20);
    *d = __longlong_as_double(5); atomicAdd(d, __longlong_as_double(7));
}
