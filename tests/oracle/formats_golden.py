#!/usr/bin/env python3
"""Writes safetensors files and ONNX TensorProtos as the formats' own Python packages do, and what is in them.

usage: formats_golden.py FOLDER [ROUNDS]

FOLDER/safetensors and FOLDER/onnx get the files; FOLDER/formats.jsonl gets one JSON object for each tensor: "file",
"member" (its name), "dtype", "shape", "items" (in hexadecimal, as ml_dtypes and NumPy hold them), and "same": whether
writing these tensors again gives the same file.  Without ROUNDS, the small set of tests/golden; with it, so many
random shapes of every dtype (give those to the test by TENSOROP_FORMATS=FOLDER).
"""
import json
import pathlib
import sys

import ml_dtypes
import numpy as np
import onnx
import safetensors
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from safetensors.numpy import save_file

RANDOM = np.random.default_rng(20240607)
NATIVE = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
FLOATS = ["bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
PACKED = ["float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "int4", "uint4", "int2", "uint2"]
TEXTS = ["", "a", "tensor", "Zürich", "日本", "🦀", "two words", "it's", "\u0000a"]


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def bits_of(dtype):
    return getattr(ml_dtypes, "finfo" if "float" in dtype.name else "iinfo")(dtype).bits if dtype.kind == "V" else 8


def array(name, shape):
    """An array of random bits."""
    dtype = dtype_of(name)
    data = RANDOM.integers(0, 256, int(np.prod(shape, dtype=np.int64)) * dtype.itemsize, dtype=np.uint8)
    if name == "?":
        data &= 1
    if name in PACKED:
        data &= (1 << bits_of(dtype)) - 1
    return np.frombuffer(data.tobytes(), dtype).reshape(shape)


def random_shape():
    shape = RANDOM.integers(1, 6, RANDOM.integers(0, 5))
    if len(shape) and RANDOM.random() < 0.15:
        shape[RANDOM.integers(len(shape))] = 0
    return tuple(int(dim) for dim in shape)


class Out:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in ["safetensors", "onnx"]:
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.manifest = open(self.folder / "formats.jsonl", "w")

    def row(self, file, member, value, same):
        dtype = value.dtype.str if value.dtype.kind in "US" else value.dtype.name
        row = {"file": file, "member": member, "dtype": dtype, "shape": list(value.shape),
               "items": value.tobytes().hex(), "same": same}
        print(json.dumps(row), file=self.manifest)

    def safetensors(self, name, arrays, metadata=None):
        file = f"safetensors/{name}.safetensors"
        save_file(arrays, self.folder / file, metadata=metadata)
        for member, value in arrays.items():
            self.row(file, member, value, metadata is None)

    def four_bits(self, name, arrays):
        """save_file knows packed items only as what torch calls two of them."""
        file, specs, kept = f"safetensors/{name}.safetensors", {}, []
        for member, value in arrays.items():
            packed = numpy_helper._pack_4bitx2(value)
            kept.append(packed)
            specs[member] = safetensors.TensorSpec(dtype="float4_e2m1fn_x2", data_ptr=packed.ctypes.data,
                                                   shape=value.shape[:-1] + (value.shape[-1] // 2,),
                                                   data_len=packed.nbytes)
        safetensors.serialize_file(specs, self.folder / file)
        for member, value in arrays.items():
            self.row(file, member, value, True)

    def onnx(self, name, proto, same, strings=False):
        file = f"onnx/{name}.pb"
        (self.folder / file).write_bytes(proto.SerializeToString())
        value = numpy_helper.to_array(proto, str(self.folder / "onnx"))
        self.row(file, proto.name, value.astype("U") if strings else value, same)

    def external(self, name, value, before):
        """Items in another file, after so many bytes of something else."""
        packed = numpy_helper.from_array(value).raw_data
        (self.folder / f"onnx/{name}.bin").write_bytes(bytes(before) + packed + bytes(before))
        proto = numpy_helper.from_array(value, "elsewhere")
        set_external_data(proto, f"{name}.bin", before, len(packed))
        proto.ClearField("raw_data")
        self.onnx(name, proto, False)


def typed(value, name):
    """The items in a typed field, bit for bit, which make_tensor does only for those that it need not round."""
    proto = TensorProto(name=name, dims=value.shape, data_type=helper.np_dtype_to_tensor_dtype(value.dtype))
    flat = value.ravel()
    if value.dtype.name in ("float4_e2m1fn", "int4", "uint4"):
        proto.int32_data.extend(numpy_helper._pack_4bitx2(flat).tolist())
    elif value.dtype.name in ("int2", "uint2"):
        proto.int32_data.extend(numpy_helper._pack_2bitx4(flat).tolist())
    elif value.dtype.kind == "V" or value.dtype.name in ("float16", "float8_e5m2"):
        proto.int32_data.extend(flat.view(f"u{value.dtype.itemsize}").tolist())
    else:
        return helper.make_tensor(name, proto.data_type, value.shape, flat)
    return proto


def rows(out, rounds):
    shapes = [(), (3,), (2, 3), (5, 1), (0,), (2, 0, 3), (1,), (3, 1, 3)]
    shape_of = (lambda n: shapes[n % len(shapes)]) if not rounds else (lambda n: random_shape())
    for at in range(rounds or 1):
        tag = f"-{at}" if rounds else ""
        whole = [n for n in NATIVE if n != "c16"] + FLOATS
        out.safetensors(f"all{tag}", {f"x{n}.{dtype_of(t).name}": array(t, shape_of(n)) for n, t in enumerate(whole)})
        out.four_bits(f"f4{tag}", {f"f4.{n}": array("float4_e2m1fn", shape_of(n) + (2 * n,)) for n in range(4)})
        for n, name in enumerate(NATIVE + FLOATS + PACKED):
            value = array(name, shape_of(n + at + 1))
            label = dtype_of(name).name
            out.onnx(f"{label}{tag}", numpy_helper.from_array(value, ["", "x"][n % 2]), True)
            out.onnx(f"{label}-typed{tag}", typed(value, "y"), False)
        value = RANDOM.choice(np.array(TEXTS), shape_of(at + 2))
        out.onnx(f"string{tag}", numpy_helper.from_array(value, "text"), True, strings=True)
    out.external("external", array("i4", (2, 3)), 16)
    out.external("external-int4", array("int4", (3, 3)), 3)
    out.safetensors("metadata", {"b": array("f4", (2,)), "a": array("f4", (1,))}, {"format": "np", "": "日本"})
    names = ["", "é\"\\\n\u0001", "日本", "a/b", "B", "a"]
    out.safetensors("names", {name: array("u1", (n,)) for n, name in enumerate(names)})
    out.safetensors("none", {})


if __name__ == "__main__":
    rows(Out(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
