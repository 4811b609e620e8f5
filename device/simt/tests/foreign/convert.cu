// Conversions at the edges: every rounding, from and to integers of every width, f32 and f64.
// compile: -arch=sm_75
// run: from_float <<<4,1,1 64,1,1 0>>> in:edge:1:256 out:6144
// run: from_double <<<4,1,1 64,1,1 0>>> in:edge64:2:512 out:6144
// run: from_int <<<4,1,1 64,1,1 0>>> in:edge64:3:512 out:8192
// run: roundings <<<2,1,1 64,1,1 0>>> in:edge:4:256 out:4096
extern "C" __global__ void from_float(const float *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, *o = out + 24 * i;
    float f = in[i];
    o[0] = __float2int_rn(f); o[1] = __float2int_rz(f); o[2] = __float2int_ru(f); o[3] = __float2int_rd(f);
    o[4] = __float2uint_rn(f); o[5] = __float2uint_rz(f); o[6] = __float2uint_ru(f); o[7] = __float2uint_rd(f);
    o[8] = __float2ll_rn(f) >> 7; o[9] = __float2ll_rz(f) >> 32; o[10] = __float2ull_ru(f); o[11] = __float2ull_rd(f) >> 32;
    o[12] = (short)f; o[13] = (unsigned short)f; o[14] = (signed char)f; o[15] = (unsigned char)f;
    unsigned long long d = __double_as_longlong((double)f);
    o[16] = d; o[17] = d >> 32; o[18] = __float_as_uint(rintf(f)); o[19] = __float_as_uint(floorf(f)); o[20] = __float_as_uint(ceilf(f));
    o[21] = __float_as_uint(truncf(f)); o[22] = __float_as_uint(roundf(f)); o[23] = __float_as_uint(__saturatef(f));
}
extern "C" __global__ void from_double(const double *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, *o = out + 24 * i;
    double f = in[i];
    o[0] = __double2int_rn(f); o[1] = __double2int_rz(f); o[2] = __double2int_ru(f); o[3] = __double2int_rd(f);
    o[4] = __double2uint_rn(f); o[5] = __double2uint_rz(f); o[6] = __double2uint_ru(f); o[7] = __double2uint_rd(f);
    o[8] = __double2ll_rn(f); o[9] = __double2ll_rz(f) >> 32; o[10] = __double2ull_ru(f); o[11] = __double2ull_rd(f) >> 32;
    o[12] = (short)f; o[13] = (unsigned short)f; o[14] = (signed char)f; o[15] = (unsigned char)f;
    o[16] = __float_as_uint(__double2float_rn(f)); o[17] = __float_as_uint(__double2float_rz(f));
    o[18] = __float_as_uint(__double2float_ru(f)); o[19] = __float_as_uint(__double2float_rd(f));
    o[20] = __double2hiint(rint(f)); o[21] = __double2loint(floor(f)) ^ __double2hiint(ceil(f)); o[22] = __double2hiint(trunc(f)); o[23] = __double2hiint(round(f));
}
extern "C" __global__ void from_int(const unsigned long long *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, *o = out + 32 * i;
    unsigned long long w = in[i]; unsigned v = w; int s = v;
#define F(e) __float_as_uint(e)
#define D(e) __double2loint(e) ^ __double2hiint(e) * 3
    o[0] = F(__int2float_rn(s)); o[1] = F(__int2float_rz(s)); o[2] = F(__int2float_ru(s)); o[3] = F(__int2float_rd(s));
    o[4] = F(__uint2float_rn(v)); o[5] = F(__uint2float_rz(v)); o[6] = F(__uint2float_ru(v)); o[7] = F(__uint2float_rd(v));
    o[8] = F(__ll2float_rn(w)); o[9] = F(__ll2float_rz(w)); o[10] = F(__ll2float_ru(w)); o[11] = F(__ll2float_rd(w));
    o[12] = F(__ull2float_rn(w)); o[13] = F(__ull2float_rz(w)); o[14] = F(__ull2float_ru(w)); o[15] = F(__ull2float_rd(w));
    o[16] = D(__int2double_rn(s)); o[17] = D(__uint2double_rn(v));
    o[18] = D(__ll2double_rn(w)); o[19] = D(__ll2double_rz(w)); o[20] = D(__ll2double_ru(w)); o[21] = D(__ll2double_rd(w));
    o[22] = D(__ull2double_rn(w)); o[23] = D(__ull2double_rz(w)); o[24] = D(__ull2double_ru(w)); o[25] = D(__ull2double_rd(w));
    o[26] = F((float)(short)v); o[27] = F((float)(unsigned short)v); o[28] = F((float)(signed char)v); o[29] = F((float)(unsigned char)v);
    o[30] = (int)(short)v ^ (int)(signed char)(v >> 8); o[31] = (long long)(int)v >> 40;
}
extern "C" __global__ void roundings(const float *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, *o = out + 32 * i;
    float a = in[2 * i], b = in[2 * i + 1];
    o[0] = F(__fadd_rn(a, b)); o[1] = F(__fadd_rz(a, b)); o[2] = F(__fadd_ru(a, b)); o[3] = F(__fadd_rd(a, b));
    o[4] = F(__fmul_rn(a, b)); o[5] = F(__fmul_rz(a, b)); o[6] = F(__fmul_ru(a, b)); o[7] = F(__fmul_rd(a, b));
    o[8] = F(__fmaf_rn(a, b, a)); o[9] = F(__fmaf_rz(a, b, b)); o[10] = F(__fmaf_ru(a, a, b)); o[11] = F(__fmaf_rd(b, b, a));
    o[12] = F(__fdiv_rn(a, b)); o[13] = F(__fdiv_rz(a, b)); o[14] = F(__fdiv_ru(a, b)); o[15] = F(__fdiv_rd(a, b));
    o[16] = F(__fsqrt_rn(a)); o[17] = F(__fsqrt_rz(a)); o[18] = F(__fsqrt_ru(a)); o[19] = F(__fsqrt_rd(a));
    o[20] = F(__frcp_rn(a)); o[21] = F(__frcp_rz(a)); o[22] = F(__frcp_ru(a)); o[23] = F(__frcp_rd(a));
    double x = a, y = b;
    o[24] = D(__dadd_rz(x, y)); o[25] = D(__dmul_ru(x, y * 1e-300)); o[26] = D(__fma_rd(x, y, 1e-30)); o[27] = D(__ddiv_rn(x, y));
    o[28] = D(__ddiv_rz(x, y)); o[29] = D(__dsqrt_ru(x)); o[30] = D(__drcp_rd(y)); o[31] = F(fminf(a, b)) ^ F(fmaxf(a, b)) * 3;
}
