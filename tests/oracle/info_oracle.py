#!/usr/bin/env python3
"""Compares `tensorop info --json --stats --by-axis --hash` with NumPy and exact fractions on random arrays of every dtype.

    info_oracle.py BINARY [FILES] [SEED]

Each array is saved, and read by TENSOROP_WINDOW bytes at a time or by whole windows. min, max, their indices, the first
NaN and the counts must be NumPy's; mean and std must be the float64 nearest to the exact value; quantiles must be those of
np.quantile's method inverted_cdf; the hash must be that of the bytes that numpy.save writes for the array in C order and
little-endian. So must be the same figures of each place of a random axis. One array in fifty is so large that quantiles take
several passes; of these mean and std are not compared. Needs numpy and ml_dtypes.
"""

import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
from fractions import Fraction
from math import ceil, isqrt

import ml_dtypes
import numpy as np

NARROW = """float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz
float8_e8m0fnu float6_e2m3fn float6_e3m2fn float4_e2m1fn int4 uint4 int2 uint2""".split()
NUMBERS = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 complex64
complex128""".split()
OTHERS = ["M8[s]", "m8[us]", "M8[D]", "S3", "U2", "V5"]


def sqrt(x):
    """The float64 nearest to the root of a fraction (nearest even in a tie, which a root of so few bits never is)."""
    if x == 0:
        return 0.0
    shift = 2400
    root = isqrt((x.numerator << (2 * shift)) // x.denominator)
    exact = root * root * x.denominator == x.numerator << (2 * shift)
    value = Fraction(2 * root + (not exact), 2 << shift)
    try:
        return float(value)
    except OverflowError:
        return float("inf")


QUANTILES = "0.001 0.01 0.05 0.25 0.5 0.75 0.95 0.99 0.999".split()


def random_array(rng, name, large=False):
    rank = int(rng.integers(0, 5))
    shape = tuple(int(n) for n in rng.integers(0 if rng.random() < 0.05 else 1, 9, rank))
    if rng.random() < 0.1:
        shape = (int(rng.integers(1, 30000)),)
    if large:
        shape = (int(rng.integers(1, 4)), int(rng.integers(2**14, 2**15)), int(rng.integers(1, 4)))
    items = int(np.prod(shape, dtype=int))
    dtype = np.dtype(getattr(ml_dtypes, name)) if name in NARROW or name == "bfloat16" else np.dtype(name)
    style = rng.integers(6)
    if dtype.kind in "SUV" and name not in NARROW and name != "bfloat16":
        array = np.zeros(items, dtype)
    elif name == "bool":
        array = rng.integers(0, 2, items).astype(bool)
    elif name in ("int4", "uint4", "int2", "uint2"):
        bits = int(name[-1])
        array = rng.integers(0, 2**bits, items).astype(np.uint8)
        if name.startswith("i"):
            array = np.where(array >= 2 ** (bits - 1), array.astype(int) - 2**bits, array).astype(np.int8)
        array = array.astype(dtype)
    elif name in NARROW:
        top = {"float4_e2m1fn": 16, "float6_e2m3fn": 64, "float6_e3m2fn": 64}.get(name, 256)
        array = rng.integers(0, top if style else 3, items).astype(np.uint8).view(dtype)
    elif style == 0:
        array = rng.bytes(items * dtype.itemsize)  # any bits
        array = np.frombuffer(array, dtype).copy()
    elif style == 1:
        array = rng.integers(-3 if dtype.kind not in "u" else 0, 4, items).astype(
            "i8" if dtype.kind in "mM" else np.float64).astype(dtype)
    elif dtype.kind in "iumM":
        info = np.iinfo(np.int64 if dtype.kind in "mM" else dtype)
        array = rng.integers(info.min, info.max, items, info.dtype, endpoint=True).astype(dtype)
    elif style == 2:
        array = rng.choice([0.0, -0.0, 1.0, 5e-324, -5e-324, 2.0**-149, 1e-310], items).astype(dtype)
    elif style == 3:
        with np.errstate(all="ignore"):
            array = (rng.standard_normal(items) * 10.0 ** rng.integers(-300, 300)).astype(dtype)
    elif style == 4:
        with np.errstate(all="ignore"):
            array = (1e8 + rng.standard_normal(items) * 1e-3).astype(dtype)
    else:
        top = float(ml_dtypes.finfo(dtype).max) if name == "bfloat16" else float(np.finfo(dtype).max)
        array = rng.choice([top, -top], items).astype(dtype)
    if dtype.kind == "c" and items and style > 1:
        array.imag = rng.permutation(array.real)
    if dtype.kind in "fc" and name not in NARROW and rng.random() < 0.3:
        array[rng.random(items) < rng.random()] = rng.choice([np.nan, np.inf, -np.inf])
    array = array.reshape(shape)
    if rng.random() < 0.3 and name not in NARROW and name != "bfloat16":
        array = array.astype(array.dtype.newbyteorder(">"))
    return np.asfortranarray(array) if rng.random() < 0.3 else array


def number(value):
    return {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.get(value, value)


def moments(parts):
    """Mean of each part, and the standard deviation, of lists of numbers; None of long ones, which would take minutes."""
    if len(parts[0]) > 30000:
        return [None, None], None
    count = len(parts[0])
    means, variance = [], Fraction(0)
    for part in parts:
        part = [Fraction(x) for x in part]
        mean = sum(part, Fraction(0)) / count
        variance += sum((x * x for x in part), Fraction(0)) / count - mean * mean
        means.append(float(mean))
    return means, sqrt(variance)


def expected(array, name):
    flat = array.reshape(-1)  # in C order
    kind = array.dtype.kind
    want = {"min": None, "max": None, "mean": None, "std": None, "nan": 0, "inf": 0, "zero": 0, "first_nan": None,
            "quantiles": None}
    if name in OTHERS and kind == "V":
        return None
    if name in OTHERS and kind in "SU":
        return want
    def first(nan):
        return [int(i) for i in np.unravel_index(int(np.flatnonzero(nan)[0]), array.shape)] if nan.any() else None

    if kind in "mM":
        nat = np.isnat(flat)
        want["nan"], want["first_nan"] = int(nat.sum()), first(nat)
        want["zero"] = int((flat.astype("i8") == 0).sum()) if kind == "m" else 0
        finite, values = ~nat, flat.astype("i8")
    elif kind == "c":
        nan = np.isnan(flat.real) | np.isnan(flat.imag)
        inf = (np.isinf(flat.real) | np.isinf(flat.imag)) & ~nan
        want.update(nan=int(nan.sum()), inf=int(inf.sum()), zero=int((flat == 0).sum()), first_nan=first(nan))
        finite = flat[~nan & ~inf]
        if len(finite):
            means, want["std"] = moments([finite.real.tolist(), finite.imag.tolist()])
            want["mean"] = means
        return want
    else:
        whole = kind in "iu" or "int" in name
        values = flat.astype(object if array.dtype.itemsize == 8 and whole else np.float64)
        values = np.array([int(v) for v in values] if whole or kind == "b" else values, object if whole else None)
        floats = flat.astype(np.float64)
        nan, inf = np.isnan(floats), np.isinf(floats)
        want.update(nan=int(nan.sum()), inf=int(inf.sum()), zero=int((floats == 0).sum()), first_nan=first(nan))
        finite = ~nan & ~inf
        if finite.any():
            means, want["std"] = moments([values[finite].tolist()])
            want["mean"] = means[0]
    where = np.flatnonzero(finite)
    if len(where):
        for key, find in (("min", np.argmin), ("max", np.argmax)):
            at = int(where[int(find(values[finite]))])
            index = [int(i) for i in np.unravel_index(at, array.shape)]
            want[key] = {"value": flat[at], "index": index}
        # ranks by whole numbers: the item number ceil(q n), at least the first
        order = where[np.argsort(values[finite], kind="stable")]
        ranks = [max(1, ceil(Fraction(q) * len(order))) for q in QUANTILES]
        want["quantiles"] = [flat[order[int(rank) - 1]] for rank in ranks]
    return want


def value_differs(found, value, array, name):
    """Whether what is told is not that item."""
    if array.dtype.kind in "mM":
        read = np.array(found, array.dtype) if isinstance(found, str) else np.array(found, "i8").astype(array.dtype)
        return read != value
    if array.dtype.kind == "b":
        return found is not bool(value)
    if array.dtype.kind in "iu" or "int" in name:
        return found != int(value)
    if name == "float8_e8m0fnu":
        # ml_dtypes rounds numbers below 2**-126 to others than the nearest
        return not -0.25 < found / float(value) - 1 < 0.5
    return np.array(number(found)).astype(value.dtype).tobytes() != value.tobytes()


def same(found, want, array, name):
    if found is None or want is None:
        return None if found is want else "null"
    if list(found["quantiles"]) != QUANTILES:
        return "names of quantiles"
    quantiles = want["quantiles"] or [None] * len(QUANTILES)
    for key, value in zip(QUANTILES, quantiles):
        told = found["quantiles"][key]
        if value is None or told is None:
            if told is not value:
                return "quantile " + key
        # of -0.0 and 0.0 either may have the rank in NumPy's order, which does not tell them apart
        elif value_differs(told, value, array, name) and not (number(told) == 0 and value == 0):
            return "quantile " + key
    for key in ("nan", "inf", "zero", "first_nan"):
        if found[key] != want[key]:
            return key
    for key in ("min", "max"):
        a, b = found[key], want[key]
        if (a is None) != (b is None):
            return key
        if a is None:
            continue
        if a["index"] != b["index"]:
            return key + " index"
        if value_differs(a["value"], b["value"], array, name):
            return key
    for key in ("mean", "std"):
        a, b = found[key], want[key]
        if b in (None, [None, None]) and array.size > 30000:
            continue
        if (a is None) != (b is None):
            return key
        if a is None:
            continue
        pairs = list(zip(a, b)) if isinstance(b, list) else [(a, b)]
        if any(number(x) != y or (isinstance(a, list)) != isinstance(b, list) for x, y in pairs):
            return key
    return None


def canonical_hash(array, name):
    """SHA-256 of the `.npy` in C order and little-endian; types without a name in NumPy are void of a byte."""
    if name in NARROW:
        array = array.view("V1")
    array = np.ascontiguousarray(array).reshape(array.shape)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    out = io.BytesIO()
    np.save(out, array)
    return hashlib.sha256(out.getvalue()).hexdigest()


def place_of(array, axis, place):
    """One place of an axis, as a tensor of as many axes."""
    return array[(slice(None),) * axis + (slice(place, place + 1),)]


def shifted(want, axis, place):
    """Indices of the whole tensor."""
    if want is None:
        return None
    for key in ("min", "max"):
        if want[key]:
            want[key]["index"][axis] = place
    if want["first_nan"]:
        want["first_nan"][axis] = place
    return want


def main():
    binary = sys.argv[1]
    files = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng = np.random.default_rng(seed)
    np.seterr(all="ignore")
    names = NUMBERS + OTHERS + NARROW
    wrong, tally = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.npy")
        for number_of in range(files):
            name = names[number_of % len(names)]
            large = number_of % 50 == 49
            array = random_array(rng, name, large)
            np.save(path, array)
            environment = dict(os.environ)
            if rng.random() < 0.5 and not large:
                environment["TENSOROP_WINDOW"] = str(int(rng.integers(1, 300)))
            # the file says a void of one byte
            options = ["--dtype", name] if name in NARROW else []
            axis = int(rng.integers(array.ndim)) if array.ndim and not large else None
            if axis is not None:
                options += ["--by-axis", str(axis - (array.ndim if rng.random() < 0.5 else 0))]
            run = subprocess.run([binary, "info", path, "--json", "--stats", "--hash", *options], env=environment,
                                 capture_output=True, text=True)
            if run.returncode:
                wrong += 1
                print(name, run.stderr)
                continue
            found = json.loads(run.stdout)[0]
            flags = array.flags
            order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
            header = (found["shape"], found["order"], found["items"], found["bytes"])
            if header != (list(array.shape), order, array.size, array.nbytes):
                wrong += 1
                print(name, header, array.shape)
            problem = same(found["stats"], expected(array, name), array, name)
            if problem:
                wrong += 1
                print(f"{name} {array.dtype} {array.shape}: {problem}: {found['stats']}, expected "
                      f"{expected(array, name)}")
            if found["hash"] != canonical_hash(array, name):
                wrong += 1
                print(f"{name} {array.dtype} {array.shape}: hash {found['hash']}")
            for place, stats in enumerate(found["by_axis"] if axis is not None else []):
                alone = place_of(array, axis, place)
                want = shifted(expected(alone, name), axis, place)
                problem = same(stats, want, alone, name)
                if problem:
                    wrong += 1
                    print(f"{name} {array.dtype} {array.shape} axis {axis} place {place}: {problem}: {stats}, expected {want}")
            if axis is not None and len(found["by_axis"]) != array.shape[axis]:
                wrong += 1
                print(f"{name} {array.shape} axis {axis}: {len(found['by_axis'])} places")
            tally[name] = tally.get(name, 0) + 1
    print(f"{files} arrays of {len(tally)} dtypes, {wrong} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
