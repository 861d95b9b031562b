"""Seeded random arrays of every dtype a `.npy` can hold, with values that programs get wrong.

    from arrays import Arrays
    make = Arrays(seed=1)
    a = make.array()                    # any of the dtypes that can be printed
    b = make.array(kinds=("void", "struct", "longdouble", "bfloat16"))
    c = make.array(dtype=">f4", shape=(2, 0, 3))

Arrays come in C order. `KINDS` lists the kinds, `EXTRA_KINDS` those that are made on request only.
"""

import unicodedata

import numpy as np

KINDS = ("bool", "int", "float", "complex", "bytes", "str", "datetime", "timedelta")
EXTRA_KINDS = ("void", "struct", "longdouble", "clongdouble", "bfloat16")
NARROW_INTS = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2}
NARROW_FLOATS = {"float8_e3m4": 8, "float8_e4m3": 8, "float8_e4m3b11fnuz": 8, "float8_e4m3fn": 8, "float8_e4m3fnuz": 8,
                 "float8_e5m2": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8, "float6_e2m3fn": 6, "float6_e3m2fn": 6,
                 "float4_e2m1fn": 4}
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")

# Characters that must be quoted, escaped or counted with care.
ODD = "'\"\\\t\n\r\x00\x01\x1f\x7f\x80\x85\xa0\xad\xe9\u0301\u0378\u200b\u2028\u2029\u3000\u3042\ud800\udfff\ue000\ufeff\uffff"
ODD += "\U0001f600\U0002a6d6\U000e0001\U000f0000\U0010ffff"


