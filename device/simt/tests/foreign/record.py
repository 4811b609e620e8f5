#!/usr/bin/env python3
"""The foreign kernels: compiles their CUDA C++ with NVRTC, and records what a driver gives for the PTX.

    record.py compile --nvrtc libnvrtc.so.13 --include DIR [NAME ...]    NAME.cu -> NAME.ptx
    record.py forms --driver libcuda.so.1 [NAME ...]     ../forms/NAME.ptx: says where the driver gives other bits
                    (with --out DIR also writes the file with the driver's bits there: a new form starts with zeros)
    record.py record --driver libcuda.so.1 --note "H200, driver ..." [NAME ...]    NAME.ptx -> NAME.expected

Standard library only. A source's head says how it is compiled and run; `../foreign.rs` reads the same words and says what
they mean. Inputs are computed from those words, here and there, by the same arithmetic.
"""
import argparse
import ctypes
import os
import re
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
M32 = 0xFFFFFFFF
EDGES = [
    0, 1, 2, 3, 7, 31, 32, 33, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF,
    0xFFFFFFFE, 0xFFFF8000, 0x3F800000, 0xBF800000, 0x3F000000, 0x40200000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF,
    0x00800000, 0x007FFFFF, 0x00000001, 0x4B000001, 0x4F000000, 0x5F000000, 0xCF000000, 0x477FE000, 0x33800000, 0x00FF00FF,
]
EDGES64 = [
    0, 1, 2, 10, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000,
    0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFE, 0x8000000000000001, 0xFFFFFFFF00000000, 0x3FF0000000000000, 0xBFF8000000000000,
    0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x0010000000000000, 0x000FFFFFFFFFFFFF, 0x43E0000000000000,
    0x41DFFFFFFFE00000, 0x3690000000000000, 0x47EFFFFFF0000000, 0x40EFFDFFFFFFFFFF,
]


def mix(x):
    x &= M32
    x = (x ^ x >> 16) * 0x7FEB352D & M32
    x = (x ^ x >> 15) * 0x846CA68B & M32
    return x ^ x >> 16


