// Division and remainder of every width and sign; by zero, and of the least by minus one, as the hardware has them.
// compile: -arch=sm_75
// run: narrow <<<4,1,1 128,1,1 0>>> in:edge:1:1024 out:4096
// run: wide <<<4,1,1 64,1,1 0>>> in:edge64:2:1024 out:4096
// run: constants <<<2,1,1 128,1,1 0>>> in:edge:3:256 out:3072
extern "C" __global__ void narrow(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = in[2 * i], b = in[2 * i + 1], *o = out + 8 * i;
    o[0] = (int)a / (int)b;
    o[1] = (int)a % (int)b;
    o[2] = a / b;
    o[3] = a % b;
    short sa = a, sb = b;
    o[4] = sb ? (unsigned short)(sa / sb) | (unsigned)(unsigned short)(sa % sb) << 16 : 1;
    unsigned short ua = a, ub = b;
    o[5] = ub ? ua / ub | (ua % ub) << 16 : 2;
    signed char ca = a, cb = b;
    o[6] = cb ? (unsigned char)(ca / cb) | (unsigned char)(ca % cb) << 8 : 3;
    unsigned char da = a, db = b;
    o[7] = db ? da / db | (da % db) << 8 : 4;
}
extern "C" __global__ void wide(const unsigned long long *in, unsigned long long *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long a = in[2 * i], b = in[2 * i + 1], *o = out + 8 * i;
    o[0] = a / b;
    o[1] = a % b;
    o[2] = (long long)a / (long long)b;
    o[3] = (long long)a % (long long)b;
    o[4] = b >> 32 ? a / (b >> 32) : 9;
    o[5] = (unsigned)b ? a % (unsigned)b : 9;
    o[6] = (int)b ? (long long)a / (int)b : 9;
    o[7] = (short)b ? (int)(a >> 32) / (short)b : 9;
}
extern "C" __global__ void constants(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = in[i], *o = out + 12 * i;
    int s = a;
    o[0] = a / 3; o[1] = s / 3; o[2] = a % 7; o[3] = s % 7; o[4] = s / -5; o[5] = s % 16; o[6] = a / 641; o[7] = s / 8;
    unsigned long long w = (unsigned long long)a * 0x123456789abull;
    o[8] = w / 1000000007; o[9] = w % 1000000007; o[10] = (long long)w / -77; o[11] = (long long)w % 10;
}
