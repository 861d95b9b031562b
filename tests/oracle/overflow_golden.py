"""Writes tests/golden/overflow.txt: which finite items of every dtype become infinite or NaN in every dtype of floats. Needs
NumPy and ml_dtypes.

    python tests/oracle/overflow_golden.py > tests/golden/overflow.txt

A line is `FROM TO IN COUNT FIRST SATURATED`: items as bytes in hexadecimal, the number of those that are finite in IN and not in
TO, the first of them, and the items with the nearest finite number in their places; both are `-` if there are none.

ml_dtypes and NumPy decide what overflows. They round float64 and integers of 32 and 64 bits twice on the way to floats of 16 bits
and fewer, which matters between the largest number and the next: there the search of cast_golden.py decides, which rounds once.
"""

import ml_dtypes
import numpy as np

from cast_golden import FLOATS, NAMES, PLAIN, called, cast, dtype_of, exactly, quiet_parts

TARGETS = ["f2", "f4", "c8", "bfloat16", *FLOATS]
ROUNDED_TWICE = ("float64", "complex128", "int32", "uint32", "int64", "uint64")


def ends(name):
    """The numbers beside the end of a float type: the largest, the middle to the next power of two, and their neighbours."""
    dtype = dtype_of("f4" if name == "c8" else name)
    largest = np.longdouble(float(ml_dtypes.finfo(dtype).max))
    below = np.longdouble(float(np.nextafter(dtype.type(largest), dtype.type(0)))) if dtype.kind == "f" else None
    if below is None:
        values = np.sort(np.arange(256 if dtype.itemsize == 1 else 65536).astype(f"u{dtype.itemsize}").view(dtype).astype("f8"))
        values = values[np.isfinite(values)]
        below = np.longdouble(values[values < float(largest)][-1])
    step = largest - below
    middle = largest + step / 2
    near = [largest, middle, np.nextafter(middle, np.longdouble(0)), np.nextafter(middle, np.longdouble(np.inf)),
            largest + step / 4, largest + step * 3 / 4, largest + step, largest * 2, largest * 1000]
    return near + [-x for x in near]


def items(source, target):
    dtype = dtype_of(source)
    values = ends(target) + [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e300, 65519, 65520, -65520]
    if source == "bool":
        return np.array([False, True])
    if dtype.kind in "iu" and source in PLAIN:
        info = np.iinfo(dtype)
        whole = [int(min(max(int(np.nan_to_num(float(v), posinf=2**63, neginf=-2**63)), info.min), info.max)) for v in values]
        return np.array(whole + [info.min, info.max], dtype)
    if dtype.kind == "c":
        part = dtype.type(0).real.dtype
        parts = np.array([float(v) for v in values]).astype(part)
        out = np.zeros(len(parts), dtype)
        out.real = parts
        out.imag = np.roll(parts, 5)
        return out
    if dtype.itemsize == 1:
        size = 4 if "4" in source[:6] else 6 if "6" in source[:6] else 2 if "2" in source[:5] else 8
        # those that are largest of either sign, and some of the others
        few = [item for item in range(1 << size) if item % 7 == 0 or item % (1 << size - 1) >= (1 << size - 1) - 12]
        return np.array(few, "u1").view(dtype)
    wide = np.array([float(v) for v in values])
    if dtype.name == "float64":
        wide = np.concatenate([wide, np.nextafter(wide, 0), np.nextafter(wide, np.inf)])
    return wide.astype(dtype)


def finite(array):
    return np.isfinite(array.astype("c16" if array.dtype.kind == "c" else "f8"))


def main():
    for source in NAMES:
        for target in TARGETS:
            # a cast of complex numbers to others drops what is imaginary
            if source == target or (dtype_of(source).kind == "c" and target != "c8"):
                continue
            array, to = quiet_parts(items(source, target)), dtype_of(target)
            made = np.frombuffer(cast(array, source, target, False), to)
            overflowed = finite(array) & ~finite(made)
            if array.dtype.name not in ROUNDED_TWICE:
                theirs = array.astype("c8" if to.kind == "c" else "f4").astype(to)
                assert (overflowed == (finite(array) & ~finite(theirs))).all(), (source, target)
            part = np.dtype("f4") if target == "c8" else to
            made = made.view(part).copy()
            # what saturates: each part for itself, the sign that of the item
            if to.kind == "c":
                into = np.stack([array.real, array.imag if array.dtype.kind == "c" else 0 * array.real], -1).reshape(-1)
            else:
                into = array
            lost = finite(into) & ~finite(made)
            positive = exactly(into) > 0
            largest = np.array([float(ml_dtypes.finfo(part).max)]).astype(part)
            least = np.array([0], "u1").view(part) if part.name == "float8_e8m0fnu" else -largest
            made[lost & positive], made[lost & ~positive] = largest[0], least[0]
            first = str(int(np.argmax(overflowed))) if overflowed.any() else "-"
            saturated = made.tobytes().hex() if lost.any() else "-"
            print(called(source), called(target), array.tobytes().hex(), int(overflowed.sum()), first, saturated)


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
