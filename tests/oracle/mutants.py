#!/usr/bin/env python3
"""Damages good files and gives them to `tensorop info`, `convert` and `diff`.

usage: mutants.py BINARY [--count N] [--seed S] [--jobs J] [--format FORMAT] [--keep FOLDER]

Of each format (npy, npz stored and deflated, safetensors, pb, json) about 20 good files are made; each of N mutants of
each format (default 2000) is one with some bytes flipped, set, inserted, deleted, doubled, moved or cut off, whatever
they mean. Every run has 1 GiB of address space and 20 seconds, and must end with status 0, 1 (diff) or 2; with 2 it
says one line `error: ...`, and convert has written nothing. What convert reads is held against the format's own
package where that reads the mutant too, and of a .npz against the members before (the checksums tell). Failing mutants
are kept in FOLDER. Exit status 0 only if there are none. Needs numpy, ml_dtypes, onnx and safetensors.
"""
import argparse
import collections
import io
import json
import multiprocessing
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import warnings
import zipfile

import ml_dtypes
import numpy as np
import onnx
import safetensors
import safetensors.numpy
from onnx import numpy_helper
from onnx.external_data_helper import set_external_data

import formats_golden
from arrays import Arrays
from containers import arranged

FORMATS = ["npy", "stored", "deflated", "safetensors", "pb", "json"]
ENDINGS = {"stored": "npz", "deflated": "npz"}
MEMORY = 1 << 30
NATIVE = "bool int8 uint8 int16 uint32 int64 uint64 float16 float32 float64 complex64".split()


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def good_files(folder, binary):
    """Good files of every format, each with the names of its members."""
    make = Arrays(seed=4)
    folder = pathlib.Path(folder)
    files = {format: [] for format in FORMATS}
    kinds = ("bool", "int", "float", "complex", "bytes", "str", "datetime", "timedelta", "void", "struct", "bfloat16")

    def array(dtype=None, max_items=60):
        value = make.array(kinds, dtype, make.shape(max_items=max_items, max_rank=4))
        return np.asfortranarray(value) if value.ndim and make.chance(0.3) else value

    for n in range(20):
        path = lambda format: folder / f"{format}{n}.{ENDINGS.get(format, format)}"
        np.save(path("npy"), array())
        files["npy"].append((path("npy"), [None]))
        members = {name: array() for name in ["a", "conv.weight", "größe/x"][: 1 + n % 3]}
        np.savez(path("stored"), **members)
        members["long"] = np.arange(3000) % 7
        np.savez_compressed(path("deflated"), **members)
        files["stored"].append((path("stored"), list(members)[:-1]))
        files["deflated"].append((path("deflated"), list(members)))
        names = ["a", "w.bias", "größe"][: 1 + n % 3]
        tensors = {name: np.ascontiguousarray(array(make.pick(NATIVE))) for name in names}
        safetensors.numpy.save_file(tensors, path("safetensors"), metadata={"format": "np"} if n % 4 == 0 else None)
        files["safetensors"].append((path("safetensors"), list(tensors)))
        value = np.ascontiguousarray(array(make.pick(NATIVE)))
        proto = numpy_helper.from_array(value, "x")
        if n % 5 == 1:
            proto = formats_golden.typed(value, "x")
        elif n % 5 == 2:
            proto = numpy_helper.from_array(formats_golden.array(make.pick(formats_golden.PACKED), (3, 5)), "x")
        elif n == 3:
            proto = numpy_helper.from_array(np.array([["a", "日本"], ["", "xyz"]], object), "x")
        elif n == 4:
            (folder / "weights.bin").write_bytes(bytes(7) + proto.raw_data)
            set_external_data(proto, "weights.bin", 7, len(proto.raw_data))
            proto.ClearField("raw_data")
        path("pb").write_bytes(proto.SerializeToString())
        files["pb"].append((path("pb"), [None]))
        if n % 4 == 0:
            data = np.arange(6, dtype="f4").reshape(2, 3)
            text = json.dumps({"name": "x", "shape": [2, 3], "datatype": "FP32", "data": data.reshape(-1).tolist()})
            path("json").write_text(text)
        elif n % 4 == 1:
            path("json").write_text(json.dumps(make.array(dtype="i4", shape=(2, 3, 2)).tolist()))
        else:
            np.save(folder / "x.npy", make.array())
            subprocess.run([binary, "convert", folder / "x.npy", "-o", path("json")], check=True)
        files["json"].append((path("json"), [None]))
    return files


