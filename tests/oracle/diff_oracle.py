#!/usr/bin/env python3
"""Compares `tensorop diff --json` with NumPy on random pairs of tensors, made to differ by little.

usage: diff_oracle.py BINARY [--count N] [--seed S] [--jobs J]

Of each of N pairs (default 10000), three in four of them floats (some of two dtypes, with --ignore-dtype) and the
others integers, bools, complex and dates:
  verdict      that of np.testing.assert_allclose(actual, expected, rtol, atol, equal_nan=True) on float64 (floats), of
               Python's integers (integers, bools, dates), of np.isclose (complex); of NaN bits, of --ulp
  mismatches   their number, the index of each of the first five, and how many and the first are not finite
  max_*        value and index, of differences that NumPy computes in float64, and of ordinals made from the bits
  min_*        passes, and the float64 (or integer) below it does not
  metrics      those of fractions, rounded once, to 1e-9 (of pairs of up to 300 items)
  quantiles    the errors of those ranks, sorted
  axes         the places that hold a mismatch

Exit status 0 only if nothing differs.
"""
import argparse
import json
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

import ml_dtypes
import numpy as np

FLOATS = ["float16", "bfloat16", "float32", "float64"]
SMALL = ["float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
         "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"]
OTHERS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "complex64", "complex128",
          "datetime64[s]", "timedelta64[ns]"]
NARROW_BITS = {"float6_e2m3fn": 6, "float6_e3m2fn": 6, "float4_e2m1fn": 4}


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def wide(array):
    with np.errstate(invalid="ignore"):
        return array.astype("f8")


def is_float(name):
    return name in FLOATS or name in SMALL


def bits(array):
    """The bits of each item, one row an item."""
    return np.frombuffer(array.tobytes(), "u1").reshape(array.size, array.dtype.itemsize)


def ordinals(name, array):
    """By rank among all values, +0 and -0 being one: counted for small types, else from the sign and magnitude."""
    if name in SMALL:
        codes = np.arange(1 << NARROW_BITS.get(name, 8), dtype="u1")
        values = np.unique(wide(codes.view(array.dtype)))
        values = values[~np.isnan(values)]
        return [int(np.searchsorted(values, v)) for v in wide(array)]
    size = array.dtype.itemsize
    numbers = [int(n) for n in array.view(f"u{size}")]
    sign = 1 << (8 * size - 1)
    return [-(n - sign) if n & sign else n for n in numbers]


def random_floats(rng, name, n):
    dtype = dtype_of(name)
    size = dtype.itemsize
    top = 1 << NARROW_BITS.get(name, 8 * size)
    any_bits = rng.integers(0, top, n, dtype=f"u{size}", endpoint=False) if top < 1 << 64 else rng.integers(
        0, 1 << 64, n, dtype="u8", endpoint=False)
    usual = rng.standard_normal(n).astype("f8").astype(dtype)
    special = rng.choice(np.array([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, 5e-324, 1e-45, 6e-8, 65504.0, 1e-308]), n)
    with np.errstate(over="ignore", invalid="ignore"):
        special = special.astype(dtype)
    way = rng.random(n)
    share = rng.choice([0.0, 0.1, 0.5, 1.0])
    return np.where(way < share * 0.7, any_bits.view(dtype), np.where(way < share, special, usual)).astype(dtype)


def near(rng, name, expected):
    """The same with some items a few steps away, some of another sign, some anything."""
    dtype, size = expected.dtype, expected.dtype.itemsize
    top = NARROW_BITS.get(name, 8 * size)
    mask = np.array((1 << top) - 1, f"u{size}")
    actual = expected.copy()
    codes = actual.view(f"u{size}")
    changed = rng.random(actual.size) < rng.choice([0.0, 0.05, 0.5, 1.0])
    steps = rng.integers(0, rng.choice([2, 4, 100]), actual.size).astype(f"u{size}")
    codes[changed] = (codes[changed] + steps[changed]) & mask
    flipped = rng.random(actual.size) < 0.02
    codes[flipped] ^= np.array(1 << (top - 1), f"u{size}")
    other = rng.random(actual.size) < rng.choice([0.0, 0.0, 0.1])
    actual[other] = random_floats(rng, name, int(other.sum()))
    return actual


