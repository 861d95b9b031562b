#!/usr/bin/env python3
"""Races tensorop against cp and NumPy, from .npy file to .npy file.

    cargo build --release --locked
    python3 benches/race.py --page      # table, chart, and README's numbers: 20 minutes, and 8 GiB in target/

Every workload is a whole process, timed from its start to its exit. The contenders get the same files. cp and tensorop
take turns, NumPy follows, since the memory that it gives back when it ends slows down whoever comes next. What is to be
written back to the disk is written before each run. The first round only warms up, so all inputs are in the page cache;
of the others, at least 7, the medians count. cp copies a file as large as the output. tensorop's output is compared with
NumPy's, byte for byte.

A time is shown with its spread: the range of its runs without a sixth of them at either end, which is the fastest and the
slowest of 7. Where that of cp is more than 30 % of its median, the machine was not quiet: the workload is raced again, twice at
most, and if that does not help, --page writes nothing and the exit status is 2. NumPy's own runs differ by more than that on
any machine, since what it takes of memory and gives back is another gigabyte each time; the table shows by how much.

Needs Python 3 on Linux or macOS, NumPy in that Python, cp and cmp.
"""

import argparse
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PAGE, CHART = os.path.join(ROOT, "docs", "performance.md"), os.path.join(ROOT, "docs", "race.svg")
BEGIN, END = "<!-- race:begin -->", "<!-- race:end -->"
NULL = os.devnull
README = os.path.join(ROOT, "README.md")
MIN_RUNS, MAX_SCATTER, TRIES = 7, 0.3, 3
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("TENSOROP_")}


# --- running ---------------------------------------------------------------------------------------------------------


