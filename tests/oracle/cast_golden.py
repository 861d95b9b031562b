"""Writes tests/golden/cast.txt: items of every dtype cast to every other. Needs NumPy and ml_dtypes.

    python tests/oracle/cast_golden.py [ITEMS [SEED]] > tests/golden/cast.txt

A line is `FROM TO exact|lossy IN OUT`, bytes in hexadecimal; OUT is `!N` where item N is the first that TO cannot hold.
`CAST_GOLDEN=FILE cargo test --release --test golden cast::` reads another file, such as one of more ITEMS.

Numbers are rounded once, by a search among all values of the target in extended precision. NumPy and ml_dtypes round
some twice (int64 to float16, float64 to float8): where they round once the search is held against them.
"""

import sys

import ml_dtypes
import numpy as np

FLOATS = ["float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
          "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"]
INTS = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}
PLAIN = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
NAMES = PLAIN + ["bfloat16"] + FLOATS + list(INTS)
WIDE = np.longdouble


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype("<" + name if name in PLAIN[1:] else name)


def bits(array):
    return array.view(f"u{array.dtype.itemsize}")


class Floats:
    """All non-negative finite values of a float type of 16 bits or fewer."""

    def __init__(self, dtype):
        self.dtype = dtype
        codes = np.arange(1 << min(8 * dtype.itemsize, 16), dtype=f"u{dtype.itemsize}")
        values = codes.view(dtype).astype("f8")
        good = np.isfinite(values) & ~np.signbit(values)
        self.values, first = np.unique(values[good].astype(WIDE), return_index=True)
        self.codes = codes[good][first]
        self.mids = (self.values[1:] + self.values[:-1]) / 2
        top = self.values[-1] + (self.values[-1] - self.values[-2]) / 2
        if self.scale:
            top = self.values[-1] * WIDE(1.5)
        self.mids = np.append(self.mids, top)

        def code(x):
            return bits(np.array([x], "f4").astype(dtype))[0]

        self.over = {s: code(s * np.inf) if self.ieee else code(s * WIDE(3e38)) for s in (1, -1)}
        self.infinite = {s: code(s * np.inf) for s in (1, -1)}
        self.nan = {1: code(np.nan), -1: code(-np.nan)}
        self.minus = int(code(-self.values[-1])) ^ int(code(self.values[-1]))
        self.zero = {s: code(s * 0.0) for s in (1, -1)}

    @property
    def scale(self):
        """A type of powers of two only: ties go up."""
        return self.dtype.name == "float8_e8m0fnu"

    @property
    def ieee(self):
        return self.dtype.name in ("float16", "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e5m2")

    def nearest(self, x):
        size = np.abs(x)
        at = np.searchsorted(self.mids, size, "left")
        tie = (at < len(self.mids)) & (self.mids[np.minimum(at, len(self.mids) - 1)] == size)
        padded = np.append(self.codes, self.codes[-1] + 1)
        at = at + (tie & ((padded[at] % 2 == 1) | self.scale))
        sign = np.where(np.signbit(x), -1, 1)
        by_sign = lambda table: np.where(sign > 0, table[1], table[-1])
        code = padded[at] | np.where(sign < 0, self.minus, 0).astype(padded.dtype)
        if self.scale:
            code = np.where(x > 0, code, self.nan[1])
        code = np.where((at == len(self.codes)) & (~np.isinf(x)), self.overflow(x), code)
        code = np.where(np.isinf(x), by_sign(self.infinite), code)
        if not self.scale:
            code = np.where((at == 0) & (self.values[0] == 0), by_sign(self.zero), code)
        return np.where(np.isnan(x), by_sign(self.nan), code).astype(padded.dtype)

    def overflow(self, x):
        if self.scale:
            return np.where(x > 0, 255, self.nan[1])
        return np.where(np.signbit(x), self.over[-1], self.over[1])


TABLES = {}


def limits(name, dtype):
    if name in INTS:
        return INTS[name]
    return (0, 1) if name == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def quiet(array):
    """Every NaN the standard one of its sign."""
    if array.dtype.kind == "f" and array.dtype.itemsize in (2, 4, 8):
        array = np.where(np.isnan(array), np.copysign(array.dtype.type(np.nan), array), array)
    return array


def cast_real(x, exact_source, name, lossy):
    """x: extended floats; the bytes of the items, or the number of the first that does not fit."""
    dtype = dtype_of(name)
    if dtype.kind == "f" and dtype.itemsize >= 4:
        return quiet(exact_source.astype(dtype)).tobytes()
    if name not in INTS and dtype.kind in "fV":
        table = TABLES.setdefault(name, Floats(dtype))
        codes = table.nearest(x)
        once = exact_source.dtype.name not in ("int64", "uint64", "float64", "int32", "uint32")
        if once and exact_source.dtype.name in ("float32", "float16", "int8", "uint8", "int16", "uint16", "bfloat16"):
            theirs = bits(exact_source.astype(dtype))
            # float8_e8m0fnu of a subnormal float32 is not the nearest, of others it is
            same = (theirs == codes) | np.isnan(x) | (table.scale & (np.abs(x) < 2.0**-126))
            assert same.all(), (name, exact_source[~same], theirs[~same], codes[~same])
        return codes.tobytes()
    low, high = limits(name, dtype)
    whole = np.where(np.isnan(x), 0, np.clip(np.trunc(x), low, high))
    if not lossy:
        good = (x == whole)
        if not good.all():
            return int(np.argmin(good))
    elif name == "bool":
        whole = (x != 0).astype(WIDE)
    signed = whole.astype("i8") if high < 2**63 else None
    out = whole.astype("u8") if signed is None else signed
    if name in INTS:
        out = out & (15 if name.endswith("4") else 3)
        return out.astype("u1").tobytes()
    return out.astype(dtype).tobytes()