def words(kind, seed, count):
    """`count` words of input."""
    out = []
    for i in range(count):
        h = mix(i * 0x9E3779B9 + seed * 0x85EBCA6B + 1)
        pair = mix((i // 2) * 0x9E3779B9 + seed * 0x85EBCA6B + 1)
        if kind == "rand":
            out.append(h)
        elif kind == "small":
            out.append(h % 100)
        elif kind == "iota":
            out.append(i + seed & M32)
        elif kind == "zero":
            out.append(0)
        elif kind == "edge":
            out.append(EDGES[(h >> 1) % len(EDGES)] if h & 1 else mix(h))
        elif kind == "edge64":
            edge = EDGES64[(pair >> 1) % len(EDGES64)]
            out.append((edge >> 32 * (i % 2)) & M32 if pair & 1 else mix(h))
        elif kind == "float":
            out.append(struct.unpack("<I", struct.pack("<f", (h >> 8) * 2.0**-20 - 8.0))[0])
        elif kind == "double":
            value = (pair >> 4) * 2.0**-24 - 8.0
            out.append(struct.unpack("<II", struct.pack("<d", value))[i % 2])
        elif kind == "halves":
            low, high = [mix(h + k) for k in (1, 2)]
            half = lambda v: [0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 1, 0x3FF, 0x400, 0x7BFF, 0x4248][v % 12] if v & 0x10000 else 0x3000 + (v & 0x1FFF) | (v >> 2 & 0x8000)
            out.append(half(low) | half(high) << 16)
        else:
            raise SystemExit(f"unknown kind of input: {kind}")
    return out


class Run:
    def __init__(self, line):
        match = re.match(r"// run: (\w+) <<<([\d,]+) ([\d,]+) (\d+)>>>( coop)?(.*)", line)
        self.kernel = match[1]
        self.grid, self.block = ([int(n) for n in part.split(",")] for part in (match[2], match[3]))
        self.shared, self.coop = int(match[4]), bool(match[5])
        self.args = [arg.split(":") for arg in match[6].split()]


def head(name):
    runs, options = [], []
    for line in open(os.path.join(HERE, name + ".cu" if os.path.exists(os.path.join(HERE, name + ".cu")) else name + ".py")):
        if line.startswith("# "):
            line = "// " + line[2:]
        if line.startswith("// compile:"):
            options = line.split(":", 1)[1].split()
        if line.startswith("// run:"):
            runs.append(Run(line.rstrip()))
    return options, runs


def names(given, extension):
    found = sorted(f.rsplit(".", 1)[0] for f in os.listdir(HERE) if f.endswith(extension))
    return [name for name in found if not given or name in given]


def compile_all(args):
    lib = ctypes.CDLL(args.nvrtc)
    failed = False
    for name in names(args.names, ".cu"):
        options, _ = head(name)
        options += args.extra.split() + [f"-I{path}" for path in args.include] + ["-std=c++17", "-default-device"]
        source = open(os.path.join(HERE, name + ".cu"), "rb").read()
        program = ctypes.c_void_p()
        assert lib.nvrtcCreateProgram(ctypes.byref(program), source, (name + ".cu").encode(), 0, None, None) == 0
        array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        code = lib.nvrtcCompileProgram(program, len(options), array)
        size = ctypes.c_size_t()
        lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        lib.nvrtcGetProgramLog(program, log)
        if code:
            print(f"{name}: NVRTC error {code}\n{log.value.decode()[:3000]}", file=sys.stderr)
            failed = True
            continue
        lib.nvrtcGetPTXSize(program, ctypes.byref(size))
        ptx = ctypes.create_string_buffer(size.value)
        lib.nvrtcGetPTX(program, ptx)
        text = ptx.value.decode().replace(HERE + "/", "")
        for path in args.include:
            text = text.replace(path + "/", "")
        with open(os.path.join(args.out or HERE, name + ".ptx"), "w") as file:
            file.write(text)
    return failed


class Driver:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self("cuInit", 0)
        device = ctypes.c_int()
        self("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)
        self("cuCtxSetLimit", 0, ctypes.c_size_t(64 << 10))  # the stack: 1 KiB is too little for recursion

    def __call__(self, function, *args):
        code = getattr(self.lib, function)(*args)
        if code:
            raise RuntimeError(f"{function}: error {code}")


def record(cuda, name):
    """The lines of NAME.expected."""
    lines = []
    module = ctypes.c_void_p()
    text = open(os.path.join(HERE, name + ".ptx"), "rb").read() + b"\0"
    log = ctypes.create_string_buffer(4000)
    options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER, its size
    values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), 4000)
    try:
        cuda("cuModuleLoadDataEx", ctypes.byref(module), text, 2, options, values)
    except RuntimeError as error:
        raise RuntimeError(f"{error}: {log.value.decode()}")
    for number, run in enumerate(head(name)[1]):
        function = ctypes.c_void_p()
        cuda("cuModuleGetFunction", ctypes.byref(function), module, run.kernel.encode())
        if run.shared > 48 << 10:
            cuda("cuFuncSetAttribute", function, 8, run.shared)
        params, results = [], []
        for arg in run.args:
            kind = arg[0]
            if kind in ("in", "io", "out"):
                data = [0xDEADBEEF] * int(arg[1]) if kind == "out" else words(arg[1], int(arg[2]), int(arg[3]))
                raw = struct.pack(f"<{len(data)}I", *data)
                at = ctypes.c_uint64()
                cuda("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(max(len(raw), 16)))
                cuda("cuMemcpyHtoD_v2", at, raw, ctypes.c_size_t(len(raw)))
                params.append(at)
                if kind != "in":
                    results.append((at, len(data)))
            elif kind in ("set", "get"):
                at, size = ctypes.c_uint64(), ctypes.c_size_t()
                cuda("cuModuleGetGlobal_v2", ctypes.byref(at), ctypes.byref(size), module, arg[1].encode())
                if kind == "get":
                    results.append((at, int(arg[2])))
                    continue
                data = words(arg[2], int(arg[3]), int(arg[4]))
                cuda("cuMemcpyHtoD_v2", at, struct.pack(f"<{len(data)}I", *data), ctypes.c_size_t(4 * len(data)))
            elif kind == "hex":
                params.append(ctypes.create_string_buffer(bytes.fromhex(arg[1]), len(arg[1]) // 2))
            else:
                code = {"u32": "I", "i32": "i", "u64": "Q", "f32": "f", "f64": "d"}[kind]
                value = float(arg[1]) if code in "fd" else int(arg[1])
                raw = struct.pack("<" + code, value)
                params.append(ctypes.create_string_buffer(raw, len(raw)))
        pointers = (ctypes.c_void_p * max(1, len(params)))(*[ctypes.addressof(p) for p in params])
        launch = "cuLaunchCooperativeKernel" if run.coop else "cuLaunchKernel"
        more = () if run.coop else (None,)
        printed = capture(lambda: (
            cuda(launch, function, *run.grid, *run.block, run.shared, None, pointers, *more), cuda("cuCtxSynchronize")))
        lines.append(f"run {number} {run.kernel}")
        lines += [f"printed {line}" for line in printed.splitlines()]
        for at, count in results:
            raw = ctypes.create_string_buffer(4 * count)
            cuda("cuMemcpyDtoH_v2", raw, at, ctypes.c_size_t(4 * count))
            data = struct.unpack(f"<{count}I", raw.raw[: 4 * count])
            lines.append(f"buffer {count}")
            lines += [" ".join(f"{word:08x}" for word in data[i : i + 16]) for i in range(0, count, 16)]
    cuda("cuModuleUnload", module)
    return lines


def capture(launch):
    """What is printed to standard output meanwhile."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            launch()
            ctypes.CDLL(None).fflush(None)
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return file.read().decode(errors="replace")


def record_all(args):
    cuda = Driver(args.driver)
    failed = False
    for name in names(args.names, ".ptx"):
        try:
            lines = record(cuda, name)
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
            continue
        with open(os.path.join(args.out or HERE, name + ".expected"), "w") as file:
            file.write(f"# {args.note}\n" + "\n".join(lines) + "\n")
        print(name, file=sys.stderr)
    return failed


def form_run(cuda, path):
    """The rows of a form file (see `../forms.rs`), and the words that the driver gives for them."""
    rows = []
    for line in open(path):
        match = re.fullmatch(r"// ([0-9a-f ]+) -> ([0-9a-f ]+)", line.rstrip())
        if match:
            rows.append([part.split() for part in match.groups()])
    text = open(path).read()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    cuda("cuModuleLoadData", ctypes.byref(module), text.encode() + b"\0")
    cuda("cuModuleGetFunction", ctypes.byref(function), module, b"form")
    given = [int(word, 16) for row in rows for word in row[0]]
    wanted = [word for row in rows for word in row[1]]
    places = [ctypes.c_uint64(), ctypes.c_uint64()]
    for place, data in zip(places, (given, [0] * len(wanted))):
        raw = struct.pack(f"<{len(data)}Q", *data)
        cuda("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(len(raw)))
        cuda("cuMemcpyHtoD_v2", place, raw, ctypes.c_size_t(len(raw)))
    pointers = (ctypes.c_void_p * 2)(*[ctypes.addressof(place) for place in places])
    cuda("cuLaunchKernel", function, 1, 1, 1, len(rows), 1, 1, 0, None, pointers, None)
    cuda("cuCtxSynchronize")
    raw = ctypes.create_string_buffer(8 * len(wanted))
    cuda("cuMemcpyDtoH_v2", raw, places[1], ctypes.c_size_t(len(raw)))
    found = struct.unpack(f"<{len(wanted)}Q", raw.raw)
    cuda("cuModuleUnload", module)
    return wanted, [f"{value & (1 << 4 * len(word)) - 1:0{len(word)}x}" for value, word in zip(found, wanted)]


def with_results(path, found):
    """A form file's text with other results."""
    given = iter(found)
    lines = open(path).read().splitlines(keepends=True)
    for at, line in enumerate(lines):
        match = re.fullmatch(r"// ([0-9a-f ]+) -> ([0-9a-f ]+)", line.rstrip())
        if match:
            lines[at] = f"// {match[1]} -> {' '.join(next(given) for _ in match[2].split())}\n"
    return "".join(lines)


def check_forms(args):
    cuda = Driver(args.driver)
    folder = os.path.join(HERE, "..", "forms")
    failed = False
    for file in sorted(os.listdir(folder)):
        if args.names and file.rsplit(".", 1)[0] not in args.names:
            continue
        path = os.path.join(folder, file)
        wanted, found = form_run(cuda, path)
        differ = sum(word != value for word, value in zip(wanted, found))
        print(f"{file}: {len(wanted)} values" + (f", {differ} DIFFER" if differ else ""))
        failed |= differ > 0
        if args.out:
            with open(os.path.join(args.out, file), "w") as out:
                out.write(with_results(path, found))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("compile")
    verb.add_argument("--nvrtc", default="libnvrtc.so.13")
    verb.add_argument("--include", action="append", default=[])
    verb.add_argument("--extra", default="")
    verb.set_defaults(run=compile_all)
    other = verbs.add_parser("record")
    other.add_argument("--driver", default="libcuda.so.1")
    other.add_argument("--note", required=True)
    other.set_defaults(run=record_all)
    forms = verbs.add_parser("forms")
    forms.add_argument("--driver", default="libcuda.so.1")
    forms.set_defaults(run=check_forms)
    for each in (verb, other, forms):
        each.add_argument("--out")
        each.add_argument("names", nargs="*")
    args = parser.parse_args()
    sys.exit(args.run(args))


if __name__ == "__main__":
    main()
