"""Writes tests/golden/values.jsonl: how NumPy prints every item of the floats of 16 bits and fewer.

    python tests/oracle/values_golden.py > tests/golden/values.jsonl

Of each type: check sums (FNV-1a of 64 bits) of the texts of arrays of 256 items (fewer in smaller types), in "rows" of
items that follow one another and in "columns" of items that are 256 apart, and in "single" of all items one by one, each
on a line.  float16 NumPy knows; of the others it prints the float32s of the same values.
"""

import json
import sys

import ml_dtypes
import numpy as np

from cast_golden import FLOATS


def check_sum(text):
    sum = 0xCBF29CE484222325
    for byte in text.encode():
        sum = ((sum ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{sum:016x}"


def main():
    np.set_printoptions(threshold=sys.maxsize, floatmode="unique")
    for name in ["float16", "bfloat16", *FLOATS]:
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        bits = 16 if dtype.itemsize == 2 else ml_dtypes.finfo(dtype).bits
        items = np.arange(1 << bits).astype(f"u{dtype.itemsize}").view(dtype)
        values = items if name == "float16" else items.astype("f4")
        table = values.reshape(-1, min(256, len(values)))
        line = {"dtype": name, "rows": [check_sum(str(row)) for row in table]}
        line["columns"] = [check_sum(str(column)) for column in table.T] if len(table) > 1 else []
        line["single"] = check_sum("".join(str(value) + "\n" for value in values))
        print(json.dumps(line))


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
