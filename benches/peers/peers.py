#!/usr/bin/env python3
"""What the best known libraries reach for the patterns of `gridstride bench`, on the GPU at hand.

Same sizes and same method as gridstride: inputs on the device, warm-up, CUDA events around one call, the median of
`--runs`. Rates count the bytes that the algorithm must move, or the operations that it must do. Results are compared with
each other. A library that is not installed is named as missing, never left out silently, and neither is a call that fails.

    python3 benches/peers/peers.py [--runs 20] [--only add]

Needs an NVIDIA GPU and CuPy; PyTorch and Numba are used where they are installed.
"""

import argparse
import json
import math
import statistics
import sys

import cupy as cp

CUDA = r"""
extern "C" __global__ void add_scalar(const float* a, const float* b, float* o, size_t n) {
  size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) o[i] = a[i] + b[i];
}
extern "C" __global__ void add_float4(const float4* __restrict__ a, const float4* __restrict__ b,
                                      float4* __restrict__ o, size_t n) {
  size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    float4 x = a[i], y = b[i];
    o[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
}
extern "C" __global__ void saxpy_float4(float f, const float4* __restrict__ a, const float4* __restrict__ b,
                                        float4* __restrict__ o, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 x = a[i], y = b[i];
    o[i] = make_float4(f * x.x + y.x, f * x.y + y.y, f * x.z + y.z, f * x.w + y.w);
  }
}
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ o, int rows, int columns) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (r + k < rows && c < columns) tile[threadIdx.y + k][threadIdx.x] = x[(size_t)(r + k) * columns + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x; r = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (r + k < columns && c < rows) o[(size_t)(r + k) * rows + c] = tile[threadIdx.x][threadIdx.y + k];
}
extern "C" __global__ void stencil(float rate, const float* __restrict__ x, float* __restrict__ o, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c >= columns || r >= rows) return;
  size_t i = (size_t)r * columns + c;
  float own = x[i];
  bool rim = r == 0 || c == 0 || r == rows - 1 || c == columns - 1;
  o[i] = rim ? own : own + rate * (x[i - 1] + x[i + 1] + x[i - columns] + x[i + columns] - 4 * own);
}
extern "C" __global__ void mandelbrot(unsigned* o, int width, int height, int most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  float cx = (i % width) * (2.5f / width) - 2.0f, cy = (i / width) * (2.5f / height) - 1.25f, x = 0, y = 0;
  int step = 0;
  for (; step < most; step++) {
    float xx = x * x, yy = y * y;
    if (xx + yy > 4) break;
    y = 2 * x * y + cy; x = xx - yy + cx;
  }
  o[i] = step;
}
extern "C" __global__ void nbody(const float4* __restrict__ body, float4* __restrict__ o, int n) {
  __shared__ float4 tile[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  float4 own = i < n ? body[i] : make_float4(0, 0, 0, 0);
  float3 sum = make_float3(0, 0, 0);
  for (int from = 0; from < n; from += 128) {
    tile[threadIdx.x] = body[from + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 128; k++) {
      float dx = tile[k].x - own.x, dy = tile[k].y - own.y, dz = tile[k].z - own.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-4f);
      float s = tile[k].w * inverse * inverse * inverse;
      sum.x += dx * s; sum.y += dy * s; sum.z += dz * s;
    }
    __syncthreads();
  }
  if (i < n) o[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
"""

MISSING = set()


def library(name):
    """A module, or None where it is not installed, which is said once."""
    try:
        if name == "numba":
            import numpy
            if not hasattr(numpy, "row_stack"):
                numpy.row_stack = numpy.vstack  # Numba still looks for the old name
            from numba import cuda
            return cuda
        return __import__(name)
    except ImportError:
        if name not in MISSING:
            print(f"{name} is not installed: not measured", file=sys.stderr)
            MISSING.add(name)
        return None


def measure(call, runs):
    """Milliseconds of `call` on the device: every sample, after three warm-up calls."""
    for _ in range(3):
        call()
    cp.cuda.Device().synchronize()
    samples = []
    for _ in range(runs):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        call()
        end.record()
        end.synchronize()
        samples.append(cp.cuda.get_elapsed_time(start, end))
    return samples