def spawn(argv, stdout=NULL):
    """Runs a command to its end: seconds, and the peak of its resident memory in MiB.

    posix_spawn, since this process has to stay small: the peak of a child counts from what its parent held.
    """
    to = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [(os.POSIX_SPAWN_OPEN, 0, NULL, os.O_RDONLY, 0)]
    files += [(os.POSIX_SPAWN_OPEN, fd, path, to, 0o600) for fd, path in ((1, stdout), (2, "stderr.txt"))]
    start = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, ENVIRONMENT, file_actions=files)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        with open("stderr.txt", errors="replace") as file:
            raise SystemExit(f"race: {' '.join(argv)}\nended with {code}: {file.read()[-1000:]}")
    return seconds, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def floor():
    """What this process holds, in MiB: a child that needs less is seen to need as much."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def output_of(argv):
    spawn(argv, "stdout.txt")
    with open("stdout.txt") as file:
        return file.read().strip()


def remove(*paths):
    for path in paths:
        if os.path.exists(path):
            os.unlink(path)


def same(one, other):
    try:
        spawn(["cmp", one, other])
    except SystemExit:
        return False
    return True


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def spread(values):
    """The range of the values without a sixth of them at either end."""
    out = len(values) // 6
    return sorted(values)[out], sorted(values)[-1 - out]


def scatter(work):
    """By how much the runs of cp differ, as a part of their median: 0 where there is no cp."""
    if "cp" not in work["contenders"]:
        return 0
    seconds = work["contenders"]["cp"]["seconds"]
    least, most = spread(seconds)
    return (most - least) / median(seconds)


def rounds(contenders, runs, fresh=True):
    """Runs all contenders `runs` times in turn: name to seconds, their median, and the peak of memory.

    A contender is a function that makes a command from the name of its output. Each removes its own earlier output
    just before it runs, after the disk has been waited for, so that all write to memory that was freed alike.
    """
    seconds, peak = {name: [] for name in contenders}, dict.fromkeys(contenders, 0)
    names = list(contenders)
    for number in range(runs + 1):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            out = f"out.{name}.npy"
            os.sync()
            if fresh:
                remove(out)
            took, held = spawn(contenders[name](out))
            if number:
                seconds[name].append(took)
                peak[name] = max(peak[name], held)
    return {name: {"median": median(seconds[name]), "seconds": seconds[name], "peak_mib": peak[name]} for name in names}


# --- the files and the workloads -------------------------------------------------------------------------------------


class Sizes:
    """How large everything is for `data.npy` of that many MiB of float32."""

    def __init__(self, mib):
        self.mib = mib
        self.side = int((mib * 2**18) ** 0.5) // 64 * 64
        self.columns = min(1000, self.side // 4)
        self.points = mib * 10_000
        self.elements = mib * 100_000 // self.side  # of each row, or of each column
        self.rows = mib * 1024  # of 1 KiB each: as large as data.npy
        self.table = 50_000
        # of one axis, a tenth as large, and so many random places of it: what a window finds nothing together of
        self.few_mib = max(1, mib // 10)
        self.few = mib * 8_000
        # three axes, as large as data.npy
        self.deep = int((mib * 2**6) ** 0.5)
        # transposed tensors, half as large
        self.tall, self.wide = self.side // 2, self.side


def make(path, sizes):
    """Writes one input file; the same one every time. Runs in a process of its own, which may grow."""
    import numpy as np

    side = sizes.side
    name = path.removesuffix(".npy")
    random = np.random.default_rng(list(name.encode()))

    def floats(*shape):
        out = np.lib.format.open_memmap(path, "w+", np.float32, shape)
        step = max(1, 2**24 // max(1, out[:1].size))
        for first in range(0, shape[0], step):
            part = out[first : first + step]
            part[...] = random.standard_normal(part.shape, np.float32)

    def line(dtype):
        return lambda: np.save(path, random.integers(0, 100, sizes.few_mib * 2**20 // np.dtype(dtype).itemsize).astype(dtype))

    def places(itemsize, integer):
        places = sizes.few_mib * 2**20 // itemsize
        return lambda: np.save(path, random.integers(0, places, (sizes.few, 1)).astype(integer))

    def drawn(dtype):
        return lambda: np.save(path, random.integers(0, 100, sizes.few).astype(dtype))

    def across(*shape):
        return lambda: np.save(path, np.asfortranarray(random.standard_normal(shape, np.float32)))

    def again(name, order):
        return lambda: np.save(path, np.asarray(np.load(name, mmap_mode="r"), order=order))

    files = {
        **{f"line-{dtype}": line(dtype) for dtype in ("int8", "int16", "float16", "float32", "float64")},
        **{f"places-of-{size}": places(size, np.int64 if size < 8 else np.int32) for size in (1, 2, 4, 8)},
        **{f"drawn-{dtype}": drawn(dtype) for dtype in ("int8", "int16", "float16", "float32", "float64")},
        "places-at": lambda: np.save(path, random.integers(0, sizes.few_mib * 2**19, sizes.few)),
        "c-order": lambda: floats(sizes.tall, sizes.wide),
        "f-order": across(sizes.tall, sizes.wide),
        "f-order-again": again("f-order.npy", "F"),
        "f-order-as-c": again("f-order.npy", "C"),
        "f-half": across(sizes.tall, sizes.wide // 2),
        "f-rows": across(sizes.tall // 2, sizes.wide),
        "f-rows-at": lambda: np.save(path, random.permutation(sizes.tall)[: sizes.tall // 2]),
        "data": lambda: floats(side, side),
        "cube": lambda: floats(sizes.deep, sizes.deep, 4096),
        **{f"quarter-{n}": lambda: floats(side // 4, side) for n in range(4)},
        **{f"columns-{n}": lambda: floats(side, side // 4) for n in range(4)},
        "row": lambda: floats(1, side),
        "every-second": lambda: floats(side, side // 2),
        "half": lambda: floats(side // 2, side),
        "some-rows": lambda: floats(side // 4, side),
        "some-rows-at": lambda: np.save(path, random.permutation(side)[: side // 4]),
        "some-columns": lambda: floats(side, sizes.columns),
        "some-columns-at": lambda: np.save(path, random.permutation(side)[: sizes.columns]),
        "rows-drawn": lambda: np.save(path, random.integers(0, side, side)),
        "columns-drawn": lambda: np.save(path, random.integers(0, side, side)),
        "points": lambda: floats(sizes.points),
        "points-at": lambda: np.save(path, random.integers(0, side, (sizes.points, 2))),
        # along the first axis, and along the last
        "elements-0": lambda: floats(sizes.elements, side),
        "elements-0-at": lambda: np.save(path, random.integers(0, side, (sizes.elements, side))),
        "elements-1": lambda: floats(side, sizes.elements),
        "elements-1-at": lambda: np.save(path, random.integers(0, side, (side, sizes.elements))),
        "table": lambda: floats(sizes.table, 256),
        "gradient": lambda: floats(sizes.rows, 256),
        "gradient-at": lambda: np.save(path, random.integers(0, sizes.table, (sizes.rows, 1))),
        "tiny": lambda: floats(2, 5),
        "tiny-row": lambda: floats(1, 5),
    }
    files[name]()


class Workload:
    """What tensorop and NumPy are to do. OUT stands for the output; `copied` is what cp copies, if that is a rival."""

    def __init__(self, name, what, command, program, copied, *inputs, in_place=False, silent=False):
        self.name, self.what, self.command, self.program = name, what, command.split(), program
        self.copied, self.inputs, self.in_place = copied, [f"{i}.npy" for i in inputs], in_place
        self.silent = silent  # what gives a verdict and no file

    @property
    def repeats(self):
        """How many times as often it is run: what takes a millisecond scatters more."""
        return 5 if self.name == "tiny" else 1

    @property
    def title(self):
        """What a reader who has seen no name of a workload understands."""
        return f"{self.command[0]}: {self.what}"

    def tensorop(self, binary, *options):
        return lambda out: [binary, *(out if word == "OUT" else word for word in self.command), *options]

    def numpy(self):
        begin = "import sys\nimport numpy as np\nload, save = np.load, lambda array: np.save(sys.argv[1], array)\n"
        begin += 'def view(path, mode="r"): return np.load(path, mmap_mode=mode)\n'
        return lambda out: [sys.executable, "-c", begin + self.program, out]

    def cp(self):
        return lambda out: ["cp", f"{self.copied}.npy", out]


def workloads(sizes):
    side = sizes.side
    low, high = side // 4, side // 4 * 3
    return [
        Workload(
            "scatter-row", "one row",
            "slice-scatter data.npy row.npy --at :1 -o OUT",
            "a = load('data.npy'); a[:1] = load('row.npy'); save(a)",
            "data", "data", "row",
        ),
        Workload(
            "scatter-half", "every 2nd column",
            "slice-scatter data.npy every-second.npy --at :,::2 -o OUT",
            "a = load('data.npy'); a[:, ::2] = view('every-second.npy'); save(a)",
            "data", "data", "every-second",
        ),
        Workload(
            "slice-rows", "the middle half",
            f"slice data.npy --at {low}:{high} -o OUT",
            f"save(view('data.npy')[{low}:{high}])",
            "half", "data", "half",
        ),
        Workload(
            "slice-step", "every 2nd column",
            "slice data.npy --at :,::2 -o OUT",
            "save(view('data.npy')[:, ::2])",
            "half", "data", "half",
        ),
        Workload(
            "slice-flip", "both axes reversed",
            "slice data.npy --at ::-1,::-1 -o OUT",
            "save(view('data.npy')[::-1, ::-1])",
            "data", "data",
        ),
        Workload(
            "update-rows", f"{side // 4} random rows",
            "scatter-update data.npy some-rows-at.npy some-rows.npy --axis 0 -o OUT",
            "a = load('data.npy'); a[load('some-rows-at.npy')] = view('some-rows.npy'); save(a)",
            "data", "data", "some-rows-at", "some-rows",
        ),
        Workload(
            "update-cols", f"{sizes.columns} random columns",
            "scatter-update data.npy some-columns-at.npy some-columns.npy --axis 1 -o OUT",
            "a = load('data.npy'); a[:, load('some-columns-at.npy')] = view('some-columns.npy'); save(a)",
            "data", "data", "some-columns-at", "some-columns",
        ),
        Workload(
            "nd-points", f"{sizes.points / 1e6:.2g} M random points",
            "scatter-nd data.npy points-at.npy points.npy -o OUT",
            "a = load('data.npy'); i = load('points-at.npy'); a[i[:, 0], i[:, 1]] = load('points.npy'); save(a)",
            "data", "data", "points-at", "points",
        ),
        Workload(
            "nd-add-rows", f"{sizes.rows / 1e6:.2g} M rows added to {sizes.table}",
            "scatter-nd table.npy gradient-at.npy gradient.npy --reduction add -o OUT",
            "a = load('table.npy'); np.add.at(a, load('gradient-at.npy')[:, 0], view('gradient.npy')); save(a)",
            None, "table", "gradient-at", "gradient",
        ),
        Workload(
            "gather-points", f"{sizes.points / 1e6:.2g} M random points",
            "gather-nd data.npy points-at.npy -o OUT",
            "a = load('data.npy'); i = load('points-at.npy'); save(a[i[:, 0], i[:, 1]])",
            None, "data", "points-at",
        ),
        Workload(
            "gather-rows", f"{side} random rows",
            "gather data.npy rows-drawn.npy -o OUT",
            "save(np.take(load('data.npy'), load('rows-drawn.npy'), axis=0))",
            "data", "data", "rows-drawn",
        ),
        Workload(
            "gather-cols", f"{side} random columns",
            "gather data.npy columns-drawn.npy --axis 1 -o OUT",
            "save(np.take(load('data.npy'), load('columns-drawn.npy'), axis=1))",
            "data", "data", "columns-drawn",
        ),
        *[
            Workload(
                f"gather-elements-{axis}", f"{sizes.elements * side / 1e6:.3g} M random items along {words} axis",
                f"gather-elements data.npy elements-{axis}-at.npy --axis {axis} -o OUT",
                f"save(np.take_along_axis(load('data.npy'), load('elements-{axis}-at.npy'), {axis}))",
                None, "data", f"elements-{axis}-at",
            )
            for axis, words in enumerate(("the first", "the last"))
        ],
        *[
            Workload(
                f"scatter-elements-{axis}", f"{sizes.elements * side / 1e6:.3g} M random items along {words} axis",
                f"scatter-elements data.npy elements-{axis}-at.npy elements-{axis}.npy --axis {axis} -o OUT",
                f"a = load('data.npy'); i, u = load('elements-{axis}-at.npy'), load('elements-{axis}.npy')\n"
                f"np.put_along_axis(a, i, u, {axis}); save(a)",
                None, "data", f"elements-{axis}-at", f"elements-{axis}",
            )
            for axis, words in enumerate(("the first", "the last"))
        ],
        Workload(
            "tiny", "2x5 items",
            "slice-scatter tiny.npy tiny-row.npy --at :1 -o OUT",
            "a = load('tiny.npy'); a[:1] = load('tiny-row.npy'); save(a)",
            "tiny", "tiny", "tiny-row",
        ),
        Workload(
            "in-place-row", "one row, in place",
            "slice-scatter OUT row.npy --at :1 --in-place",
            "a = view(sys.argv[1], 'r+'); a[:1] = load('row.npy'); a.flush()",
            "data", "data", "row", in_place=True,
        ),
        *[
            Workload(
                f"points-{dtype}", f"{sizes.few / 1e6:.2g} M random items of {sizes.few_mib} MiB",
                f"scatter-nd line-{dtype}.npy places-of-{size}.npy drawn-{dtype}.npy -o OUT",
                f"a = load('line-{dtype}.npy'); a[load('places-of-{size}.npy')[:, 0]] = load('drawn-{dtype}.npy'); save(a)",
                None, f"line-{dtype}", f"places-of-{size}", f"drawn-{dtype}",
            )
            for dtype, size in (("int8", 1), ("float16", 2), ("float32", 4), ("float64", 8))
        ],
        Workload(
            "points-added", f"{sizes.few / 1e6:.2g} M float32 added to random items",
            "scatter-nd line-float32.npy places-of-4.npy drawn-float32.npy --reduction add -o OUT",
            "a = load('line-float32.npy'); np.add.at(a, load('places-of-4.npy')[:, 0], load('drawn-float32.npy')); save(a)",
            None, "line-float32", "places-of-4", "drawn-float32",
        ),
        Workload(
            "update-points", f"{sizes.few / 1e6:.2g} M places of an axis, int16",
            "scatter-update line-int16.npy places-at.npy drawn-int16.npy --axis 0 -o OUT",
            "a = load('line-int16.npy'); a[load('places-at.npy')] = load('drawn-int16.npy'); save(a)",
            None, "line-int16", "places-at", "drawn-int16",
        ),
        Workload(
            "concat-rows", "four files along the first axis",
            "concat quarter-0.npy quarter-1.npy quarter-2.npy quarter-3.npy -o OUT",
            "save(np.concatenate([view(f'quarter-{n}.npy') for n in range(4)]))",
            "data", "data", *(f"quarter-{n}" for n in range(4)),
        ),
        Workload(
            "concat-cols", "four files along the last axis",
            "concat columns-0.npy columns-1.npy columns-2.npy columns-3.npy --axis -1 -o OUT",
            "save(np.concatenate([view(f'columns-{n}.npy') for n in range(4)], -1))",
            "data", "data", *(f"columns-{n}" for n in range(4)),
        ),
        Workload(
            "append-row", "one row, in place",
            "concat OUT row.npy --in-place",
            "a = load(sys.argv[1]); save(np.append(a, load('row.npy'), 0))",
            "data", "data", "row", in_place=True,
        ),
        Workload(
            "transpose", "rows become columns",
            "transpose data.npy -o OUT",
            "save(np.ascontiguousarray(load('data.npy').T))",
            "data", "data",
        ),
        Workload(
            "transpose-cube", "the last axis of three becomes the first",
            "transpose cube.npy --axes 2,0,1 -o OUT",
            "save(np.ascontiguousarray(load('cube.npy').transpose(2, 0, 1)))",
            "cube", "cube",
        ),
        Workload(
            "pad", "a frame of one place",
            "pad data.npy --before 1,1 --after 1,1 -o OUT",
            "save(np.pad(view('data.npy'), 1))",
            "data", "data",
        ),
        Workload(
            "tile", "a quarter, four times",
            "tile quarter-0.npy --repeats 2,2 -o OUT",
            "save(np.tile(view('quarter-0.npy'), (2, 2)))",
            "data", "quarter-0",
        ),
        Workload(
            "roll", "both axes moved on",
            "roll data.npy --shift 1000,-77 --axes 0,1 -o OUT",
            "save(np.roll(view('data.npy'), (1000, -77), (0, 1)))",
            "data", "data",
        ),
        Workload(
            "broadcast", "one row as all rows",
            f"broadcast row.npy --shape {side},{side} -o OUT",
            f"save(np.broadcast_to(load('row.npy'), ({side}, {side})))",
            "data", "row",
        ),
        Workload(
            "reshape", "one axis of all",
            "reshape data.npy --shape -1 -o OUT",
            "save(view('data.npy').reshape(-1))",
            "data", "data",
        ),
        Workload(
            "c-to-f", "C order to Fortran order, half the size",
            "convert c-order.npy --order F -o OUT",
            "save(np.asfortranarray(load('c-order.npy')))",
            "c-order", "c-order",
        ),
        Workload(
            "f-to-c", "Fortran order to C order",
            "convert f-order.npy -o OUT",
            "save(np.ascontiguousarray(load('f-order.npy')))",
            "f-order", "f-order",
        ),
        Workload(
            "diff-f-f", "two equal files in Fortran order",
            "diff f-order.npy f-order-again.npy -q",
            "assert (load('f-order.npy') == load('f-order-again.npy')).all()",
            None, "f-order", "f-order-again", silent=True,
        ),
        Workload(
            "diff-c-f", "two equal files, C and Fortran order",
            "diff f-order-as-c.npy f-order.npy -q",
            "assert (load('f-order-as-c.npy') == load('f-order.npy')).all()",
            None, "f-order", "f-order-as-c", silent=True,
        ),
        Workload(
            "scatter-f-half", "every 2nd column from Fortran order",
            "slice-scatter c-order.npy f-half.npy --at :,::2 -o OUT",
            "a = load('c-order.npy'); a[:, ::2] = load('f-half.npy'); save(a)",
            "c-order", "c-order", "f-half",
        ),
        Workload(
            "update-f-rows", "half of the rows from Fortran order",
            "scatter-update c-order.npy f-rows-at.npy f-rows.npy --axis 0 -o OUT",
            "a = load('c-order.npy'); a[load('f-rows-at.npy')] = load('f-rows.npy'); save(a)",
            "c-order", "c-order", "f-rows", "f-rows-at",
        ),
    ]  # fmt: skip


def prepare(work, mib):
    """Makes the inputs of a workload that are not there yet."""
    for path in work.inputs:
        stamp = f"{path}.{mib}-mib"
        if not os.path.exists(stamp):
            print(f"making {path}", file=sys.stderr, flush=True)
            spawn([sys.executable, os.path.join(HERE, "race.py"), "--make", path, "--mib", str(mib)])
            remove(*(old for old in os.listdir(".") if old.startswith(f"{path}.")))
            open(stamp, "w").close()


def race(work, binary, runs):
    """Races a workload, once more while cp's runs scatter."""
    for left in reversed(range(TRIES)):
        result = race_once(work, binary, runs * work.repeats)
        if scatter(result) <= MAX_SCATTER or not left:
            return result
        print(f"racing {work.name} again: cp's runs differ by {scatter(result):.0%}", file=sys.stderr, flush=True)