def random_others(rng, name, n):
    dtype = np.dtype(name)
    if dtype.kind == "c":
        part = "float32" if dtype.itemsize == 8 else "float64"
        return np.stack([random_floats(rng, part, n), random_floats(rng, part, n)], -1).view(dtype).ravel()
    if dtype.kind == "b":
        return rng.random(n) < 0.5
    raw = np.frombuffer(rng.bytes(n * dtype.itemsize), f"u{dtype.itemsize}").copy()
    low = rng.random(n) < 0.5
    raw[low] &= np.array(0x7f, raw.dtype)
    items = raw.view(dtype)
    if dtype.kind in "mM":
        items[rng.random(n) < 0.05] = np.array("NaT", dtype)
    return items


def near_others(rng, expected):
    dtype = expected.dtype
    actual = expected.copy()
    changed = rng.random(actual.size) < rng.choice([0.0, 0.1, 0.5, 1.0])
    if dtype.kind == "c":
        part = "float32" if dtype.itemsize == 8 else "float64"
        parts = actual.view(part)
        parts[:] = near(rng, part, parts.copy())
    elif dtype.kind == "b":
        actual[changed] ^= True
    else:
        codes = actual.view(f"u{dtype.itemsize}")
        codes[changed] += rng.integers(0, rng.choice([2, 5, 100]), int(changed.sum())).astype(codes.dtype)
    return actual


def up(n):
    """The smallest float64 that is not below an integer."""
    value = float(n)
    return float(np.nextafter(value, np.inf)) if int(value) < n else value


class Reference:
    """What is known of two flat arrays, item by item."""

    def __init__(self, name, expected, actual):
        self.same = (bits(expected) == bits(actual)).all(axis=1)
        with np.errstate(all="ignore"):
            if is_float(name) or expected.dtype.kind == "c":
                real = is_float(name)
                e, a = (wide(expected), wide(actual)) if real else (expected.astype("c16"), actual.astype("c16"))
                self.nan = np.isnan(e) & np.isnan(a)
                self.finite = np.isfinite(e) & np.isfinite(a)
                self.equal = e == a
                delta = a - e
                self.abs = list(np.abs(delta) if real else np.hypot(delta.real, delta.imag))
                self.size = list(np.abs(e) if real else np.hypot(e.real, e.imag))
                self.need = self.abs
                if real:
                    self.ulp = [abs(x - y) for x, y in zip(ordinals(name, expected), ordinals(name, actual))]
                else:
                    part = "float32" if expected.dtype.itemsize == 8 else "float64"
                    x, y = (ordinals(part, v.view(part)) for v in (expected, actual))
                    apart = [abs(m - n) for m, n in zip(x, y)]
                    self.ulp = [max(pair) for pair in zip(apart[::2], apart[1::2])]
            else:
                dates = expected.dtype.kind in "mM"
                as_int = (lambda v: [int(n) for n in v.view("i8")]) if dates else (lambda v: [int(n) for n in v])
                e, a = as_int(expected), as_int(actual)
                nat = np.iinfo("i8").min if dates else None
                self.nan = np.array([x == y == nat for x, y in zip(e, a)], bool)
                self.finite = np.array([nat not in (x, y) or nat is None for x, y in zip(e, a)], bool)
                self.equal = np.array([x == y for x, y in zip(e, a)], bool)
                self.abs = [abs(x - y) for x, y in zip(e, a)]
                self.need = [up(n) for n in self.abs]
                self.size = [abs(float(x)) for x in e]
                self.ulp = self.abs

    def passes(self, i, atol, rtol, ulp, nan_differs):
        if self.same[i] or self.nan[i] and not nan_differs:
            return True
        if not self.finite[i]:
            return bool(self.equal[i]) and (atol is not None or rtol is not None or ulp is not None)
        with np.errstate(over="ignore"):
            near = self.need[i] <= (atol or 0.0) + np.float64(rtol or 0.0) * self.size[i]
        if near and (atol is not None or rtol is not None):
            return True
        return ulp is not None and self.ulp[i] <= ulp

    def relative(self, i):
        with np.errstate(over="ignore"):
            return 0.0 if self.abs[i] == 0 else None if self.size[i] == 0 else np.float64(self.abs[i]) / self.size[i]

    def most(self, values):
        """The first of the largest, of those that are defined."""
        best = None
        for i, value in enumerate(values):
            if self.finite[i] and value is not None and (best is None or value > best[0]):
                best = (value, i)
        return best