def mutate(rng, content):
    """A file with one or a few places damaged."""
    data = bytearray(content)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3, 8]))):
        size = len(data)
        # headers, directories and footers are at the ends
        near = int(rng.integers(0, max(1, min(size, 200))))
        at = int(rng.choice([near, max(0, size - 1 - near), rng.integers(0, max(1, size))]))
        length = int(rng.choice([1, 1, 2, 4, 8, int(rng.integers(1, 64))]))
        way = int(rng.choice([0, 0, 0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 7, 8, 8]))
        if way == 0 and size:
            data[at] ^= 1 << int(rng.integers(8))
        elif way == 1 and size:
            data[at] = int(rng.choice([0, 1, 0x7F, 0x80, 0xFF, 0x20, 0x30, 0x39, 0x2C, 0x5B, 0x22, rng.integers(256)]))
        elif way == 2:
            data[at:at] = rng.bytes(length)
        elif way == 3:
            del data[at : at + length]
        elif way == 4:
            del data[at:]
        elif way == 5:
            data[at:at] = data[at : at + length] * int(rng.choice([1, 1, 2, 100]))
        elif way == 6:
            block = data[at : at + length]
            del data[at : at + length]
            to = int(rng.integers(0, len(data) + 1))
            data[to:to] = block
        elif way == 7:
            numbers = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1, size]
            number = numbers[int(rng.integers(len(numbers)))]
            width = int(rng.choice([2, 4, 8]))
            data[at : at + width] = (number % (1 << 8 * width)).to_bytes(width, "little")
        else:
            digits = [i for i, byte in enumerate(data[:300]) if 0x30 <= byte <= 0x39]
            if digits:
                place = int(rng.choice(digits))
                numbers = [b"0", b"9", b"-1", b"99999999999", b"18446744073709551615", b"1e9"]
                data[place : place + 1] = numbers[int(rng.integers(len(numbers)))]
    return bytes(data)


