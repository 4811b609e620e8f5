// The fused and three-operand SIMD intrinsics (DPX), with their predicates.
// compile: -arch=sm_90
// run: dpx <<<2,1,1 64,1,1 0>>> in:edge:1:384 out:4096
extern "C" __global__ void dpx(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2], *o = out + 32 * i;
    o[0] = __vimax3_s32(a, b, c); o[1] = __vimax3_s16x2(a, b, c); o[2] = __vimax3_u32(a, b, c); o[3] = __vimax3_u16x2(a, b, c);
    o[4] = __vimin3_s32(a, b, c); o[5] = __vimin3_s16x2(a, b, c); o[6] = __vimin3_u32(a, b, c); o[7] = __vimin3_u16x2(a, b, c);
    o[8] = __vimax_s32_relu(a, b); o[9] = __vimax_s16x2_relu(a, b); o[10] = __vimin_s32_relu(a, b); o[11] = __vimin_s16x2_relu(a, b);
    o[12] = __vimax3_s32_relu(a, b, c); o[13] = __vimax3_s16x2_relu(a, b, c);
    o[14] = __vimin3_s32_relu(a, b, c); o[15] = __vimin3_s16x2_relu(a, b, c);
    o[16] = __viaddmax_s32(a, b, c); o[17] = __viaddmax_s16x2(a, b, c); o[18] = __viaddmax_u32(a, b, c); o[19] = __viaddmax_u16x2(a, b, c);
    o[20] = __viaddmin_s32(a, b, c); o[21] = __viaddmin_s16x2(a, b, c); o[22] = __viaddmin_u32(a, b, c); o[23] = __viaddmin_u16x2(a, b, c);
    o[24] = __viaddmax_s32_relu(a, b, c); o[25] = __viaddmax_s16x2_relu(a, b, c);
    o[26] = __viaddmin_s32_relu(a, b, c); o[27] = __viaddmin_s16x2_relu(a, b, c);
    bool p, q;
    o[28] = __vibmax_s32(a, b, &p) + p; o[29] = __vibmin_u32(a, b, &p) + p;
    o[30] = __vibmax_s16x2(a, b, &p, &q) + p + 2 * q; o[31] = __vibmin_u16x2(a, b, &p, &q) + p + 2 * q;
}
