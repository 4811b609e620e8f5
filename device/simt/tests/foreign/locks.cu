// Locks that lanes of one warp fight for, tickets, and a producer with its consumer.
// compile: -arch=sm_75
// run: spin <<<4,1,1 64,1,1 0>>> io:zero:0:1 io:zero:0:2
// run: spin_after <<<3,1,1 50,1,1 0>>> io:zero:0:1 io:zero:0:2
// run: tickets <<<3,1,1 40,1,1 0>>> io:zero:0:2 io:zero:0:1
// run: pipe <<<1,1,1 64,1,1 0>>> in:rand:1:100 out:100
extern "C" __global__ void spin(int *lock, unsigned *count) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    volatile unsigned *c = count;
    c[0] = c[0] + 1;
    c[1] = c[1] + c[0];
    __threadfence();
    atomicExch(lock, 0);
}
extern "C" __global__ void spin_after(int *lock, unsigned *count) {
    bool done = false;
    do {
        if (atomicCAS(lock, 0, 1) == 0) {
            volatile unsigned *c = count;
            c[0] = c[0] + 1;
            c[1] = c[1] * 2 + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    } while (!done);
}
extern "C" __global__ void tickets(volatile unsigned *lock, unsigned *count) {
    unsigned mine = atomicAdd((unsigned *)lock, 1);
    while (lock[1] != mine) __nanosleep(20);
    *count = *count * 3 + 1;
    __threadfence();
    lock[1] = mine + 1;
}
extern "C" __global__ void pipe(const unsigned *in, unsigned *out) {
    __shared__ volatile unsigned slot, full;
    if (threadIdx.x == 0) full = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 100; i++) {
            while (full) {}
            slot = in[i];
            __threadfence_block();
            full = 1;
        }
    } else if (threadIdx.x == 1) {
        for (int i = 0; i < 100; i++) {
            while (!full) {}
            out[i] = slot ^ i;
            __threadfence_block();
            full = 0;
        }
    }
}
