// malloc and free, new and delete, virtual functions, function pointers, templates.
// compile: -arch=sm_75
// run: lists <<<2,1,1 40,1,1 0>>> out:80
// run: shapes <<<1,1,1 64,1,1 0>>> in:rand:2:64 out:64
// run: tables <<<1,1,1 64,1,1 0>>> in:rand:3:64 out:128
struct Link { Link *next; unsigned value; };
extern "C" __global__ void lists(unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    Link *head = nullptr;
    for (unsigned k = 0; k <= i % 7; k++) {
        Link *link = (Link *)malloc(sizeof(Link));
        link->next = head; link->value = k * i;
        head = link;
    }
    unsigned *array = new unsigned[10];
    for (int k = 0; k < 10; k++) array[k] = i + k;
    unsigned sum = 0;
    while (head) { sum = sum * 3 + head->value; Link *next = head->next; free(head); head = next; }
    for (int k = 0; k < 10; k++) sum += array[k];
    delete[] array;
    free(nullptr);
    out[i] = sum;
}
struct Shape {
    unsigned k;
    __device__ Shape(unsigned k) : k(k) {}
    __device__ virtual unsigned area(unsigned x) const = 0;
    __device__ virtual unsigned name() const { return 1; }
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    __device__ Square(unsigned k) : Shape(k) {}
    __device__ unsigned area(unsigned x) const override { return x * x + k; }
};
struct Line : Shape {
    __device__ Line(unsigned k) : Shape(k) {}
    __device__ unsigned area(unsigned x) const override { return x ^ k; }
    __device__ unsigned name() const override { return 2 + Shape::name(); }
};
struct Both : Square, Line {
    __device__ Both(unsigned k) : Square(k), Line(k + 1) {}
    __device__ unsigned area(unsigned x) const override { return Square::area(x) - Line::area(x); }
};
extern "C" __global__ void shapes(const unsigned *in, unsigned *out) {
    unsigned v = in[threadIdx.x], r = 0;
    Shape *shape;
    Both *both = nullptr;
    if (v % 3 == 0) shape = new Square(v);
    else if (v % 3 == 1) shape = new Line(v);
    else { both = new Both(v); shape = (Square *)both; }
    for (unsigned k = 0; k < 4; k++) r = r * 7 + shape->area(k + v) + shape->name();
    if (both) r ^= ((Line *)both)->area(5);
    delete shape;
    out[threadIdx.x] = r;
}
template <int N> __device__ __noinline__ unsigned apply(unsigned v) { return v * N + apply<N - 1>(v ^ N); }
template <> __device__ __noinline__ unsigned apply<0>(unsigned v) { return v; }
typedef unsigned (*Function)(unsigned);
__device__ Function functions[] = {apply<1>, apply<2>, apply<5>, apply<0>};
__constant__ Function constants[] = {apply<3>, apply<4>};
__device__ __noinline__ double blend(double a, float b, short c, unsigned char d, unsigned long long e) { return a * b + c - d + e; }
struct Wide { double a[5]; unsigned char tail; };
__device__ __noinline__ Wide widen(Wide w, int k) { for (int i = 0; i < 5; i++) w.a[i] += k * i; w.tail += k; return w; }
extern "C" __global__ void tables(const unsigned *in, unsigned *out) {
    unsigned v = in[threadIdx.x];
    unsigned r = functions[v % 4](v) + constants[v >> 8 & 1](v);
    Wide w = {{1, 2, 3, 4, (double)(v % 9)}, (unsigned char)v};
    w = widen(widen(w, 2), v % 5);
    auto twice = [=](unsigned k) { return k * 2 + v; };
    out[2 * threadIdx.x] = r + twice(r) + (unsigned)blend(v % 7, 0.5f, -3, v, v % 1000);
    out[2 * threadIdx.x + 1] = (unsigned)(w.a[4] * 4 + w.a[1]) + w.tail;
}
