#!/usr/bin/env python3
"""Makes tests/golden/zarr: small stores that zarr-python, xarray and tensorstore wrote, each with the same array as a .npy.

Needs numpy, zarr (3), numcodecs, xarray, tensorstore and ml_dtypes. The stores differ in what a store can differ in:
version, codecs, shards, order of axes and bytes, names of chunks, chunks that are not there, groups.
"""

import pathlib
import shutil
import warnings

import ml_dtypes  # noqa: F401
import numcodecs
import numpy as np
import tensorstore
import xarray
import zarr

FOLDER = pathlib.Path(__file__).parent.parent / "golden" / "zarr"
CODECS = zarr.codecs

warnings.simplefilter("ignore")


def items(dtype, shape):
    """Items that repeat, so that packers find something to do."""
    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape) // 3 % 50
    dtype = np.dtype(dtype)
    if dtype.kind in "SU":
        return np.array(["a", "bc", ""])[numbers % 3].astype(dtype)
    if dtype.kind == "V":
        return (numbers % 200).astype(f"u{dtype.itemsize}").view(dtype)
    if dtype.kind in "mM":
        return numbers.astype("i8").view(dtype)
    return numbers.astype(dtype)


def store(name, dtype, shape, chunks, version=3, **options):
    array = items(dtype, shape)
    written = zarr.create_array(
        FOLDER / f"{name}.zarr", shape=shape, chunks=chunks, dtype=array.dtype, zarr_format=version, **options
    )
    written[...] = array
    # of version 3 the tensor is little-endian whatever its codec says
    np.save(FOLDER / f"{name}.npy", array.astype(array.dtype.newbyteorder("<")) if version == 3 else array)


def shards_among_codecs(name, codecs, chunks):
    """A store whose shards are not the whole of its codecs."""
    array = items("f4", (7, 5, 6))
    array[:, :3] = 0
    path = FOLDER / f"{name}.zarr"
    written = zarr.create(
        shape=array.shape, chunks=chunks, dtype="f4", codecs=codecs, store=path, zarr_format=3, fill_value=0
    )
    written[...] = array
    np.save(FOLDER / f"{name}.npy", array)


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    store("gzip", "f4", (7, 5), (4, 3), compressors=CODECS.GzipCodec())
    store("zstd_crc32c", "f8", (7, 5), (4, 3), compressors=[CODECS.ZstdCodec(checksum=True), CODECS.Crc32cCodec()])
    for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
        for shuffle in ["noshuffle", "shuffle", "bitshuffle"]:
            codec = CODECS.BloscCodec(cname=cname, shuffle=shuffle)
            store(f"blosc_{cname}_{shuffle}", "i4", (40, 40), (40, 30), compressors=codec)
    store("transpose", "i2", (5, 4, 3), (3, 4, 2), filters=[CODECS.TransposeCodec(order=(2, 0, 1))])
    store("transpose_plain", "i2", (5, 4, 3), (3, 4, 2), filters=[CODECS.TransposeCodec(order=(2, 0, 1))], compressors=None)
    store("big", "u4", (7, 5), (4, 3), serializer=CODECS.BytesCodec(endian="big"))
    store("plain", "c8", (7, 5), (4, 3), compressors=None)
    store("shards", "f4", (7, 5), (2, 3), shards=(4, 6))
    start = CODECS.ShardingCodec(chunk_shape=(2, 3), index_location="start")
    store("shards_start", "i8", (7, 5), (4, 6), serializer=start, compressors=None)
    shards = CODECS.ShardingCodec
    bytes_and_zstd = [CODECS.BytesCodec(), CODECS.ZstdCodec()]
    moved = [CODECS.TransposeCodec(order=(2, 1, 0)), CODECS.BytesCodec(endian="big"), CODECS.GzipCodec()]
    first = CODECS.TransposeCodec(order=(2, 0, 1))
    shards_among_codecs("shards_after_transpose", [first, shards(chunk_shape=(6, 2, 3), codecs=moved)], (6, 6, 6))
    checked = [shards(chunk_shape=(2, 5, 3), codecs=bytes_and_zstd, index_location="start"), CODECS.Crc32cCodec()]
    shards_among_codecs("shards_before_crc32c", checked, (4, 5, 6))
    inner = shards(chunk_shape=(1, 5, 3), codecs=bytes_and_zstd)
    shards_among_codecs("shards_in_shards", [shards(chunk_shape=(2, 5, 6), codecs=[inner])], (4, 5, 6))
    store("names_v2", "i1", (7, 5), (4, 3), chunk_key_encoding={"name": "v2", "separator": "."})
    store("names_dots", "u1", (7, 5), (4, 3), chunk_key_encoding={"name": "default", "separator": "."})
    for dtype in ["bool", "float16", "S3", "U2", "V2", "M8[ns]", "<m8[10s]"]:
        name = "dtype_" + "".join(c for c in dtype if c.isalnum())
        store(name, dtype, (3, 4), (2, 4))
        store(name + "_v2", dtype, (3, 4), (2, 4), version=2, compressors=numcodecs.Zlib())
    store("v2_order_f", "i2", (5, 4, 3), (3, 4, 2), version=2, order="F", compressors=numcodecs.Zlib())
    store("v2_big", ">f4", (7, 5), (4, 3), version=2, compressors=numcodecs.Blosc())
    slash = {"name": "v2", "separator": "/"}
    store("v2_slash", "f4", (7, 5), (4, 3), version=2, compressors=None, chunk_key_encoding=slash)
    store("scalar", "f8", (), ())
    for name, version, fill in [("missing", 3, np.nan), ("missing_v2", 2, 7)]:
        written = zarr.create_array(
            FOLDER / f"{name}.zarr", shape=(6, 5), chunks=(4, 3), dtype="f8", fill_value=fill, zarr_format=version
        )
        written[1, 1] = 5
        np.save(FOLDER / f"{name}.npy", written[...])
    path = FOLDER / "tensorstore.zarr"
    array = items("f4", (7, 5))
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path.resolve())}}
    layout = tensorstore.ChunkLayout(chunk_shape=[4, 3])
    opened = tensorstore.open(spec, create=True, dtype=tensorstore.float32, shape=array.shape, chunk_layout=layout)
    opened.result().write(array).result()
    np.save(FOLDER / "tensorstore.npy", array)
    data = xarray.Dataset({"a": (("x", "y"), items("f4", (6, 5)))}, coords={"x": np.arange(6)})
    for version in [2, 3]:
        data.to_zarr(FOLDER / f"xarray_v{version}.zarr", zarr_format=version, consolidated=False)
    for name in ["a", "x"]:
        np.save(FOLDER / f"xarray-{name}.npy", data[name].values)


if __name__ == "__main__":
    main()