def race_once(work, binary, runs):
    contenders = {"cp": work.cp()} if work.copied else {}
    contenders |= {"tensorop": work.tensorop(binary)}
    outputs = ["out.NumPy.npy", "out.tensorop.npy"]
    if work.in_place:
        for out in outputs:
            spawn(["cp", f"{work.copied}.npy", out])
    results = rounds(contenders, runs, fresh=not work.in_place)
    # in rounds of its own: the gigabytes that NumPy gives back when it ends slow down whoever comes next
    results |= rounds({"NumPy": work.numpy()}, runs, fresh=not work.in_place)
    identical = work.silent or same(*outputs)
    remove("out.cp.npy", *outputs)
    return {"name": work.name, "what": work.what, "title": work.title, "identical": identical, "contenders": results}


def scale(binary, sizes, runs):
    """Cost against size."""
    out = []
    for mib in sizes:
        work = next(w for w in workloads(Sizes(mib)) if w.name == "scatter-half")
        prepare(work, mib)
        results = rounds({"cp": work.cp(), "tensorop": work.tensorop(binary)}, runs)
        remove("out.cp.npy", "out.tensorop.npy")
        out.append({"mib": mib, "contenders": results})
    return out


def compare_threads(work, binary, runs):
    contenders = {str(n): work.tensorop(binary, "--threads", str(n)) for n in (1, 2)}
    outputs = [f"out.{n}.npy" for n in contenders]
    if work.in_place:
        for out in outputs:
            spawn(["cp", f"{work.copied}.npy", out])
    results = rounds(contenders, runs, fresh=not work.in_place)
    # in rounds of its own: the gigabytes that NumPy gives back when it ends slow down whoever comes next
    results |= rounds({"NumPy": work.numpy()}, runs, fresh=not work.in_place)
    identical = same(*outputs)
    remove(*outputs)
    return {"name": work.name, "what": work.what, "identical": identical, "contenders": results}


