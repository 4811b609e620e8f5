// Branches, loops and leaves of every kind, and barriers behind them.
// compile: -arch=sm_80
// run: collatz <<<2,1,1 64,1,1 0>>> in:rand:1:128 out:128
// run: nested <<<2,1,1 100,1,1 0>>> in:rand:2:200 out:200
// run: leaves <<<2,1,1 100,1,1 0>>> in:rand:3:200 out:200 io:zero:0:2
// run: machine <<<1,1,1 64,1,1 0>>> in:rand:4:64 out:64
extern "C" __global__ void collatz(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = in[i] % 10000 + 1, steps = 0;
    while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; steps++; }
    out[i] = steps * 64 + __popc(__ballot_sync(~0u, steps % 2));
}
extern "C" __global__ void nested(const unsigned *in, unsigned *out) {
    __shared__ unsigned s[100];
    unsigned t = threadIdx.x, i = blockIdx.x * 100 + t, v = in[i], r = 0;
    for (unsigned a = 0; a < v % 7; a++) {
        for (unsigned b = a; b < 9; b++) {
            if ((v >> b & 3) == 2) continue;
            if ((v ^ a * b) % 11 == 3) break;
            if (b == 5 && a == 3) goto end;
            r = r * 5 + (a & 1 ? b : v >> a);
        }
        int fuel = 20;
        do { r ^= r << 3; if (r & 64) break; r += a; } while (r % 13 != 0 && --fuel);
    }
end:
    s[t] = r;
    __syncthreads();
    out[i] = s[99 - t] + r;
}
extern "C" __global__ void leaves(const unsigned *in, unsigned *out, unsigned *counts) {
    unsigned t = threadIdx.x, i = blockIdx.x * 100 + t, v = in[i];
    out[i] = v;
    if (v % 3 == 0) return;
    if (v % 5 == 1) { atomicAdd(counts, 1); asm volatile("exit;"); }
    __syncwarp(__activemask());
    out[i] = __popc(__activemask() & 0) + v * 2;
    if (v % 2) return;
    atomicAdd(counts + 1, 1);
    out[i] += 1;
}
extern "C" __global__ void machine(const unsigned *in, unsigned *out) {
    unsigned v = in[threadIdx.x], state = v % 5, r = 1, fuel = 200;
    for (;;) {
        if (!fuel--) break;
        if (state == 0) { r = r * 17 + 1; state = r & 1 ? 1 : 3; }
        else if (state == 1) { r ^= v; state = r % 3 == 0 ? 4 : 2; }
        else if (state == 2) { r = r >> 3 | r << 29; state = 0; if (r < 1000) return; }
        else if (state == 3) { r += fuel; if (r % 7 == 2) break; state = 1; }
        else { r = ~r; state = fuel % 4; }
    }
    out[threadIdx.x] = r;
}
