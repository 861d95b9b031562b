#!/usr/bin/env python3
"""Compares the bytes of `tensorop … --explain --json` with those that the system sees, on random workloads.

usage: plan_counts.py BINARY [--seed N,..] [--count 60] [--mib 24] [--only NUMBER,..] [--sets plain,place,diff,more]
                      [--threads N] [--verbose] [--dir DIR]

The workloads are those of workloads.py, and more.  They come in sets:

plain  every operator of workloads.py, from files to a file
place  those of plain that may change DATA in place, with --in-place
diff   comparisons of two tensors that differ in a few items, in dtype or in the order of storage; what is read again up to the
       first item that differs, which a plan cannot know, is expected as comparisons_counts.py does
more   pad, tile, roll, broadcast, split, stack, conversions between formats, outputs that are archives and stores, and
       streams to a pipe

Each command runs once with --explain --json, and once under strace.  Reads, the bytes that they read, writes and the bytes
that they write are added up, of the operands, of the output, and of temporary files, which are made in a folder of their
own.  A copy by the kernel is a read and a write.  The bytes of `cost` agree if each sum differs from the system's by a quarter at
most, or by 32 KiB.  The check of a stored member of an archive, which opens it, is added to the plan.

A line per command that disagrees has the plan and the counts, `reads/bytes read/writes/bytes written`; with --verbose every
command has one.  At the end come the numbers of those that agree.  Exit status 0 only if all do.  It needs strace and numpy.
"""
import argparse
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import comparisons_counts
import workloads
from workloads import Workload

SETS = ("plain", "place", "diff", "more")
IN_PLACE = ("slice-scatter", "scatter-update", "scatter-nd", "scatter-elements", "concat", "reshape")
BYTES = 8 * 4096
COUNTS = ("reads", "bytes_read", "writes", "bytes_written")
READS = "read pread64 readv preadv preadv2".split()
WRITES = "write pwrite64 writev pwritev pwritev2".split()
BOTH = "copy_file_range sendfile splice".split()
OTHERS = "mmap ioctl".split()
FILE = r"\d+<((?:[^<>\\]|\\.)*)>(?:\(deleted\))?"
CALL = re.compile(rf"^(\w+)\((?:{FILE})?(.*)\) += (-?\d+|0x[0-9a-f]+)")


# Writes the share of all items that lie before the first one that differs, in C order and in that of storage, or nothing.
SHARES = """
rows = [np.frombuffer(np.ascontiguousarray(x).tobytes(), 'u1').reshape(b.size, -1) for x in (np.load('data.npy'), b)]
differ = (rows[0] != rows[1]).any(axis=1).reshape(b.shape)
firsts = [np.flatnonzero(differ.ravel(order))[:1] / b.size for order in 'CF']
open('tmp/shares', 'w').write(' '.join(str(first) for shares in firsts for first in shares))
"""


# --- commands -----------------------------------------------------------------------------------------------------


class Task:
    """A command, the workload that makes its operands, and the programs of NumPy that change these before it runs."""

    def __init__(self, name, workload, command, prepare="", output="out.npy"):
        self.name, self.workload, self.command, self.prepare, self.output = name, workload, command, prepare, output


def plain(seed, number, mib):
    workload = Workload(seed, number, mib)
    yield Task(str(workload), workload, [*workload.command, "-o", "out.npy"])


def place(seed, number, mib):
    workload = Workload(seed, number, mib)
    if workload.operator in IN_PLACE:
        yield Task(f"{workload} --in-place", workload, [*workload.command, "--in-place"], output=None)


class Other(Workload):
    """A workload of one tensor, for the sets that workloads.py does not have."""

    def __init__(self, seed, number, mib):
        super().__init__(seed, number, mib)
        self.random = workloads.random.Random(f"other {seed} {number}")
        self.operands = {}
        self.items("data", self.shape)


def is_number(dtype):
    return dtype.lstrip("<>")[0] in "iuf"