# --- the machine, in words -------------------------------------------------------------------------------------------


def file_system():
    """The type of the file system of the current folder, if the system tells."""
    try:
        with open("/proc/self/mounts") as file:
            mounts = [line.split()[1:3] for line in file]
    except OSError:
        return None
    here = os.getcwd() + "/"
    return max((len(at), kind) for at, kind in mounts if here.startswith(at.rstrip("/") + "/"))[1]


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), None)
    except OSError:
        return None


def machine():
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count()
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    system = os.uname()
    kernel = ".".join(system.release.split("-")[0].split(".")[:2])
    model = processor()
    words = [f"{cores} core{'s' * (cores > 1)}" + (f" ({model})" if model else "")]
    words += [f"{memory:.0f} GiB of memory", file_system(), f"{system.sysname} {kernel}"]
    return ", ".join(word for word in words if word)


def tools():
    try:
        numpy = output_of([sys.executable, "-c", "import numpy; print(numpy.__version__)"])
    except SystemExit:
        raise SystemExit(f"race: {sys.executable} has no NumPy; run this script with a Python that has it") from None
    words = [f"NumPy {numpy} on Python {sys.version_info.major}.{sys.version_info.minor}"]
    if sys.platform == "linux":
        version = output_of(["cp", "--version"]).splitlines()[0]  # cp (GNU coreutils) 9.1
        words.append("cp of " + version.removeprefix("cp ").replace("(", "").replace(")", ""))
    return ", ".join(words)


