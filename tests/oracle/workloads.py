#!/usr/bin/env python3
"""Races a tensorop binary with NumPy on random workloads of all eleven operators, and compares the bytes of the outputs.

usage: workloads.py BINARY [BASE] [--seed N] [--count 60] [--mib 96] [--runs 7] [--only NUMBER,..] [--dir DIR]

A workload is an operator, the dtype, shapes and arguments of its operands, and for each operand the order in which it is
stored: C or Fortran, index tensors and updates too.  Seed and number decide all of it, so --only repeats single ones.

The time of tensorop is that of the whole process, from start to exit.  That of NumPy is its inner time: load, operate
and save, in a process that has imported everything before its clock starts.  It memory-maps what it slices, and makes the
slice contiguous before it saves it, which is several times as fast as saving the slice.  Contenders take turns, their
order turns round, the first round does not count, and each output is removed before it is made again.

Each line has the ratio of the medians (below 1: tensorop is faster), the spread of the ratios of single rounds, the
same ratio of processor time, the median of NumPy in milliseconds and the peaks of resident memory in MiB.  With BASE,
another binary, the ratio of BINARY to it comes first.  At the end come geometric means, by operator as well, and the worst.

Exit status 0 only if all outputs are byte for byte NumPy's (and those of BASE).
"""
import argparse
import filecmp
import json
import math
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

OPERATORS = (
    "slice", "slice-scatter", "scatter-update", "scatter-nd", "scatter-elements", "gather", "gather-nd", "gather-elements",
    "concat", "transpose", "reshape",
)  # fmt: skip
DTYPES = "i1 u1 <i2 <u2 <i4 <u4 <i8 <u8 <f2 <f4 <f8 ? <c8 <c16 >i2 >i4 >f4 >f8 S12 <U3 V3 V5".split()
ITEMSIZES = {"?": 1, "<U3": 12}
POINTS = 3_000_000


# --- what a workload is: numbers and texts alone, so that the process that times need not hold NumPy ------------------


