#!/usr/bin/env python3
"""Damages the stores of tests/golden/zarr and gives them to `tensorop info`, `convert`, `diff` and `slice-scatter -i`.

usage: zarr_mutants.py BINARY [--seconds S] [--seed N] [--keep FOLDER]

Each mutant is a store of which one or a few files were damaged as mutants.py damages files, or removed, emptied, or
replaced by a folder, a pipe, a link or another file of the store. Every run has 1 GiB of address space and 20 seconds, and
must end with status 0, 1 (diff) or 2; with 2 it says one line for each file that begins with `error: `, convert has written
nothing, and an edit has changed nothing. Failing mutants are kept in FOLDER. Runs S seconds (default 600). Exit status 0
only if there are none. Needs what mutants.py needs.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

from mutants import limit, mutate

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "zarr"


def files_of(store):
    return sorted(path for path in store.rglob("*") if path.is_file() and not path.is_symlink())


def content(store):
    """All that is in a store, by its names."""
    found = {}
    for path in sorted(store.rglob("*")):
        name = str(path.relative_to(store))
        found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


def leaves(value):
    """Each place in JSON that can have another value: what it lies in, and where."""
    for key, inner in enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ():
        yield value, key
        yield from leaves(inner)


def other_metadata(rng, text):
    """Metadata in which one value is another, most often one that could be meant."""
    value = json.loads(text)
    places = list(leaves(value))
    where, key = places[int(rng.integers(len(places)))]
    anywhere, another = places[int(rng.integers(len(places)))]
    values = [0, 1, 2, 3, 5, 8, 100, -1, 2**31, 2**32, 2**63 - 1, 2**64 - 1, 1e300, 0.5, None, True, "", "NaN", "0x7fc00000", [], {},
              [1], [2, 2], "int8", "float64", "<f8", ">i2", "|S0", "gzip", "blosc", "zstd", "crc32c", "bytes", "transpose", "/", "C",
              "F", "v2", anywhere[another], where[key] * 2 if isinstance(where[key], (int, str, list)) else None]
    if rng.random() < 0.1:
        del where[key]
    else:
        where[key] = values[int(rng.integers(len(values)))]
    return json.dumps(value).encode()


def damage(rng, store):
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        files = files_of(store)
        # most of what can go wrong is in the metadata
        metadata = [path for path in files if path.name.startswith(".") or path.suffix == ".json"]
        files = metadata if metadata and rng.random() < 0.5 else files
        if not files:
            return
        path = files[int(rng.integers(len(files)))]
        way = int(rng.integers(40))
        before = path.read_bytes()
        if path in metadata and way < 26:
            try:
                path.write_bytes(other_metadata(rng, before))
            except ValueError:
                pass  # damaged before
            continue
        if way < 32:
            path.write_bytes(mutate(rng, before))
            continue
        path.unlink()
        if way == 32:
            path.write_bytes(b"")
        elif way == 33:
            path.mkdir()
        elif way == 34:
            os.mkfifo(path)
        elif way == 35:
            path.symlink_to("/nowhere")
        elif way == 36:
            path.symlink_to(path.name)
        elif way == 37:
            path.write_bytes(files_of(store)[0].read_bytes() if files_of(store) else b"{}")
        elif way == 38:
            path.write_bytes(before * 40)


def is_endless(store):
    """Whether it is said to hold so many items that to go over all of them takes its time."""
    for path in store.rglob("*"):
        try:
            shape = json.loads(path.read_bytes()).get("shape", []) if path.name in ("zarr.json", ".zarray") and path.is_file() else []
            if math.prod(shape) > 1 << 26:
                return True
        except (ValueError, TypeError, AttributeError):
            pass
    return False


class Mutants:
    def __init__(self, binary, folder, keep):
        self.binary, self.folder, self.keep = binary, folder, keep
        self.counts, self.wrong, self.seconds = collections.Counter(), [], 0.0

    def run(self, args):
        begun = time.monotonic()
        try:
            done = subprocess.run([self.binary, *map(str, args)], capture_output=True, timeout=120, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return "no end", 2
        # who measures on the same machine may have stopped it: what counts is the slowest that was not
        self.seconds = max(self.seconds, time.monotonic() - begun)
        text = done.stderr.decode("utf-8", "replace")
        self.counts[f"{args[0]}: status {done.returncode}"] += 1
        problem = None
        if done.returncode not in ((0, 1, 2) if args[0] == "diff" else (0, 2)):
            problem = f"{args[0]}: status {done.returncode}: {text!r}"
        elif done.returncode == 2 and not (text.endswith("\n") and all(l.startswith("error: ") for l in text.splitlines())):
            problem = f"{args[0]}: status 2 says {text!r}"
        elif done.returncode != 2 and text:
            problem = f"{args[0]}: status {done.returncode} says {text!r}"
        return problem, done.returncode

    def one(self, seed):
        rng = np.random.default_rng([seed, 77])
        stores = sorted(GOLDEN.glob("*.zarr"))
        good = stores[int(rng.integers(len(stores)))]
        bad, out, copy = self.folder / "bad.zarr", self.folder / "out.npy", self.folder / "copy.zarr"
        for path in [bad, copy]:
            shutil.rmtree(path, ignore_errors=True)
        out.unlink(missing_ok=True)
        shutil.copytree(good, bad)
        damage(rng, bad)
        endless = is_endless(bad)
        problems = [self.run(["info", bad, *["--json", "--stats"][: int(rng.integers(2 if endless else 3))]])[0]]
        problems.append(self.run(["show", bad])[0])
        if endless:
            self.counts["endless"] += 1
            return self.keep_wrong(seed, good, bad, problems)
        operand = f"{bad}:a" if "xarray" in good.name else bad
        problem, status = self.run(["convert", operand, "-o", out])
        problems += [problem, "an error, and a file was written" if status == 2 and out.exists() else None]
        problem, status = self.run(["convert", bad, "-o", copy])
        problems += [problem, "an error, and a store was written" if status == 2 and copy.exists() else None]
        problems.append(self.run(["diff", *([good, bad] if rng.random() < 0.5 else [bad, good])])[0])
        before = content(bad)
        problem, status = self.run(["slice-scatter", operand, "--fill", "1", "--at", "::2", "-i"])
        problems += [problem, "an error, and it was changed" if status == 2 and content(bad) != before else None]
        litter = {path.name for path in self.folder.iterdir()} - {"bad.zarr", "out.npy", "copy.zarr"}
        problems.append(f"left {litter}" if litter else None)
        self.keep_wrong(seed, good, bad, problems)

    def keep_wrong(self, seed, good, bad, problems):
        for problem in filter(None, problems):
            self.wrong.append(f"--seed {seed} {good.name}: {problem}")
            print(self.wrong[-1], flush=True)
            if self.keep:
                shutil.copytree(bad, self.keep / f"{seed}.zarr", dirs_exist_ok=True, symlinks=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mutants = Mutants(os.path.abspath(args.binary), pathlib.Path(folder), args.keep)
        end, seed = time.monotonic() + args.seconds, args.seed
        while time.monotonic() < end:
            mutants.one(seed)
            seed += 1
    for what, count in sorted(mutants.counts.items()):
        print(f"{count:7} {what}")
    print(f"{seed - args.seed} stores, {len(mutants.wrong)} failures, the slowest run {mutants.seconds:.1f} s")
    sys.exit(1 if mutants.wrong else 0)


if __name__ == "__main__":
    main()