# --- tables and chart ------------------------------------------------------------------------------------------------


def number(value):
    """Seconds or a ratio: two decimals, more where they would be zeros."""
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}" if value >= 0.1 else f"{value:.4f}" if value < 0.01 else f"{value:.3f}"


def with_spread(contender):
    least, most = map(number, spread(contender["seconds"]))
    return number(contender["median"]) + (f" ({least} to {most})" if least != most else "")


def memory(value, least):
    return f"under {least:.0f}" if value <= least * 1.02 else f"{value:.0f}"


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


HEAD = ["workload", "cp", "NumPy", "tensorop", "tensorop / cp", "tensorop / NumPy", "NumPy, MiB", "tensorop, MiB"]


def race_rows(result):
    rows = []
    for work in result["workloads"]:
        got = work["contenders"]
        time = {name: of["median"] for name, of in got.items()}
        cells = [f"{work['name']}: {work['what']}"]
        cells += [with_spread(got[name]) if name in time else "-" for name in ("cp", "NumPy", "tensorop")]
        cells += [number(time["tensorop"] / time[name]) if name in time else "-" for name in ("cp", "NumPy")]
        cells += [memory(got[name]["peak_mib"], result["least_mib"]) for name in ("NumPy", "tensorop")]
        if not work["identical"]:
            cells[0] += " (output DIFFERS from NumPy's)"
        rows.append(cells)
    return rows


