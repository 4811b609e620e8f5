// Half precision and its pairs: arithmetic, comparisons, conversions, minima, fused and saturated forms.
// compile: -arch=sm_80
// run: halves <<<2,1,1 64,1,1 0>>> in:halves:1:384 out:4096
// run: from_half <<<1,1,1 128,1,1 0>>> in:halves:2:128 out:1536
// run: to_half <<<2,1,1 64,1,1 0>>> in:edge:3:128 out:2048
#include <cuda_fp16.h>
__device__ unsigned bits(__half2 h) { return *(unsigned *)&h; }
extern "C" __global__ void halves(const __half2 *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, *o = out + 32 * i;
    __half2 a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    o[0] = bits(__hadd2(a, b)); o[1] = bits(__hsub2(a, b)); o[2] = bits(__hmul2(a, b)); o[3] = bits(__hfma2(a, b, c));
    o[4] = bits(__hadd2_sat(a, b)); o[5] = bits(__hsub2_sat(a, b)); o[6] = bits(__hmul2_sat(a, b)); o[7] = bits(__hfma2_sat(a, b, c));
    o[8] = bits(__hfma2_relu(a, b, c)); o[9] = bits(__hmax2(a, b)); o[10] = bits(__hmin2(a, b)); o[11] = bits(__hmax2_nan(a, b));
    o[12] = bits(__hmin2_nan(a, b)); o[13] = bits(__hneg2(a)); o[14] = bits(__habs2(a)); o[15] = bits(__heq2(a, b));
    o[16] = bits(__hltu2(a, b)); o[17] = bits(__hne2(a, b)); o[18] = bits(__hge2(a, b));
    o[19] = __hbeq2(a, b) + 2 * __hblt2(a, b) + 4 * __hbgtu2(a, b) + 8 * __hbne2(a, b);
    __half x = __low2half(a), y = __high2half(b);
    o[20] = __half_as_ushort(x + y) | __half_as_ushort(x * y) << 16;
    o[21] = __half_as_ushort(__hfma(x, y, x)) | __half_as_ushort(-x) << 16;
    o[22] = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * __hgtu(x, y) + 32 * __hisnan(x) + 64 * __hisinf(x);
    o[23] = bits(__hcmadd(a, b, c)); o[24] = bits(__lowhigh2highlow(a)); o[25] = bits(__halves2half2(x, y));
    o[26] = bits(h2rint(a)); o[27] = bits(h2floor(a)); o[28] = bits(h2ceil(b)); o[29] = bits(h2trunc(b));
    o[30] = __heq2_mask(a, b) ^ __hlt2_mask(a, b); o[31] = __half_as_ushort(__hadd_rn(x, y)) | __half_as_ushort(__hmul_rn(x, y)) << 16;
}
extern "C" __global__ void from_half(const __half2 *in, unsigned *out) {
    unsigned i = threadIdx.x, *o = out + 12 * i;
    __half h = __low2half(in[i]);
    o[0] = __float_as_uint(__half2float(h)); o[1] = __half2int_rn(h); o[2] = __half2int_rz(h); o[3] = __half2int_ru(h);
    o[4] = __half2uint_rd(h); o[5] = __half2short_rn(h) & 0xffff; o[6] = __half2ushort_rz(h); o[7] = __half2ll_rd(h) >> 3;
    o[8] = __half2ull_rn(h); o[9] = __half2char_rz(h); o[10] = __half2uchar_rz(h);
    float2 f = __half22float2(in[i]);
    o[11] = __float_as_uint(f.x) ^ __float_as_uint(f.y) * 3;
}
extern "C" __global__ void to_half(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], *o = out + 16 * i;
    float f = __uint_as_float(v);
#define H(e) __half_as_ushort(e)
    o[0] = H(__float2half_rn(f)); o[1] = H(__float2half_rz(f)); o[2] = H(__float2half_ru(f)); o[3] = H(__float2half_rd(f));
    o[4] = H(__int2half_rn((int)v)); o[5] = H(__int2half_rz((int)v)); o[6] = H(__uint2half_rn(v)); o[7] = H(__uint2half_ru(v));
    o[8] = H(__short2half_rn((short)v)); o[9] = H(__ushort2half_rd((unsigned short)v));
    o[10] = H(__ll2half_rn((long long)v << 7)); o[11] = H(__ull2half_rn(v)); o[12] = H(__double2half((double)f));
    o[13] = bits(__floats2half2_rn(f, -f)); o[14] = bits(__float2half2_rn(f)); o[15] = bits(__half2half2(__float2half(f * 0.1f)));
}