def diff(seed, number, mib):
    workload = Other(seed, number, mib)
    draw, changes = workload.random, []
    if draw.random() < 0.7:
        changes.append("flat = b.reshape(-1); flat[::max(1, flat.size // 7)] = flat[0]")
    changes.append(SHARES)
    if draw.random() < 0.2 and workload.dtype in ("<f4", "<f8", "<i4", "<i8"):
        changes.append("b = b.astype(b.dtype.newbyteorder('>'))")
    order = draw.choice("CCF")
    changes.append(f"np.save('other.npy', np.asarray(b, order='{order}'))")
    options = draw.choice([[], [], ["--rtol", "1e-3"], ["--ulp", "3"]])
    command = ["diff", "data.npy", "other.npy", *(options if is_number(workload.dtype) else [])]
    prepare = "\n".join(["b = np.array(np.load('data.npy'), order='C')", *changes])
    yield Task(f"{workload} {' '.join(command)} {[change for change in changes if change is not SHARES]}", workload, command, prepare, None)


def more(seed, number, mib):
    workload = Other(seed, number, mib)
    draw, shape = workload.random, workload.shape
    axis = draw.randrange(len(shape))
    of_each = lambda draw_one: ",".join(str(draw_one(dim)) for dim in shape)
    kind = ("pad", "tile", "roll", "broadcast", "split", "stack", "convert", "npz", "zarr", "stream", "chunks")[number % 11]
    prepare, output = "", "out.npy"
    if kind == "pad":
        mode = draw.choice(["constant", "edge", "reflect", "symmetric", "wrap"])
        before, after = (of_each(lambda dim: draw.randrange(min(dim, 9))) for _ in range(2))
        command = ["pad", "data.npy", f"--before={before}", f"--after={after}", "--mode", mode]
    elif kind == "tile":
        command = ["tile", "data.npy", "--repeats=" + of_each(lambda _: draw.choice([1, 1, 2, 3]))]
    elif kind == "roll":
        axes = ",".join(map(str, range(len(shape))))
        command = ["roll", "data.npy", "--shift=" + of_each(lambda dim: draw.randrange(dim)), "--axes=" + axes]
        if draw.random() < 0.3:
            command = ["roll", "data.npy", f"--shift={draw.randrange(10**6)}"]
    elif kind == "broadcast":
        repeats = draw.choice([2, 3, 50])
        prepare = f"a = np.load('data.npy'); np.save('data.npy', a.take([0], {axis}).copy(order='{workload.order()}'))"
        dims = [repeats if n == axis else dim for n, dim in enumerate(shape)]
        command = ["broadcast", "data.npy", "--shape=" + ",".join(map(str, dims))]
    elif kind == "split":
        output = draw.choice(["out-*.npy", "out.npz", "out.safetensors"])
        parts = max(n for n in (1, 2, 3, 4, 5) if shape[axis] % n == 0)
        command = ["split", "data.npy", f"--axis={axis}", f"--parts={parts}"]
    elif kind == "stack":
        count = draw.randrange(2, 5)
        for n in range(1, count):
            workload.items(f"data-{n}", shape)
        files = [f"{name}.npy" for name in workload.operands]
        command = ["concat", "--stack", *files, f"--axis={draw.randrange(len(shape) + 1)}"]
    elif kind == "stream":
        scanned = Workload(seed, number + 1000, mib)
        workload, command, output = scanned, [*scanned.command, "--to", draw.choice(["npy", "npy", "raw"])], "-"
    else:
        source = "data.npy"
        if draw.random() < 0.4 and is_number(workload.dtype) and workload.dtype != "<f2":
            source = "data.npz"
            prepare = "np.savez('data.npz', data=np.load('data.npy'))"
        command = ["convert", source]
        output = {"convert": draw.choice(["out.safetensors", "out.bin", "out.npy"]), "npz": "out.npz"}.get(kind, "out.zarr")
        if kind == "chunks":
            side = lambda dim: max(1, dim // draw.choice([1, 2, 5]))
            command += ["--chunks", of_each(side), "--codec", draw.choice(["none", "zstd"])]
            prepare += f"\nimport subprocess; subprocess.run([BINARY, *{command + ['-o', 'data.zarr']}], check=True)"
            command = ["convert", "data.zarr"]
            output = draw.choice(["out.npy", "out.zarr", "out.npz"])
            command += ["--chunks", of_each(side)] if output == "out.zarr" else []
        elif draw.random() < 0.3 and workload.dtype[-2:] in ("f4", "f8"):
            command += ["--cast", "float16"]
    name = f"{number:3} {workload.operator if kind == 'stream' else kind} {workload.dtype} {' '.join(command[1:])} -o {output} "
    yield Task(name + str(workload).split("|")[1], workload, [*command, "-o", output], prepare, output)


# --- what the system sees and what the plan says ----------------------------------------------------------------------


class Counts(collections.namedtuple("Counts", COUNTS)):
    __slots__ = ()

    def __add__(self, other):
        return Counts(*map(sum, zip(self, other)))

    def __str__(self):
        return "/".join(map(str, self))


NONE = Counts(0, 0, 0, 0)


def counted(traces, folder, operands, output):
    """The counts of operands, of the output and of temporary files, from the traces of all threads; and other calls."""
    found, others = dict.fromkeys(("operands", "output", "temporary"), NONE), collections.Counter()
    temporary = os.path.join(folder, "tmp")

    def kind(path):
        if path is None:
            return None
        if path.startswith("pipe:"):
            return "output" if output == "-" else None
        if path.startswith(temporary + os.sep):
            return "temporary"
        inside = path.startswith(folder + os.sep) and path[len(folder) + 1 :].split(os.sep)[0]
        return inside and ("operands" if inside in operands else "output")

    for trace in traces:
        for line in open(trace, errors="replace"):
            match = CALL.match(line)
            if not match:
                continue
            call, path, rest, result = match.groups()
            of = kind(path)
            if call in OTHERS:
                more = kind((re.search(FILE, rest) or [None, None])[1])
                if of or more:
                    others[call] += 1
                continue
            count = int(result, 0)
            if count < 0:
                continue
            if call in READS and of:
                found[of] += Counts(1, count, 0, 0)
            elif call in WRITES and of:
                found[of] += Counts(0, 0, 1, count)
            elif call in BOTH:
                to = kind((re.search(FILE, rest) or [None, None])[1])
                first, second = (to, of) if call == "sendfile" else (of, to)
                if first:
                    found[first] += Counts(1, count, 0, 0)
                if second:
                    found[second] += Counts(0, 0, 1, count)
    return found, others


Compared = collections.namedtuple("Compared", "kind as_json")


def expected(plan, folder):
    """The counts that a run of a plan may have, as the items of two tensors that are compared are."""
    cost = Counts(*(plan.get("cost", {}).get(name, 0) for name in COUNTS))
    shares = os.path.join(folder, "tmp", "shares")
    if not os.path.exists(shares):
        return [cost]
    shares = [float(share) for share in open(shares).read().split()]
    pair = Compared("one" if shares else "equal", as_json=False)
    sums = {tuple(map(round, sums)) for sums in comparisons_counts.expected(plan, pair, shares)}
    return [cost._replace(reads=reads, bytes_read=count) for reads, count in sorted(sums)]


def agree(planned, seen):
    within = lambda own, of, least: abs(own - of) <= max(of / 4, least)
    rows = [row for row in zip(COUNTS, planned, seen) if "bytes" in row[0]]
    return all(within(own, of, BYTES) for _, own, of in rows)


class Refused(Exception):
    pass


def compared(task, binary, folder, threads):
    """What the plan says, in several ways if items decide, what the system counts, and other calls."""
    operands = {name for name in os.listdir(folder) if name != "tmp"}
    command = [binary, *task.command, *(["--threads", str(threads)] if threads else [])]
    environment = {**os.environ, "TMPDIR": os.path.join(folder, "tmp")}
    how = dict(cwd=folder, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    told = subprocess.run([*command, "--explain", "--json"], stdout=subprocess.PIPE, **how)
    if told.returncode:
        raise Refused(told.stderr.decode(errors="replace").strip())
    checked = os.path.getsize(os.path.join(folder, "data.npz")) if "data.npz" in task.command else 0
    planned = [NONE._replace(bytes_read=checked)]
    try:
        plans = json.loads(told.stdout)
    except ValueError:
        plans = None
    for plan in plans or []:
        planned = [own + more for own in planned for more in expected(plan, folder)]
    traced = ",".join([*READS, *WRITES, *BOTH, *OTHERS])
    trace = os.path.join(folder, "tmp", "trace")
    strace = ["strace", "-ff", "-y", "-s", "0", "--seccomp-bpf", "-f", "-e", f"trace={traced}", "-e", "signal=none"]
    done = subprocess.run([*strace, "-o", trace, *command], stdout=subprocess.PIPE, **how)
    if done.returncode > (1 if task.command[0] == "diff" else 0):
        raise Refused(done.stderr.decode(errors="replace").strip())
    seen, others = counted(glob.glob(trace + "*"), folder, operands, task.output)
    return planned if plans is not None else None, seen, others


def prepared(task, seed, binary, folder):
    """Makes the operands of a task, in a child of this process, which need not hold NumPy."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.chdir(folder)
            os.mkdir("tmp")
            workloads.make(task.workload, seed)
            if task.prepare:
                import numpy as np

                exec(task.prepare, {"np": np, "BINARY": binary})
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        raise SystemExit(f"plan_counts: the operands of {task.name} cannot be made")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(number) for number in text.split(",")]
    parser.add_argument("binary")
    parser.add_argument("--seed", type=numbers, default=[1], metavar="N,..")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--mib", type=int, default=24, help="size of the data [default: 24]")
    parser.add_argument("--only", type=numbers, metavar="NUMBER,..", help="these workloads only")
    parser.add_argument("--sets", default="plain,place,diff", help=f"some of {','.join(SETS)} [default: plain,place,diff]")
    parser.add_argument("--threads", type=int, help="give tensorop this option")
    parser.add_argument("--verbose", action="store_true", help="a line for every command")
    parser.add_argument("--dir", help="make the files here [default: where temporary files are]")
    options = parser.parse_args()
    binary, summary, all_agree = os.path.abspath(options.binary), {}, True
    makers = {"plain": plain, "place": place, "diff": diff, "more": more}
    for name in options.sets.split(","):
        for seed in options.seed:
            for number in options.only or range(options.count):
                for task in makers[name](seed, number, options.mib):
                    tally = summary.setdefault((name, seed), collections.Counter())
                    folder = os.path.realpath(tempfile.mkdtemp(prefix="plan-counts-", dir=options.dir))
                    try:
                        prepared(task, seed, binary, folder)
                        planned, seen, others = compared(task, binary, folder, options.threads)
                    except Refused as refused:
                        tally["refused"] += 1
                        if options.verbose:
                            print(f"refused {name} {seed} {task.name}:", " ".join(str(refused).split())[:200], flush=True)
                        continue
                    finally:
                        shutil.rmtree(folder, ignore_errors=True)
                    all_seen = sum(seen.values(), NONE)
                    is_same = any(agree(one, all_seen) for one in planned or [])
                    tally["agree" if is_same else "disagree"] += 1
                    all_agree &= is_same
                    if options.verbose or not is_same:
                        parts = ", ".join(f"{of} {seen[of]}" for of in seen if any(seen[of]))
                        more_calls = "".join(f", {count} {call}" for call, count in others.items())
                        verdict = "agrees" if is_same else "DIFFERS"
                        plan = "no plan" if planned is None else f"plan {' or '.join(map(str, planned))}"
                        print(f"{verdict} {name} {seed} {plan} | {parts}{more_calls} | {task.name}", flush=True)
    for (name, seed), tally in summary.items():
        print(f"{name}, seed {seed}: " + ", ".join(f"{tally[what]} {what}" for what in ("agree", "disagree", "refused")))
    return 0 if all_agree else 1


if __name__ == "__main__":
    sys.exit(main())