def root(value):
    """The square root of a fraction, as a fraction with more digits than a float64 has."""
    shift = 2 * max(0, 200 - value.numerator.bit_length() + value.denominator.bit_length())
    return Fraction(math.isqrt((value.numerator << shift) // value.denominator), 1 << (shift // 2))


def rounded(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf


def log10(value):
    """Of a fraction of any size."""
    if Fraction(1, 2) < value < 2:
        return math.log1p(float(value - 1)) / math.log(10)
    return math.log10(value.numerator) - math.log10(value.denominator)


def metrics_of(expected, actual):
    """The metrics of two flat arrays of floats, complex numbers, integers or bools, from fractions."""
    with np.errstate(all="ignore"):
        if expected.dtype.kind == "c":
            finite = np.isfinite(expected) & np.isfinite(actual)
            pairs = [([x.real, x.imag], [y.real, y.imag]) for x, y in zip(expected[finite], actual[finite])]
        elif expected.dtype.kind in "iub":
            pairs = [([int(x)], [int(y)]) for x, y in zip(expected, actual)]
        else:
            e, a = wide(expected), wide(actual)
            finite = np.isfinite(e) & np.isfinite(a)
            pairs = [([x], [y]) for x, y in zip(e[finite], a[finite])]
    names = ("mean_abs", "rmse", "cosine", "snr_db", "psnr_db", "pearson")
    if not pairs:
        return dict.fromkeys(names)
    pairs = [([Fraction(p) if isinstance(p, int) else Fraction(float(p)) for p in x],
              [Fraction(p) if isinstance(p, int) else Fraction(float(p)) for p in y]) for x, y in pairs]
    n, real = len(pairs), expected.dtype.kind != "c"
    squares = [sum((y - x) ** 2 for x, y in zip(*pair)) for pair in pairs]
    errors = sum(squares)
    one, other, both = (sum(sum(x * y for x, y in zip(p[i], p[j])) for p in pairs) for i, j in ((0, 0), (1, 1), (0, 1)))
    mean = sum(abs(a[0] - e[0]) for e, a in pairs) if real else sum(root(square) for square in squares)
    found = {"mean_abs": rounded(mean / n), "rmse": rounded(root(errors / n))}
    zeros = (one == 0) + (other == 0)
    found["cosine"] = {2: 1.0, 1: 0.0}.get(zeros) if zeros else float(both / root(one * other))
    found["snr_db"] = math.inf if not errors else -math.inf if not one else 10 * log10(one / errors)
    found["psnr_db"] = found["pearson"] = None
    if real:
        xs, ys = [e[0] for e, _ in pairs], [a[0] for _, a in pairs]
        spread = max(xs) - min(xs)
        found["psnr_db"] = math.inf if not errors else -math.inf if not spread else 10 * log10(spread ** 2 / (errors / n))
        sides = n * one - sum(xs) ** 2, n * other - sum(ys) ** 2
        if all(sides):
            found["pearson"] = float((n * both - sum(xs) * sum(ys)) / root(sides[0] * sides[1]))
    return found


def close(found, wanted):
    if found is None or wanted is None or math.isinf(wanted):
        return found == wanted
    return abs(found - wanted) <= 1e-9 * max(abs(wanted), 1e-4)


def ranges_of(places):
    ranges = []
    for place in np.flatnonzero(places).tolist():
        if ranges and ranges[-1][1] == place:
            ranges[-1][1] += 1
        else:
            ranges.append([place, place + 1])
    return ranges


def number(value):
    return float(value) if isinstance(value, str) else value


def save(path, array, dtype, rng):
    if dtype.kind != "V" and rng.random() < 0.3:
        array = array.astype(dtype.newbyteorder(">"))
    if rng.random() < 0.3:
        array = np.asfortranarray(array)
    np.save(path, array, allow_pickle=False)


def case(job):
    binary, seed, folder = job
    rng = np.random.default_rng(seed)
    name = str(rng.choice(FLOATS) if seed % 8 < 4 else rng.choice(SMALL) if seed % 8 < 6 else rng.choice(OTHERS))
    dtype = dtype_of(name)
    n = int(rng.integers(0, 20)) if rng.random() < 0.5 else int(rng.integers(20, 3000))
    if is_float(name):
        expected = random_floats(rng, name, n)
        actual = near(rng, name, expected)
    else:
        expected = random_others(rng, name, n)
        actual = near_others(rng, expected)
    columns = int(rng.choice([c for c in (1, 2, 3, 5, 7) if n % c == 0]))
    shape = (n // columns, columns)
    # of two dtypes both become float64, and a distance in steps has no meaning
    other = str(rng.choice(FLOATS)) if name in FLOATS and rng.random() < 0.2 else name
    mixed = other != name
    if mixed:
        # whether a cast makes a signalling NaN a quiet one depends in NumPy on the dtypes
        with np.errstate(over="ignore", invalid="ignore"):
            expected, actual = (np.where(np.isnan(v), np.array(np.nan, dtype), v) for v in (expected, actual))
            actual = actual.astype(dtype_of(other))
        known = Reference("float64", wide(expected), wide(actual))
        known.same &= ~known.nan  # NaN of two dtypes have no bits in common
    else:
        known = Reference(name, expected, actual)

    # tolerances at and beside what an element needs
    atol = rtol = ulp = None
    able = [i for i in range(n) if known.finite[i] and not known.same[i]]
    some = rng.choice(able) if able else None
    if rng.random() < 0.7:
        atol = float(rng.choice([0.0, 1e-8, 1e-3, 0.5, 3.0]))
        if some is not None and rng.random() < 0.6 and np.isfinite(float(known.abs[some])):
            atol = abs(float(np.nextafter(float(known.abs[some]), rng.choice([-np.inf, 0.0, np.inf]))))
            atol = float(known.abs[some]) if rng.random() < 0.4 else atol
            atol = atol if np.isfinite(atol) else 0.0
    if rng.random() < 0.7:
        rtol = float(rng.choice([0.0, 1e-7, 1e-3, 0.1, 1.0]))
        rel = known.relative(some) if some is not None else None
        if rel is not None and rng.random() < 0.6 and rel < 1e3:
            rtol = abs(float(np.nextafter(rel, rng.choice([-np.inf, np.inf]))))
            rtol = float(rel) if rng.random() < 0.4 else rtol
    if rng.random() < 0.2 and not mixed:
        ulp = int(rng.choice([0, 1, 3, 50]))
        if some is not None and rng.random() < 0.5:
            ulp = known.ulp[some]
    nan_differs = rng.random() < 0.1
    args = [f"--{k}={v!r}" for k, v in (("atol", atol), ("rtol", rtol), ("ulp", ulp)) if v is not None]
    args = [part for arg in args for part in arg.split("=", 1)]
    args += ["--nan-differs"] * nan_differs + ["--ignore-dtype"] * mixed
    args += ["--dtype", name] if name in SMALL else []

    paths = [os.path.join(folder, f"{os.getpid()}-{side}.npy") for side in "ea"]
    for path, array in zip(paths, (expected, actual)):
        save(path, array.reshape(shape), array.dtype, rng)
    done = subprocess.run([binary, "diff", *paths, "--json", *args], capture_output=True, timeout=60)
    where = f"seed {seed}: {name} {other} {shape} {' '.join(args)}"
    if done.returncode not in (0, 1):
        return [f"{where}: status {done.returncode}: {done.stderr.decode()!r}"], 0
    said = json.loads(done.stdout)
    wrong = []

    def check(what, found, wanted):
        if found != wanted:
            wrong.append(f"{where}: {what}: found {found}, expected {wanted}")

    bad = [i for i in range(n) if not known.passes(i, atol, rtol, ulp, nan_differs)]
    index = lambda i: [i // columns, i % columns]
    check("equal", said["equal"], not bad)
    check("status", done.returncode, int(bool(bad)))
    check("reason", said["reason"], "values" if bad else None)
    check("shapes", [said[side]["shape"] for side in ("expected", "actual")], [list(shape)] * 2)
    check("one dtype", said["expected"]["dtype"] == said["actual"]["dtype"], not mixed)
    check("items", said["items"], n)
    check("mismatches", said["mismatches"], len(bad))
    odd = [i for i in bad if not known.finite[i]]
    check("nonfinite_mismatches", said["nonfinite_mismatches"], len(odd))
    check("first_nonfinite", said["first_nonfinite"], index(odd[0]) if odd else None)
    check("first", [f["index"] for f in said["first"]], [index(i) for i in bad[:5]])
    for f, i in zip(said["first"], bad):
        check("first abs", number(f["abs"]), known.abs[i] if known.finite[i] else None)
        check("first rel", number(f["rel"]), known.relative(i) if known.finite[i] else None)
        check("first ulp", f["ulp"], known.ulp[i] if known.finite[i] and not mixed else None)

    # NumPy's own verdict
    asked = 0
    if is_float(name) and ulp is None and not nan_differs and (atol is not None or rtol is not None):
        asked = 1
        with np.errstate(all="ignore"):
            overflows = np.isinf((rtol or 0.0) * wide(expected)) & np.isfinite(wide(expected))
            try:
                tolerance = dict(rtol=rtol or 0.0, atol=atol or 0.0)
                np.testing.assert_allclose(wide(actual), wide(expected), **tolerance, equal_nan=True)
                verdict = True
            except AssertionError:
                verdict = False
        if not overflows.any():
            check("assert_allclose", said["equal"], verdict)

    relative = [known.relative(i) if known.finite[i] else None for i in range(n)]
    for key, values in (("max_abs", known.abs), ("max_rel", relative), ("max_ulp", known.ulp)):
        most = known.most(values) if key != "max_ulp" or not mixed else None
        found = said[key] and (number(said[key]["value"]), said[key]["index"])
        check(key, found, most and (most[0], index(most[1])))

    # as a whole, and where
    if n <= 300 and expected.dtype.kind not in "mM":
        two = (wide(expected), wide(actual)) if mixed else (expected, actual)
        for key, wanted in metrics_of(*two).items():
            value = said["metrics"][key]
            small = key in ("mean_abs", "rmse") and wanted is not None and wanted < 1e-4
            same = close(None if value is None else number(value), wanted)
            if small:
                same = abs(number(value) - wanted) <= 1e-9 * wanted + 5e-324
            check(f"{key} {value} is {wanted}", same, True)
    errors = sorted(known.abs[i] for i in range(n) if known.finite[i])
    for key, (part, of) in {"0.5": (1, 2), "0.9": (9, 10), "0.99": (99, 100), "0.999": (999, 1000)}.items():
        rank = max(1, -(-part * len(errors) // of))
        value = said["quantiles"][key]
        check(f"quantile {key}", value if value is None else number(value), errors[rank - 1] if errors else None)
    mask = np.zeros(n, bool)
    mask[bad] = True
    mask = mask.reshape(shape)
    wanted = [(axis, mask.any(axis=1 - axis)) for axis in (0, 1) if shape[axis] > 1]
    wanted = [{"axis": axis, "places": int(hit.sum()), "of": shape[axis], "ranges": ranges_of(hit)[:16]}
              for axis, hit in wanted]
    check("axes", said["axes"], wanted)

    # the smallest tolerances: they pass, and what is next below does not
    free = dict(atol=None, rtol=None, ulp=None, nan_differs=nan_differs)
    for key, largest, below in (
        ("atol", np.finfo("f8").max, lambda v: float(np.nextafter(v, -np.inf))),
        ("rtol", np.finfo("f8").max, lambda v: float(np.nextafter(v, -np.inf))),
        ("ulp", (1 << 64) - 1, lambda v: v - 1),
    ):
        least = said[f"min_{key}"]
        if key == "ulp" and mixed:
            check("min_ulp", least, None)
            continue
        hold = lambda value: all(known.passes(i, **{**free, key: value}) for i in range(n))
        if least is None:
            check(f"min_{key} none, the largest passes", hold(largest), False)
            continue
        value = number(least)
        check(f"min_{key} {least} passes", hold(value), True)
        if value > 0:
            check(f"below min_{key} {least} passes", hold(below(value)), False)
    return wrong, asked


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    with tempfile.TemporaryDirectory() as folder, multiprocessing.Pool(args.jobs) as pool:
        jobs = ((binary, args.seed * args.count + i, folder) for i in range(args.count))
        wrong, asked = [], 0
        for lines, numpy_asked in pool.imap_unordered(case, jobs, 20):
            wrong += lines
            asked += numpy_asked
    print("\n".join(wrong[:50]))
    print(f"{args.count} pairs, of {asked} NumPy's own verdict; {len(wrong)} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
