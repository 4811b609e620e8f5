"""Kernels that Numba compiles, on whatever libcuda.so.1 the loader finds, each checked against NumPy."""

import math
import threading
import warnings

import numpy as np
from numba import cuda, float32, int32

warnings.filterwarnings("ignore", module="numba")
RANDOM = np.random.default_rng(20261201)
SHAPES = [(1, 1), (1, 32), (3, 64), (7, 96), (16, 256)]


@cuda.jit
def add(a, b, c):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        c[i] = a[i] + b[i]


@cuda.jit
def block_sums(a, out):
    shared = cuda.shared.array(128, float32)
    thread = cuda.threadIdx.x
    partial = float32(0)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        partial += a[i]
    shared[thread] = partial
    cuda.syncthreads()
    step = 64
    while step > 0:
        if thread < step:
            shared[thread] += shared[thread + step]
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        cuda.atomic.add(out, 0, shared[0])


@cuda.jit
def dynamic_reverse(a):
    shared = cuda.shared.array(0, int32)
    thread = cuda.threadIdx.x
    shared[thread] = a[thread]
    cuda.syncthreads()
    a[thread] = shared[cuda.blockDim.x - 1 - thread]


@cuda.jit
def warp_sums(a, out):
    i = cuda.grid(1)
    value = a[i]
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if cuda.laneid == 0:
        out[i // 32] = value


@cuda.jit
def votes(a, ballots, anys):
    i = cuda.grid(1)
    ballot = cuda.ballot_sync(0xFFFFFFFF, a[i] > 0)
    any_above = cuda.any_sync(0xFFFFFFFF, a[i] > 100)
    if cuda.laneid == 0:
        ballots[i // 32] = ballot
        anys[i // 32] = any_above


@cuda.jit
def histogram(a, counts):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, a[i], 1)


@cuda.jit
def extremes(a, low, high):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        cuda.atomic.min(low, 0, a[i])
        cuda.atomic.max(high, 0, a[i])


@cuda.jit
def locked_increment(lock, count):
    done = False
    while not done:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            count[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)
            done = True


@cuda.jit
def transpose(a, b):
    tile = cuda.shared.array((16, 17), float32)
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    y = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    if y < b.shape[0] and x < b.shape[1]:
        b[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit
def local_array(a, out):
    i = cuda.grid(1)
    window = cuda.local.array(8, int32)
    for k in range(8):
        window[k] = a[(i + k) % a.size]
    total = 0
    for k in range(8):
        total += window[(k * 3 + i) % 8] * k
    out[i] = total


@cuda.jit
def divide(a, b, quotients, remainders):
    i = cuda.grid(1)
    if i < a.size:
        quotients[i] = a[i] // b[i]
        remainders[i] = a[i] % b[i]


@cuda.jit
def mathematics(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = math.sin(a[i]) + math.exp(a[i]) * math.sqrt(a[i]) + math.pow(a[i], 1.5) + math.log(a[i] + 1)


@cuda.jit(device=True)
def step(a, b):
    return b, a + b


@cuda.jit
def fibonacci(out):
    a, b = 0, 1
    for _ in range(cuda.grid(1)):
        a, b = step(a, b)
    out[cuda.grid(1)] = a


@cuda.jit
def multiply_add(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * b[i] + a[i]


def test_half_precision():
    """Numba links what it compiles with a second PTX text for these."""
    a, b = RANDOM.normal(size=(2, 100)).astype(np.float16)
    out = np.zeros(100, np.float16)
    multiply_add[1, 128](a, b, out)
    assert np.allclose(out, a.astype(np.float32) * b + a, rtol=2e-3, atol=1e-3)


@cuda.jit
def grid_barriers(a, wrong):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for turn in range(a.shape[0]):
        a[turn, i] = i + turn
        grid.sync()
        other = (i + cuda.blockDim.x) % a.shape[1]
        if a[turn, other] != other + turn:
            cuda.atomic.add(wrong, 0, 1)


def test_cooperative_grids():
    """As many blocks as can be there at once; Numba links the barrier from the device runtime library."""
    for block in (1, 33, 64):
        grid = min(cuda.get_current_device().MULTIPROCESSOR_COUNT, 4)
        a, wrong = np.zeros((20, grid * block), np.int32), np.zeros(1, np.int32)
        grid_barriers[grid, block](a, wrong)
        assert wrong[0] == 0 and (a == np.add.outer(np.arange(20), np.arange(grid * block))).all()


def test_grid_stride():
    for n in (0, 1, 31, 1000, 10_007):
        a, b = RANDOM.random((2, n), dtype=np.float32)
        for grid, block in SHAPES:
            c = cuda.to_device(np.full(n, np.nan, np.float32))
            if n:
                add[grid, block](cuda.to_device(a), cuda.to_device(b), c)
                assert (c.copy_to_host() == a + b).all()


def test_shared_memory():
    a = RANDOM.random(10_007, dtype=np.float32)
    out = np.zeros(1, np.float32)
    block_sums[5, 128](a, out)
    assert abs(out[0] - a.sum(dtype=np.float64)) < 1e-2
    b = np.arange(200, dtype=np.int32)
    dynamic_reverse[1, 200, 0, 800](b)
    assert (b == np.arange(200)[::-1]).all()


def test_warps():
    a = RANDOM.integers(-100, 100, 256, dtype=np.int32)
    out = np.zeros(8, np.int32)
    warp_sums[2, 128](a, out)
    assert (out == a.reshape(8, 32).sum(1)).all()
    ballots, anys = np.zeros(8, np.uint32), np.ones(8, np.int32)
    votes[2, 128](a, ballots, anys)
    bits = (a.reshape(8, 32) > 0).astype(np.uint64) << np.arange(32, dtype=np.uint64)
    assert (ballots == bits.sum(1)).all() and not anys.any()


def test_atomics():
    a = RANDOM.integers(0, 10, 9_999, dtype=np.int32)
    counts = np.zeros(10, np.int32)
    histogram[4, 96](a, counts)
    assert (counts == np.bincount(a, minlength=10)).all()
    b = RANDOM.normal(size=5_000)
    low, high = np.full(1, np.inf), np.full(1, -np.inf)
    extremes[3, 128](b, low, high)
    assert (low[0], high[0]) == (b.min(), b.max())
    lock, count = np.zeros(1, np.int32), np.zeros(1, np.int64)
    locked_increment[4, 64](lock, count)
    assert (lock[0], count[0]) == (0, 256)


def test_two_dimensions():
    a = RANDOM.random((37, 91), dtype=np.float32)
    b = np.full((91, 37), np.nan, np.float32)
    transpose[(6, 3), (16, 16)](a, b)
    assert (b == a.T).all()


def test_local_arrays_and_integers():
    a = RANDOM.integers(-1000, 1000, 256, dtype=np.int32)
    out = np.zeros(256, np.int64)
    local_array[2, 128](a, out)
    expected = [sum(int(a[(i + (k * 3 + i) % 8) % 256]) * k for k in range(8)) for i in range(256)]
    assert (out == expected).all()
    n = 1000
    x, y = RANDOM.integers(-(10**9), 10**9, (2, n), dtype=np.int64)
    y[y == 0] = 7
    quotients, remainders = np.zeros((2, n), np.int64)
    divide[8, 128](x, y, quotients, remainders)
    assert (quotients == x // y).all() and (remainders == x % y).all()


def test_mathematics():
    a = RANDOM.random(1000)
    out = np.zeros(1000)
    mathematics[8, 128](a, out)
    expected = np.sin(a) + np.exp(a) * np.sqrt(a) + a**1.5 + np.log(a + 1)
    assert np.allclose(out, expected, rtol=1e-14)
    out = np.zeros(64, np.int64)
    fibonacci[2, 32](out)
    assert out[:10].tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34] and out[63] == 6557470319842


def test_streams_events_and_kinds_of_memory():
    n = 100_000
    stream = cuda.stream()
    pinned = cuda.pinned_array(n, np.float32)
    pinned[:] = RANDOM.random(n, dtype=np.float32)
    start, end = cuda.event(), cuda.event()
    start.record(stream)
    a = cuda.to_device(pinned, stream=stream)
    c = cuda.device_array(n, np.float32, stream=stream)
    add[16, 128, stream](a, a, c)
    back = c.copy_to_host(stream=stream)
    end.record(stream)
    stream.synchronize()
    assert (back == 2 * pinned).all() and cuda.event_elapsed_time(start, end) >= 0
    mapped = cuda.mapped_array(n, np.float32)
    managed = cuda.managed_array(n, np.float32)
    mapped[:], managed[:] = 1, 2
    add[16, 128](mapped, managed, c)
    cuda.synchronize()
    assert (c.copy_to_host() == 3).all()
    registered = np.zeros(n, np.float32)
    with cuda.pinned(registered):
        c.copy_to_host(registered)
    assert (registered == 3).all()
    assert cuda.current_context().get_memory_info().free > 0


def test_threads():
    """Several host threads, each with its stream and its own data, at the same time."""
    failures = []

    def work(seed):
        random = np.random.default_rng(seed)
        stream = cuda.stream()
        for _ in range(10):
            a, b = random.random((2, 5_000), dtype=np.float32)
            c = cuda.device_array(5_000, np.float32, stream=stream)
            add[3, 64, stream](cuda.to_device(a, stream=stream), cuda.to_device(b, stream=stream), c)
            back = c.copy_to_host(stream=stream)
            stream.synchronize()
            if not (back == a + b).all():
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures, failures


def test_a_fault_is_an_error():
    @cuda.jit
    def far_out(a):
        a[cuda.grid(1) + 10**9] = 1

    try:
        far_out[1, 1](cuda.device_array(1, np.int32))
        cuda.synchronize()
    except Exception as error:
        assert "ILLEGAL_ADDRESS" in str(error), error
    else:
        raise AssertionError("no error")


if __name__ == "__main__":
    print("on", cuda.get_current_device().name)
    # The last one ends the context.
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("passed", name, flush=True)