def caption(result):
    side, mib = Sizes(result["mib"]).side, result["mib"]
    size = f"{mib // 1024} GiB" if mib % 1024 == 0 else f"{mib} MiB"
    runs = f"{result['runs']} runs" if result["runs"] > 1 else "1 run"
    text = "" if "scale" in result else f"Data: {size} of float32, [{side}, {side}]. "
    text += f"Times: seconds; the median of {runs}, and their range without the fastest and the slowest sixth. "
    text += "MiB: the peak of resident memory."
    return f"{text} Machine: {result['machine']}; {result['tools']}."


def scale_table(result):
    rows = []
    for row in result["scale"]:
        cp, own = row["contenders"]["cp"], row["contenders"]["tensorop"]
        cells = [f"{row['mib']} MiB", number(cp["median"]), number(own["median"]), number(own["median"] / cp["median"])]
        rows.append([*cells, f"{row['mib'] / 1024 / own['median']:.2f}", memory(own["peak_mib"], result["least_mib"])])
    head = ["scatter-half: size of the data", "cp", "tensorop", "tensorop / cp", "GiB/s", "tensorop, MiB"]
    return table(head, rows)


def threads_table(result):
    rows = []
    for work in result["threads"]:
        one, two = (work["contenders"][n]["median"] for n in ("1", "2"))
        note = "" if work["identical"] else " (outputs DIFFER)"
        rows.append([f"{work['name']}: {work['what']}{note}", number(one), number(two), number(two / one)])
    return table(["workload", "1 thread", "2 threads", "2 / 1"], rows)


