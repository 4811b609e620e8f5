// libdevice's mathematics behind which `.approx` instructions are: near, as the ISA allows.
// ulps: 4
// compile: -arch=sm_75
// run: singles <<<2,1,1 128,1,1 0>>> in:float:1:512 out:4096
extern "C" __global__ void singles(const float *in, float *o) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = in[2 * i], b = in[2 * i + 1]; o += 16 * i;
    o[0] = expf(a); o[1] = exp2f(b); o[2] = rsqrtf(fabsf(a)); o[3] = tanhf(a); o[4] = sinhf(a); o[5] = powf(fabsf(a), b); o[6] = exp10f(a);
    o[7] = cbrtf(a); o[8] = expm1f(a); o[9] = tanf(a); o[10] = __fdividef(a, b); o[11] = coshf(a); o[12] = norm3df(a, b, 1);
    o[13] = rcbrtf(a); o[14] = acoshf(1 + fabsf(a)); o[15] = atan2f(a, b);
}
