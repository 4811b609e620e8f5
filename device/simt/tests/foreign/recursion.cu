// Recursion: single, double, mutual, on an array, and through a pointer.
// compile: -arch=sm_75
// run: numbers <<<1,1,1 40,1,1 0>>> out:160
// run: sorts <<<1,1,1 33,1,1 0>>> io:rand:1:1056
__device__ __noinline__ unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __noinline__ unsigned ack(unsigned m, unsigned n) {
    return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
}
__device__ __noinline__ bool odd(unsigned n);
__device__ __noinline__ bool even(unsigned n) { return n == 0 || odd(n - 1); }
__device__ __noinline__ bool odd(unsigned n) { return n != 0 && even(n - 1); }
typedef unsigned (*Step)(unsigned, void *);
__device__ __noinline__ unsigned down(unsigned n, void *self) { return n == 0 ? 7 : (*(Step *)self)(n - 1, self) * 3 + n; }
extern "C" __global__ void numbers(unsigned *out) {
    unsigned t = threadIdx.x;
    out[4 * t] = fib(t % 12);
    out[4 * t + 1] = ack(t % 3, t % 5);
    out[4 * t + 2] = even(t) + 2 * odd(t * 3);
    Step step = down;
    out[4 * t + 3] = down(t, &step);
}
__device__ void quick(unsigned *a, int from, int to) {
    if (to - from < 2) return;
    unsigned pivot = a[(from + to) / 2];
    int i = from, j = to - 1;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) { unsigned t = a[i]; a[i++] = a[j]; a[j--] = t; }
    }
    quick(a, from, j + 1);
    quick(a, i, to);
}
extern "C" __global__ void sorts(unsigned *a) { quick(a + 32 * threadIdx.x, 0, 32); }