def chart(result):
    """Bars of time relative to cp, as SVG. The colours are in the middle: they show on white and on black."""
    works = [work for work in result["workloads"] if "cp" in work["contenders"]]
    left, unit, most, row, bar = 264, 108, 4, 36, 12
    text, colours = "#737b84", {"tensorop": "#2e86c9", "NumPy": "#c98a2e"}
    width, height = left + unit * most + 64, 62 + row * len(works) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"',
        '     font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="13">',
        "  <title>Time relative to cp</title>",
        "  <desc>" + "; ".join(
            f"{work['title']}: " + ", ".join(f"{name} {number(relative(work, name))}" for name in colours) for work in works
        ) + "</desc>",
    ]  # fmt: skip

    def label(x, y, words, anchor="start", weight=400):
        lines.append(f'  <text x="{x}" y="{y}" fill="{text}" text-anchor="{anchor}" font-weight="{weight}">{words}</text>')

    label(left, 18, "Time relative to cp (shorter is better)", weight=600)
    for name, x in zip(colours, (left + 290, left + 382)):
        lines.append(f'  <rect x="{x}" y="8" width="12" height="12" fill="{colours[name]}"/>')
        label(x + 18, 18, name)
    for tick in range(most + 1):
        x = left + unit * tick
        if tick != 1:
            lines.append(f'  <path d="M{x} 48V{height - 8}" stroke="{text}" stroke-opacity="0.3"/>')
        label(x, 42, "cp" if tick == 1 else f"{tick} x" if tick else "0", "middle", 600 if tick == 1 else 400)
    for place, work in enumerate(works):
        top = 56 + row * place
        label(left - 10, top + row / 2 + 3, work["title"], "end")
        for line, (name, colour) in enumerate(colours.items()):
            value, y = relative(work, name), top + 4 + line * (bar + 2)
            end = left + unit * min(value, most)
            if value > most:  # cut, with a slanting gap
                a, b = end - 30, end - 22
                lines.append(f'  <path d="M{left} {y}H{a + 4}L{a - 4} {y + bar}H{left}Z" fill="{colour}"/>')
                lines.append(f'  <path d="M{b + 4} {y}H{end}V{y + bar}H{b - 4}Z" fill="{colour}"/>')
            else:
                lines.append(f'  <rect x="{left}" y="{y}" width="{end - left:.1f}" height="{bar}" fill="{colour}"/>')
            label(width - 6, y + 10.5, number(value), "end", 400 if line else 600)
            least, most_of_runs = (min(time / relative_to(work), most) for time in spread(work["contenders"][name]["seconds"]))
            if least < most and most_of_runs > least:
                at = f"M{left + unit * least:.1f} {y + bar / 2}H{left + unit * most_of_runs:.1f}"
                lines.append(f'  <path d="{at}" stroke="{text}" stroke-width="3"/>')
    lines.append(f'  <path d="M{left + unit} 48V{height - 8}" stroke="{text}" stroke-dasharray="4 3"/>')
    return "\n".join([*lines, "</svg>", ""])


def relative_to(work):
    return work["contenders"]["cp"]["median"]


def relative(work, name):
    return work["contenders"][name]["median"] / relative_to(work)


def readme_with(text, rows):
    """README with the extremes of the table. The tiny workload is left out, since README speaks of 1 GiB."""
    import re

    large = [row for row in rows if not row[0].startswith("tiny")]

    def column(name):
        at = HEAD.index(name)
        return [float(row[at].removeprefix("under ").split()[0]) for row in large]

    example = next(row for row in rows if row[0].startswith("scatter-row:"))
    seconds = [example[HEAD.index(name)].split()[0] for name in ("tensorop", "NumPy")]
    factors = [numpy / own for numpy, own in zip(column("NumPy"), column("tensorop"))]
    numbers = [*seconds, two_digits(min(factors)), two_digits(max(factors))]
    numbers += [f"{max(column('tensorop, MiB')):.0f}", f"{max(column('NumPy, MiB')):.0f}"]
    said = ("one row of a 1 GiB file takes ", " s where NumPy takes ", " s. On that size whole commands are ", " to ",
            " times as fast as the same step in NumPy. They take at most ", " MiB of memory where NumPy takes up to ", " MiB")
    # the words may be divided among lines anywhere, and stay so
    between = [re.escape(words).replace(r"\ ", r"\s+") for words in said]
    pattern = re.compile(r"[\d.]+".join(f"({words})" for words in between))
    found, count = pattern.subn(lambda match: "".join(map("".join, zip(match.groups(), [*numbers, ""]))), text)
    if count != 1:
        raise SystemExit(f"race: {README}: {count} sentences say how fast it is, expected one")
    return found


def two_digits(factor):
    """A factor from 1 on, rounded down to two digits."""
    import math

    unit = 10.0 ** (math.floor(math.log10(factor)) - 1)
    # a quotient of decimals may lie a little below the number that it means
    rounded = math.floor(factor / unit + 1e-6) * unit
    return f"{rounded:.1f}" if factor < 10 else f"{rounded:.0f}"


def render(result, page):
    parts = []
    if "workloads" in result:
        parts.append(table(HEAD, race_rows(result)))
    if "scale" in result:
        parts.append(scale_table(result))
    if "threads" in result:
        parts.append(threads_table(result))
    print("\n\n".join([*parts, caption(result)]), flush=True)
    if page and "workloads" in result:
        write_page(result)