class Arrays:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def shape(self, max_items=400, max_rank=6):
        """A shape; one in twenty has a dim of 0."""
        rank = int(self.rng.integers(0, max_rank + 1))
        if rank == 0:
            return ()
        dims, items = [], 1
        for _ in range(rank):
            dim = int(self.rng.integers(1, max(2, int(max_items / items) ** (1 if rank < 2 else 0.6) + 2)))
            dim = min(dim, max_items // items)
            dims.append(dim)
            items *= dim
        if self.chance(0.05):
            dims[int(self.rng.integers(rank))] = 0
        order = self.rng.permutation(rank)
        return tuple(dims[i] for i in order)

    def dtype(self, kinds=KINDS):
        kind = self.pick(kinds)
        order = self.pick("<>")
        n = int(self.rng.integers(1, 7))
        if kind in ("datetime", "timedelta"):
            letter = "M8" if kind == "datetime" else "m8"
            if self.chance(0.05):
                # NumPy does not swap the bytes of `>m8` when it looks for the longest one to print.
                return np.dtype("<" + letter)
            count = self.pick(["", "", "", "2", "7", "25", "1000", "2147483647"])
            return np.dtype(f"{order}{letter}[{count}{self.pick(UNITS)}]")
        if kind == "bfloat16":
            import ml_dtypes

            return np.dtype(ml_dtypes.bfloat16)
        if kind == "struct":
            return self.struct()
        return np.dtype(
            {
                "bool": "?",
                "int": order + self.pick(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]),
                "float": order + self.pick(["f2", "f4", "f8"]),
                "complex": order + self.pick(["c8", "c16"]),
                "bytes": f"S{self.pick([1, n, n])}",
                "str": f"{order}U{self.pick([1, n, n])}",
                "void": f"V{n}",
                "longdouble": order + "f16",
                "clongdouble": order + "c32",
            }[kind]
        )

    def struct(self, depth=2):
        """Named fields: nested, with sub-arrays, padding, gaps and titles, but no bfloat16, which no descr names."""
        kinds = KINDS + ("void", "longdouble") + (("struct",) if depth else ())
        names, formats = [], []
        for i in range(int(self.rng.integers(1, 5))):
            kind = self.pick(kinds)
            inner = self.struct(depth - 1) if kind == "struct" else self.dtype((kind,))
            dims = tuple(int(d) for d in self.rng.integers(1, 4, size=int(self.rng.integers(1, 3))))
            formats.append((inner, dims) if self.chance(0.3) else inner)
            names.append(self.pick(["f%d", "x y%d", "it's%d", "é%d", '"%d']) % i)
        form = self.rng.random()
        if form < 0.4:
            return np.dtype({"names": names, "formats": formats}, align=bool(form < 0.2))
        titles = [f"title {name}" if self.chance(0.7) else None for name in names]
        if form < 0.6:
            return np.dtype({"names": names, "formats": formats, "titles": titles})
        offsets, end = [], 0
        for format_ in formats:
            end += int(self.rng.integers(0, 4))
            offsets.append(end)
            end += np.dtype(format_).itemsize
        size = end + int(self.rng.integers(0, 4))
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})

    def array(self, kinds=KINDS, dtype=None, shape=None):
        dtype = self.dtype(kinds) if dtype is None else np.dtype(dtype)
        shape = self.shape() if shape is None else shape
        count = int(np.prod(shape, dtype=np.int64))
        return np.ascontiguousarray(self.items(dtype, count)).reshape(shape)

    def items(self, dtype, count):
        """`count` items, as a one-dimensional array."""
        if dtype.fields is not None or dtype.subdtype is not None:
            return self.fields(dtype, count)
        if bits := {**NARROW_INTS, **NARROW_FLOATS}.get(dtype.name):
            return self.rng.integers(0, 1 << bits, size=count).astype("u1").view(dtype)
        if dtype.name == "bfloat16":
            wide = self.items(np.dtype("<f4"), count)
            with np.errstate(all="ignore"):
                return wide.astype(dtype)
        make = {
            "b": lambda: self.rng.integers(0, 2, size=count).astype(dtype),
            "i": lambda: self.ints(dtype, count),
            "u": lambda: self.ints(dtype, count),
            "f": lambda: self.floats(dtype, count),
            "c": lambda: self.complexes(dtype, count),
            "S": lambda: self.texts(dtype, count),
            "U": lambda: self.texts(dtype, count),
            "V": lambda: self.raw(dtype, count),
            "M": lambda: self.ticks(dtype, count),
            "m": lambda: self.ticks(dtype, count),
        }[dtype.kind]
        return make()

    def raw(self, dtype, count):
        return np.frombuffer(self.rng.bytes(count * dtype.itemsize), dtype=dtype, count=count).copy()

    def fields(self, dtype, count):
        """Padding is zero, as it is in what NumPy makes itself."""
        result = np.zeros(count, dtype)
        for name in dtype.names:
            field = dtype.fields[name][0]
            base, dims = field.subdtype or (field, ())
            inner = int(np.prod(dims, dtype=np.int64))
            result[name] = self.items(base, count * inner).reshape((count, *dims))
        return result

    def ints(self, dtype, count):
        native = dtype.newbyteorder("=")
        info = np.iinfo(native)
        form = int(self.rng.integers(4))
        if form == 0:
            values = self.rng.integers(info.min, info.max, size=count, dtype=native, endpoint=True)
        elif form == 1:
            values = self.rng.integers(0, 10, size=count).astype(native)
        elif form == 2:
            near = self.rng.integers(0, 4, size=count).astype(native)
            values = np.where(self.rng.random(count) < 0.5, info.min + near, info.max - near).astype(native)
        else:
            bits = self.rng.integers(0, info.bits, size=count)
            values = self.rng.integers(info.min, info.max, size=count, dtype=native, endpoint=True) >> bits.astype(native)
        return values.astype(dtype)

    def floats(self, dtype, count):
        native = dtype.newbyteorder("=")
        info = np.finfo(native)
        form = int(self.rng.integers(10))
        with np.errstate(all="ignore"):
            if form == 0 and native.itemsize <= 8:
                values = self.raw(np.dtype(f"u{native.itemsize}"), count).view(native)
            elif form == 1:
                values = self.rng.integers(-20, 20, size=count).astype(native)
            elif form == 2:
                values = self.rng.random(count).astype(native)
            elif form == 3:
                values = self.rng.standard_normal(count).astype(native)
            elif form == 4:
                # Around the places where exponents begin.
                powers = 10.0 ** self.rng.integers(-6, 10, size=count)
                values = powers.astype(native)
                step = self.rng.integers(-1, 2, size=count)
                values = np.where(step == 0, values, np.nextafter(values, np.where(step < 0, -1, np.inf).astype(native)))
            elif form == 5:
                base = 10.0 ** float(self.rng.integers(-5, 7))
                values = (base * (1 + 999.5 * self.rng.random(count))).astype(native)
            elif form == 6:
                # Few decimals, many ties.
                places = int(self.rng.integers(0, 5))
                values = (self.rng.integers(-(10**4), 10**4, size=count) / 10.0**places).astype(native)
            elif form == 7:
                values = (self.rng.integers(-64, 64, size=count) / 2.0 ** self.rng.integers(0, 8)).astype(native)
            elif form == 8:
                exponent = self.rng.integers(info.minexp - info.nmant, info.maxexp, size=count)
                values = np.ldexp(np.ones(count, native), exponent.astype("i4"))
            else:
                values = (10.0 ** self.rng.uniform(-5, 9, size=count)).astype(native)
            values = values.astype(native)
            if self.chance(0.4):
                values = np.where(self.rng.random(count) < 0.3, -values, values)
            if self.chance(0.4):
                special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0]
                special += [info.max, info.tiny, info.smallest_subnormal, -info.smallest_subnormal, 1e-4, 1000.0]
                chosen = self.rng.permutation(len(special))[: int(self.rng.integers(1, 6))]
                several = np.array([special[i] for i in chosen], dtype=native)
                mask = self.rng.random(count) < self.rng.random()
                values = np.where(mask, several[self.rng.integers(0, len(several), size=count)], values)
        result = values.astype(dtype)
        if dtype.itemsize <= 8 and count and self.chance(0.1):
            # A NaN with a payload.
            bits = result.view(np.dtype(f"u{dtype.itemsize}").newbyteorder(dtype.byteorder))
            ones = int(np.array(np.inf, native).view(f"u{dtype.itemsize}"))
            bits[int(self.rng.integers(count))] = ones + 1 + int(self.rng.integers(100))
        return result

    def complexes(self, dtype, count):
        part = np.dtype(f"{dtype.byteorder}f{dtype.itemsize // 2}")
        result = np.empty(count, dtype)
        result.real = self.floats(part, count)
        result.imag = self.floats(part, count)
        return result

    def texts(self, dtype, count):
        wide = dtype.kind == "U"
        width = dtype.itemsize // (4 if wide else 1)
        values = []
        for _ in range(count):
            length = int(self.rng.integers(0, width + 1))
            values.append("".join(self.character(wide) for _ in range(length)))
        if wide:
            return np.array(values, dtype=dtype) if count else np.empty(0, dtype)
        return np.array([v.encode("latin1") for v in values], dtype=dtype) if count else np.empty(0, dtype)

    def character(self, wide):
        form = self.rng.random()
        if form < 0.5:
            return chr(int(self.rng.integers(0x20, 0x7F)))
        if not wide:
            return self.pick([c for c in ODD if ord(c) < 256]) if form < 0.8 else chr(int(self.rng.integers(256)))
        if form < 0.8:
            return self.pick(ODD)
        while True:
            limit = self.pick([0x100, 0x3000, 0x10000, 0x20000, 0x110000])
            c = chr(int(self.rng.integers(limit)))
            # What is not assigned yet may be printable in a later Unicode.
            if unicodedata.category(c) != "Cn":
                return c

    def ticks(self, dtype, count):
        form = int(self.rng.integers(5))
        native = np.dtype("i8")
        if form == 0:
            values = self.ints(native, count)
        elif form == 1:
            values = self.rng.integers(-50, 50, size=count)
        elif form == 2:
            values = self.rng.integers(-(10**6), 10**6, size=count)
        elif form == 3:
            values = self.rng.integers(0, 2 * 10**9, size=count)
        else:
            values = self.rng.integers(-(2**62), 2**62, size=count) >> int(self.rng.integers(62))
        values = values.astype(native)
        nat = np.iinfo(native).min
        if dtype.kind == "M" and np.datetime_data(dtype)[0] == "generic":
            values[:] = nat  # no other time of the generic unit has a text
        elif self.chance(0.3):
            values[self.rng.random(count) < self.rng.random()] = nat
        return values.astype(native.newbyteorder(dtype.byteorder)).view(dtype)


def descr(dtype):
    """What a `.npy` header says of a dtype."""
    if dtype.name in NARROW_INTS or dtype.name in NARROW_FLOATS:
        return dtype.name
    return "<V2" if dtype.name == "bfloat16" else np.lib.format.dtype_to_descr(dtype)
