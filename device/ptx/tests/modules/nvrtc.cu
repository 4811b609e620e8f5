// Small kernels that make a CUDA C++ compiler write its ways of saying things. `nvrtc_*.ptx` beside this file are what
// NVRTC 13.5 makes of it: `--gpu-architecture=compute_75 -lineinfo`, and `--gpu-architecture=compute_90a -G`.

struct Item { int tag; float weight; double value; };

__constant__ float table[8] = {0.5f, 1.0f, -2.0f, 3.25f};
__constant__ double wide[2][3] = {{1.0, 2.0}, {3.0}};
__device__ Item items[3] = {{1, 2.0f, 3.0}, {4, -5.0f, 6.0}};
__device__ int counter = 7;
__device__ int *pointer = &counter;
__device__ int *inner[2] = {&counter, &items[1].tag};
__managed__ unsigned managed = 0x12345678u;
struct __attribute__((packed)) Packed { char c; const char *p; };
__device__ const char text[] = "h\"\xc3\xa9llo";
__device__ Packed packed = {'a', text + 3};

typedef float (*Op)(float, float);
__device__ __noinline__ float plus(float a, float b) { return a + b; }
__device__ __noinline__ float times(float a, float b) { return a * b; }
__device__ Op ops[2] = {plus, times};

extern "C" __global__ void __launch_bounds__(256, 2)
add(const float *__restrict__ x, const float *__restrict__ y, float *z, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) z[i] = x[i] + y[i];
}

extern "C" __global__ void through(Item item, float *out, int which) {
  float v = ops[which & 1](item.weight, table[threadIdx.x & 7]);
  out[threadIdx.x] = v + (float)item.value + (float)wide[which & 1][threadIdx.x % 3];
}

extern "C" __global__ void reduce(const float *x, float *out, int n) {
  __shared__ float part[32];
  extern __shared__ float dynamic[];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[i];
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
  dynamic[threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    float t = 0;
    for (int i = 0; i < blockDim.x / 32; i++) t += part[i];
    atomicAdd(out, t + dynamic[1]);
  }
}

extern "C" __device__ __noinline__ long long recurse(long long n) {
  return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
}

extern "C" __global__ void many(int kind, int *out, long long *big, float4 *quad) {
  int v = out[threadIdx.x];
  switch (kind) {
  case 0: v += 3; break;
  case 1: v *= 5; break;
  case 2: v ^= 77; break;
  case 3: v = __clz(v); break;
  case 4: v = __popc(v); break;
  case 5: v = __brev(v); break;
  case 6: v = (int)recurse(v); break;
  case 7: v = v / 7; break;
  default: v = -v;
  }
  out[threadIdx.x] = v;
  big[threadIdx.x] = clock64() + __ballot_sync(~0u, v > 3);
  float4 q = quad[3];
  quad[4] = q;
  unsigned lane, choice;
  asm volatile("{\n\t.reg .pred p;\n\t.reg .u32 r;\n\tmov.u32 r, %%laneid;\n\tsetp.lt.u32 p, r, 16;\n\t@p bra L1;\n\t"
               "add.u32 r, r, 1;\nL1:\n\tmov.u32 %0, r;\n\t}" : "=r"(lane));
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; selp.u32 %0, 1, (1<<3)+2, p; }" : "=r"(choice) : "r"(lane));
  atomicMax(&out[0], (int)(lane + choice));
  if (v == 12345) __trap();
  managed += *pointer + *inner[1] + text[v & 3] + items[v & 1].tag + packed.p[0];
}

extern "C" __global__ void endless(volatile int *flag) {
  while (true)
    if (*flag == 2) *flag = 3;
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(int *out) { out[0] = 1; }
#endif
