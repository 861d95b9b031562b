#!/usr/bin/env python3
"""Writes tests/golden/csv.jsonl: tables as numpy.savetxt writes them, and what numpy.loadtxt reads from them.

usage: csv_golden.py [ROUNDS] >tests/golden/csv.jsonl

One JSON object a line: "text", "delimiter", "skip" (rows to leave out), "dtype", "shape" (one column is one axis) and
"items" in hexadecimal.
"""
import io
import json
import sys

import numpy as np

RANDOM = np.random.default_rng(20261121)
FORMATS = {"f4": ["%.18e", "%.9g", "%g"], "f8": ["%.18e", "%r", "%.17g", "%.3f"], "i8": ["%d", "%+d", "%05d"], "u1": ["%d"]}


def array(dtype):
    shape = (int(RANDOM.integers(1, 6)), int(RANDOM.integers(1, 5)))
    if dtype[0] == "f":
        bits = RANDOM.integers(0, 256, shape[0] * shape[1] * int(dtype[1]), dtype=np.uint8)
        items = np.frombuffer(bits.tobytes(), dtype).reshape(shape)
        # of the NaNs one is written
        return np.where(np.isnan(items), np.array(np.nan, dtype), items)
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


for n in range(int(sys.argv[1]) if len(sys.argv) > 1 else 60):
    dtype = list(FORMATS)[n % len(FORMATS)]
    fmt = FORMATS[dtype][int(RANDOM.integers(len(FORMATS[dtype])))]
    delimiter, skip = ",\t"[int(RANDOM.integers(2))], int(RANDOM.integers(3))
    newline = ["\n", "\r\n"][int(RANDOM.integers(2))]
    header = newline.join(["title", "x"][:skip])
    out = io.StringIO(newline="")
    data = array(dtype)
    if fmt == "%r":
        data = data.astype(object)
        data[...] = [[float(item) for item in row] for row in data]
    np.savetxt(out, data, fmt=fmt, delimiter=delimiter, newline=newline, header=header, comments="")
    text = out.getvalue()
    if not skip:
        text = text.removeprefix(newline)
    read = np.loadtxt(io.StringIO(text), dtype, delimiter=delimiter, skiprows=skip, ndmin=2, comments=None)
    if not np.isfinite(read).any() and dtype[0] == "f" or "%g" == fmt and np.isinf(read).any():
        continue
    shape = [read.shape[0]] if read.shape[1] == 1 else list(read.shape)
    row = {"text": text, "delimiter": delimiter, "skip": skip, "dtype": "<" + dtype, "shape": shape}
    print(json.dumps(row | {"items": read.tobytes().hex()}))
