// Grids and blocks of three dimensions; constant memory, local arrays, dynamic shared memory, switches, structs by value.
// compile: -arch=sm_75
// run: grid3 <<<3,4,5 4,3,2 0>>> out:5760 u32:7
// run: constant <<<1,1,1 96,1,1 0>>> set:table:rand:5:64 out:96
// run: constant <<<1,1,1 96,1,1 0>>> set:table:iota:5:64 out:96
// run: local <<<1,1,1 64,1,1 0>>> in:rand:6:64 out:64
// run: dynamic <<<2,1,1 64,1,1 1536>>> in:rand:7:128 out:128
// run: switches <<<1,1,1 128,1,1 0>>> in:rand:8:128 out:128
// run: by_value <<<1,1,1 4,1,1 0>>> hex:0100000002000300ffffffffffffff7f000000000000f03f05060708090a0b0c0d0e0f1011121314 out:16 hex:07 hex:0980
// run: counted <<<2,1,1 64,1,1 0>>> out:1 get:counter:1 get:pointers:2
// run: vectors <<<1,1,1 32,1,1 0>>> in:rand:9:512 out:512
extern "C" __global__ void grid3(unsigned *out, unsigned k) {
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
    out[4 * i] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z;
    out[4 * i + 1] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z;
    out[4 * i + 2] = gridDim.x + 10 * gridDim.y + 100 * gridDim.z + 1000 * (blockDim.x + 10 * blockDim.y + 100 * blockDim.z);
    out[4 * i + 3] = i * k + warpSize;
}
__constant__ unsigned table[64];
__constant__ float weights[3][3] = {{1, 2, 3}, {-4, 5.5f, 6}, {7, 8, 9e10f}};
__constant__ unsigned char text[] = "constant text";
extern "C" __global__ void constant(unsigned *out) {
    unsigned t = threadIdx.x;
    const unsigned *p = t & 1 ? table : table + 3;
    out[t] = table[t % 64] + p[t % 60] * 3 + (int)weights[t % 3][t % 2] + text[t % sizeof text];
}
extern "C" __global__ void local(const unsigned *in, unsigned *out) {
    unsigned a[24], v = in[threadIdx.x];
    for (int i = 0; i < 24; i++) a[i] = v * (2 * i + 1) ^ i;
    for (int i = 0; i < 24; i++) {
        unsigned j = a[i] % 24, t = a[i];
        a[i] = a[j]; a[j] = t;
    }
    for (int i = 1; i < 24; i++) {
        unsigned k = a[i]; int j = i;
        for (; j > 0 && a[j - 1] > k; j--) a[j] = a[j - 1];
        a[j] = k;
    }
    unsigned char bytes[9];
    for (int i = 0; i < 9; i++) bytes[(i * 5 + v) % 9] = a[i] + i;
    unsigned h = 0;
    for (int i = 0; i < 24; i++) h = h * 31 + a[i] + bytes[i % 9];
    out[threadIdx.x] = h;
}
extern __shared__ double heap[];
extern "C" __global__ void dynamic(const unsigned *in, unsigned *out) {
    __shared__ unsigned fixed[64];
    unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
    double *d = heap; unsigned *u = (unsigned *)(d + 64); unsigned char *c = (unsigned char *)(u + 64);
    d[t] = in[i] * 0.5; u[63 - t] = in[i] ^ t; c[t] = in[i] >> 8; fixed[t] = in[i] + 1;
    __syncthreads();
    out[i] = (unsigned)d[(t + 1) % 64] + u[t] * 3 + c[63 - t] * 5 + fixed[(t * 3) % 64] * 7;
}
extern "C" __global__ void switches(const unsigned *in, unsigned *out) {
    unsigned v = in[threadIdx.x], r = v;
    for (int k = 0; k < 5; k++) {
        switch (r % 13) {
        case 0: r = r * 3 + 1; break;
        case 1: r ^= 0x55;
        case 2: r += 17; break;
        case 3: if (r & 16) continue; r /= 3; break;
        case 4: r = ~r; break;
        case 5: r = r << 3 | r >> 29; break;
        case 6: goto out;
        case 7: r -= k; break;
        case 8: r *= r; break;
        case 10: r = __brev(r); break;
        case 12: r = 12;
        default: r += 1;
        }
        r ^= v >> k;
    }
out:
    out[threadIdx.x] = r;
}
struct Packed { int a; short b; unsigned short c; long long d; double e; unsigned char f[16]; };
struct Tiny { unsigned char x; };
struct Bits { unsigned a : 5, b : 7, c : 4; };
extern "C" __global__ void by_value(Packed p, unsigned *out, Tiny t, unsigned short bits) {
    unsigned i = threadIdx.x;
    Bits b = {bits & 31u, bits >> 5 & 127u, bits >> 12 & 15u};
    out[4 * i] = p.a + p.b * 10 + p.c * 100 + (unsigned)(p.d >> 40);
    out[4 * i + 1] = p.f[i * 3] + t.x * 1000 + (unsigned)(p.e * 8);
    p.f[i] = 99;
    Packed *q = &p;
    out[4 * i + 2] = q->f[i + 1] + q->f[i];
    out[4 * i + 3] = b.a + 100 * b.b + 100000 * b.c;
}
__device__ unsigned counter = 41;
__device__ const char *names[] = {"zero", "one", "two"};
__device__ unsigned *where = &counter;
__device__ unsigned pointers[2];
extern "C" __global__ void counted(unsigned *out) {
    atomicAdd(where, 1);
    if (threadIdx.x + blockIdx.x == 0) {
        *out = names[2][1] + (names[1][2] << 8);
        pointers[0] = where == &counter;
        pointers[1] = sizeof(void *);
    }
}
extern "C" __global__ void vectors(const uint4 *in, uint4 *out) {
    unsigned t = threadIdx.x;
    uint4 a = in[4 * t], b = in[4 * t + 1];
    out[4 * t] = make_uint4(a.w, a.z, b.x, b.y);
    double2 d = ((const double2 *)in)[4 * t + 2];
    ((double2 *)out)[4 * t + 1] = make_double2(d.y, d.x);
    uchar4 c = ((const uchar4 *)in)[16 * t + 12]; ushort2 s = ((const ushort2 *)in)[16 * t + 13];
    ((uchar4 *)out)[16 * t + 8] = make_uchar4(c.w, c.x + 1, c.y, c.z);
    ((ushort2 *)out)[16 * t + 9] = make_ushort2(s.y, s.x);
    ((uint2 *)out)[8 * t + 5] = __ldg((const uint2 *)in + 8 * t + 7);
    char3 k = ((const char3 *)in)[t]; short3 m = ((const short3 *)in)[t];
    out[4 * t + 3] = make_uint4(k.x + k.y * k.z, m.x + m.y * m.z, __ldcg((const unsigned *)in + t), __ldcs((const unsigned *)in + t));
}
