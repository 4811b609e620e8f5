# Kernels of Numba's CUDA target: grid-stride loops, shared memory, atomics, shuffles, votes, mathematics.
# run: stride <<<3,1,1 64,1,1 0>>> u64:0 u64:0 u64:1000 u64:4 in:float:1:1000 u64:1000 u64:4 u64:0 u64:0 u64:1000 u64:4 out:1000 u64:1000 u64:4
# run: block_sum <<<4,1,1 64,1,1 0>>> u64:0 u64:0 u64:900 u64:4 in:rand:2:900 u64:900 u64:4 u64:0 u64:0 u64:4 u64:4 out:4 u64:4 u64:4
# run: warps <<<1,1,1 64,1,1 0>>> u64:0 u64:0 u64:64 u64:4 in:rand:3:64 u64:64 u64:4 u64:0 u64:0 u64:384 u64:4 out:384 u64:384 u64:4
# run: counts <<<2,1,1 50,1,1 0>>> u64:0 u64:0 u64:100 u64:4 in:rand:4:100 u64:100 u64:4 u64:0 u64:0 u64:8 u64:4 io:zero:0:8 u64:8 u64:4
# run: division <<<1,1,1 64,1,1 0>>> u64:0 u64:0 u64:128 u64:8 in:edge64:5:256 u64:128 u64:8 u64:0 u64:0 u64:256 u64:8 out:512 u64:256 u64:8
# run: plane <<<2,3,1 4,8,1 0>>> u64:0 u64:0 u64:192 u64:4 out:192 u64:24 u64:8 u64:32 u64:4
"""Writes numba_kernels.ptx: `python numba_kernels.py`, with numba-cuda and its compiler's packages, and no GPU."""
import os
import numba
from numba import cuda, int32, uint32


def stride(x, out):
    start, step = cuda.grid(1), cuda.gridsize(1)
    for i in range(start, x.shape[0], step):
        out[i] = x[i] * x[i] + 1.5


def block_sum(x, out):
    s = cuda.shared.array(64, uint32)
    t = cuda.threadIdx.x
    total = uint32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    s[t] = total
    cuda.syncthreads()
    d = 32
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def warps(x, out):
    t = cuda.threadIdx.x
    v = x[t]
    w = int32(v)
    out[6 * t] = cuda.shfl_up_sync(0xFFFFFFFF, w, 1)
    out[6 * t + 1] = cuda.shfl_xor_sync(0xFFFFFFFF, w, 5)
    out[6 * t + 2] = cuda.ballot_sync(0xFFFFFFFF, v % 3 == 0)
    out[6 * t + 3] = cuda.popc(v) + 100 * cuda.clz(v) + 10000 * cuda.laneid
    out[6 * t + 4] = cuda.brev(v)
    out[6 * t + 5] = cuda.match_any_sync(0xFFFFFFFF, v % 4)


def counts(x, out):
    v = x[cuda.grid(1)]
    cuda.atomic.add(out, v % 4, 1)
    cuda.atomic.max(out, 4, v)
    cuda.atomic.xor(out, 5, v)
    local = cuda.local.array(5, uint32)
    for i in range(5):
        local[(i + v) % 5] = i * v
    cuda.atomic.add(out, 6, local[v % 5])
    while cuda.atomic.cas(out, 7, 0, 1) != 0:
        pass
    cuda.threadfence()
    cuda.atomic.exch(out, 7, 0)


def division(x, out):
    t = cuda.grid(1)
    a, b = x[2 * t], x[2 * t + 1]
    out[4 * t] = a // b if b != 0 else a
    out[4 * t + 1] = a % b if b != 0 else b
    out[4 * t + 2] = (a >> 3) * b
    out[4 * t + 3] = a // 7 + (b << 5)


def plane(out):
    x, y = cuda.grid(2)
    out[y, x] = x * 100 + y + cuda.blockDim.y


u, f = numba.uint32[:], numba.float32[:]
i64 = numba.int64[:]
KERNELS = [(stride, (f, f)), (block_sum, (u, u)), (warps, (u, u)), (counts, (u, u)), (division, (i64, i64)), (plane, (numba.uint32[:, :],))]

if __name__ == "__main__":
    import re

    here = os.path.dirname(os.path.abspath(__file__))
    text = ""
    for function, signature in KERNELS:
        ptx, _ = cuda.compile(function, signature, device=False, abi="numba", cc=(7, 5), output="ptx", forceinline=False)
        symbol = re.search(r"\.entry (\w+)", ptx)[1]
        ptx = re.sub(r"\b%s\b" % re.escape(symbol), function.__name__, ptx)
        ptx = re.sub(r"%s(_param)" % re.escape(symbol), function.__name__ + r"\1", ptx)
        # One module: the head of the first, and the bodies of all.
        text += ptx if not text else ptx.split(".address_size 64", 1)[1]
    with open(os.path.join(here, "numba_kernels.ptx"), "w") as file:
        file.write(text)
