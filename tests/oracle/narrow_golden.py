"""Writes tests/golden/narrow.jsonl: the floats of ml_dtypes that take 8 bits or fewer.

    python tests/oracle/narrow_golden.py [ENCODES [SEED]] > tests/golden/narrow.jsonl

Of each type: the value of every byte, the shortest digits that read back as the same float32 (NumPy's), and float32s
with the bytes that ml_dtypes makes of them.  Integers have values only.
"""

import json
import sys

import ml_dtypes
import numpy as np

from cast_golden import FLOATS, INTS, Floats


def main():
    encodes = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    rng = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for name in FLOATS + list(INTS):
        dtype = np.dtype(getattr(ml_dtypes, name))
        bits = 8 if "8" in name[:6] else 6 if "6" in name[:6] else 4 if "4" in name[:6] else 2
        values = np.arange(1 << bits).astype("u1").view(dtype).astype("f8")
        line = {"dtype": name, "values": [str(v).removesuffix(".0") for v in values]}
        if name in FLOATS:
            line["digits"] = [str(v) for v in values.astype("f4")]
            table = Floats(dtype)
            near = np.concatenate([table.mids, table.values]).astype("f4")
            near = rng.choice(near, encodes) * rng.choice([1, 1, -1], encodes).astype("f4")
            step = (rng.integers(-1, 2, encodes) * np.inf).astype("f4")
            floats = np.where(step == 0, near, np.nextafter(near, step)).astype("f4")
            floats[: encodes // 5] = (rng.standard_normal(encodes // 5) * 10.0 ** rng.uniform(-5, 5)).astype("f4")
            floats = np.append(floats, np.array([np.nan, -np.nan, np.inf, -np.inf, 0, -0.0, 3e38, -3e38, 1e-45, -1e-45], "f4"))
            if name == "float8_e8m0fnu":
                # a subnormal float32 ml_dtypes does not round to the nearest
                floats = floats[(np.abs(floats) >= 2.0**-126) | (floats < 1e-40)]
            codes = floats.astype(dtype).view("u1")
            line["encodes"] = [[f"{b:08x}", int(c)] for b, c in zip(floats.view("u4"), codes)]
        print(json.dumps(line))


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