def refusal(result):
    """Why this race is not to be shown as what the program does, if there is a reason."""
    works = result["workloads"]
    if differ := [work["name"] for work in works if not work["identical"]]:
        return f"outputs differ from NumPy's: {', '.join(differ)}"
    if result["runs"] < MIN_RUNS:
        return f"{result['runs']} runs, expected at least {MIN_RUNS}"
    if loud := [f"{work['name']} {scatter(work):.0%}" for work in works if scatter(work) > MAX_SCATTER]:
        return f"cp differs from run to run by more than {MAX_SCATTER:.0%}: {', '.join(loud)}"
    return None


def write_page(result):
    import textwrap

    rows = race_rows(result)
    with open(PAGE, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    section = "\n".join([BEGIN, "", table(HEAD, rows), "", textwrap.fill(caption(result), 118), "", ""])
    with open(README, encoding="utf-8") as file:
        readme = readme_with(file.read(), rows)
    for path, text in ((PAGE, before + section + END + rest.split(END)[1]), (CHART, chart(result)), (README, readme)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def measure(options):
    binary = os.path.abspath(options.binary)
    if not os.access(binary, os.X_OK):
        raise SystemExit(f"race: {options.binary}: no such program; `cargo build --release --locked` makes it")
    own = options.dir is None
    folder = os.path.join(ROOT, "target", f"race-{os.getpid()}") if own else os.path.abspath(options.dir)
    os.makedirs(folder, exist_ok=True)
    start = os.getcwd()
    os.chdir(folder)
    try:
        result = {"mib": options.mib, "runs": options.runs, "machine": machine(), "tools": tools()}
        if options.scale:
            result["scale"] = scale(binary, [int(mib) for mib in options.scale.split(",")], options.runs)
        else:
            known = workloads(Sizes(options.mib))
            wanted = options.only.split(",") if options.only else [work.name for work in known]
            if unknown := set(wanted) - {work.name for work in known}:
                raise SystemExit(f"race: no such workload: {', '.join(sorted(unknown))}")
            rows = result["threads" if options.threads_compare else "workloads"] = []
            left = [work for work in known if work.name in wanted]
            while left:
                work = left.pop(0)
                prepare(work, options.mib)
                print(f"racing {work.name}", file=sys.stderr, flush=True)
                rows.append((compare_threads if options.threads_compare else race)(work, binary, options.runs))
                if own:  # the page cache is to hold what is still needed
                    done = set(work.inputs) - {path for other in left for path in other.inputs}
                    remove(*done, *(f"{path}.{options.mib}-mib" for path in done))
        result["least_mib"] = floor()
    finally:
        remove("stdout.txt", "stderr.txt")
        if own:
            remove(*os.listdir("."))
        os.chdir(start)
        if own:
            os.rmdir(folder)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.path.join("target", "release", "tensorop")
    parser.add_argument("binary", nargs="?", default=os.path.join(ROOT, default), help=f"tensorop [default: {default}]")
    parser.add_argument("--dir", help="keep the files here, on the file system to be tested [default: in target/, removed]")
    parser.add_argument("--mib", type=int, default=1024, help="size of the data [default: 1024; needs 8 times as much disk]")
    parser.add_argument("--runs", type=int, default=MIN_RUNS, help=f"runs that count, {MIN_RUNS} or more [default: {MIN_RUNS}]")
    parser.add_argument("--only", metavar="NAME,..", help="these workloads only")
    parser.add_argument("--scale", nargs="?", const="64,256,1024,4096", metavar="MIB,..", help="cost against size instead")
    parser.add_argument("--threads-compare", action="store_true", help="tensorop with 1 and with 2 threads instead")
    parser.add_argument("--json", metavar="FILE", help="write what was measured, every run of it")
    parser.add_argument("--from-json", metavar="FILE", help="measure nothing: show what an earlier race wrote")
    parser.add_argument("--page", action="store_true", help="write table, chart and README's numbers, if the machine is quiet")
    parser.add_argument("--make", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.mib < 1 or options.runs < MIN_RUNS:
        parser.error(f"--mib is at least 1, and --runs {MIN_RUNS}")
    if options.page and (options.only or options.scale or options.threads_compare):
        parser.error("--page shows all workloads")
    if options.make:
        return make(options.make, Sizes(options.mib))
    if options.from_json:
        with open(options.from_json) as file:
            result = json.load(file)
    else:
        result = measure(options)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
    refused = refusal(result) if options.page and "workloads" in result else None
    render(result, options.page and not refused)
    if refused:
        print(f"race: nothing is written: {refused}", file=sys.stderr)
        return 2
    checked = result.get("workloads", []) + result.get("threads", [])
    return 0 if all(work["identical"] for work in checked) else 1


if __name__ == "__main__":
    sys.exit(main())
