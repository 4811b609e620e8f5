// Bits and bytes: counts, fields, permutations, funnels, dot products.
// compile: -arch=sm_75
// run: bits <<<2,1,1 64,1,1 0>>> in:edge:1:384 out:3072
extern "C" __global__ void bits(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2], *o = out + 24 * i;
    o[0] = __popc(a); o[1] = __clz(a); o[2] = __ffs(a); o[3] = __brev(a);
    o[4] = __byte_perm(a, b, c);
    o[5] = __funnelshift_l(a, b, c); o[6] = __funnelshift_lc(a, b, c);
    o[7] = __funnelshift_r(a, b, c); o[8] = __funnelshift_rc(a, b, c);
    o[9] = __dp4a((int)a, (int)b, (int)c); o[10] = __dp4a(a, b, c);
    o[11] = __dp2a_lo((int)a, (int)b, (int)c); o[12] = __dp2a_hi(a, b, c);
    o[13] = __sad(a, b, c); o[14] = __usad(a, b, c);
    o[15] = __mul24(a, b); o[16] = __umul24(a, b); o[17] = __mulhi((int)a, (int)b); o[18] = __umulhi(a, b);
    o[19] = __hadd(a, b); o[20] = __rhadd(a, b); o[21] = __uhadd(a, b); o[22] = __urhadd(a, b);
    unsigned long long w = (unsigned long long)a << 32 | b;
    o[23] = (w << (c & 63)) ^ (w >> (c & 63)) ^ (unsigned)((long long)w >> (c & 63)) ^ (a << (c & 31)) ^ ((int)a >> (c & 31));
}
