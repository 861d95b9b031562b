#!/usr/bin/env python3
"""Measure `diff` and `info --stats` of large tensors beside `cmp`, which only reads.

    cargo build --release --locked
    python3 benches/compare.py BASE [--program target/release/tensorop] [--mib 1024] [--folder FOLDER]

BASE is the program that the new one is compared with, such as a build of the commit before. For each row `cmp` of two equal
files, BASE and the program take turns. A table shows for both programs the time over that of `cmp` (the median of all turns,
and in parentheses the least and the largest), the processor time in seconds (the median), and the largest resident memory of
any run. Rows marked `1 thread` run with `--threads 1`, the others as users run them. It ends with status 1 if the reports of
both programs differ in a byte.

It needs Python 3 with NumPy, and room for seven files of the given size, best where they stay in memory (/dev/shm).
"""

import argparse
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# the name, the pair of files, and the words of the command line
ROWS = [
    ("C order, all differ", "C/all", "diff --json"),
    ("C order, all differ, 1 thread", "C/all", "diff --json --threads 1"),
    ("C order, one of a hundred", "C/some", "diff --json"),
    ("C order, without quantiles", "C/all", "diff"),
    ("C order, worst", "C/all", "diff --worst 10"),
    ("C order, map", "C/all", "diff --map"),
    ("Fortran order, all differ", "F/all", "diff --json"),
    ("Fortran order, all differ, 1 thread", "F/all", "diff --json --threads 1"),
    ("Fortran order, one of a hundred", "F/some", "diff --json"),
    ("Fortran order, worst", "F/all", "diff --worst 10"),
    ("Fortran order, map", "F/all", "diff --map"),
    ("C order, statistics", "C/one", "info --stats --json"),
    ("C order, statistics by rows", "C/one", "info --by-axis 0 --json"),
    ("Fortran order, statistics", "F/one", "info --stats --json"),
]


def make(folder, mib):
    """Write an expected tensor and two others, in both orders."""
    import numpy as np

    columns = 8192
    rows = mib * (1 << 20) // 4 // columns
    random = np.random.default_rng(1)
    expected = random.standard_normal((rows, columns), dtype=np.float32)
    np.save(folder / "equal.npy", expected)

    def save(name, items):
        np.save(folder / f"C-{name}.npy", items)
        # the same bytes as numpy.save of a tensor in Fortran order, without a second copy in memory
        np.save(folder / f"F-{name}.npy", np.asfortranarray(items))

    save("expected", expected)
    some = expected.copy()
    some.reshape(-1)[::100] += np.float32(0.01)
    save("some", some)
    del some
    expected += np.float32(1e-3) * random.standard_normal((rows, columns), dtype=np.float32)
    save("all", expected)


def run(command, folder):
    """Return the seconds, the processor seconds, the MiB and the output of a command."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            sys.exit(f"{' '.join(map(str, command))}: status {process.returncode}")
        out.seek(0)
        return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=Path)
    parser.add_argument("--program", type=Path, default=Path("target/release/tensorop"))
    parser.add_argument("--mib", type=int, default=1024, help="the size of each file")
    parser.add_argument("--runs", type=int, default=7, help="turns of each row")
    parser.add_argument("--folder", help="where the files are made, in a folder of their own")
    parser.add_argument("--only", default="", help="rows whose name holds this text")
    arguments = parser.parse_args()
    programs = [arguments.base.resolve(), arguments.program.resolve()]
    same = True
    with tempfile.TemporaryDirectory(dir=arguments.folder) as made:
        folder = Path(made)
        # in a process of its own: the memory of this one would count as that of each program it starts
        maker = multiprocessing.get_context("spawn").Process(target=make, args=(folder, arguments.mib))
        maker.start()
        maker.join()
        if maker.exitcode != 0:
            sys.exit("the files could not be made")
        print("| row | base / cmp | new / cmp | base CPU, s | new CPU, s | base MiB | new MiB |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name, files, words in ROWS:
            if arguments.only not in name:
                continue
            order, other = files.split("/")
            operands = [f"{order}-expected.npy"] + ([] if other == "one" else [f"{order}-{other}.npy"])
            ratios, processor, memory, outputs = [[], []], [[], []], [0, 0], [b"", b""]
            for _ in range(arguments.runs):
                least = run(["cmp", "C-expected.npy", "equal.npy"], folder)[0]
                for side, program in enumerate(programs):
                    seconds, used, mib, outputs[side] = run([program, *words.split(), *operands], folder)
                    ratios[side].append(seconds / least)
                    processor[side].append(used)
                    memory[side] = max(memory[side], mib)
            ratio = [f"{statistics.median(all):.2f} ({min(all):.2f}-{max(all):.2f})" for all in ratios]
            used = [f"{statistics.median(all):.2f}" for all in processor]
            size = [f"{mib:.0f}" for mib in memory]
            print("|", " | ".join([name, *ratio, *used, *size]), "|", flush=True)
            if outputs[0] != outputs[1]:
                same = False
                print(f"{name}: the reports differ", file=sys.stderr)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
