// The SIMD-in-a-word intrinsics of the CUDA math API.
// compile: -arch=sm_75
// run: simd2 <<<2,1,1 64,1,1 0>>> in:edge:1:256 out:5120
// run: simd4 <<<2,1,1 64,1,1 0>>> in:edge:2:256 out:5120
#define COMMON(N) \
    o[0] = __vadd##N(a, b); o[1] = __vaddss##N(a, b); o[2] = __vaddus##N(a, b); o[3] = __vsub##N(a, b); \
    o[4] = __vsubss##N(a, b); o[5] = __vsubus##N(a, b); o[6] = __vabs##N(a); o[7] = __vabsss##N(a); \
    o[8] = __vneg##N(a); o[9] = __vnegss##N(a); o[10] = __vabsdiffs##N(a, b); o[11] = __vabsdiffu##N(a, b); \
    o[12] = __vavgs##N(a, b); o[13] = __vavgu##N(a, b); o[14] = __vhaddu##N(a, b); o[15] = __vcmpeq##N(a, b); \
    o[16] = __vcmpges##N(a, b); o[17] = __vcmpgeu##N(a, b); o[18] = __vcmpgts##N(a, b); o[19] = __vcmpgtu##N(a, b); \
    o[20] = __vcmples##N(a, b); o[21] = __vcmpleu##N(a, b); o[22] = __vcmplts##N(a, b); o[23] = __vcmpltu##N(a, b); \
    o[24] = __vcmpne##N(a, b); o[25] = __vmaxs##N(a, b); o[26] = __vmaxu##N(a, b); o[27] = __vmins##N(a, b); \
    o[28] = __vminu##N(a, b); o[29] = __vsads##N(a, b); o[30] = __vsadu##N(a, b); o[31] = __vseteq##N(a, b); \
    o[32] = __vsetges##N(a, b); o[33] = __vsetgeu##N(a, b); o[34] = __vsetgts##N(a, b); o[35] = __vsetgtu##N(a, b); \
    o[36] = __vsetles##N(a, b); o[37] = __vsetltu##N(a, b); o[38] = __vsetne##N(a, b); o[39] = __vsetleu##N(a, b) + __vsetlts##N(a, b);
extern "C" __global__ void simd2(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = in[2 * i], b = in[2 * i + 1], *o = out + 40 * i;
    COMMON(2)
}
extern "C" __global__ void simd4(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = in[2 * i], b = in[2 * i + 1], *o = out + 40 * i;
    COMMON(4)
}
