// printf: every conversion, widths and precisions, strings, and what it returns.
// compile: -arch=sm_75
// run: print <<<1,1,1 1,1,1 0>>> out:4 u32:42
// run: lanes <<<2,1,1 3,1,1 0>>> u32:5
extern "C" int printf(const char *, ...);
struct Pair { int a; double b; };
extern "C" __global__ void print(int *out, unsigned n) {
    out[0] = printf("plain\n");
    out[1] = printf("%d %u %x %X %o %c|%5d|%-5d|%05d|%+d|% d\n", -7, n, 255, 255, 8, 'x', 42, 42, 42, 42, 42);
    out[2] = printf("%f %.3f %10.2f|%e %g %a\n", 3.5, 2.0 / 3, -1.25, 12345.678, 1e-10, 1.0);
    printf("%lld %llu %llx %ld %hd\n", -5000000000ll, 18446744073709551615ull, 0x123456789abcdefull, -3l, (short)-2);
    printf("%s|%10s|%-10s|%.2s|%%\n", "text", "right", "left", "cut");
    printf("%p\n", (void *)0x1234);
    printf("%*d|%-*d|%.*f\n", 6, 1, 6, 2, 2, 3.14159);
    printf("%.4d|%5.3u|%A|%E|%G|%a\n", 42, 7u, 0.15625, 1e-5, 1e-7, -3.25e-310);
    printf("%p\n", (void *)0);
    float f = n;
    printf("%f %c%c\n", f, 'o', 'k');
    printf("%#x %#o %08.3f %+.2e %i\n", 255, 8, 3.14159, 12345.678, -1);
    printf("%g %g %g %f\n", 0.0001, 100000.0, 1e20, -0.0);
    printf("inf %f %f nan %f\n", 1.0 / 0.0, -1.0 / 0.0, __longlong_as_double(0x7ff8000000000000ll));
    out[3] = printf("no newline");
    printf("\n");
}
extern "C" __global__ void lanes(unsigned n) {
    if (blockIdx.x == 0) printf("thread %d of %u\n", threadIdx.x, n);
}