class Pattern:
    """A pattern at a size: peers are called, compared with the first one's result, and measured."""

    def __init__(self, name, n, work, unit="GB/s", tolerance=0.0):
        self.name, self.n, self.work, self.unit, self.tolerance = name, n, work, unit, tolerance
        self.peers = []
        self.want = None

    def peer(self, name, call, result=None):
        """`call` does the work; `result` gives the array that holds its outcome."""
        self.peers.append((name, call, result))

    def rows(self, runs):
        for name, call, result in self.peers:
            try:
                got = call()
                got = result() if result else got
                cp.cuda.Device().synchronize()
                self.check(name, got)
                samples = measure(call, runs)
            except Exception as error:  # A peer that fails is named, and the others go on.
                print(f"{self.name}, {name}, n = {self.n}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
                continue
            ms = statistics.median(samples)
            yield {
                "pattern": self.name, "n": self.n, "peer": name, "kernel_ms": round(ms, 5),
                "min_ms": round(min(samples), 5), "max_ms": round(max(samples), 5),
                "rate": round(self.work / ms / 1e6, 1), "unit": self.unit,
            }

    def check(self, name, got):
        if got is None:
            return
        got = cp.asarray(got).reshape(-1)
        if self.want is None:
            self.want = got[:: max(1, got.size // 1_000_003)].astype(cp.float64)
            return
        got = got[:: max(1, got.size // 1_000_003)].astype(cp.float64)
        off = float(cp.abs(got - self.want).max()) if got.size else 0.0
        if not off <= self.tolerance:
            raise ValueError(f"differs from {self.peers[0][0]} by {off}")


def tensors(torch, *arrays):
    return [torch.as_tensor(x, device="cuda") for x in arrays]


def kernel(name):
    if "module" not in globals():
        globals()["module"] = cp.RawModule(code=CUDA)
    return module.get_function(name)


def sms():
    return cp.cuda.Device().attributes["MultiProcessorCount"]


def grid(n, block=256):
    return ((n + block - 1) // block,)


def copy():
    n = 1 << 28
    a, o = cp.empty(n, cp.float32), cp.empty(n, cp.float32)
    p = Pattern("copy", n, 8 * n)
    p.peer("cudaMemcpyAsync", lambda: o.data.copy_from_device_async(a.data, 4 * n, cp.cuda.get_current_stream()))
    yield p
    p = Pattern("fill", n, 4 * n)
    p.peer("CuPy", lambda: o.fill(2.5))
    if torch := library("torch"):
        (t,) = tensors(torch, o)
        p.peer("PyTorch", lambda: t.fill_(2.5), lambda: None)
    yield p


def add():
    for n in (10_000_000, 1 << 28):
        a, b = cp.random.rand(n, dtype=cp.float32), cp.random.rand(n, dtype=cp.float32)
        o = cp.empty_like(a)
        p = Pattern("add f32", n, 12 * n)
        quads = n // 4
        p.peer("CUDA C++ float4, n/4/256 blocks",
               lambda: kernel("add_float4")(grid(quads), (256,), (a, b, o, cp.uint64(quads))), lambda: o)
        p.peer("CUDA C++ scalar, 8 blocks an SM",
               lambda: kernel("add_scalar")((8 * sms(),), (256,), (a, b, o, cp.uint64(n))), lambda: o)
        p.peer("CuPy", lambda: cp.add(a, b, out=o))
        if torch := library("torch"):
            ta, tb, to = tensors(torch, a, b, o)
            p.peer("PyTorch", lambda: torch.add(ta, tb, out=to))
        numba = numba_add()
        if numba:
            na, nb, no = (library("numba").as_cuda_array(x) for x in (a, b, o))
            p.peer("Numba, 32 blocks an SM", lambda: numba[32 * sms(), 256](na, nb, no), lambda: o)
        yield p
        if numba and n == 10_000_000:
            p = Pattern("add f32 <<<1, 1>>>", n, 12 * n)
            p.peer("Numba", lambda: numba[1, 1](na, nb, no))
            yield p


def numba_add():
    cuda = library("numba")
    if not cuda:
        return None

    @cuda.jit
    def kernel(a, b, o):
        for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            o[i] = a[i] + b[i]

    return kernel


def saxpy():
    n = 1 << 28
    x, y = cp.random.rand(n, dtype=cp.float32), cp.random.rand(n, dtype=cp.float32)
    o = cp.empty_like(x)
    p = Pattern("saxpy f32", n, 12 * n, tolerance=1e-6)
    p.peer("CUDA C++ float4",
           lambda: kernel("saxpy_float4")(grid(n // 4), (256,), (cp.float32(2.7), x, y, o, cp.uint64(n // 4))), lambda: o)
    fused = cp.ElementwiseKernel("float32 x, float32 y", "float32 o", "o = 2.7f * x + y", "peer_saxpy")
    p.peer("CuPy, one kernel", lambda: fused(x, y, o))
    if torch := library("torch"):
        tx, ty, to = tensors(torch, x, y, o)
        p.peer("PyTorch", lambda: torch.add(ty, tx, alpha=2.7, out=to))
    yield p


def gelu():
    n = 1 << 28
    x = cp.random.rand(n, dtype=cp.float32) * 16 - 8
    if torch := library("torch"):
        (tx,) = tensors(torch, x)
        p = Pattern("gelu f32", n, 8 * n)
        p.peer("PyTorch, tanh", lambda: torch.nn.functional.gelu(tx, approximate="tanh"), lambda: None)
        yield p


def reductions():
    n = 1 << 28
    x, y = cp.random.rand(n, dtype=cp.float32), cp.random.rand(n, dtype=cp.float32)
    torch = library("torch")
    tx, ty = tensors(torch, x, y) if torch else (None, None)
    p = Pattern("sum f32", n, 4 * n, tolerance=1e-3 * n)
    p.peer("CuPy (CUB)", lambda: x.sum())
    if torch:
        p.peer("PyTorch", lambda: tx.sum())
    yield p
    p = Pattern("min f32", n, 4 * n)
    p.peer("CuPy (CUB)", lambda: x.min())
    if torch:
        p.peer("PyTorch", lambda: tx.min())
    yield p
    p = Pattern("dot f32", n, 8 * n, tolerance=1e-3 * n)
    p.peer("CuPy (cuBLAS)", lambda: cp.dot(x, y))
    if torch:
        p.peer("PyTorch (cuBLAS)", lambda: torch.dot(tx, ty))
    yield p


def scan():
    n = 1 << 28
    x = cp.ones(n, cp.float32)
    o = cp.empty_like(x)
    p = Pattern("scan f32", n, 8 * n, tolerance=math.inf)
    p.peer("CuPy (CUB)", lambda: cp.cumsum(x, out=o))
    torch = library("torch")
    if torch:
        tx, to = tensors(torch, x, o)
        p.peer("PyTorch", lambda: torch.cumsum(tx, 0, out=to))
    yield p
    x = cp.random.rand(n, dtype=cp.float32) * 2 - 1
    p = Pattern("compact f32", n, 6 * n)
    p.peer("CuPy x[x > 0]", lambda: x[x > 0])
    if torch:
        (tx,) = tensors(torch, x)
        p.peer("PyTorch masked_select", lambda: torch.masked_select(tx, tx > 0))
    yield p


def histogram():
    n = 1 << 28
    x = cp.random.randint(0, 256, n, dtype=cp.uint8)
    p = Pattern("histogram u8", n, n)
    p.peer("CuPy bincount", lambda: cp.bincount(x, minlength=256))
    if torch := library("torch"):
        (tx,) = tensors(torch, x)
        p.peer("PyTorch bincount", lambda: torch.bincount(tx, minlength=256))
        yield p
        tf = tx.float()
        p = Pattern("histogram f32", n, 4 * n)
        p.peer("PyTorch histc", lambda: torch.histc(tf, 256, 0, 256))
    yield p


def matrices():
    side = 16384
    n = side * side
    x = cp.random.rand(side, side, dtype=cp.float32)
    o = cp.empty_like(x)
    torch = library("torch")
    tx, to = tensors(torch, x, o) if torch else (None, None)
    p = Pattern("transpose f32", n, 8 * n)
    p.peer("CUDA C++ 32x33 tile", lambda: kernel("transpose")(
        (side // 32, side // 32), (32, 8), (x, o, cp.int32(side), cp.int32(side))), lambda: o)
    p.peer("CuPy", lambda: cp.copyto(o, x.T), lambda: o)
    if torch:
        p.peer("PyTorch", lambda: to.copy_(tx.t()))
    yield p
    p = Pattern("stencil f32, 1 step", n, 8 * n)
    p.peer("CUDA C++ 32x8 block", lambda: kernel("stencil")(
        (side // 32, side // 8), (32, 8), (cp.float32(0.2), x, o, cp.int32(side), cp.int32(side))), lambda: o)
    yield p
    if torch:
        p = Pattern("softmax f32", n, 8 * n)
        p.peer("PyTorch", lambda: torch.softmax(tx, 1, out=to))
        yield p
        p = Pattern("layernorm f32", n, 8 * n)
        p.peer("PyTorch", lambda: torch.nn.functional.layer_norm(tx, (side,)), lambda: None)
        yield p
    del x, o, tx, to
    side = 8192
    a, b = cp.random.rand(side, side, dtype=cp.float32), cp.random.rand(side, side, dtype=cp.float32)
    c = cp.empty_like(a)
    p = Pattern("matmul f32", side * side, 2 * side**3, "Gop/s", tolerance=1.0)
    p.peer("CuPy (cuBLAS)", lambda: cp.matmul(a, b, out=c))
    if torch:
        torch.backends.cuda.matmul.allow_tf32 = False
        ta, tb, tc = tensors(torch, a, b, c)
        p.peer("PyTorch (cuBLAS), no TF32", lambda: torch.matmul(ta, tb, out=tc))
    yield p


def computing():
    side = 16384
    o = cp.empty(side * side, cp.uint32)
    p = Pattern("mandelbrot", side * side, 4 * side * side)
    p.peer("CUDA C++", lambda: kernel("mandelbrot")(
        grid(side * side), (256,), (o, cp.int32(side), cp.int32(side), cp.int32(256))), lambda: None)
    yield p
    n = 1 << 17
    body, out = cp.random.rand(n, 4, dtype=cp.float32), cp.empty((n, 4), cp.float32)
    p = Pattern("nbody", n, 20 * n * n, "Gop/s")
    p.peer("CUDA C++ tile of 128", lambda: kernel("nbody")(grid(n, 128), (128,), (body, out, cp.int32(n))), lambda: None)
    yield p


def sparse():
    from cupyx.scipy import sparse as matrices
    n, period = 1 << 24, 33
    lengths = (cp.arange(n, dtype=cp.int64) % period) * 13 % period
    starts = cp.concatenate([cp.zeros(1, cp.int64), cp.cumsum(lengths)]).astype(cp.int32)
    stored = int(starts[-1])
    row = cp.searchsorted(starts[1:], cp.arange(stored, dtype=cp.int32), side="right").astype(cp.int64)
    columns = ((row + n + cp.random.randint(0, 4096, stored) - 2048) % n).astype(cp.int32)
    del row
    a = matrices.csr_matrix((cp.random.rand(stored, dtype=cp.float32), columns, starts), shape=(n, n))
    x = cp.random.rand(n, dtype=cp.float32)
    p = Pattern("spmv f32", n, 8 * stored + 12 * n + 4)
    p.peer("CuPy (cuSPARSE)", lambda: a.dot(x))
    yield p


PATTERNS = {
    "copy": copy, "add": add, "saxpy": saxpy, "gelu": gelu, "reductions": reductions, "scan": scan,
    "histogram": histogram, "matrices": matrices, "computing": computing, "sparse": sparse,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", choices=sorted(PATTERNS), action="append")
    parser.add_argument("--json", action="store_true", help="print JSON lines instead of a table")
    options = parser.parse_args()
    props = cp.cuda.runtime.getDeviceProperties(0)
    print(f"# {props['name'].decode()}, {sms()} SMs, driver {cp.cuda.runtime.driverGetVersion()}, "
          f"median of {options.runs}, CUDA events")
    for name, patterns in PATTERNS.items():
        if options.only and name not in options.only:
            continue
        try:
            for pattern in patterns():
                for r in pattern.rows(options.runs):
                    if options.json:
                        print(json.dumps(r), flush=True)
                    else:
                        print(f"{r['pattern']:<20} {r['n']:>11} {r['peer']:<34} {r['kernel_ms']:>10.4f} ms "
                              f"{r['rate']:>9.1f} {r['unit']}", flush=True)
        except Exception as error:  # Inputs that cannot be made: named, and the other patterns go on.
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        if torch := sys.modules.get("torch"):
            torch.cuda.empty_cache()
        cp.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
