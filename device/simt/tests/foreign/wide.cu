// 64 and 128 bits: products, carries, shifts, divisions, comparisons.
// compile: -arch=sm_80 --device-int128
// run: wide <<<2,1,1 64,1,1 0>>> in:edge64:1:512 out:4096
extern "C" __global__ void wide(const unsigned long long *in, unsigned long long *out) {
    typedef unsigned __int128 u128;
    typedef __int128 i128;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long a = in[2 * i], b = in[2 * i + 1], *o = out + 16 * i;
    u128 p = (u128)a * b, q = (u128)a << 64 | b;
    o[0] = p; o[1] = p >> 64;
    o[2] = __umul64hi(a, b); o[3] = __mul64hi(a, b);
    u128 s = p + q; o[4] = s; o[5] = s >> 64;
    u128 d = p - q; o[6] = d; o[7] = d >> 64;
    unsigned n = b % 128;
    u128 l = q << n, r = q >> n; i128 g = (i128)q >> n;
    o[8] = l ^ (l >> 64); o[9] = r ^ (r >> 64) * 3; o[10] = g ^ (g >> 64) * 5;
    o[11] = (q < p) + 2 * ((i128)q < (i128)p) + 4 * (q == p) + 8 * ((i128)q >= 0);
    u128 m = b | 1;
    o[12] = p / m; o[13] = p % m;
    i128 t = (i128)q / (i128)(long long)(a | 1);
    o[14] = t; o[15] = __clzll(a) + 100 * __ffsll(b) + 10000 * __popcll(a ^ b) + (__brevll(a) << 32);
}
