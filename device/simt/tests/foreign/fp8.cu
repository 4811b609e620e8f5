// Eight-bit floats: conversions both ways, pairs, saturation.
// compile: -arch=sm_90
// run: narrow <<<2,1,1 64,1,1 0>>> in:edge:1:256 out:1536
// run: widen <<<1,1,1 128,1,1 0>>> in:iota:0:128 out:1024
#include <cuda_fp8.h>
extern "C" __global__ void narrow(const float *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, *o = out + 12 * i;
    float a = in[2 * i], b = in[2 * i + 1];
    o[0] = __nv_cvt_float_to_fp8(a, __NV_SATFINITE, __NV_E4M3); o[1] = __nv_cvt_float_to_fp8(a, __NV_SATFINITE, __NV_E5M2);
    o[2] = __nv_cvt_float_to_fp8(a, __NV_NOSAT, __NV_E4M3); o[3] = __nv_cvt_float_to_fp8(a, __NV_NOSAT, __NV_E5M2);
    o[4] = __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, __NV_E4M3);
    o[5] = __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, __NV_E5M2);
    __half2_raw h = __floats2half2_rn(a, b);
    o[6] = __nv_cvt_halfraw2_to_fp8x2(h, __NV_SATFINITE, __NV_E4M3); o[7] = __nv_cvt_halfraw2_to_fp8x2(h, __NV_SATFINITE, __NV_E5M2);
    o[8] = __nv_cvt_double_to_fp8((double)a * 1.0001, __NV_SATFINITE, __NV_E4M3); o[9] = __nv_cvt_bfloat16raw_to_fp8(__float2bfloat16(b), __NV_SATFINITE, __NV_E5M2);
    o[10] = __nv_fp8_e4m3(a / 1000).__x; o[11] = __nv_fp8_e5m2(b * 1e-3f).__x;
}
extern "C" __global__ void widen(const unsigned *in, unsigned *out) {
    unsigned t = threadIdx.x, *o = out + 8 * t, v = in[t] * 2;
    __half2_raw h = __nv_cvt_fp8x2_to_halfraw2(v | (v + 1) << 8, __NV_E4M3); o[0] = *(unsigned *)&h;
    h = __nv_cvt_fp8x2_to_halfraw2(v | (v + 1) << 8, __NV_E5M2); o[1] = *(unsigned *)&h;
    __nv_fp8_e4m3 a; a.__x = v; o[2] = __float_as_uint((float)a); a.__x = v + 1; o[3] = __float_as_uint((float)a);
    __nv_fp8_e5m2 b; b.__x = v; o[4] = __float_as_uint((float)b); b.__x = v + 1; o[5] = __float_as_uint((float)b);
    o[6] = (int)a; o[7] = (unsigned char)b;
}