def theirs(format, path, member):
    """What the format's own package reads, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if format == "npy":
                return np.load(path, allow_pickle=False)
            if format in ENDINGS:
                with zipfile.ZipFile(path) as archive, tempfile.NamedTemporaryFile() as file:
                    file.write(archive.read(f"{member}.npy"))
                    file.flush()
                    return np.load(file.name, allow_pickle=False)  # from a file, with whatever is in the padding
            if format == "safetensors":
                return safetensors.numpy.load(path.read_bytes())[member]
            if format == "pb":
                return numpy_helper.to_array(onnx.load_tensor(path), str(path.parent))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
    return None


def same(found, array):
    """Whether a .npy holds an array, whatever it calls its items."""
    if array.dtype == object:
        array = array.astype("U") if array.size else np.zeros(array.shape, "U1")
    expected = io.BytesIO()
    np.save(expected, arranged(array, "C"))
    wanted = expected.getvalue()
    items = lambda data: data[data.find(b"\n") + 1 :]
    shape = lambda data: data[data.find(b"'shape'") : data.find(b"\n")].split(b")")[0]
    return items(found) == items(wanted) and shape(found) == shape(wanted)


class Mutants:
    def __init__(self, binary, files, folder, keep):
        self.binary, self.files, self.folder, self.keep = binary, files, pathlib.Path(folder), keep
        self.counts, self.wrong = collections.Counter(), []

    def run(self, format, args):
        try:
            done = subprocess.run([self.binary, *map(str, args)], capture_output=True, timeout=20, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return "no end in 20 s", None
        text = done.stderr.decode("utf-8", "replace")
        self.counts[f"{format} {args[0]}: status {done.returncode}"] += 1
        if done.returncode not in ((0, 1, 2) if args[0] == "diff" else (0, 2)):
            return f"status {done.returncode}: {text!r}", done
        lines = text.count("\n")
        if done.returncode == 2 and not (text.startswith("error: ") and lines == 1 and text.endswith("\n")):
            return f"status 2 says {text!r}", done
        if done.returncode != 2 and text:
            return f"status {done.returncode} says {text!r}", done
        return None, done

    def one(self, format, seed):
        rng = np.random.default_rng([seed, FORMATS.index(format)])
        good, members = self.files[format][int(rng.integers(len(self.files[format])))]
        member = members[int(rng.integers(len(members)))]
        ending = ENDINGS.get(format, format)
        path, out = self.folder / f"mutant.{ending}", self.folder / "out.npy"
        content = mutate(rng, good.read_bytes())
        path.write_bytes(content)
        operand = path if member is None else f"{path}:{member}"
        problems = []
        stats = ["--stats"] if rng.random() < 0.5 else []
        problem, _ = self.run(format, ["info", path, *stats, *(["--json"] if rng.random() < 0.5 else [])])
        problems.append(problem)
        out.unlink(missing_ok=True)
        problem, done = self.run(format, ["convert", operand, "-o", out])
        problems.append(problem)
        if done is not None and done.returncode == 2 and out.exists():
            problems.append("an error, and a file was written")
        package = theirs(format, path, member)
        accepted = done is not None and done.returncode == 0
        if accepted and ending == "npz":
            before = theirs(format, good, member)
            if not same(out.read_bytes(), before):
                every = [theirs(format, good, name) for name in members]
                if not any(same(out.read_bytes(), array) for array in every):
                    problems.append("other items than the archive held, and no error")
        if format != "json":
            if accepted and package is not None:
                equal = same(out.read_bytes(), package)
                self.counts[f"{format} read by both: {'the same' if equal else 'not the same'}"] += 1
                if not equal:
                    found = out.read_bytes()[:128]
                    problems.append(f"the package reads {package.dtype} {package.shape}, convert {found}")
            else:
                who = "neither" if not accepted and package is None else "tensorop" if accepted else "the package"
                self.counts[f"{format} read by {who} only" if who != "neither" else f"{format} read by neither"] += 1
                if who != "neither" and self.keep and rng.random() < 0.05:
                    (self.keep / f"only-{who.split()[-1]}-{format}-{seed}.{ending}").write_bytes(content)
        other = good if member is None else f"{good}:{member}"
        problem, done = self.run(format, ["diff", *([other, operand] if rng.random() < 0.5 else [operand, other])])
        problems.append(problem)
        if done is not None and done.returncode != 2 and not accepted:
            problems.append("diff reads what convert does not")
        for problem in filter(None, problems):
            self.wrong.append(f"{format} --seed {seed} {member!r}: {problem}")
            if self.keep:
                (self.keep / f"{format}-{seed}.{ending}").write_bytes(content)
        for leftover in self.folder.glob("*.tmp*"):
            self.wrong.append(f"{format} --seed {seed}: left {leftover}")


def some(job):
    binary, files, keep, format, seeds = job
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    with tempfile.TemporaryDirectory() as folder:
        if format == "pb":
            weights = files["pb"][0][0].parent / "weights.bin"
            (pathlib.Path(folder) / "weights.bin").write_bytes(weights.read_bytes())
        mutants = Mutants(binary, files, folder, keep)
        for seed in seeds:
            mutants.one(format, seed)
    return mutants.counts, mutants.wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--format", choices=FORMATS)
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
    counts, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        files = good_files(folder, binary)
        step = 50
        jobs = [(binary, files, args.keep, format, range(first, min(first + step, args.seed + args.count)))
                for first in range(args.seed, args.seed + args.count, step)
                for format in FORMATS if args.format in (None, format)]
        with multiprocessing.Pool(args.jobs) as pool:
            for some_counts, some_wrong in pool.imap_unordered(some, jobs):
                counts += some_counts
                wrong += some_wrong
    print("\n".join(wrong[:60]))
    for what, count in sorted(counts.items()):
        print(f"{count:7} {what}")
    print(f"{len(wrong)} failures")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
