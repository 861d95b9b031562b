#!/usr/bin/env python3
"""Makes random golden files and checks them by the same command: what was made passes, and what would not is not written.

    golden_files.py BINARY [--count N] [--seed S] [--rust]

A golden file of a random format is missing, empty, cut, a text that is no tensor, or holds another tensor. It is made by
`diff --golden` with TENSOROP_UPDATE_GOLDEN=1, by `diff --accept`, or by the module of Python (`assert_close` and the fixture of
its plugin), of a tensor of random dtype and rank 0 to 3: strings that look like numbers, bools, dates and blanks, NaNs of all
bits, every integer and float. The tensor is a file, standard input, JSON without a dtype, or an array of NumPy. Then the same
command compares without an update, which has to pass and to write nothing. If the making was refused, with status 2, the golden
file is what it was. With --rust pairs of files go through `assert_tensor_eq!`, too, which takes a build of the tests. Needs numpy
and ml_dtypes, and pytest for the fixture.
"""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

NARROW = """bfloat16 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz
float8_e8m0fnu float6_e2m3fn float6_e3m2fn float4_e2m1fn int4 uint4 int2 uint2""".split()
NUMBERS = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128""".split()
DATES = "M8[Y] M8[D] M8[ns] M8[25s] m8[s] m8[D]".split()
STRINGS = "U S".split()
# a text of any of these may be taken for something else
WORDS = [
    *"007 1e3 7 -0 +5 .5 1_000 0x10 1. 1e400 true false True TRUE nan NaN -inf Infinity NA N/A null none x".split(),
    *["", " ", " 12 ", "a,b", "1;2", "3;4", "1|2", "1\t2", '"', '"1"', "[1]", "{}", "\n", "a\r\nb", "é", "\ufeffa", "2020-01-02", "2020"],
]
FORMATS = "csv tsv json npy npz safetensors pb".split()
TEXTS = "csv tsv json".split()


def random_array(rng):
    """An array, and the name of its dtype if NumPy has none of its own."""
    name = str(rng.choice(NARROW + NUMBERS + DATES + STRINGS * 12))
    rank = int(rng.integers(0, 4))
    shape = tuple(int(n) for n in rng.integers(0 if rng.random() < 0.1 else 1, 4, rank))
    items = int(np.prod(shape, dtype=int))
    if name in STRINGS:
        # few words, so that a tensor may look like one of numbers or bools
        words = rng.choice(WORDS, size=int(rng.integers(1, 4)))
        texts = [str(rng.choice(words)) for _ in range(items)]
        if name == "S":
            texts = [text.encode("latin-1", "replace") for text in texts]
        widest = max([1, *map(len, texts)]) + int(rng.integers(0, 2))
        return np.array(texts, f"{name}{widest}").reshape(shape), None
    dtype = np.dtype(getattr(ml_dtypes, name)) if name in NARROW else np.dtype(name)
    if name == "bool":
        return rng.integers(0, 2, shape).astype(bool), None
    if name in NARROW and dtype.itemsize == 1:
        bits = {"float6_e2m3fn": 6, "float6_e3m2fn": 6, "float4_e2m1fn": 4, "int4": 4, "uint4": 4, "int2": 2, "uint2": 2}.get(name, 8)
        content = rng.integers(0, 1 << bits, items).astype(np.uint8)
        if name in ("int4", "int2"):
            return (content.astype(np.int16) - (1 << bits - 1)).astype(dtype).reshape(shape), name
        return content.view(dtype).reshape(shape), name
    content = rng.integers(0, 256, items * dtype.itemsize, dtype=np.uint8).view(dtype)
    if rng.random() < 0.5 and dtype.kind in "fciu":
        with np.errstate(all="ignore"):
            content = rng.integers(-3, 100, items).astype(dtype)
    if dtype.kind in "mM":
        content = rng.integers(-20000, 20000, items).astype("i8").view(dtype)
        content[rng.random(items) < 0.2] = np.array("NaT", dtype)
    return content.reshape(shape), name if name in NARROW else None


def plain(array):
    """The items as JSON that names no dtype, or None where JSON has no such items."""
    if array.dtype.kind in "biu" and array.dtype.isbuiltin == 1 or array.dtype.kind == "U":
        return array.tolist()
    if array.dtype == np.float64 and np.isfinite(array).all():
        return array.tolist()
    return None


class Failed(Exception):
    pass


class Case:
    def __init__(self, rng, folder, program):
        self.rng, self.folder, self.program = rng, folder, program
        self.array, self.named = random_array(rng)
        self.ending = str(rng.choice(TEXTS if rng.random() < 0.75 else FORMATS))
        self.golden = folder / f"golden.{self.ending}"
        self.limits = {}
        kind = self.array.dtype.kind
        if rng.random() < 0.2:
            self.limits["nan_differs"] = True
        if rng.random() < 0.2 and kind in "iufc" and self.named is None:
            self.limits["rtol"] = 1e-3
        if rng.random() < 0.2 and kind == "U":
            self.limits["dtype"] = "str"
        for option, value in (("skip_rows", 1), ("delimiter", ";"), ("missing", "0")):
            if rng.random() < 0.03 and self.ending in ("csv", "tsv"):
                self.limits[option] = value
        self.old = self.put_old()

    def run(self, *args, **more):
        return subprocess.run([self.program, *map(str, args)], capture_output=True, cwd=self.folder, **more)

    def convert(self, array, named, path):
        """Writes an array through a .npy, or says no if the format does not hold it."""
        np.save(self.folder / "in.npy", array.view(f"V{array.dtype.itemsize}") if named else array)
        return self.run("convert", "in.npy", *(["--dtype", named] if named else []), "-q", "-o", path).returncode == 0

    def put_old(self):
        """The golden file before it is made."""
        state = self.rng.integers(0, 6)
        if state in (1, 2):
            array, named = random_array(self.rng)
            if state == 2:
                array, named = self.array, self.named
            if self.convert(array, named, self.golden) and state == 2:
                whole = self.golden.read_bytes()
                self.golden.write_bytes(whole[: int(self.rng.integers(0, len(whole) + 1))])
        elif state == 3:
            self.golden.write_bytes(b"")
        elif state == 4:
            text = str(self.rng.choice(["no tensor\n", "1,2\n3\n", "true\nx\n", '{"dtype": "uint8", "data": [300]}', "[1, ", '["x", 1]', "\x00\x01"]))
            self.golden.write_text(text)
        return self.content()

    def content(self):
        return self.golden.read_bytes() if self.golden.exists() else None

    def actual(self):
        """The actual tensor for the program: an operand, and what it has on standard input."""
        form = str(self.rng.choice(["file", "stdin", "json", "csv", "plain", "plain"]))
        items = plain(self.array)
        if form == "plain" and items is not None:
            text = json.dumps(items)
            if text[0] in "[-0123456789":
                return text, None
        ending = "csv" if form == "csv" and "skip_rows" not in self.limits and "delimiter" not in self.limits else "json"
        if form in ("json", "csv") and self.convert(self.array, self.named, self.folder / f"actual.{ending}"):
            return f"actual.{ending}", None
        np.save(self.folder / "actual.npy", self.array.view(f"V{self.array.dtype.itemsize}") if self.named else self.array)
        if self.named:
            self.limits["dtype"] = self.named
        if form == "stdin":
            return "-", (self.folder / "actual.npy").read_bytes()
        return "actual.npy", None

    def options(self):
        options = []
        for name, value in self.limits.items():
            options.append(f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}"))
        return options

    def by_program(self, makes_by_variable):
        actual, stdin = self.actual()
        args = ["diff", "--golden" if makes_by_variable else "--accept", *self.options(), "--", self.golden.name, actual]
        environment = {**os.environ, "TENSOROP_UPDATE_GOLDEN": "1"}
        made = self.run(*args, input=stdin, env=environment)
        told = f"{' '.join(map(str, args))}: {made.stdout.decode()[-300:]} {made.stderr.decode()[-300:]}"
        if made.returncode not in (0, 2):
            raise Failed(f"status {made.returncode} of the making: {told}")
        if made.returncode == 2:
            return self.refused(told)
        before = self.content()
        again = self.run(*(["diff", "--golden", *args[2:]]), input=stdin)
        if again.returncode != 0 or self.content() != before:
            raise Failed(f"status {again.returncode} of the check: {told} THEN {again.stdout.decode()[-400:]} {again.stderr.decode()[-400:]}")
        return "made"

    def refused(self, told):
        if self.content() != self.old:
            raise Failed(f"refused, and written: {told}")
        return "refused"

    def by_module(self, module, golden_of):
        """By `assert_close`, or by the fixture of the plugin."""
        actual = self.array
        items = plain(self.array)
        if items is not None and self.rng.random() < 0.6:
            actual = items
        limits = {name: value for name, value in self.limits.items() if name != "dtype"}
        errors = (module.Error, ValueError, TypeError)

        def check(updates):
            with contextlib.redirect_stderr(io.StringIO()):
                if golden_of is None:
                    os.environ["TENSOROP_UPDATE_GOLDEN"] = "1" if updates else "0"
                    module.assert_close(self.golden, actual, **limits)
                else:
                    golden_of(self.folder / "golden", updates, False).check(actual, **limits)

        if golden_of is not None:
            # the fixture gives the ending
            self.golden = self.golden.with_suffix(".npy")
            self.old = self.content()
            if self.ending != "npy":
                golden_of = NamedGolden.of(golden_of, self.ending)
                self.golden = self.folder / "golden" / f"named.{self.ending}"
                self.old = self.content()
        try:
            check(True)
        except errors as error:
            return self.refused(f"{actual!r} {limits}: {error}")
        except AssertionError as error:
            raise Failed(f"the making fails: {actual!r} {limits}: {error}") from None
        before = self.content()
        try:
            check(False)
        except (AssertionError, *errors) as error:
            raise Failed(f"the check fails: {actual!r} {limits}: {error}") from None
        if self.content() != before:
            raise Failed("the check writes")
        return "made"


class NamedGolden:
    """The fixture with a name that has the ending of a format."""

    @staticmethod
    def of(golden_of, ending):
        def make(*args):
            made = golden_of(*args)
            check = made.check
            made.check = lambda actual, **limits: check(actual, f"named.{ending}", **limits)
            return made

        return make


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rust", action="store_true", help="also through assert_tensor_eq!")
    options = parser.parse_args()
    program = os.path.abspath(options.binary)
    os.environ.update(TENSOROP=program, TENSOROP_UPDATE_GOLDEN="0")
    os.environ.pop("TENSOROP_KEEP_ACTUAL", None)
    import tensorop_cli

    try:
        from tensorop_cli.pytest_plugin import Golden
    except ImportError:
        Golden = None
    ways = ["golden", "accept", "module", *(["fixture"] if Golden else [])]
    counts, wrong = Counter(), 0
    for way in ways:
        for n in range(options.count):
            rng = np.random.default_rng([options.seed, ways.index(way), n])
            with tempfile.TemporaryDirectory() as folder:
                case = Case(rng, Path(folder), program)
                os.environ["TENSOROP_UPDATE_GOLDEN"] = "0"
                try:
                    if way in ("golden", "accept"):
                        found = case.by_program(way == "golden")
                    else:
                        found = case.by_module(tensorop_cli, Golden if way == "fixture" else None)
                except Failed as failed:
                    wrong += 1
                    found = "wrong"
                    print(f"{way} {n}: {case.array.dtype} {list(case.array.shape)} as {case.ending} over {case.old!r}: {failed}")
                counts[way, case.ending, found] += 1
    if options.rust:
        wrong += by_rust(options, program, counts)
    for way in [*ways, *(["rust"] if options.rust else [])]:
        rows = [f"{ending} {counts[way, ending, 'made']} made {counts[way, ending, 'refused']} refused" for ending in FORMATS]
        print(f"{way}: {', '.join(rows)}")
    print(f"{sum(counts.values())} golden files, {wrong} wrong")
    return wrong > 0


def by_rust(options, program, counts):
    """Runs a test of the library, which asserts pairs of files, with an update and then without."""
    with tempfile.TemporaryDirectory() as name:
        folder, lines, cases = Path(name), [], []
        for n in range(options.count):
            (folder / str(n)).mkdir()
            case = Case(np.random.default_rng([options.seed, 9, n]), folder / str(n), program)
            actual = case.actual()[0]
            if not actual.startswith("actual."):
                # the assertion takes files here
                plain_text = actual
                actual = "actual.npy" if actual == "-" else "plain.json"
                if actual == "plain.json":
                    (case.folder / actual).write_text(plain_text)
            if case.named:
                # nobody says the dtype of void items
                actual = "actual.json"
                if not case.convert(case.array, case.named, case.folder / actual):
                    continue
            nan_differs = "yes" if "nan_differs" in case.limits else "no"
            lines.append(f"{n}/{case.golden.name}\t{n}/{actual}\t{nan_differs}")
            cases.append(case)
        (folder / "pairs").write_text("\n".join(lines) + "\n")
        told = []
        for update in ("1", "0"):
            environment = {**os.environ, "TENSOROP_UPDATE_GOLDEN": update, "TENSOROP_TEST_GOLDEN": name}
            test = ["--test", "library", "golden::pairs_in_a_process_of_its_own", "--", "--exact", "--nocapture"]
            run = subprocess.run(["cargo", "test", "--quiet", "--locked", *test], capture_output=True, text=True, cwd=ROOT, env=environment)
            told.append([line[5:] for line in run.stderr.splitlines() if line.startswith("pair ")])
            if len(told[-1]) != len(cases):
                print(f"rust: {len(told[-1])} of {len(cases)} pairs: {run.stderr[-2000:]}")
                return 1
            if update == "1":
                made = [case.content() for case in cases]
        wrong = 0
        for case, line, first, second, content in zip(cases, lines, *told, made):
            is_right = second == "passed" and case.content() == content if first == "passed" else content == case.old
            wrong += not is_right
            counts["rust", case.ending, ("made" if first == "passed" else "refused") if is_right else "wrong"] += 1
            if not is_right:
                print(f"rust: {line!r} {case.array.dtype} {list(case.array.shape)} over {case.old!r}: {first} THEN {second}")
        return wrong


if __name__ == "__main__":
    sys.exit(main())
