"""Writes the files of tests/golden/gguf: a tensor of each type of GGUF, and its items as the package gguf makes them.

    python tests/oracle/gguf_golden.py [BLOCKS [SEED]] -o tests/golden/gguf

Needs gguf 0.19.0.  types.gguf has random blocks, of which the scales are finite; types.npz has `dequantize` of each as
float32.  The types that gguf cannot dequantize (Q8_K, Q1_0, Q2_0) are computed here with the formulas of ggml's
`src/ggml-quants.c`.  quantized.gguf has blocks that gguf quantizes, quantized.npz their items.  big.gguf is big-endian,
with the types that `gguf_convert_endian.py` converts, and has the items of big.npz.  parts-00001-of-00003.gguf and its
siblings are the tensors of quantized.gguf in three files, as `llama-gguf-split` divides them.
"""

import argparse
import pathlib

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.constants import GGML_QUANT_SIZES

Q2_0 = 42
SIZES = {**{int(kind): size for kind, size in GGML_QUANT_SIZES.items()}, Q2_0: (64, 18)}
# the places of float16s in a block
HALVES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0],
    "IQ3_S": [0], "IQ1_S": [0], "IQ1_M": [], "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64], "MXFP4": [],
    "NVFP4": [], "Q8_K": [], "Q1_0": [0], "Q2_0": [0],
}  # fmt: skip
PLAIN = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8"}


def number(name):
    return Q2_0 if name == "Q2_0" else int(Type[name])


def random_blocks(rng, name, count, finite=True):
    blocks = rng.integers(0, 256, (count, SIZES[number(name)][1]), "u1")
    for at in HALVES[name] if finite else []:
        scales = (rng.standard_normal(count) * 10.0 ** rng.uniform(-5, 2, count)).astype("<f2")
        blocks[:, at : at + 2] = scales.view("u1").reshape(count, 2)
    if name == "Q8_K":
        blocks[:, :4] = rng.standard_normal(count).astype("<f4").view("u1").reshape(count, 4)
    if name == "IQ1_M" and finite:
        # the exponent of the scale is in the high nibbles of the last bytes: not all ones
        blocks[:, 55] &= 0x3F
    return blocks


def dequantize(name, blocks):
    if name in ("Q1_0", "Q2_0"):
        d = blocks[:, :2].copy().view("<f2").astype("f4")
        bits = 1 if name == "Q1_0" else 2
        codes = blocks[:, 2:, None] >> np.arange(0, 8, bits, dtype="u1") & ((1 << bits) - 1)
        codes = codes.reshape(len(blocks), -1)
        return np.where(codes == 1, d, -d) if bits == 1 else d * (codes.astype("i1") - np.int8(1)).astype("f4")
    if name == "Q8_K":
        return blocks[:, :4].copy().view("<f4") * blocks[:, 4:260].view("i1").astype("f4")
    return gguf.quants.dequantize(blocks, Type[name])


def write(path, tensors, endian=gguf.GGUFEndian.LITTLE):
    """tensors: (label, name of the type, uint8 blocks or plain array)"""
    writer = gguf.GGUFWriter(path, "test", endianess=endian)
    writer.add_uint32("test.number", 7)
    writer.add_float32("test.float", 0.1)
    writer.add_bool("test.flag", True)
    writer.add_string("test.text", "two\nlines")
    writer.add_array("test.short", [1, 2, 3])
    writer.add_array("test.words", ["a", "b c"])
    writer.add_array("test.tokens", [f"t{n}" for n in range(100)])
    for label, name, array in tensors:
        if name in PLAIN:
            # a big-endian writer swaps the bytes of the array itself
            writer.add_tensor(label, array.copy())
        elif name == "Q2_0":
            # gguf 0.19.0 does not know type 42: it writes Q4_0, which has as many bytes, and the number is changed below
            writer.add_tensor(label, array, raw_dtype=Type.Q4_0)
        else:
            writer.add_tensor(label, array, raw_dtype=Type[name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    patch_q2_0(path, [label for label, name, _ in tensors if name == "Q2_0"])


def patch_q2_0(path, labels):
    data = bytearray(pathlib.Path(path).read_bytes())
    for label in labels:
        at = data.index(len(label).to_bytes(8, "little") + label.encode()) + 8 + len(label)
        axes = int.from_bytes(data[at : at + 4], "little")
        row = int.from_bytes(data[at + 4 : at + 12], "little")
        data[at + 4 : at + 12] = (row * 2).to_bytes(8, "little")
        data[at + 4 + 8 * axes : at + 8 + 8 * axes] = Q2_0.to_bytes(4, "little")
    pathlib.Path(path).write_bytes(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("blocks", type=int, nargs="?", default=2)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--any", action="store_true", help="scales may be infinite and NaN")
    parser.add_argument("-o", dest="folder", type=pathlib.Path, required=True)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    args.folder.mkdir(parents=True, exist_ok=True)

    tensors, items = [], {}
    for name in HALVES:
        label = f"blk.{name.lower()}.weight"
        blocks = random_blocks(rng, name, args.blocks, not args.any)
        tensors.append((label, name, blocks.reshape(args.blocks, -1)))
        items[label] = np.ascontiguousarray(dequantize(name, blocks), "<f4")
    for name, dtype in PLAIN.items():
        label = f"plain.{name.lower()}"
        plain = rng.integers(-100, 100, (3, 2, 5)).astype(dtype)
        tensors.append((label, name, plain))
        items[label] = plain
    write(args.folder / "types.gguf", tensors)
    np.savez_compressed(args.folder / "types.npz", **items)

    tensors, items = [], {}
    for name in ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "TQ1_0", "TQ2_0", "MXFP4"]:
        values = (rng.standard_normal((2, 256)) * 10.0 ** rng.uniform(-3, 1)).astype("f4")
        blocks = gguf.quants.quantize(values, Type[name])
        tensors.append((name.lower(), name, blocks))
        items[name.lower()] = gguf.quants.dequantize(blocks, Type[name]).astype("<f4")
    write(args.folder / "quantized.gguf", tensors)
    np.savez_compressed(args.folder / "quantized.npz", **items)

    write_parts(args.folder / "parts", tensors)

    tensors, items = [], {}
    for name in ["Q4_0", "Q8_0", "Q4_K", "Q6_K", "MXFP4", "NVFP4"]:
        blocks = random_blocks(rng, name, 2)
        items[name.lower()] = np.ascontiguousarray(dequantize(name, blocks), "<f4")
        for at in HALVES[name]:
            blocks[:, [at, at + 1]] = blocks[:, [at + 1, at]]
        tensors.append((name.lower(), name, blocks))
    for name, dtype in PLAIN.items():
        items[name.lower()] = rng.integers(-100, 100, (2, 3)).astype(dtype)
        tensors.append((name.lower(), name, items[name.lower()]))
    write(args.folder / "big.gguf", tensors, gguf.GGUFEndian.BIG)
    np.savez_compressed(args.folder / "big.npz", **items)


def write_parts(stem, tensors):
    count = 3
    for n in range(count):
        writer = gguf.GGUFWriter(f"{stem}-{n + 1:05}-of-{count:05}.gguf", "test")
        if n == 0:
            writer.add_string("general.name", "parts")
        writer.add_uint16("split.no", n)
        writer.add_uint16("split.count", count)
        writer.add_int32("split.tensors.count", len(tensors))
        for label, name, array in tensors[n::count]:
            writer.add_tensor(label, array, raw_dtype=Type[name])
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
