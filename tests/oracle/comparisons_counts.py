#!/usr/bin/env python3
"""Compares what `tensorop diff --explain --json` counts with the reads that the system sees, for random pairs of tensors.

usage: comparisons_counts.py BINARY [--seed N] [--count 60] [--mib 4] [--threads N] [--verbose] [--dir DIR]

The pairs are .npy files of random dtypes and shapes, each side in C or in Fortran order.  They are equal, or all items
differ, or one item; half of them are compared with --json, which has quantiles.  `info --stats` of the first file is
explained and counted, too.

Each command runs once with --explain --json, and once under strace.  Reads of both files, and the bytes that they read,
agree if they differ from `cost` by a tenth at most, or by 8 calls.  What items decide is told in notes, as "N reads of M
bytes", and is expected as the items are:

- windows that are equal are read again if a later one differs: the share of them that lies before the item that differs, give
  or take some windows
- what is compared as it is stored is read up to the item that differs; if none does, that is nearly all
- quantiles of statistics take one more pass, or two
- the sample for quantiles is read whenever it is told
- quantiles that are not found take any whole number of passes, and none where all but one item are equal

A line per command that disagrees has the plan and the counts; with --verbose every command has one.  Exit status 0 only
if all agree.  It needs strace and numpy.
"""
import argparse
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

CALLS = 8
READS = "read pread64 readv preadv preadv2".split()
CALL = re.compile(r"^\w+\(\d+<((?:[^<>\\]|\\.)*)>.* = (-?\d+)$")
NOTE = re.compile(r"(\d+) reads of (\d+) bytes")
DTYPES = ["<f4", "<f4", "<f8", "<f2", "<i4", ">f4", "|u1", "<i8", "<c8", "|b1"]


class Pair:
    """Two files, which this makes in the current folder."""

    def __init__(self, seed, number, mib):
        draw = random.Random(f"{seed} {number}")
        self.dtype, self.orders = draw.choice(DTYPES), draw.choice(["CC", "CF", "FC", "FF"])
        self.kind, self.as_json = draw.choice(["equal", "all", "one"]), draw.random() < 0.5
        rank = draw.randrange(1, 6)
        items = int(mib * 2**20 * draw.uniform(0.25, 3)) // int(self.dtype[2:])
        weights = [draw.random() ** 3 + 0.02 for _ in range(rank)]
        shape = [max(1, round(items ** (weight / sum(weights)))) for weight in weights]
        self.shape, self.share = shape, draw.random()

    def __str__(self):
        return f"{self.dtype} {self.shape} {self.orders} {self.kind}{' --json' if self.as_json else ''}"

    def make(self, seed):
        """Makes both files, and returns the share of all windows before the item that differs, in C order and in that of storage."""
        import numpy as np

        drawn = np.random.default_rng(seed)
        one = (drawn.standard_normal(self.shape) * 40).astype(self.dtype)
        other = one.copy()
        at = int(self.share * (one.size - 1))
        if self.kind == "all":
            other = ~one if self.dtype == "|b1" else (one * 2 + 3).astype(self.dtype)
        elif self.kind == "one":
            flat = other.reshape(-1)
            flat[at] = not flat[at] if self.dtype == "|b1" else (flat[at] + 1) * 2
        for name, items, order in zip(["one.npy", "other.npy"], [one, other], self.orders):
            np.save(name, np.asarray(items, order=order))
        index = np.unravel_index(at, self.shape)
        stored = int(np.ravel_multi_index(index[::-1], self.shape[::-1]))
        return [at / max(1, one.size), stored / max(1, one.size)]


def seen(command, folder):
    """Returns the reads of the files, and the bytes that they read."""
    trace = os.path.join(folder, "trace")
    strace = ["strace", "-ff", "-y", "-s", "0", "-e", f"trace={','.join(READS)}", "-e", "signal=none", "-o", trace]
    done = subprocess.run([*strace, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode > 1:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.decode(errors='replace')}")
    reads, count = 0, 0
    for path in glob.glob(trace + "*"):
        for line in open(path, errors="replace"):
            match = CALL.match(line)
            if match and match[1].endswith(".npy") and int(match[2]) > 0:
                reads, count = reads + 1, count + int(match[2])
        os.remove(path)
    return [reads, count]


def expected(plan, pair, shares):
    """Returns the sums that the items of a pair may make of a plan."""
    cost, windows = plan["cost"], max(1, plan["cut"].get("count", 1))
    sums = [[cost["reads"], cost["bytes_read"]]]
    # the shares of windows before the item that differs: several threads are some windows apart
    near = [min(1, max(0, share + part / windows)) for share in shares for part in (-3, -1, 0, 1, 3)]
    for note in plan["notes"]:
        match = NOTE.search(note)
        if not match:
            continue
        more = [int(match[1]), int(match[2])]
        add = lambda times: [[sum + time * part for sum, part in zip(one, more)] for one in sums for time in times]
        if "as they are stored" in note and pair.kind == "equal":
            sums = [more]
        elif "for the metrics" in note or "as they are stored" in note:
            sums = add(near if pair.kind == "one" else [0])
        elif "seldom two" in note:
            sums = add([0, 0.5, 1])
        elif "a sample" in note:
            sums = add([1 if pair.as_json else 0])
        elif "not found" in note:
            sums = add([0, 1 / 3, 2 / 3, 1, 1 / 2] if pair.as_json and pair.kind == "all" else [0])
    return sums


def agree(sums, found):
    """Returns whether what was found is within a tenth, or 8 calls, of one of the sums."""
    piece = max(4096, found[1] // max(1, found[0]))
    within = lambda own, of, least: abs(own - of) <= max(of / 10, least)
    return any(within(one[0], found[0], CALLS) and within(one[1], found[1], CALLS * piece) for one in sums)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--mib", type=float, default=4, help="the size of a file, about [default: 4]")
    parser.add_argument("--threads", type=int, help="give tensorop this option")
    parser.add_argument("--verbose", action="store_true", help="a line for every command")
    parser.add_argument("--dir", help="make the files here [default: where temporary files are]")
    options = parser.parse_args()
    binary = os.path.abspath(options.binary)
    more = ["--threads", str(options.threads)] if options.threads else []
    agreed = of = 0
    for number in range(options.count):
        pair = Pair(options.seed, number, options.mib)
        folder = os.path.realpath(tempfile.mkdtemp(prefix="comparisons-counts-", dir=options.dir))
        try:
            os.chdir(folder)
            shares = pair.make(number)
            diff = [binary, "diff", "one.npy", "other.npy", *more]
            info = [binary, "info", "--stats", "one.npy", *more]
            for command, run in [(diff, diff + ["--json"] * pair.as_json), (info, info)]:
                told = subprocess.run([*command, "--explain", "--json"], stdout=subprocess.PIPE, check=True)
                plan = json.loads(told.stdout)[0]
                found, sums = seen(run, folder), expected(plan, pair, shares)
                is_same = agree(sums, found)
                of, agreed = of + 1, agreed + is_same
                if options.verbose or not is_same:
                    verdict = "agrees" if is_same else "DIFFERS"
                    print(f"{verdict} {number} {command[1]} plan {sums[0]} of {sums}, seen {found} | {pair} {plan['notes']}", flush=True)
        finally:
            os.chdir("/")
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{agreed} of {of} agree")
    return 0 if agreed == of else 1


if __name__ == "__main__":
    sys.exit(main())
