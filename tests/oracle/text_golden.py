"""Writes tests/golden/text.jsonl: arrays, options, and what NumPy prints. Run it with NumPy 2.4 and ml_dtypes.

    python tests/oracle/text_golden.py [COUNT [SEED]] > tests/golden/text.jsonl
"""

import json
import sys

import ml_dtypes
import numpy as np

from arrays import NARROW_FLOATS, NARROW_INTS, Arrays, descr


def options(make):
    """Random options for printing; those that are missing keep their defaults."""
    chosen = {}
    if make.chance(0.5):
        chosen["linewidth"] = int(make.rng.integers(1, 201))
    if make.chance(0.4):
        chosen["threshold"] = int(make.rng.integers(0, 60))
        if make.chance(0.7):
            chosen["edgeitems"] = int(make.rng.integers(0, 6))
    if make.chance(0.4):
        chosen["precision"] = int(make.rng.integers(0, 21))
    return chosen


def text(array, chosen):
    """What `print` shows, without the end of the line: of a type that NumPy does not know, its values as float32s."""
    if array.dtype.name in NARROW_FLOATS or array.dtype.name == "bfloat16":
        array = array.astype("f4")
    settings = {"threshold": sys.maxsize, "floatmode": "unique", **chosen}
    if "precision" in chosen:
        settings["floatmode"] = "maxprec"
    with np.printoptions(**settings), np.errstate(all="ignore"):
        return str(array)


def case(make, array, **more):
    chosen = options(make) | more
    printed = text(array, chosen)
    # A lone surrogate or a NUL in a single string: what UTF-8 cannot hold is escaped.
    printed = printed.encode("utf-8", "backslashreplace").decode()
    return {
        "descr": descr(array.dtype),
        "shape": list(array.shape),
        "bytes": array.tobytes().hex(),
        "options": chosen,
        "text": printed,
    }


def fixed():
    """Every dtype that can be printed, by itself and in a row."""
    for dtype in ["?", "i1", "u8", "<f2", "<f4", "<f8", "<c8", "<c16", "S3", "<U3", "<M8[D]", "<m8[ns]", "<m8"]:
        for shape in [(), (1,), (3,), (0,), (2, 0), (1,) * 20, (2, 1, 2)]:
            yield dtype, shape


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    make = Arrays(seed)
    if len(sys.argv) < 3:
        for dtype, shape in fixed():
            print(json.dumps(case(make, make.array(dtype=dtype, shape=shape))))
    for _ in range(count):
        array = make.array(shape=make.shape(60 if len(sys.argv) < 3 else 400))
        print(json.dumps(case(make, array)))
    make = Arrays(seed + 1)
    for names, share in [(list(NARROW_INTS), 20), (["bfloat16", *NARROW_FLOATS], 4)]:
        for _ in range(count // share):
            dtype = getattr(ml_dtypes, make.pick(names))
            print(json.dumps(case(make, make.array(dtype=dtype, shape=make.shape(60)))))
    # Elided, with axes that are cut and axes that are not.
    make = Arrays(seed + 2)
    for shape in [(40,), (9, 2), (2, 9), (7, 8), (1, 12), (3, 7, 2), (5, 2, 5), (2, 1, 11), (3, 3, 3, 3)]:
        for edgeitems in [0, 1, 2, 3]:
            dtype = make.pick(["?", "i1", "<u8", "<f2", "<f4", ">f8", "<c8", "S2", "<U2", "<M8[D]", "<m8[s]"])
            array = make.array(dtype=dtype, shape=shape)
            print(json.dumps(case(make, array, threshold=4, edgeitems=edgeitems)))


if __name__ == "__main__":
    main()
