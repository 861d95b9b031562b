#!/usr/bin/env python3
"""Compares `tensorop diff --json --ignore-dtype` with Python's integers and fractions on random pairs of two dtypes.

usage: exact_oracle.py BINARY [--count N] [--seed S]

Of each of N pairs (default 2000), half of them integers or bools against floats of any width, a quarter integers of two
dtypes, a quarter dates or differences of dates of two units:
  mismatches   the items whose exact values are not equal (with --atol: whose difference, rounded once, is above it)
  abs          of the first five: the exact difference; of floats rounded once, of dates in the common unit
  max_abs      value and index
  min_atol     the largest difference, and no smaller number

Exit status 0 only if nothing differs.
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from fractions import Fraction

import ml_dtypes
import numpy as np

INTEGERS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
# the attoseconds of each unit, or its months
TICKS = {"W": 604_800 * 10**18, "D": 86_400 * 10**18, "h": 3600 * 10**18, "m": 60 * 10**18, "s": 10**18, "ms": 10**15,
         "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 10**3, "as": 1}
MONTHS = {"Y": 12, "M": 1}
NAT = -2**63


def of_integers(rng, name, count):
    if name == "bool":
        return [rng.random() < 0.5 for _ in range(count)]
    low, high = int(np.iinfo(name).min), int(np.iinfo(name).max)
    near = lambda: rng.choice([1, -1]) * (1 << rng.randrange(65)) + rng.randrange(-3, 4)
    return [min(max(near() if rng.random() < 0.7 else rng.randrange(low, high + 1), low), high) for _ in range(count)]


def of_floats(rng, name, integers):
    """Floats near integers, and some that are far away, no number, or too small to matter."""
    def one(integer):
        value = np.float64(int(integer))
        kind = rng.random()
        if kind < 0.2:
            value = np.nextafter(value, rng.choice([-np.inf, np.inf]))
        elif kind < 0.3:
            value = value + rng.choice([0.5, -0.5, 0.25, 1e-300])
        elif kind < 0.4:
            value = rng.choice([0.0, -0.0, 5e-324, -5e-324, math.inf, -math.inf, math.nan, 1e308, 0.1])
        return value
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array([one(integer) for integer in integers]).astype(name)


def exact(item):
    """The exact value of a number, or None if it is not finite."""
    if isinstance(item, (bool, np.bool_)):
        return Fraction(int(item))
    if isinstance(item, (int, np.integer)):
        return Fraction(int(item))
    value = float(item)
    return Fraction(value) if math.isfinite(value) else None


def month_days(months):
    """The days from 1970-01-01 to the first day of a month, counted without NumPy."""
    year, month = 1970 + months // 12, months % 12 + 1
    before = year - 1 if month <= 2 else year
    era, of_era = divmod(before, 400)
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + (153 * ((month + 9) % 12) + 2) // 5 - 719_468


def of_dates(rng, kind, count):
    """Two lists of ticks of two units, and the exact times of each in the common unit; None for NaT."""
    while True:
        units = rng.sample(list(TICKS) + (list(MONTHS) if kind == "M8" else []), 2)
        counts = [rng.choice([1, 1, 1, 2, 7, 25]) for _ in units]
        mixed = (units[0] in MONTHS) != (units[1] in MONTHS)
        lengths = [TICKS["D"] if mixed and unit in MONTHS else number * {**TICKS, **MONTHS}[unit]
                   for unit, number in zip(units, counts)]
        common = math.gcd(*lengths)
        # larger numbers would be beyond what the program holds exactly
        most = [min(2**62, 2**100 // (length // common)) for length in lengths]
        if min(most) > 100:
            break

    def time(side, ticks):
        if ticks == NAT:
            return None
        days = mixed and units[side] in MONTHS
        return (month_days(ticks * counts[side] * MONTHS[units[side]]) if days else ticks) * (lengths[side] // common)

    far = [min(number, 10**9) if mixed else number for number in most]
    ticks = [[], []]
    for _ in range(count):
        one = rng.choice([rng.randrange(-far[0], far[0]), rng.randrange(-100, 100), NAT])
        other = rng.choice([rng.randrange(-far[1], far[1]), NAT])
        if one != NAT and rng.random() < 0.7:
            near = time(0, one) // (lengths[1] // common)
            if mixed and units[1] in MONTHS:
                near = near // 30 // (counts[1] * MONTHS[units[1]])
            other = max(-far[1], min(far[1], near + rng.choice([0, 0, 0, 1, -1])))
        ticks[0].append(one)
        ticks[1].append(other)
    names = [f"{kind}[{number}{unit}]" for number, unit in zip(counts, units)]
    arrays = [np.array(side, "i8").view(name) for side, name in zip(ticks, names)]
    return arrays, [[time(side, tick) for tick in ticks[side]] for side in (0, 1)]


def draw(rng):
    """Two arrays, the exact values of their items, and whether differences are whole numbers."""
    count, what = rng.choice([1, 2, 5, 60, 700]), rng.random()
    if what < 0.25:
        arrays, values = of_dates(rng, rng.choice(["M8", "m8"]), count)
        return arrays, values, True
    one = rng.choice(INTEGERS)
    integers = of_integers(rng, one, count)
    if what < 0.5:
        other = rng.choice([name for name in INTEGERS if name != one])
        others = of_integers(rng, other, count)
        if other != "bool":
            low, high = int(np.iinfo(other).min), int(np.iinfo(other).max)
            others = [min(max(int(a), low), high) if rng.random() < 0.5 else b for a, b in zip(integers, others)]
        arrays = [np.array(integers, one), np.array(others, other)]
    elif rng.random() < 0.15:
        name = rng.choice(["bfloat16", "float8_e4m3fn", "float8_e5m2"])
        wide = of_floats(rng, "float32", [int(item) % 300 for item in integers])
        with np.errstate(over="ignore", invalid="ignore"):
            arrays = [np.array(integers, one), wide.astype(getattr(ml_dtypes, name))]
    else:
        arrays = [np.array(integers, one), of_floats(rng, rng.choice(FLOATS), integers)]
    if rng.random() < 0.5:
        arrays.reverse()
    whole = all(array.dtype.kind in "biu" for array in arrays)
    return arrays, [[exact(item) for item in array] for array in arrays], whole


def up(value):
    """The smallest float64 that is not below a fraction."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def check(rng, program, folder):
    arrays, values, whole = draw(rng)
    views = []
    for array, name in zip(arrays, ["expected", "actual"]):
        path = os.path.join(folder, name)
        if hasattr(ml_dtypes, array.dtype.name):
            # NumPy has no name for these in its files
            array.tofile(f"{path}.bin")
            views.append(f"{path}.bin:{array.dtype.name}")
        else:
            np.save(f"{path}.npy", array)
            views.append(f"{path}.npy")
    is_date = arrays[0].dtype.kind in "mM"
    pairs = list(zip(*values))
    both_nat = lambda a, b: is_date and a is None and b is None
    differ = [a != b if a is not None and b is not None else not both_nat(a, b) for a, b in pairs]
    gaps = [abs(a - b) if a is not None and b is not None else None for a, b in pairs]
    told = [None if gap is None else int(gap) if whole else float(gap) for gap in gaps]
    atol = None
    if rng.random() < 0.4:
        finite = [gap for gap in gaps if gap is not None]
        atol = rng.choice([0.0, 0.5, 1.0, float(rng.choice(finite)) if finite else 2.0])
    fails = [bad and not (atol is not None and gap is not None and (up(gap) if whole else float(gap)) <= atol)
             for bad, gap in zip(differ, gaps)]
    args = [program, "diff", *views, "--json", "--ignore-dtype", *(["--atol", repr(atol)] if atol is not None else [])]
    run = subprocess.run(args, capture_output=True, text=True)
    text = f"{' '.join(args)}: {arrays[0].dtype} {arrays[1].dtype}"
    if run.returncode not in (0, 1):
        return [f"{text}: {run.stderr}"]
    found = json.loads(run.stdout)
    wrong = []

    def same(name, one, other):
        if one != other:
            wrong.append(f"{text}: {name} {one}, expected {other}")

    same("mismatches", found["mismatches"], sum(fails))
    same("status", run.returncode, int(any(fails)))
    first = [n for n, bad in enumerate(fails) if bad][:5]
    same("first", [item["index"] for item in found["first"]], [[n] for n in first])
    same("abs", [item["abs"] for item in found["first"]], [told[n] for n in first])
    known = [(gap, -n) for n, gap in enumerate(told) if gap is not None]
    if known:
        most, at = max(known)
        same("max_abs", found["max_abs"], {"value": most, "index": [-at]})
    if all(gap is not None or not bad for gap, bad in zip(gaps, differ)) and known:
        same("min_atol", found["min_atol"], up(max(gap for gap in gaps if gap is not None)) if whole else max(known)[0])
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, failures = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.count):
            for line in check(rng, os.path.abspath(options.program), folder):
                failures += 1
                print(line)
    print(f"{options.count} pairs, {failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