class Workload:
    """A random workload: the operands that are to be made, the arguments of tensorop, and the program of NumPy."""

    def __init__(self, seed, number, mib):
        self.random = random.Random(f"{seed} {number}")
        self.number = number
        self.operator = self.random.choice(OPERATORS)
        self.dtype = self.random.choice(DTYPES)
        self.itemsize = ITEMSIZES.get(self.dtype) or int(self.dtype.lstrip("<>iufcSV"))
        self.shape = self.drawn_shape(mib * 2**20 // self.itemsize)
        # name to [what is drawn, dtype, shape, order, more]
        self.operands = {}
        self.items("data", self.shape)
        arguments, self.program = getattr(self, self.operator.replace("-", "_"))()
        files = [f"{name}.npy" for name in self.operands]
        self.command = [self.operator, *files, *arguments]
        self.words = " ".join(arguments)
        del self.random

    def drawn_shape(self, items):
        rank, shape = self.random.choice([1, 2, 2, 2, 3, 3, 4]), []
        for axis in range(rank - 1):
            dim = min(max(1, int(items ** (self.random.uniform(0.15, 0.75) / (rank - axis) * 1.6))), items)
            shape.append(dim)
            items //= dim
        shape.append(max(items, 1))
        self.random.shuffle(shape)
        return shape

    def order(self):
        return "F" if self.random.random() < 0.3 else "C"

    def items(self, name, shape):
        self.operands[name] = ["items", self.dtype, list(shape), self.order()]

    def indices(self, shape, dims):
        """An index tensor: numbers below `dims`, of which there is one, or one for each place of the last axis."""
        dtype = self.random.choice(["<i8", "<i8", "<i4"])
        self.operands["indices"] = ["indices", dtype, list(shape), self.order(), list(dims)]

    def axis(self):
        return self.random.randrange(len(self.shape))

    def with_dim(self, axis, dim):
        return [*self.shape[:axis], dim, *self.shape[axis + 1 :]]

    def spans(self):
        def span(dim):
            kind = self.random.random()
            if kind < 0.4:
                return ":"
            if kind < 0.7:
                return f"{self.random.randrange(dim // 2 + 1)}:{self.random.randrange(dim // 2, dim + 1)}"
            return f"::{self.random.choice([2, 3, 5, -1, -2])}"

        return [span(dim) for dim in self.shape]

    def reduction(self):
        """A reduction and the NumPy function of it; mostly none, and none where items are no numbers."""
        if self.dtype.lstrip("<>")[0] not in "iuf" or self.random.random() < 0.5:
            return None, None
        return self.random.choice([("add", "np.add"), ("add", "np.add"), ("max", "np.maximum"), ("mul", "np.multiply")])

    # each returns the arguments of tensorop and the program of NumPy

    def slice(self):
        text = ", ".join(self.spans())
        return [f"--at={text}"], f"save(view('data')[{text}])"

    def slice_scatter(self):
        spans = self.spans()
        text = ", ".join(spans)

        def length(span, dim):
            numbers = [int(word) if word else None for word in span.split(":")]
            return len(range(dim)[slice(*numbers)])

        self.items("updates", map(length, spans, self.shape))
        return [f"--at={text}"], f"a = load('data'); a[{text}] = load('updates'); save(a)"

    def scatter_update(self):
        axis = self.axis()
        count = max(1, self.shape[axis] // self.random.choice([2, 5, 20]))
        self.indices([count], [self.shape[axis]])
        self.items("updates", self.with_dim(axis, count))
        at = ":, " * axis
        return [f"--axis={axis}"], f"a = load('data'); a[{at}load('indices')] = load('updates'); save(a)"

    def tuples(self):
        width = self.random.randrange(1, len(self.shape) + 1)
        count = min(max(1, math.prod(self.shape[:width]) // self.random.choice([2, 10, 50])), POINTS)
        self.indices([count, width], self.shape[:width])
        return width, count

    def scatter_nd(self):
        width, count = self.tuples()
        self.items("updates", [count, *self.shape[width:]])
        name, function = self.reduction()
        at = "i = load('indices'); i = tuple(i[:, n] for n in range(i.shape[1]))"
        put = f"{function}.at(a, i, load('updates'))" if name else "a[i] = load('updates')"
        return [f"--reduction={name}"] if name else [], f"a = load('data'); {at}; {put}; save(a)"

    def scatter_elements(self):
        axis = self.axis()
        count = max(1, self.shape[axis] // self.random.choice([2, 5, 20]))
        shape = self.with_dim(axis, max(1, min(count, POINTS * self.shape[axis] // math.prod(self.shape))))
        self.indices(shape, [self.shape[axis]])
        self.items("updates", shape)
        name, function = self.reduction()
        if not name:
            put = f"np.put_along_axis(a, load('indices'), load('updates'), {axis})"
        else:
            put = f"i = load('indices'); at = list(np.ogrid[tuple(map(slice, i.shape))]); at[{axis}] = i; "
            put += f"{function}.at(a, tuple(at), load('updates'))"
        arguments = [f"--axis={axis}"] + ([f"--reduction={name}"] if name else [])
        return arguments, f"a = load('data'); {put}; save(a)"

    def gather(self):
        axis = self.axis()
        count = max(1, self.shape[axis] // self.random.choice([1, 2, 10]))
        self.indices([count], [self.shape[axis]])
        return [f"--axis={axis}"], f"save(np.take(load('data'), load('indices'), axis={axis}))"

    def gather_nd(self):
        self.tuples()
        return [], "i = load('indices'); save(load('data')[tuple(i[:, n] for n in range(i.shape[1]))])"

    def gather_elements(self):
        axis = self.axis()
        count = max(1, min(self.shape[axis] // 2, POINTS * self.shape[axis] // math.prod(self.shape)))
        self.indices(self.with_dim(axis, count), [self.shape[axis]])
        return [f"--axis={axis}"], f"save(np.take_along_axis(load('data'), load('indices'), {axis}))"

    def concat(self):
        axis, count = self.axis(), self.random.randrange(2, 6)
        self.operands = {}
        for n in range(count):
            self.items(f"data-{n}", self.with_dim(axis, -(-self.shape[axis] * (n + 1) // (count * (count + 1) // 2))))
        # NumPy would return native items whatever the byte order
        dtype = f"dtype=np.dtype('{self.dtype}')"
        return [f"--axis={axis}"], f"save(np.concatenate([load(f'data-{{n}}') for n in range({count})], {axis}, {dtype}))"

    def transpose(self):
        axes = list(range(len(self.shape)))
        self.random.shuffle(axes)
        return ["--axes=" + ",".join(map(str, axes))], f"save(load('data').transpose({axes}))"

    def reshape(self):
        dims = self.shape[:]
        self.random.shuffle(dims)
        if len(dims) > 1 and self.random.random() < 0.5:
            dims[:2] = [dims[0] * dims[1]]
        return ["--shape=" + ",".join(map(str, dims))], f"save(load('data').reshape({dims}))"

    def __str__(self):
        operands = " ".join(f"{name} {of[2]}{' F' * (of[3] == 'F')}" for name, of in self.operands.items())
        return f"{self.number:3} {self.operator} {self.dtype} {self.words} | {operands}"


# --- the process that holds NumPy -----------------------------------------------------------------------------------


def make(workload, seed):
    """Writes the operands of a workload."""
    import numpy as np

    drawn = np.random.default_rng([seed, workload.number])
    for name, (what, dtype, shape, order, *dims) in workload.operands.items():
        count, dtype = math.prod(shape), np.dtype(dtype)
        if what == "indices" and len(dims[0]) == 1:
            array = drawn.integers(0, dims[0][0], shape).astype(dtype)
        elif what == "indices":
            array = np.stack([drawn.integers(0, dim, shape[:-1]) for dim in dims[0]], -1).astype(dtype)
        elif dtype.kind == "f":
            array = drawn.standard_normal(count, np.float32).astype(dtype)
        elif dtype.kind == "c":
            array = drawn.standard_normal(2 * count, np.float32).astype(f"<f{dtype.itemsize // 2}").view(dtype)
        elif dtype.kind in "SU":
            letters = drawn.integers(65, 91, count * dtype.itemsize // (4 if dtype.kind == "U" else 1))
            array = letters.astype("<u4" if dtype.kind == "U" else "u1").view(dtype)
        elif dtype.kind == "b":
            array = drawn.integers(0, 2, count, np.uint8).view(dtype)
        else:
            array = np.frombuffer(drawn.bytes(count * dtype.itemsize), dtype)
        np.save(f"{name}.npy", np.asarray(array.reshape(shape), order=order))


def operate(workload):
    """Runs the program of a workload: the seconds that it takes."""
    import numpy as np

    def save(array):
        np.save("out.NumPy.npy", np.ascontiguousarray(array))

    def load(name):
        return np.load(f"{name}.npy")

    def view(name):
        return np.load(f"{name}.npy", mmap_mode="r")

    program = compile(workload.program, str(workload), "exec")
    start = time.perf_counter()
    exec(program, {"np": np, "save": save, "load": load, "view": view})
    return time.perf_counter() - start


def serve(seed, mib):
    """Does for each line of standard input what it says, in a child of this process, and writes what it took."""
    import numpy  # noqa: F401, for the children

    for line in sys.stdin:
        what, number = line.split()
        if os.fork() == 0:
            workload, before = Workload(seed, int(number), mib), time.process_time()
            seconds = make(workload, seed) if what == "make" else operate(workload)
            processor = time.process_time() - before
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(json.dumps([seconds, processor, peak]), flush=True)
            os._exit(0)
        _, status = os.wait()
        if status:
            return 1
    return 0


# --- the process that times -----------------------------------------------------------------------------------------


class NumPy:
    def __init__(self, options, folder):
        line = [sys.executable, os.path.abspath(__file__), "-", "--serve", "--seed", str(options.seed)]
        line += ["--mib", str(options.mib)]
        self.server = subprocess.Popen(line, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, what, workload):
        self.server.stdin.write(f"{what} {workload.number}\n")
        self.server.stdin.flush()
        answer = self.server.stdout.readline()
        if not answer:
            raise SystemExit(f"workloads: NumPy failed at {workload}: {workload.program}")
        return json.loads(answer)


def run(command, folder):
    """Runs a command to its end: its seconds, its processor time, and its peak of resident memory in MiB."""
    with open(os.path.join(folder, "stderr.txt"), "w+") as errors:
        start = time.perf_counter()
        # posix_spawn or vfork: the peak of a child counts from what its parent holds, which is little
        child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if status:
            errors.seek(0)
            raise SystemExit(f"workloads: {' '.join(command)}\nended with {child.returncode}: {errors.read()[-1000:]}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def race(workload, binaries, numpy, folder, runs):
    """Name to the runs of each contender, and the names of those whose output is not NumPy's."""
    numpy.ask("make", workload)
    contenders = {name: [binary, *workload.command, "-o", f"out.{name}.npy"] for name, binary in binaries.items()}
    names, results, different = [*contenders, "NumPy"], {}, []
    out = {name: os.path.join(folder, f"out.{name}.npy") for name in names}
    for number in range(runs + 1):
        for name in names if number % 2 else names[::-1]:
            if os.path.exists(out[name]):
                os.unlink(out[name])
            measured = numpy.ask("operate", workload) if name == "NumPy" else run(contenders[name], folder)
            if number:
                results.setdefault(name, []).append(measured)
        if not number:
            different = [name for name in contenders if not filecmp.cmp(out[name], out["NumPy"], shallow=False)]
    for file in os.listdir(folder):
        os.unlink(os.path.join(folder, file))
    return results, different


def ratios(results, one, other):
    """The ratio of the medians, the least and the largest of single rounds, and the ratio of processor time."""
    median = lambda name, n: statistics.median(run[n] for run in results[name])
    rounds = [a[0] / b[0] for a, b in zip(results[one], results[other])]
    return median(one, 0) / median(other, 0), min(rounds), max(rounds), median(one, 1) / median(other, 1)


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("base", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--mib", type=int, default=96, help="size of the data [default: 96]")
    parser.add_argument("--runs", type=int, default=7, help="rounds that count [default: 7]")
    parser.add_argument("--only", metavar="NUMBER,..", help="these workloads only")
    parser.add_argument("--dir", help="make the files here [default: where temporary files are]")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.seed, options.mib)
    binaries = {"tensorop": os.path.abspath(options.binary)}
    if options.base:
        binaries["base"] = os.path.abspath(options.base)
    numbers = [int(n) for n in options.only.split(",")] if options.only else range(options.count)
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory(prefix="workloads-", dir=options.dir) as folder:
        numpy = NumPy(options, folder)
        for number in numbers:
            workload = Workload(options.seed, number, options.mib)
            results, different = race(workload, binaries, numpy, folder, options.runs)
            ratio, least, most, processor = ratios(results, "tensorop", "NumPy")
            peak = {name: max(run[2] for run in results[name]) for name in results}
            line = f"{ratio:5.2f} ({least:.2f}-{most:.2f}) cpu {processor:4.2f}"
            line += f" NumPy {statistics.median(run[0] for run in results['NumPy']) * 1000:4.0f} ms"
            line += " MiB " + " ".join(f"{peak[name]:.0f}" for name in ("tensorop", "base", "NumPy") if name in peak)
            to_base = ratios(results, "tensorop", "base") if options.base else None
            if to_base:
                line = f"base {to_base[0]:.2f} ({to_base[1]:.2f}-{to_base[2]:.2f}) cpu {to_base[3]:.2f} | {line}"
            if different:
                line += f" OUTPUT of {', '.join(different)} DIFFERS"
                wrong += 1
            print(f"{line} {workload}", flush=True)
            rows.append((ratio, processor, to_base, workload, line))
        numpy.server.stdin.close()
        numpy.server.wait()
    print(f"\nto NumPy: geometric mean {mean(row[0] for row in rows):.3f}, of processor time {mean(row[1] for row in rows):.3f}")
    if options.base:
        both = [mean(row[2][n] for row in rows) for n in (0, 3)]
        print(f"to {options.base}: geometric mean {both[0]:.3f}, of processor time {both[1]:.3f}")
    for operator in OPERATORS:
        if own := [row[0] for row in rows if row[3].operator == operator]:
            print(f"  {operator}: {mean(own):.3f}, worst {max(own):.2f}, of {len(own)}")
    worst = sorted(rows, key=lambda row: -row[0])[:5]
    print("worst:", *(f"  {row[4]} {row[3]}" for row in worst), sep="\n")
    print(f"outputs that differ: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
