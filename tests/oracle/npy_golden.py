#!/usr/bin/env python3
"""Writes tests/golden/npy.jsonl: .npy files as numpy.save and ml_dtypes write them.

usage: npy_golden.py > tests/golden/npy.jsonl

One JSON object a line: "name"; "in", the file in hexadecimal; "out", where it differs from "in", what numpy.save
writes for the same array in C order; "dtype", where the file alone does not tell it.  Runs of one byte are written
as {count}xx.
"""
import io
import json
import sys
import warnings

import ml_dtypes
import numpy as np

RANDOM = np.random.default_rng(20240607)


def runs(data):
    """Hexadecimal, runs of 8 and more equal bytes shortened."""
    out, i = [], 0
    while i < len(data):
        j = i
        while j < len(data) and data[j] == data[i]:
            j += 1
        out.append("{%d}%02x" % (j - i, data[i]) if j - i >= 8 else "%02x" % data[i] * (j - i))
        i = j
    return "".join(out)


def save(array):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.save(file, array, allow_pickle=False)
    return file.getvalue()


def plain(dtype, shape):
    """An array of random bits."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    bits = RANDOM.integers(0, 256, size, dtype=np.uint8)
    if dtype.kind == "b":
        bits &= 1
    if dtype.kind == "U":
        codes = RANDOM.integers(0x20, 0x2ff, size // 4).astype(dtype.byteorder.replace("|", "=") + "u4")
        bits = np.frombuffer(codes.tobytes(), np.uint8)
    if not dtype.itemsize:
        return np.zeros(shape, dtype)
    return np.frombuffer(bits.tobytes(), dtype).reshape(shape)


def rows():
    shapes = [(), (3,), (0,), (2, 3), (2, 0, 3), (2, 1, 2, 1), (1, 2, 1, 2, 1), (1, 2, 1, 1, 2, 1)]
    numbers = ["?", "i1", "u1"] + [o + t for o in "<>" for t in
               ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "f16", "c8", "c16", "c32"]]
    others = ["S1", "S5", "S64", "<U1", ">U1", "<U7", ">U7", "V1", "V2", "V3", "V16", "V40", "S0", "U0", "V0"]
    units = ["", "[Y]", "[M]", "[W]", "[D]", "[h]", "[m]", "[s]", "[ms]", "[us]", "[ns]", "[ps]", "[fs]", "[as]", "[25s]", "[7D]"]
    dates = ["<M8" + u for u in units] + ["<m8" + u for u in units] + [">M8[ns]", ">m8[D]", ">M8", ">m8[100ms]"]
    every = numbers + others + dates
    for i, dtype in enumerate(every):
        for j, shape in enumerate(shapes):
            # each dtype at rank 0 and 2, and at two of the other shapes
            if shape in ((), (2, 3)) and dtype not in dates or j in (i % 8, (i * 3 + 1) % 8):
                yield f"{dtype} {shape}", plain(dtype, shape)
    for dtype in ["<i4", ">f8", "<c8", "S3", "<U2", "V3", ">M8[s]", "<f16"]:
        for shape in [(2, 3), (2, 3, 2), (3, 1, 2, 2), (0, 2)]:
            yield f"{dtype} {shape} Fortran", np.asfortranarray(plain(dtype, shape))
    for name in ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz"]:
        dtype = np.dtype(getattr(ml_dtypes, name))
        for shape in [(), (3,), (2, 3), (0, 2)]:
            bits = RANDOM.integers(0, 256, int(np.prod(shape)) * dtype.itemsize, dtype=np.uint8)
            yield f"{name} {shape}", np.frombuffer(bits.tobytes(), dtype).reshape(shape)
    structured = {
        "two fields": [("a", "<i4"), ("b", ">f8")],
        "one field": [("x", "?")],
        "strings": [("name", "<U3"), ("code", "S4"), ("raw", "V2")],
        "nested": [("p", [("x", "<f4"), ("y", "<f4")]), ("n", "<u2")],
        "deeper": [("a", [("b", [("c", [("d", "<i2"), ("e", ">i2")])])])],
        "sub-array": [("m", "<f4", (2, 3)), ("k", "i1")],
        "sub-array of one number": [("m", "<f4", 3)],
        "sub-array of structs": [("m", [("x", "<i2"), ("y", "S1")], (2,)), ("k", "i1")],
        "sub-array of sub-arrays": [("m", ("<i2", (2,)), (3,))],
        "sub-array of one item": [("m", "<i4", (1,))],
        "empty sub-array": [("m", "<i4", (0,)), ("k", "i1")],
        "titles": [(("a title", "t"), "<i4"), ("u", "<i4")],
        "title that is needed": [(("über", "a"), "<i4")],
        "latin-1 names": [("größe", "<f4"), ("é", "i1")],
        "names beyond latin-1": [("温度", "<f4"), ("y", "i1")],
        "names beyond the plane": [("\U0001f600", "<f4"), ("z", "i1")],
        "a quote": [("it's", "<i4")],
        "both quotes": [("it's \"x\"", "<i4")],
        "a backslash": [("a\\b", "<i4"), ("tab\there", "i1")],
        "control and odd characters": [("\x01\x7f\xa0\xad", "<i4"), ("\u200b\u2028", "i1")],
        "dates": [("when", "<M8[ns]"), ("long", ">m8[25s]")],
        "long double": [("g", "<f16"), ("b", ">c32")],
        "void": [("v", "V3"), ("w", "V0"), ("s", "S0")],
        "empty name": [("f0", "<i4"), ("f1", "<i4")],
        "spaces": [(" ", "<i4"), ("a b", "<i4")],
        "many": [("field%d" % i, "<i2") for i in range(40)],
        "no fields": [],
    }
    layouts = {
        "aligned": np.dtype([("a", "i1"), ("b", "<f8"), ("c", "i1")], align=True),
        "aligned, nested": np.dtype([("a", "i1"), ("s", np.dtype([("x", "i1"), ("y", "<i4")], align=True), (2,))], align=True),
        "gap at the beginning": np.dtype({"names": ["a"], "formats": ["<i4"], "offsets": [3], "itemsize": 9}),
        "gaps": np.dtype({"names": ["a", "b"], "formats": ["<i2", "S1"], "offsets": [1, 5], "itemsize": 8}),
        "only padding": np.dtype({"names": [], "formats": [], "offsets": [], "itemsize": 6}),
    }
    for name, fields in structured.items():
        for shape in [(), (2,), (2, 2)]:
            yield f"structured: {name} {shape}", plain(np.dtype(fields), shape)
    for name, dtype in layouts.items():
        for shape in [(), (3,), (0,)]:
            yield f"structured: {name} {shape}", plain(dtype, shape)
    yield "structured: Fortran", np.asfortranarray(plain(np.dtype(structured["nested"]), (2, 3)))
    for digits in [1, 2, 5, 9, 13, 18, 19]:
        yield f"first dim of {digits} digits", np.zeros((10 ** (digits - 1), 0), "<V0" if digits > 17 else "?")
    yield "second dim of 18 digits", np.zeros((0, 10 ** 17), "?")
    # one of these headers is a multiple of 64 before its padding
    for width in range(1, 66):
        yield f"a name of {width} characters", np.zeros((0,), [("n" * width, "i1")])


def main():
    seen = set()
    for name, array in rows():
        try:
            given = save(array)
            wanted = save(np.ascontiguousarray(array) if array.ndim else array)
            if array.dtype == ml_dtypes.float8_e5m2:
                # numpy.save writes a name that numpy.load refuses; the others of its size are voids
                wanted = save(array.view("V1"))
        except (ValueError, TypeError, OverflowError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        if given in seen:
            continue
        seen.add(given)
        row = {"name": name, "in": runs(given)}
        if wanted != given:
            row["out"] = runs(wanted)
        if name.startswith("float8"):
            row["dtype"] = name.split()[0]
        print(json.dumps(row, ensure_ascii=True))


main()
