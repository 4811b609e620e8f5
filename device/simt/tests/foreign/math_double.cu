// libdevice's double-precision functions, whose divisions begin with `.approx` instructions.
// ulps: 2
// compile: -arch=sm_75
// run: doubles <<<2,1,1 64,1,1 0>>> in:double:3:512 out:4096
extern "C" __global__ void doubles(const double *in, double *o) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double a = in[2 * i], b = in[2 * i + 1]; o += 16 * i;
    o[0] = exp(a); o[1] = log(fabs(b)); o[2] = sin(a); o[3] = cos(b * 1e6); o[4] = pow(fabs(a), b); o[5] = atan2(a, b); o[6] = tanh(a); o[7] = cbrt(a);
    o[8] = rsqrt(fabs(a)); o[9] = erf(a); o[10] = lgamma(fabs(a) + 0.5); o[11] = tan(a); o[12] = asin(a / 8); o[13] = log1p(fabs(a)); o[14] = expm1(a); o[15] = hypot(a, b);
}
