// Brain floats and their pairs: arithmetic, comparisons, conversions.
// compile: -arch=sm_90
// run: brains <<<2,1,1 64,1,1 0>>> in:edge:1:384 out:3072
// run: from_brain <<<1,1,1 128,1,1 0>>> in:edge:2:128 out:1024
// run: to_brain <<<2,1,1 64,1,1 0>>> in:edge:3:128 out:2048
#include <cuda_bf16.h>
__device__ unsigned bits(__nv_bfloat162 h) { return *(unsigned *)&h; }
extern "C" __global__ void brains(const __nv_bfloat162 *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, *o = out + 24 * i;
    __nv_bfloat162 a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    o[0] = bits(__hadd2(a, b)); o[1] = bits(__hsub2(a, b)); o[2] = bits(__hmul2(a, b)); o[3] = bits(__hfma2(a, b, c));
    o[4] = bits(__hadd2_sat(a, b)); o[5] = bits(__hmul2_sat(a, b)); o[6] = bits(__hfma2_sat(a, b, c)); o[7] = bits(__hfma2_relu(a, b, c));
    o[8] = bits(__hmax2(a, b)); o[9] = bits(__hmin2(a, b)); o[10] = bits(__hmax2_nan(a, b)); o[11] = bits(__hmin2_nan(a, b));
    o[12] = bits(__hneg2(a)); o[13] = bits(__habs2(a)); o[14] = bits(__heq2(a, b)); o[15] = bits(__hltu2(a, b));
    o[16] = __hbeq2(a, b) + 2 * __hblt2(a, b) + 4 * __hbgtu2(a, b);
    __nv_bfloat16 x = __low2bfloat16(a), y = __high2bfloat16(b);
    o[17] = __bfloat16_as_ushort(x + y) | __bfloat16_as_ushort(x * y) << 16;
    o[18] = __bfloat16_as_ushort(__hfma(x, y, x)) | __bfloat16_as_ushort(-x) << 16;
    o[19] = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * __hgtu(x, y) + 32 * __hisnan(x);
    o[20] = bits(__hcmadd(a, b, c)); o[21] = __heq2_mask(a, b); o[22] = __bfloat16_as_ushort(__hadd_rn(x, y)); o[23] = bits(h2rint(a));
}
extern "C" __global__ void from_brain(const __nv_bfloat162 *in, unsigned *out) {
    unsigned i = threadIdx.x, *o = out + 8 * i;
    __nv_bfloat16 h = __high2bfloat16(in[i]);
    o[0] = __float_as_uint(__bfloat162float(h)); o[1] = __bfloat162int_rn(h); o[2] = __bfloat162uint_rz(h); o[3] = __bfloat162short_ru(h);
    o[4] = __bfloat162ll_rd(h) >> 5; o[5] = __bfloat162ull_rn(h); o[6] = __bfloat162char_rz(h); o[7] = __bfloat162ushort_rd(h);
}
extern "C" __global__ void to_brain(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], *o = out + 16 * i;
    float f = __uint_as_float(v);
#define H(e) __bfloat16_as_ushort(e)
    o[0] = H(__float2bfloat16_rn(f)); o[1] = H(__float2bfloat16_rz(f)); o[2] = H(__float2bfloat16_ru(f)); o[3] = H(__float2bfloat16_rd(f));
    o[4] = H(__int2bfloat16_rn((int)v)); o[5] = H(__uint2bfloat16_rz(v)); o[6] = H(__short2bfloat16_rn((short)v));
    o[7] = H(__ushort2bfloat16_rd((unsigned short)v)); o[8] = H(__ll2bfloat16_rn((long long)v << 9)); o[9] = H(__ull2bfloat16_ru(v));
    o[10] = H(__double2bfloat16((double)f)); o[11] = bits(__floats2bfloat162_rn(f, -f)); o[12] = bits(__float2bfloat162_rn(f));
    o[13] = H(__int2bfloat16_ru((int)v)); o[14] = H(__uint2bfloat16_rn(v)); o[15] = H(__ull2bfloat16_rz((unsigned long long)v * v));
}
