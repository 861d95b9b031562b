#!/usr/bin/env python3
"""Compares what tensorop reads and writes of Zarr with zarr-python, tensorstore and xarray.

    zarr_oracle.py BINARY [SEED]

Written: arrays of every dtype that zarr-python names, from .npy in C and Fortran order and either byte order, from stores
of version 2 and 3, with each codec, in chunks and shards; zarr-python must read them, and tensorstore where it knows the
dtype, as NumPy reads the .npy. Read: stores that the three wrote in every codec, version, order and dtype that they share;
as a .npy each must be the bytes that numpy.save writes. Needs numpy, zarr (3), numcodecs, tensorstore, xarray and ml_dtypes.
"""

import io
import itertools
import pathlib
import subprocess
import sys
import tempfile
import warnings

import ml_dtypes
import numcodecs
import numpy as np
import tensorstore
import xarray
import zarr

CODECS = zarr.codecs
NUMBERS = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128""".split()
OTHERS = ["S3", "U2", "V5", "M8[ns]", "m8[10s]", "M8[D]", "m8"]
LAYOUTS = ["", "--chunks 4,3,2", "--chunks 9,9,9", "--chunks 2,3,2 --shards 4,6,2"]
PACKED = ["none", "gzip:9", "zstd:3", "blosc", ""]

warnings.simplefilter("ignore")


def items(rng, dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "S":
        return np.array([b"", b"a", b"bc", b"d\xff\x01"])[rng.integers(0, 4, shape)].astype(dtype)
    if dtype.kind == "U":
        return np.array(["", "a", "é\U0001f600"])[rng.integers(0, 3, shape)].astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    raw = rng.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8)
    raw[rng.random(shape) < 0.5] = 7  # something for packers to find
    return np.frombuffer(raw.tobytes(), dtype).reshape(shape)


def saved(array):
    """The bytes that numpy.save writes for an array in C order."""
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array).reshape(array.shape))
    return file.getvalue()


def same(a, b):
    return a.dtype.newbyteorder("<") == b.dtype.newbyteorder("<") and a.shape == b.shape and (
        np.ascontiguousarray(a).astype(a.dtype.newbyteorder("<")).tobytes()
        == np.ascontiguousarray(b).astype(b.dtype.newbyteorder("<")).tobytes()
    )


class Oracle:
    def __init__(self, binary, folder):
        self.binary, self.folder, self.count, self.wrong = binary, folder, 0, 0

    def run(self, *args):
        done = subprocess.run([self.binary, *map(str, args)], cwd=self.folder, capture_output=True, text=True)
        return None if done.returncode == 0 and not done.stderr else f"status {done.returncode}: {done.stderr.strip()}"

    def says(self, what, problem):
        self.count += 1
        if problem:
            self.wrong += 1
            print(f"{what}: {problem}", flush=True)

    def is_read(self, what, store, array):
        """zarr-python and tensorstore read the store as the array."""
        opened = zarr.open_array(self.folder / store, mode="r")
        if opened.shards and (array.dtype.kind == "V" or array.dtype == "m8"):
            return  # zarr-python wants to hash their fill value, and cannot
        found = opened[...]
        self.says(f"{what} by zarr-python", None if same(np.asarray(found), array) else f"{found!r}, expected {array!r}")
        if array.dtype.kind in "SUMmV" and array.dtype != ml_dtypes.bfloat16:
            return
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(self.folder / store)}}
        found = tensorstore.open(spec, open=True).result().read().result()
        self.says(f"{what} by tensorstore", None if same(found, array) else f"{found!r}, expected {array!r}")

    def reads(self, what, store, array):
        """tensorop makes of a store the bytes of numpy.save."""
        problem = self.run("convert", store, "-o", "back.npy")
        expected = saved(array)
        if problem is None and (self.folder / "back.npy").read_bytes() != expected:
            problem = f"{np.load(self.folder / 'back.npy')!r}, expected {array!r}"
        self.says(what, problem)

    def written(self, rng):
        shape = (7, 5, 4)
        for dtype in NUMBERS + OTHERS + ["bfloat16"]:
            special = dtype == "bfloat16"
            array = items(rng, ml_dtypes.bfloat16 if special else dtype, shape)
            sources = {"C": array, "F": np.asfortranarray(array)}
            if array.dtype.byteorder == "=" and array.dtype.itemsize > 1 and not special:
                sources["big"] = array.astype(array.dtype.newbyteorder(">"))
            for name, source in sources.items():
                np.save(self.folder / f"{name}.npy", source)
                rows = itertools.product(LAYOUTS, PACKED) if name != "big" else [(LAYOUTS[1], ""), (LAYOUTS[3], "none")]
                for layout, codec in rows:
                    codec = ["--codec", codec] if codec else []
                    what = f"{dtype} {name} {layout} {codec}"
                    problem = self.run("convert", f"{name}.npy", *layout.split(), *codec, "-o", "out.zarr")
                    if problem:
                        self.says(what, problem)
                    elif special:
                        self.only_tensorstore(what, array)
                    else:
                        self.is_read(what, "out.zarr", array)
            if special:
                continue
            for version, order in itertools.product([2, 3], "CF"):
                self.store("in.zarr", array, version, order=order)
                what = f"{dtype} from version {version} {order}"
                self.says(what, self.run("slice", "in.zarr", "--at", "::-2,1:", "-o", "out.zarr"))
                self.is_read(what, "out.zarr", array[::-2, 1:])
        # blocks that are split, and several of them
        array = (np.arange(1_300_000) // 7).astype("i8")
        for dtype, codec in itertools.product(["i1", "i2", "i8", "c16"], ["blosc", "gzip", "zstd"]):
            np.save(self.folder / "C.npy", array.astype(dtype))
            what = f"large {dtype} {codec}"
            self.says(what, self.run("convert", "C.npy", "--chunks", "700001", "--codec", codec, "-o", "out.zarr"))
            self.is_read(what, "out.zarr", array.astype(dtype))
        for shape, chunks in [((), ""), ((0, 3), ""), ((5,), "--chunks 2"), ((1, 1), "--chunks 3,3")]:
            array = items(rng, "f4", shape)
            np.save(self.folder / "C.npy", array)
            self.says(f"{shape}", self.run("convert", "C.npy", *chunks.split(), "-o", "out.zarr"))
            self.is_read(f"{shape}", "out.zarr", array)

    def only_tensorstore(self, what, array):
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(self.folder / "out.zarr")}}
        found = tensorstore.open(spec, open=True).result().read().result()
        self.says(f"{what} by tensorstore", None if found.tobytes() == array.tobytes() else f"{found!r}, expected {array!r}")

    def store(self, name, array, version, order="C", **options):
        if version == 2:
            options["order"] = order
        elif order == "F":
            options["filters"] = [CODECS.TransposeCodec(order=tuple(reversed(range(array.ndim))))]
        made = zarr.create_array(self.folder / name, overwrite=True, shape=array.shape, chunks=options.pop("chunks", (4, 3, 2)),
                                 dtype=array.dtype, zarr_format=version, **options)
        made[...] = array

    def read(self, rng):
        shape = (7, 5, 4)
        blosc = [dict(cname=c, shuffle=s, clevel=n) for c in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
                 for s, n in [("noshuffle", 5), ("shuffle", 9), ("bitshuffle", 1)]]
        v3 = [None, CODECS.GzipCodec(level=1), CODECS.ZstdCodec(level=9, checksum=True), [CODECS.ZstdCodec(), CODECS.Crc32cCodec()],
              [CODECS.GzipCodec(), CODECS.ZstdCodec()]] + [CODECS.BloscCodec(**options) for options in blosc]
        shuffles = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
        v2 = [None, numcodecs.Zlib(9), numcodecs.GZip(3), numcodecs.Zstd(5), numcodecs.Zstd(1, checksum=True)] + [
            numcodecs.Blosc(**(options | {"shuffle": shuffles[options["shuffle"]]})) for options in blosc] + [numcodecs.Blosc(shuffle=-1)]
        for dtype in NUMBERS + OTHERS:
            array = items(rng, dtype, shape)
            big = array.astype(array.dtype.newbyteorder(">")) if array.dtype.itemsize > 1 else array
            for version, codec in [(3, codec) for codec in v3] + [(2, codec) for codec in v2]:
                for order in "CF":
                    self.store("in.zarr", array, version, order, compressors=codec)
                    self.reads(f"{dtype} version {version} {order} {codec}", "in.zarr", array)
            self.store("in.zarr", big, 2)
            self.reads(f"{dtype} big version 2", "in.zarr", big)
            if array.dtype.kind in "iufc" and array.dtype.itemsize > 1:
                self.store("in.zarr", array, 3, serializer=CODECS.BytesCodec(endian="big"))
                self.reads(f"{dtype} big version 3", "in.zarr", array)
            if array.dtype.kind != "V" and array.dtype != "m8":
                self.store("in.zarr", array, 3, chunks=(2, 3, 2), shards=(4, 6, 2))
                self.reads(f"{dtype} shards", "in.zarr", array)
        # blocks that are split, and several of them
        array = (np.arange(1_300_000) // 7).astype("i8")
        for version, codec in [(3, CODECS.BloscCodec(**options)) for options in blosc] + [
                (2, numcodecs.Blosc(**(options | {"shuffle": shuffles[options["shuffle"]]}))) for options in blosc]:
            for dtype in ["i1", "i2", "i8", "c16"]:
                self.store("in.zarr", array.astype(dtype), version, chunks=(700_001,), compressors=codec)
                self.reads(f"large {dtype} version {version} {codec}", "in.zarr", array.astype(dtype))
        for dtype in NUMBERS + ["bfloat16"]:
            array = items(rng, getattr(ml_dtypes, dtype, None) or dtype, shape)
            for driver, codecs in [("zarr3", [[], [{"name": "gzip"}], [{"name": "zstd"}], [{"name": "blosc"}], [{"name": "crc32c"}]]),
                                   ("zarr", [None, {"id": "zlib"}, {"id": "zstd"}, {"id": "blosc"}])]:
                for codec in codecs:
                    path = str(self.folder / "ts.zarr")
                    metadata = {"codecs": [{"name": "bytes"}, *codec]} if driver == "zarr3" else {"compressor": codec}
                    if driver == "zarr3" and codec == []:
                        metadata = {"codecs": [{"name": "sharding_indexed", "configuration": {
                            "chunk_shape": [2, 3, 2], "codecs": [{"name": "bytes"}, {"name": "zstd"}]}}]}
                    spec = {"driver": driver, "kvstore": {"driver": "file", "path": path}, "metadata": metadata}
                    layout = tensorstore.ChunkLayout(write_chunk_shape=[4, 6, 2]) if codec == [] else tensorstore.ChunkLayout(
                        chunk_shape=[4, 3, 2])
                    made = tensorstore.open(spec, create=True, delete_existing=True, dtype=tensorstore.dtype(array.dtype),
                                            shape=shape, chunk_layout=layout).result()
                    made.write(array).result()
                    self.reads(f"{dtype} tensorstore {driver} {codec}", "ts.zarr", array)
        array = items(rng, ml_dtypes.bfloat16, shape)
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(self.folder / "ts.zarr")},
                "metadata": {"codecs": [{"name": "bytes", "configuration": {"endian": "big"}}]}}
        made = tensorstore.open(spec, create=True, delete_existing=True, dtype=tensorstore.bfloat16, shape=shape).result()
        made.write(array).result()
        self.reads("bfloat16 big tensorstore", "ts.zarr", array)
        for version in [2, 3]:
            for dtype in ["f4", "i2", "f8", "u1"]:
                data = xarray.Dataset({"a": (("x", "y"), items(rng, dtype, (6, 5)))}, coords={"x": np.arange(6)})
                data.to_zarr(self.folder / "x.zarr", mode="w", zarr_format=version, consolidated=dtype == "f4")
                for name in ["a", "x"]:
                    self.reads(f"xarray version {version} {dtype} {name}", f"x.zarr:{name}", data[name].values)
                data.attrs["title"] = dtype
                data.to_zarr(self.folder / "x.zarr", mode="w", zarr_format=version, consolidated=False)
                problem = self.run("convert", "x.zarr", "-o", "y.zarr")
                if problem is None:
                    found = xarray.open_zarr(self.folder / "y.zarr", consolidated=False)
                    kept = found.attrs.get("title") == dtype and found.equals(data)
                    problem = None if kept else f"{found!r}, expected {data!r}"
                self.says(f"xarray version {version} {dtype} written anew", problem)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rng = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        oracle.written(rng)
        oracle.read(rng)
    print(f"{oracle.count} comparisons, {oracle.wrong} wrong")
    sys.exit(bool(oracle.wrong))


if __name__ == "__main__":
    main()
