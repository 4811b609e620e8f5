#!/usr/bin/env python3
"""What the best known libraries reach for the patterns of `gridstride bench`, on the GPU at hand.

Same sizes and same method as gridstride: inputs on the device, warm-up, CUDA events around one call, the median of
`--runs`. Effective GB/s counts the bytes that the algorithm must move. A library that is not installed is named as
missing, never left out silently.

    python3 benches/peers/peers.py [--runs 20] [--only add]

Needs an NVIDIA GPU and CuPy; PyTorch and Numba are used where they are installed.
"""

import argparse
import json
import statistics
import sys

import cupy as cp

ADD_CUDA = r"""
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
"""


def measure(call, runs, stream=None):
    """Milliseconds of `call` on the device: every sample, after three warm-up calls."""
    for _ in range(3):
        call()
    cp.cuda.Device().synchronize()
    samples = []
    for _ in range(runs):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record(stream)
        call()
        end.record(stream)
        end.synchronize()
        samples.append(cp.cuda.get_elapsed_time(start, end))
    return samples


def row(pattern, n, peer, moved, samples):
    ms = statistics.median(samples)
    return {
        "pattern": pattern, "n": n, "peer": peer, "kernel_ms": round(ms, 5),
        "min_ms": round(min(samples), 5), "max_ms": round(max(samples), 5),
        "gb_per_s": round(moved / ms / 1e6, 1),
    }


def copy_rows(n, runs):
    a, o = cp.empty(n, cp.float32), cp.empty(n, cp.float32)
    yield row("copy (device to device)", n, "cudaMemcpyAsync", 8 * n,
              measure(lambda: o.data.copy_from_device_async(a.data, 4 * n, cp.cuda.get_current_stream()), runs))


def add_rows(n, runs):
    moved = 12 * n
    a = cp.random.rand(n, dtype=cp.float32)
    b = cp.random.rand(n, dtype=cp.float32)
    o = cp.empty_like(a)
    want = a + b
    module = cp.RawModule(code=ADD_CUDA)
    scalar, vector = module.get_function("add_scalar"), module.get_function("add_float4")
    quads = n // 4
    calls = {
        "CUDA C++ float4, n/4/256 blocks": lambda: vector(((quads + 255) // 256,), (256,), (a, b, o, cp.uint64(quads))),
        "CUDA C++ scalar, 8 blocks an SM": lambda: scalar((8 * sms(),), (256,), (a, b, o, cp.uint64(n))),
        "CuPy": lambda: cp.add(a, b, out=o),
    }
    try:
        import torch
        ta, tb, to = (torch.as_tensor(x, device="cuda") for x in (a, b, o))
        calls["PyTorch"] = lambda: torch.add(ta, tb, out=to)
    except ImportError:
        print("PyTorch is not installed: not measured", file=sys.stderr)
    kernel = numba_add()
    if kernel is not None:
        from numba import cuda
        na, nb, no = (cuda.as_cuda_array(x) for x in (a, b, o))
        calls["Numba, 32 blocks an SM"] = lambda: kernel[32 * sms(), 256](na, nb, no)
    for peer, call in calls.items():
        o.fill(float("nan"))
        call()
        cp.cuda.Device().synchronize()
        if not bool((o == want).all()):
            sys.exit(f"add, {peer}, n = {n}: wrong result")
        stream = None
        yield row("add f32", n, peer, moved, measure(call, runs, stream))
    if kernel is not None and n == 10_000_000:
        yield row("add f32 <<<1, 1>>>", n, "Numba", moved, measure(lambda: kernel[1, 1](na, nb, no), 5))


def numba_add():
    try:
        import numpy
        if not hasattr(numpy, "row_stack"):
            numpy.row_stack = numpy.vstack  # Numba still looks for the old name
        from numba import cuda
    except ImportError:
        print("Numba is not installed: not measured", file=sys.stderr)
        return None

    @cuda.jit
    def kernel(a, b, o):
        for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            o[i] = a[i] + b[i]

    return kernel


def sms():
    return cp.cuda.Device().attributes["MultiProcessorCount"]


PATTERNS = {
    "copy": lambda runs: copy_rows(1 << 28, runs),
    "add": lambda runs: (r for n in (10_000_000, 1 << 28) for r in add_rows(n, runs)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", choices=sorted(PATTERNS))
    parser.add_argument("--json", action="store_true", help="print JSON lines instead of a table")
    options = parser.parse_args()
    props = cp.cuda.runtime.getDeviceProperties(0)
    print(f"# {props['name'].decode()}, {sms()} SMs, driver {cp.cuda.runtime.driverGetVersion()}, "
          f"median of {options.runs}, CUDA events")
    for name, rows in PATTERNS.items():
        if options.only in (None, name):
            for r in rows(options.runs):
                if options.json:
                    print(json.dumps(r), flush=True)
                else:
                    print(f"{r['pattern']:<24} {r['n']:>11} {r['peer']:<34} {r['kernel_ms']:>10.4f} ms "
                          f"{r['gb_per_s']:>8.1f} GB/s", flush=True)


if __name__ == "__main__":
    main()
