// libdevice's mathematics where no `.approx` instruction is behind it; `atanf`, `asinf` and `erff` are the exceptions.
// ulps: 1 in columns 5 6 14 of 16 of run 0
// compile: -arch=sm_75
// run: singles <<<2,1,1 128,1,1 0>>> in:float:1:512 out:4096
// run: edges <<<2,1,1 128,1,1 0>>> in:edge:2:512 out:4096
// run: doubles <<<2,1,1 64,1,1 0>>> in:double:3:512 out:4096
extern "C" __global__ void singles(const float *in, float *o) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = in[2 * i], b = in[2 * i + 1]; o += 16 * i;
    o[0] = sinf(a); o[1] = cosf(b); o[2] = logf(fabsf(a)); o[3] = log2f(fabsf(b)); o[4] = log1pf(fabsf(a)); o[5] = atanf(a); o[6] = asinf(a / 8);
    o[7] = sqrtf(fabsf(a)); o[8] = fmodf(a, b); o[9] = remainderf(a, b); o[10] = a / b; o[11] = nextafterf(a, b); o[12] = ldexpf(a, 5);
    o[13] = cosf(a * 1e6f); o[14] = erff(a) ; o[15] = hypotf(a, b);
}
extern "C" __global__ void edges(const float *in, float *o) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = in[2 * i], b = in[2 * i + 1]; o += 16 * i;
    int e = 0; float part;
    o[0] = sinf(a); o[1] = floorf(a); o[2] = logf(a); o[3] = fminf(a, b); o[4] = fmaxf(a, b); o[5] = atanf(a); o[6] = fdimf(a, b);
    o[7] = sqrtf(a); o[8] = fmodf(a, b); o[9] = copysignf(a, b); o[10] = a / b; o[11] = nextafterf(a, b); o[12] = frexpf(a, &e); o[13] = e + ilogbf(b) % 1000;
    o[14] = modff(a, &part); o[15] = (isnan(a) + 2 * isinf(b) + 4 * signbit(a) + 8 * isfinite(b)) + (a < b) * 16 + !(a >= b) * 32;
}
extern "C" __global__ void doubles(const double *in, double *o) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double a = in[2 * i], b = in[2 * i + 1]; o += 16 * i;
    o[0] = a + b; o[1] = a * b; o[2] = fma(a, b, a); o[3] = a / b; o[4] = sqrt(fabs(a)); o[5] = floor(a); o[6] = fmod(a, b); o[7] = remainder(a, b);
    o[8] = fmin(a, b); o[9] = copysign(a, b); o[10] = ldexp(a, -1030); o[11] = nextafter(a, b); o[12] = (float)a; o[13] = rint(b); o[14] = 1 / a; o[15] = trunc(a * 1e5);
}
