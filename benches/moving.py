#!/usr/bin/env python3
"""Counts what moving tensors across costs: bytes read and written, time and memory, against another binary if one is given.

    moving.py BINARY [BASE] [--mib 256] [--runs 3] [--only TEXT]

Each case moves a float32 tensor of that many MiB between orders of storage (.npy) or between chunks (.zarr, packed by zstd
and not packed). `moved` is what the kernel counts for calls of the system (rchar and wchar of /proc/PID/io), as a multiple
of the bytes of input and output. Times are medians of the runs, the binaries one after the other in each, with the spread
(largest less smallest, of the median). The outputs of both are compared, file by file. Linux only; needs numpy, and room in
memory for a dozen tensors: everything lies in /dev/shm.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# in a process of its own, since the peak of a child counts from what its parent holds
MAKE = """
import sys
import numpy as np
tensor = np.random.default_rng(1).standard_normal((int(sys.argv[1]), int(sys.argv[2])), dtype=np.float32).round(2)
np.save("c.npy", tensor)
np.save("f.npy", np.asfortranarray(tensor))
"""


def run(binary, args):
    begun = time.perf_counter()
    pid = os.posix_spawn(binary, [binary, *args], os.environ)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    seconds = time.perf_counter() - begun
    counts = dict(line.split(": ") for line in pathlib.Path(f"/proc/{pid}/io").read_text().splitlines())
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{' '.join(args)}: status {status}")
    return seconds, int(counts["rchar"]) + int(counts["wchar"]), usage.ru_maxrss / 1024


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def files(path):
    if path.is_file():
        return {"": digest(path)}
    return {str(file.relative_to(path)): digest(file) for file in sorted(path.rglob("*")) if file.is_file()}


def size(path):
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file()) if path.is_dir() else path.stat().st_size


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("base", nargs="?")
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    binaries = [os.path.abspath(b) for b in (options.base, options.binary) if b]
    os.chdir(tempfile.mkdtemp(prefix="moving", dir="/dev/shm"))
    try:
        race(binaries, options)
    finally:
        shutil.rmtree(os.getcwd())


def race(binaries, options):
    rows, columns = 4096, options.mib * 64
    subprocess.run([sys.executable, "-c", MAKE, str(rows), str(columns)], check=True)
    cases = [("c.npy", "transpose", "o.npy", ""), ("c.npy", "convert --order F", "o.npy", ""),
             ("f.npy", "convert", "o.npy", ""), ("c.npy", f"convert --chunks {rows},32", "o.zarr", ""),
             ("f.npy", f"convert --chunks 16,{columns}", "o.zarr", "")]
    for codec in ("zstd", "none"):
        for name, chunks in (("rows", f"16,{columns}"), ("columns", f"{rows},32"), ("squares", "512,512")):
            run(binaries[-1], f"convert c.npy -o {name}-{codec}.zarr --chunks {chunks} --codec {codec}".split())
        cases += [(f"rows-{codec}.zarr", "transpose", "o.npy", ""), (f"columns-{codec}.zarr", "convert", "o.npy", ""),
                  (f"rows-{codec}.zarr", f"convert --chunks {rows},32", "o.zarr", ""),
                  (f"rows-{codec}.zarr", f"convert --chunks {rows},32", "o.zarr", "--memory 32MiB"),
                  (f"columns-{codec}.zarr", f"convert --chunks 16,{columns}", "o.zarr", ""),
                  (f"columns-{codec}.zarr", f"convert --chunks 16,{columns}", "o.zarr", "--memory 32MiB"),
                  (f"squares-{codec}.zarr", "convert --chunks 200,200", "o.zarr", "")]
    print(f"{'input':20} {'command':34} {'memory':>9}  " + "  ".join(
        f"{name:>8}: {'moved':>7} {'time s':>7} {'spread':>6} {'MiB':>5}" for name in ["base", "binary"][-len(binaries):]))
    for source, command, output, memory in cases:
        if options.only not in f"{source} {command}":
            continue
        source, output = pathlib.Path(source), pathlib.Path(output)
        found = {binary: [] for binary in binaries}
        made = {}
        for _ in range(options.runs):
            for binary in binaries:
                remove(output)
                is_base = len(binaries) == 2 and binary == binaries[0]
                own = [] if is_base else memory.split()
                verb, *rest = command.split()
                found[binary].append(run(binary, [verb, str(source), *rest, "-o", str(output), *own]))
                made[binary] = files(output)
        if len(set(map(lambda b: tuple(made[b].items()), binaries))) != 1:
            raise SystemExit(f"{source} {command}: the outputs differ")
        once = size(source) + size(output)
        texts = []
        for binary in binaries:
            seconds, moved, peak = (sorted(column) for column in zip(*found[binary]))
            median = statistics.median(seconds)
            texts.append(f"{'':>8}  {moved[-1] / once:7.2f} {median:7.2f} {(seconds[-1] - seconds[0]) / median:6.2f} {peak[-1]:5.0f}")
        print(f"{source!s:20} {command:34} {memory.removeprefix('--memory '):>9}  " + "  ".join(texts), flush=True)
        remove(output)


if __name__ == "__main__":
    main()