def exactly(array):
    """The same values in extended precision."""
    if array.dtype.kind in "biu" and array.dtype.name not in INTS:
        return array.astype(WIDE)
    return array.astype("f8").astype(WIDE)


def cast(array, source, name, lossy):
    target = dtype_of(name)
    if array.dtype.kind == "c":
        re, im = array.real.copy(), array.imag.copy()
        if target.kind == "c":
            parts = np.stack([re, im], -1).reshape(-1)
            return cast_real(exactly(parts), parts, "f4" if target.itemsize == 8 else "f8", lossy)
        if name == "bool":
            re = np.where((re == 0) & lossy, im, re)
        bad = np.flatnonzero(im != 0)
        if not lossy and len(bad):
            done = cast_real(exactly(re[:bad[0]]), re[:bad[0]], name, lossy)
            return min(done, int(bad[0])) if isinstance(done, int) else int(bad[0])
        return cast_real(exactly(re), re, name, lossy)
    if target.kind == "c":
        part = "f4" if target.itemsize == 8 else "f8"
        re = np.frombuffer(cast_real(exactly(array), array, part, lossy), part)
        return np.stack([re, np.zeros_like(re)], -1).tobytes()
    return cast_real(exactly(array), array, name, lossy)


def hard(rng, name, count):
    """Items of a dtype near all that matters to some target."""
    dtype = dtype_of(name)
    if name in INTS or name in FLOATS or name == "bool":
        # ml_dtypes looks at bits beyond the item's own
        size = 1 if name == "bool" else 4 if "4" in name[:6] else 6 if "6" in name[:6] else 2 if "2" in name[:5] else 8
        raw = rng.integers(0, 1 << size, count).astype("u1")
        return raw.view(dtype)
    if dtype.kind == "c":
        part = "f4" if dtype.itemsize == 8 else "f8"
        out = np.empty(count, dtype)
        out.real = hard(rng, part, count)
        out.imag = np.where(rng.random(count) < rng.choice([0.0, 0.05, 1.0]), hard(rng, part, count), 0.0)
        return out
    form = rng.integers(6)
    if form == 0:
        array = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype)
    elif form == 1:
        array = rng.integers(-3 if dtype.kind != "u" else 0, 4, count).astype(dtype)
    elif form == 2:
        # beside powers of two, and halfway between floats with few bits
        exponent = rng.integers(-30, 70, count) if rng.random() < 0.8 else rng.integers(-160, 130, count)
        few = rng.integers(1, 1 << rng.integers(1, 14, count)) * np.ldexp(WIDE(1), exponent)
        array = clipped(few * rng.choice([-1, 1], count), dtype)
        if dtype.kind in "iu":
            array = array + rng.integers(-1, 2, count).astype(dtype)
        elif dtype.name != "bfloat16":
            step = rng.integers(-1, 2, count)
            array = np.where(step == 0, array, np.nextafter(array, (step * np.inf).astype(dtype)))
    elif form == 3:
        array = clipped(rng.standard_normal(count) * 10.0 ** rng.integers(-6, 12), dtype)
    elif form == 4:
        edges = [0.0, -0.0, 0.5, -0.5, np.inf, -np.inf, np.nan, -np.nan, 1, -1, 127, 128, -128, -129, 255, 256, 448, 464, 480,
                 65504, 65519, 65520, 2.0**31, 2.0**31 - 1, -2.0**31, 2.0**32, 2.0**63, -2.0**63, 2.0**64, 3e38, 1e-45, 57344, 61440]
        array = clipped(np.array(edges, WIDE)[rng.integers(0, len(edges), count)], dtype)
    else:
        array = clipped(WIDE(2.0) ** rng.integers(-5, 64, count) + rng.integers(-300, 300, count), dtype)
    return array


def clipped(values, dtype):
    if dtype.kind not in "iu":
        return values.astype("f8").astype(dtype)
    info = np.iinfo(dtype)
    return np.clip(np.where(np.isnan(values), 0, values), info.min, info.max).astype(dtype)


def called(name):
    return dtype_of(name).name


def main():
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    rng = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    small = len(sys.argv) < 3
    for source in NAMES:
        for target in NAMES:
            if source == target or (small and (source, target) != ("c8", "c16") and "c8" in (source, target)):
                continue
            array = quiet_parts(hard(rng, source, items))
            for lossy in (False, True):
                out = cast(array, source, target, lossy)
                out = f"!{out}" if isinstance(out, int) else out.hex()
                if lossy and small and out == before:
                    continue
                before = out
                print(called(source), called(target), "lossy" if lossy else "exact", array.tobytes().hex(), out)


def quiet_parts(array):
    if array.dtype.kind == "c":
        part = array.dtype.type(0).real.dtype
        return quiet(np.ascontiguousarray(array).view(part)).view(array.dtype)
    if array.dtype.name == "bfloat16":
        words = bits(array).copy()
        words[np.isnan(array)] = (words[np.isnan(array)] & 0x8000) | 0x7FC0
        return words.view(array.dtype)
    return np.ascontiguousarray(quiet(array))


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
