"""Folders of quantised weights, and the numbers that they mean by formulas in NumPy of the published rules.

    python tests/oracle/quantized.py golden              writes tests/golden/quantized/
    python tests/oracle/quantized.py check PROGRAM [N]   compares `PROGRAM convert --dequantize` of N folders of each layout
    python tests/oracle/quantized.py mixed PROGRAM       reads each layout as every other one
    python tests/oracle/quantized.py mlx [N]             compares the formulas of MLX's layouts with the package mlx

All products are float32s, each rounded once.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "quantized"
F4, F8, E8 = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
F52, F6 = ml_dtypes.float8_e5m2, ml_dtypes.float6_e2m3fn
FLOAT4 = np.arange(16, dtype="u1").view(F4).astype("f4")
NAMES = {
    "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int8": "I8", "uint8": "U8", "int32": "I32", "uint32": "U32",
    "int64": "I64", "float8_e4m3fn": "F8_E4M3", "float8_e8m0fnu": "F8_E8M0", "float8_e5m2": "F8_E5M2",
}


def write_safetensors(path, tensors, metadata=None):
    header, at, parts = {}, 0, []
    if metadata:
        header["__metadata__"] = metadata
    for name, value in tensors.items():
        data = np.ascontiguousarray(value).tobytes()
        header[name] = {"dtype": NAMES[value.dtype.name], "shape": list(value.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
        parts.append(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))


def nibbles(items):
    """Two codes a byte along the last axis, the first in the low bits."""
    return (items[..., 0::2] | items[..., 1::2] << 4).astype("u1")


def pack(items, bits, dense):
    """Codes along the last axis in words of 32 bits, from the low bits on."""
    count = items.shape[-1]
    if not dense:
        per = 32 // bits
        items = np.concatenate([items, np.zeros((*items.shape[:-1], -count % per), items.dtype)], -1)
        items = items.reshape(*items.shape[:-1], -1, per).astype("u8")
        return np.sum(items << (np.arange(per, dtype="u8") * np.uint64(bits)), -1).astype("u4")
    stream = (items[..., None] >> np.arange(bits)) & 1
    stream = stream.reshape(*items.shape[:-1], -1)
    stream = np.concatenate([stream, np.zeros((*stream.shape[:-1], -stream.shape[-1] % 32), stream.dtype)], -1)
    stream = stream.reshape(*stream.shape[:-1], -1, 32).astype("u8")
    return np.sum(stream << np.arange(32, dtype="u8"), -1).astype("u4")


class Folder:
    """The tensors, the configuration and the expected weights of a layout."""

    def __init__(self, rng, seed):
        self.rng, self.random, self.most = rng, random.Random(seed), 300
        self.tensors, self.config, self.expected, self.metadata = {}, {}, {}, None

    def sides(self, multiple=1, wide=1):
        return self.random.randint(1, 9) * multiple, self.random.randint(1, 6) * wide

    def scales(self, shape, dtype="f4"):
        values = self.rng.standard_normal(shape).astype("f4") * np.float32(0.1)
        return values.astype(dtype)

    def bytes(self, shape):
        return self.rng.integers(0, 256, shape, "u1")

    def spread(self, values, block):
        for axis, side in enumerate(block):
            values = np.repeat(values, side, axis)
        return values

    def fp8(self, name, scale_name, block, scale_dtype, shape=None):
        m, n = shape or (self.random.randint(1, self.most), self.random.randint(1, 300))
        codes = self.bytes((m, n)).view(F8)
        grid = -(-m // block[0]), -(-n // block[1])
        scales = self.bytes(grid).view(E8) if scale_dtype is E8 else self.scales(grid, scale_dtype)
        self.tensors |= {f"{name}.weight": codes, f"{name}{scale_name}": scales}
        spread = self.spread(scales.astype("f4"), block)[:m, :n]
        self.expected[f"{name}.weight"] = codes.astype("f4") * spread


def fp8_block(f):
    f.config = {"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
    for n, dtype in enumerate(["f4", ml_dtypes.bfloat16, E8]):
        f.fp8(f"layers.{n}.up", ".weight_scale_inv", (128, 128), dtype)


def fp4(f, name, group, scales, suffixes, global_scale=None, divide=False):
    m, n = f.sides(wide=group)
    codes = f.rng.integers(0, 16, (m, n), "u1")
    values = FLOAT4[codes]
    stored = scales((m, n // group))
    used = stored.astype("f4")
    f.tensors[f"{name}{suffixes[0]}"] = nibbles(codes)
    f.tensors[f"{name}{suffixes[1]}"] = stored
    if global_scale is not None:
        f.tensors[f"{name}{suffixes[2]}"] = global_scale
        whole = global_scale.reshape(-1)[0]
        used = used / whole if divide else used * whole
    f.expected[f"{name}.weight"] = values * np.repeat(used, group, 1)


def nvfp4(f):
    f.config = {"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}}
    e4m3 = lambda shape: f.bytes(shape).view(F8)
    for n in range(2):
        fp4(f, f"l.{n}", 16, e4m3, (".weight", ".weight_scale", ".weight_scale_2"), np.float32(f.rng.random() + 0.01).reshape(()))
        f.tensors[f"l.{n}.input_scale"] = np.float32(0.5).reshape(())


def nvfp4_ct(f):
    f.config = {"quantization_config": {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"}}
    e4m3 = lambda shape: f.bytes(shape).view(F8)
    fp4(f, "l.0", 16, e4m3, (".weight_packed", ".weight_scale", ".weight_global_scale"), np.float32([f.rng.random() * 900 + 1]), True)


def mxfp4(f):
    f.config = {"quantization_config": {"quant_method": "mxfp4"}}
    e, r, g = f.random.randint(1, 3), f.random.randint(1, 7), f.random.randint(1, 4)
    codes = f.rng.integers(0, 16, (e, r, g, 32), "u1")
    scales = f.bytes((e, r, g))
    f.tensors |= {"mlp.experts.up_blocks": nibbles(codes), "mlp.experts.up_scales": scales}
    f.expected["mlp.experts.up"] = (FLOAT4[codes] * scales.view(E8).astype("f4")[..., None]).reshape(e, r, -1)


def pack_quantized(f):
    bits = f.random.choice([2, 3, 4, 5, 6, 7, 8])
    dense = f.random.choice([True, False])
    strategy = f.random.choice(["group", "channel"])
    m, n = f.sides(3, 32)
    group = 32 if strategy == "group" else n
    weights = {"num_bits": bits, "type": "int", "strategy": strategy, "group_size": 32 if strategy == "group" else None}
    f.config = {"quantization_config": {
        "quant_method": "compressed-tensors", "format": "pack-quantized", "version": "0.20.1" if dense else "0.12.0",
        "config_groups": {"group_0": {"weights": weights, "targets": ["Linear"]}}}}
    for name in ["a", "b"]:
        codes = f.rng.integers(0, 2**bits, (m, n), "u1")
        scales = f.scales((m, n // group), ml_dtypes.bfloat16)
        value = codes.astype("f4") - np.float32(2 ** (bits - 1))
        f.tensors[f"{name}.weight_packed"] = pack(codes, bits, dense).view("i4")
        f.tensors[f"{name}.weight_scale"] = scales
        f.tensors[f"{name}.weight_shape"] = np.array([m, n], "i8")
        if name == "b":
            zeros = f.rng.integers(0, 2**bits, (m, n // group), "u1")
            f.tensors[f"{name}.weight_zero_point"] = pack(zeros.T, bits, dense).T.view("i4")
            value = codes.astype("f4") - np.repeat(zeros.astype("f4"), group, 1)
        f.expected[f"{name}.weight"] = value * np.repeat(scales.astype("f4"), group, 1)


def plain(f, method, codes):
    m, n = f.sides(1, 4)
    f.config = {"quantization_config": {"quant_method": "compressed-tensors", "format": method, "config_groups": {
        "group_0": {"weights": {"num_bits": 8, "strategy": "channel"}}}}}
    for name, shape in [("one", (1,)), ("row", (m, 1)), ("scalar", ())]:
        values, scales = codes((m, n)), f.scales(shape)
        f.tensors |= {f"{name}.weight": values, f"{name}.weight_scale": scales}
        value = values.astype("f4")
        if name == "row" and method == "int-quantized":
            zeros = f.rng.integers(-9, 9, shape, "i1")
            f.tensors[f"{name}.weight_zero_point"] = zeros
            value = value - zeros.astype("f4")
        f.expected[f"{name}.weight"] = value * scales


def int_quantized(f):
    plain(f, "int-quantized", lambda shape: f.bytes(shape).view("i1"))


def float_quantized(f):
    plain(f, "float-quantized", lambda shape: f.bytes(shape).view(F8))


def mlx(f):
    bits = f.random.choice([2, 3, 4, 5, 6, 8])
    group = f.random.choice([32, 64])
    own = {"group_size": group, "bits": bits}
    f.config = {"quantization": own | {"head": {"group_size": 32, "bits": 8}, "norm": False}, "quantization_config": own}
    for name, bits, group, dtype in [("l.0", bits, group, "f2"), ("l.1", bits, group, ml_dtypes.bfloat16), ("head", 8, 32, "f4")]:
        m, n = f.sides(1, group)
        codes = f.rng.integers(0, 2**bits, (m, n), "u1")
        scales, biases = f.scales((m, n // group), dtype), f.scales((m, n // group), dtype)
        f.tensors |= {f"{name}.weight": pack(codes, bits, True), f"{name}.scales": scales, f"{name}.biases": biases}
        spread = lambda values: np.repeat(values.astype("f4"), group, 1)
        f.expected[f"{name}.weight"] = codes.astype("f4") * spread(scales) + spread(biases)


def mlx_modes(f):
    mode, bits, group = f.random.choice([("mxfp4", 4, 32), ("mxfp8", 8, 32), ("nvfp4", 4, 16)])
    f.config = {"quantization": {"group_size": group, "bits": bits, "mode": mode}}
    m, n = f.sides(1, 32)
    codes = f.rng.integers(0, 2**bits, (m, n), "u1")
    scales = f.bytes((m, n // group))
    f.tensors |= {"l.weight": pack(codes, bits, True), "l.scales": scales}
    values = FLOAT4[codes] if bits == 4 else codes.view(F8).astype("f4")
    f.expected["l.weight"] = values * np.repeat(scales.view(F8 if mode == "nvfp4" else E8).astype("f4"), group, 1)


def gptq(f, version=1):
    bits = f.random.choice([2, 3, 4, 8])
    group = f.random.choice([32, -1])
    k, n = f.random.randint(1, 4) * 32, f.random.randint(1, 4) * 32
    f.config = {"quantization_config": {"quant_method": "gptq", "bits": bits, "group_size": group,
                                        "checkpoint_format": ["gptq", "gptq_v2"][version - 1]}}
    size = k if group == -1 else group
    for name in ["q", "k"]:
        codes = f.rng.integers(0, 2**bits, (k, n), "u1")
        zeros = f.rng.integers(0, 2**bits, (k // size, n), "u1")
        scales = f.scales((k // size, n), "f2")
        places = np.arange(k) // size
        if name == "k":
            places = f.rng.permutation(places)
        f.tensors |= {
            f"{name}.qweight": pack(codes.T, bits, True).T.view("i4"), f"{name}.qzeros": pack(zeros, bits, True).view("i4"),
            f"{name}.scales": scales, f"{name}.g_idx": places.astype("i4")}
        zero = zeros.astype("f4") + np.float32(2 - version)
        f.expected[f"{name}.weight"] = ((codes.astype("f4") - zero[places]) * scales.astype("f4")[places]).T


def gptq_v2(f):
    gptq(f, 2)


def awq(f):
    group = f.random.choice([32, -1])
    k, n = f.random.randint(1, 4) * 32, f.random.randint(1, 9) * 8
    f.config = {"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": group, "version": "gemm"}}
    size = k if group == -1 else group
    codes, zeros = f.rng.integers(0, 16, (k, n), "u1"), f.rng.integers(0, 16, (k // size, n), "u1")
    scales = f.scales((k // size, n), "f2")
    order = [0, 2, 4, 6, 1, 3, 5, 7]  # the item at each place of a word
    shuffled = lambda items: items.reshape(len(items), -1, 8)[..., order].reshape(items.shape)
    f.tensors |= {"q.qweight": pack(shuffled(codes), 4, True).view("i4"), "q.qzeros": pack(shuffled(zeros), 4, True).view("i4"),
                  "q.scales": scales}
    spread = lambda values: np.repeat(values.astype("f4"), size, 0)
    f.expected["q.weight"] = ((codes.astype("f4") - spread(zeros)) * spread(scales)).T


def deepseek_fp4(f):
    f.config = {"expert_dtype": "fp4", "quantization_config": {
        "quant_method": "fp8", "scale_fmt": "ue8m0", "weight_block_size": [128, 128]}}
    fp4(f, "experts.0.w1", 32, lambda shape: f.bytes(shape).view(E8), (".weight", ".scale"))
    f.tensors["experts.0.w1.weight"] = f.tensors["experts.0.w1.weight"].view("i1")
    f.fp8("attn.wq", ".scale", (128, 128), E8)


def ct(f, method, weights, **more):
    groups = {"group_0": {"targets": f.random.choice([["Linear"], [r"re:^l\.\d+$"]]), "weights": weights}}
    f.config = {"quantization_config": {
        "quant_method": "compressed-tensors", "format": method, "version": "0.20.1", "config_groups": groups, **more}}


def fp8_scaled(f, name, suffix, shapes):
    m, n = f.random.randint(1, 9) * 8, f.random.randint(1, 9) * 8
    codes, shape = f.bytes((m, n)).view(F8), f.random.choice(shapes)(m, n)
    scales = f.scales(shape)
    f.tensors |= {f"{name}.weight": codes, f"{name}{suffix}": scales}
    grid = scales.reshape((1, 1) if shape in [(), (1,)] else (m, 1) if shape == (m,) else shape)
    spread = np.repeat(np.repeat(grid, m // grid.shape[0], 0), n // grid.shape[1], 1)
    f.expected[f"{name}.weight"] = codes.astype("f4") * spread


def fp8_static(f):
    f.config = {"quantization_config": {
        "quant_method": f.random.choice(["fp8", "fbgemm_fp8"]), "activation_scheme": "static", "ignored_layers": ["lm_head"]}}
    shapes = [lambda m, n: (), lambda m, n: (1,), lambda m, n: (m,), lambda m, n: (m, 1), lambda m, n: (m // 8, n // 8)]
    for name in ["l.0", "l.1"]:
        fp8_scaled(f, name, f.random.choice([".weight_scale", ".weight_scale_inv"]), shapes)
        f.tensors[f"{name}.input_scale"] = np.float32(0.5).reshape(())
    f.tensors["lm_head.weight"] = f.scales((3, 4))


def fused_fp8(f):
    block = f.random.choice([None, [4, 8]])
    f.config = {"quantization_config": {"quant_method": "fp8", "weight_block_size": block}}
    e, m, n = f.random.randint(1, 3), f.random.randint(1, 4) * 8, f.random.randint(5, 8) * 8
    for name in ["experts.gate_up_proj", "experts.down_proj"]:
        codes = f.bytes((e, m, n)).view(F8)
        high, wide = block or f.random.choice([(m, n), (4, 8), (1, n)])
        suffix = f.random.choice(["_scale_inv", "_weight_scale"])
        scales = f.scales((e, m // high, n // wide))
        f.tensors |= {name: codes, f"{name}{suffix}": scales}
        f.expected[name] = codes.astype("f4") * np.repeat(np.repeat(scales, high, 1), wide, 2)


def fused_nvfp4(f):
    f.config = {"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4", "exclude_modules": ["lm_head", "*norm"]}}
    e, m, n = f.random.randint(1, 3), f.random.randint(1, 3) * 16, f.random.randint(1, 3) * 16
    for name, axis in [("experts.gate_up_proj", 1), ("experts.down_proj", 2)]:
        codes, whole = f.rng.integers(0, 16, (e, m, n), "u1"), np.float32(f.rng.random() + 0.01).reshape(())
        scales = f.bytes((e, m // 16, n) if axis == 1 else (e, m, n // 16)).view(F8)
        stored = nibbles(codes) if axis == 2 else (codes[:, 0::2] | codes[:, 1::2] << 4).astype("u1")
        f.tensors |= {name: stored, f"{name}_weight_scale": scales, f"{name}_weight_scale_2": whole}
        f.expected[name] = FLOAT4[codes] * np.repeat(scales.astype("f4") * whole, 16, axis)


def ct_group(f):
    """pack-quantized with everything that its config can demand."""
    actorder, symmetric = f.random.choice([None, "group", "weight"]), f.random.choice([True, False])
    bits, group = f.random.choice([4, 8]), 16
    ct(f, "pack-quantized", {
        "num_bits": bits, "type": "int", "strategy": "group", "group_size": group, "symmetric": symmetric, "actorder": actorder},
       ignore=["lm_head", "re:.*norm.*"])
    m, n = f.random.randint(1, 4) * 8, f.random.randint(2, 4) * group
    for name in ["l.0", "l.1"]:
        codes, scales = f.rng.integers(0, 2**bits, (m, n), "u1"), f.scales((m, n // group))
        places, half = np.arange(n) // group, np.float32(2 ** (bits - 1))
        value = codes.astype("f4") - half
        if actorder == "group":
            places = f.rng.permutation(places)
            f.tensors[f"{name}.weight_g_idx"] = places.astype("i4")
        f.tensors |= {f"{name}.weight_packed": pack(codes, bits, True).view("i4"), f"{name}.weight_scale": scales,
                      f"{name}.weight_shape": np.array([m, n], "i8")}
        if not symmetric:
            zeros = f.rng.integers(0, 2**bits, (m, n // group), "u1")
            plain = f.random.choice([True, False])
            stored = (zeros.astype("i2") - int(half)).astype("i1") if plain else pack(zeros.T, bits, True).T.view("i4")
            f.tensors[f"{name}.weight_zero_point"] = stored
            value = codes.astype("f4") - zeros.astype("f4")[:, places]
        f.expected[f"{name}.weight"] = value * scales[:, places]


def ct_int(f):
    symmetric = f.random.choice([True, False])
    ct(f, f.random.choice(["int-quantized", "naive-quantized"]), {"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": symmetric})
    m, n = f.sides(1, 4)
    for name in ["l.0", "l.1"]:
        codes, scales = f.bytes((m, n)).view("i1"), f.scales((m, 1))
        f.tensors |= {f"{name}.weight": codes, f"{name}.weight_scale": scales}
        value = codes.astype("f4")
        if not symmetric:
            zeros = f.rng.integers(-9, 9, (m, 1), "i1")
            f.tensors[f"{name}.weight_zero_point"] = zeros
            value = value - zeros.astype("f4")
        f.expected[f"{name}.weight"] = value * scales


def gptq_act(f):
    gptq(f, f.random.choice([1, 2]))
    f.config["quantization_config"] |= {"desc_act": True, "sym": False, "dynamic": {"-:.*lm_head.*": {}}}


def gptq_dynamic(f):
    f.config = {"quantization_config": {
        "quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False, "checkpoint_format": "gptq",
        "dynamic": {"+:^b$": {"bits": 8}, "-:.*lm_head.*": {}}}}
    for name, bits in [("a", 4), ("b", 8)]:
        k, n = f.random.randint(2, 4) * 32, f.random.randint(1, 3) * 32
        codes, zeros = f.rng.integers(0, 2**bits, (k, n), "u1"), f.rng.integers(0, 2**bits, (k // 32, n), "u1")
        scales, places = f.scales((k // 32, n), "f2"), np.arange(k) // 32
        f.tensors |= {f"{name}.qweight": pack(codes.T, bits, True).T.view("i4"),
                      f"{name}.qzeros": pack(zeros, bits, True).view("i4"), f"{name}.scales": scales}
        f.expected[f"{name}.weight"] = ((codes.astype("f4") - (zeros.astype("f4") + 1)[places]) * scales.astype("f4")[places]).T
    f.tensors["lm_head.weight"] = f.scales((3, 4))


def other_file(make, name, words):
    """The numbers in a file of their own, in the words of the program that writes it."""
    def made(f):
        make(f)
        own = f.config["quantization_config"]
        own.pop("quant_method")
        f.config = {name: {words.get(key, key): value for key, value in own.items()}, "config.json": {"model_type": "llama"}}
    return made


def auto_round(f):
    gptq(f, 2)
    f.config["quantization_config"] |= {"quant_method": "auto-round", "packing_format": "auto_round:gptqmodel"}
    f.config["quantization_config"].pop("checkpoint_format")


def text(value):
    """A JSON value, or a text, as a tensor of bytes."""
    return np.frombuffer((value if isinstance(value, str) else json.dumps(value)).encode(), "u1")


def high_first(items):
    return (items[..., 0::2] << 4 | items[..., 1::2]).astype("u1")


def bitsandbytes_4bit(f, name, kind, nested, storage="u1"):
    shape = [f.random.randint(1, 9), f.random.randint(1, 60) * 2]
    if storage != "u1":
        shape[1] *= 4
    count, block, outer = int(np.prod(shape)), f.random.choice([32, 64, 128]), f.random.choice([4, 256])
    codes = f.rng.integers(0, 16, count, "u1")
    book = np.sort(f.scales(16))
    blocks = -(-count // block)
    state = {"quant_type": kind, "blocksize": block, "dtype": "bfloat16", "shape": shape}
    if nested:
        inner = f.bytes(blocks)
        outer_scales, outer_book, offset = f.scales(-(-blocks // outer)), f.scales(256), float(f.scales(()))
        state |= {"nested_blocksize": outer, "nested_dtype": "float32", "nested_offset": offset}
        f.tensors |= {f"{name}.weight.nested_absmax": outer_scales, f"{name}.weight.nested_quant_map": outer_book}
        absmax = outer_book[inner] * np.repeat(outer_scales, outer)[:blocks] + np.float32(offset)
    else:
        inner = absmax = f.scales(blocks)
    f.tensors |= {f"{name}.weight": high_first(codes)[:, None].reshape(-1, 1 if storage == "u1" else 2).view(storage).reshape(-1, 1), f"{name}.weight.absmax": inner,
                  f"{name}.weight.quant_map": book, f"{name}.weight.quant_state.bitsandbytes__{kind}": text(state)}
    f.expected[f"{name}.weight"] = (book[codes] * np.repeat(absmax, block)[:count]).reshape(shape)


def bnb_nf4(f):
    f.config = f.random.choice([{"model_type": "x"}, {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}])
    bitsandbytes_4bit(f, "l.0", "nf4", False)
    bitsandbytes_4bit(f, "l.1", "nf4", True)
    bitsandbytes_4bit(f, "l.2", "nf4", False, ml_dtypes.bfloat16)


def bnb_fp4(f):
    f.config = {"quantization_config": {"load_in_4bit": True, "bnb_4bit_quant_type": "fp4"}}
    bitsandbytes_4bit(f, "l.0", "fp4", f.random.choice([True, False]))


def bnb_int8(f):
    f.config = f.random.choice([{"model_type": "x"}, {"quantization_config": {"load_in_8bit": True}}])
    for name in ["l.0", "l.1"]:
        m, n = f.sides(1, 7)
        codes, scales = f.bytes((m, n)).view("i1"), f.scales(m)
        f.tensors |= {f"{name}.weight": codes, f"{name}.SCB": scales}
        if name == "l.0":
            f.tensors["l.0.weight_format"] = np.uint8(0).reshape(())
        f.expected[f"{name}.weight"] = (codes.astype("f4") * scales[:, None]) * np.float32(0.007874015718698502)


def comfy_old(f):
    f.config, dtype = {"model_type": "x"}, f.random.choice([F8, F52])
    shapes = [lambda m, n: (), lambda m, n: (m, 1), lambda m, n: (m, n // 8, 1)]
    for name in ["model.l.0", "model.l.1"]:
        m, n = f.random.randint(1, 9) * 8, f.random.randint(1, 9) * 8
        codes, shape = f.bytes((m, n)).view(dtype), f.random.choice(shapes)(m, n)
        scales = f.scales(shape)
        f.tensors |= {f"{name}.weight": codes, f"{name}.scale_weight": scales, f"{name}.scale_input": np.float32(1).reshape(())}
        grid = scales.reshape(shape[:2]) if shape else scales
        f.expected[f"{name}.weight"] = codes.astype("f4") * (np.repeat(grid, n // grid.shape[1], 1) if shape else grid)
    f.tensors["model.scaled_fp8"] = np.zeros(2, F8)


def tiles(scales):
    """Scales in the order that cuBLAS reads: 128 rows and 4 columns, padded."""
    m, n = scales.shape
    rows, cols = np.indices((m, n))
    stored = np.zeros(-(-m // 128) * -(-n // 4) * 512, "u1")
    stored[((rows // 128) * -(-n // 4) + cols // 4) * 512 + rows % 32 * 16 + rows % 128 // 32 * 4 + cols % 4] = scales
    return stored.reshape(-(-m // 128) * 128, -1)


def comfy(f):
    f.config, layers, place = {"model_type": "x"}, {}, f.random.choice(["header", "tensors"])
    formats = ["float8_e4m3fn", "float8_e5m2", "int8_tensorwise", "nvfp4", "mxfp8"]
    for number, format in enumerate(formats):
        name = f"model.diffusion_model.l.{number}"
        layers[name if number % 2 else f"l.{number}"] = {"format": format}
        if place == "tensors":
            f.tensors[f"{name}.comfy_quant"] = text({"format": format})
        m, n = f.random.randint(1, min(f.most, 20)) * 16, f.random.randint(1, min(f.most, 9)) * 32
        scales = f.scales(()) if format != "int8_tensorwise" else f.scales(f.random.choice([(), (m, 1)]))
        spread = scales
        if format == "nvfp4":
            codes = f.rng.integers(0, 16, (m, n), "u1")
            stored, values, whole = high_first(codes), FLOAT4[codes], f.scales(())
            plain = f.bytes((m, n // 16))
            scales = tiles(plain).view(f.random.choice([F8, np.uint8]))
            f.tensors[f"{name}.weight_scale_2"] = whole
            spread = np.repeat(whole * plain.view(F8).astype("f4"), 16, 1)
        elif format == "mxfp8":
            stored = f.bytes((m, n)).view(F8)
            values, plain = stored.astype("f4"), f.bytes((m, n // 32))
            scales, spread = tiles(plain).view(f.random.choice([E8, np.uint8])), np.repeat(plain.view(E8).astype("f4"), 32, 1)
        else:
            stored = f.bytes((m, n)).view({"float8_e4m3fn": F8, "float8_e5m2": F52}.get(format, "i1"))
            values = stored.astype("f4")
        f.tensors |= {f"{name}.weight": stored, f"{name}.weight_scale": scales}
        f.expected[f"{name}.weight"] = values * spread
    if place == "header":
        f.metadata = {"_quantization_metadata": json.dumps({"format_version": "1.0", "layers": layers})}


def e8m0(f, shape):
    return f.bytes(shape).view(f.random.choice([E8, np.uint8]))


def mx_weight(f, name, bits):
    m, n = f.sides(wide=32)
    codes, scales = f.rng.integers(0, 2**bits, (m, n), "u1"), e8m0(f, (m, n // 32))
    spread = np.repeat(scales.view(E8).astype("f4"), 32, 1)
    if bits == 8:
        stored, values = codes.view(F8), codes.view(F8).astype("f4")
    elif bits == 4:
        stored, values = nibbles(codes), FLOAT4[codes]
    else:
        stored, values = pack(codes, 6, True).view("u1"), codes.view(F6).astype("f4")
    f.tensors |= {f"{name}.weight{'' if bits == 8 else '_packed'}": stored, f"{name}.weight_scale": scales}
    f.expected[f"{name}.weight"] = values * spread


def ct_mx(bits, method):
    def made(f):
        ct(f, method, {"num_bits": bits, "type": "float", "strategy": "group", "group_size": 32, "scale_dtype": "torch.uint8"})
        for name in ["l.0", "l.1"]:
            mx_weight(f, name, bits)
    return made


def ct_mixed(f):
    weights = lambda bits: {"num_bits": bits, "type": "float", "strategy": "group", "group_size": 32}
    f.config = {"quantization_config": {"quant_method": "compressed-tensors", "format": "mixed-precision", "config_groups": {
        "group_0": {"format": "mxfp8-quantized", "weights": weights(8), "targets": ["re:.*a$"]},
        "group_1": {"format": "mxfp4-pack-quantized", "weights": weights(4), "targets": ["re:.*b$"]}}}}
    mx_weight(f, "l.a", 8)
    mx_weight(f, "l.b", 4)


def mxfp8(f):
    method = f.random.choice(["mxfp8", "fp8"])
    f.config = {"quantization_config": {"quant_method": method} | ({"scale_fmt": "ue8m0", "weight_block_size": [1, 32]} if method == "fp8" else {})}
    mx_weight(f, "l.0", 8)
    f.tensors["l.0.weight_scale_inv"] = f.tensors.pop("l.0.weight_scale")


def fused_fbgemm(f):
    f.config = {"quantization_config": {"quant_method": "fbgemm_fp8"}}
    e, m, n = f.random.randint(1, 3), f.random.randint(1, 4) * 8, f.random.randint(5, 8) * 8
    for name, shape, stored in [("experts.gate_up_proj", (e, 1, n), (e, 1, n)), ("experts.down_proj", (e, 1, n), (e, n, 1))]:
        codes, scales = f.bytes((e, m, n)).view(F8), f.scales(shape)
        f.tensors |= {name: codes, f"{name}_scale": scales.reshape(stored)}
        f.expected[name] = codes.astype("f4") * scales


def metal(f):
    bits, group = f.random.choice([2, 4, 8]), f.random.choice([32, 64])
    f.config = {"quantization_config": {"quant_method": "metal", "bits": bits, "group_size": group, "modules_to_not_convert": ["lm_head"]}}
    m, n = f.sides(1, group)
    codes, scales, biases = f.rng.integers(0, 2**bits, (m, n), "u1"), f.scales((m, n // group)), f.scales((m, n // group))
    f.tensors |= {"l.weight": pack(codes, bits, True), "l.scales": scales, "l.qbiases": biases}
    f.expected["l.weight"] = codes.astype("f4") * np.repeat(scales, group, 1) + np.repeat(biases, group, 1)


def bitnet(f):
    f.config = {"quantization_config": {"quant_method": "bitnet", "modules_to_not_convert": ["lm_head"]}}
    m, n = f.sides(1, 5)
    codes, scale = f.rng.integers(0, 4, (4, m, n), "u1"), f.scales(1, ml_dtypes.bfloat16)
    f.tensors |= {"l.weight": (codes[0] | codes[1] << 2 | codes[2] << 4 | codes[3] << 6).astype("u1"), "l.weight_scale": scale}
    f.expected["l.weight"] = (codes.reshape(4 * m, n).astype("f4") - 1) / scale.astype("f4")


def gemma(f):
    f.config = {"quantization_config": {"quant_method": "gemma", "num_bits": 4, "quantize_embeddings": True,
                                        "module_quant_configs": {r"mlp\.up": {"num_bits": 2}, r"^embed": {"num_bits": 8}}}}
    for name, bits, (codes_name, scales_name), blocks in [
            ("l.0.q_proj", 4, (".weight", ".weight_scale"), 1), ("l.0.mlp.up", 2, (".weight", ".weight_scale"), 1),
            ("embed", 8, (".embedding_quantized", ".embedding_scale"), 2)]:
        m, n = f.sides(1, 8)
        codes, scales = f.rng.integers(0, 2**bits, (m, n), "u1"), f.scales((m, blocks))
        half = 0 if bits == 8 else 2 ** (bits - 1)
        stored = {8: codes.view("i1"), 4: nibbles(codes), 2: np.bitwise_or.reduce([codes[:, k::4] << 2 * k for k in range(4)])}[bits]
        values = codes.view("i1").astype("f4") if bits == 8 else codes.astype("f4") - half
        f.tensors |= {f"{name}{codes_name}": stored.astype(stored.dtype), f"{name}{scales_name}": scales, f"{name}.input_activation_scale": f.scales(())}
        f.expected[f"{name}.weight"] = values * np.repeat(scales, n // blocks, 1)


def awq_columns(f):
    f.config = {"quantization_config": {"quant_method": "modelopt", "quant_algo": "W4A16_AWQ", "group_size": 16}}
    m, n = f.sides(2, 16)
    codes, scales = f.rng.integers(0, 16, (m, n), "u1"), f.scales((m, n // 16))
    values = codes.view(ml_dtypes.int4).astype("f4") * np.repeat(scales, 16, 1)
    f.tensors |= {"l.weight": (codes[0::2] | codes[1::2] << 4).astype("u1"), "l.weight_scale": scales}
    if f.random.choice([True, False]):
        f.tensors["l.pre_quant_scale"] = f.scales(n, ml_dtypes.bfloat16)
        values = values * f.tensors["l.pre_quant_scale"].astype("f4")
    f.expected["l.weight"] = values


def nvfp4_awq(f):
    nvfp4(f)
    f.config["quantization_config"]["quant_algo"] = "NVFP4_AWQ"
    value = f.expected["l.0.weight"]
    f.tensors["l.0.pre_quant_scale"] = f.scales(value.shape[1])
    f.expected["l.0.weight"] = value * f.tensors["l.0.pre_quant_scale"]


def hqq(f):
    f.config = {"quantization_config": {"quant_method": "hqq"}}
    packings = {8: ("8bit_u8", 1, 8), 4: ("4bit_u8", 2, 8), 3: ("3bit_32", 10, 32), 2: ("2bit_u8", 4, 8), 1: ("1bit_u8", 8, 8)}
    for name in ["l.0", "l.1"]:
        bits, axis, group = f.random.choice(list(packings)), f.random.choice([0, 1]), f.random.choice([8, 16])
        packing, planes, _ = packings[bits]
        shape = [f.random.randint(1, 9) * 8, 16]
        count = int(np.prod(shape)) // group
        rows, cols = (count, group) if axis == 1 else (group, count)
        codes = f.rng.integers(0, 2**bits, (rows, cols), "u4")
        zeros, scales = f.scales((count, 1) if axis == 1 else (1, count), "f2"), f.scales((count, 1) if axis == 1 else (1, count), "f2")
        padded = np.concatenate([codes, np.zeros((-rows % planes, cols), "u4")])
        step = len(padded) // planes
        stored = np.bitwise_or.reduce([padded[k * step:(k + 1) * step] << np.uint32(bits * (planes - 1 - k)) for k in range(planes)])
        scalar = lambda value: np.array([value], "i8")
        f.tensors |= {f"{name}.W_q": stored.view("i4") if bits == 3 else stored.astype("u1"), f"{name}.scale": scales, f"{name}.zero": zeros,
                      f"{name}.nbits": scalar(bits), f"{name}.group_size": scalar(group), f"{name}.axis": scalar(axis),
                      f"{name}.packing": text(packing), f"{name}.shape": np.array(shape, "i8")}
        f.tensors |= {f"{name}.compute_dtype": text("torch.float16"), f"{name}.optimize": np.array([1], "u1"), f"{name}.round_zero": np.array([1], "u1")}
        f.expected[f"{name}.weight"] = ((codes.astype("f4") - zeros.astype("f4")) * scales.astype("f4")).reshape(shape)


def torchao(f):
    f.config = f.random.choice([{"model_type": "x"}, {"quantization_config": {"quant_method": "torchao"}}])
    f.metadata = {"tensor_names": json.dumps(["0.weight", "1.weight", "2.0.weight", "0.bias"]), "0.bias": json.dumps({"_type": "Tensor"})}
    for name, kind in [("0", "Float8Tensor"), ("1", "Int8Tensor"), ("2.0", "IntxUnpackedToInt8Tensor")]:
        m, n = f.sides(2, 8)
        block = f.random.choice([[1, n], [m, n], [1, 8], [2, 8]])
        codes = f.bytes((m, n)).view(F8 if kind == "Float8Tensor" else "i1")
        grid = m // block[0], n // block[1]
        scales, values = f.scales(grid), codes.astype("f4")
        spread = lambda numbers: np.repeat(np.repeat(numbers, block[0], 0), block[1], 1)
        f.tensors |= {f"{name}._weight_qdata": codes, f"{name}._weight_scale": scales}
        if kind.startswith("Intx"):
            zeros = f.rng.integers(-9, 9, grid, "i1")
            f.tensors[f"{name}._weight_zero_point"] = zeros
            values = values - spread(zeros.astype("f4"))
        f.metadata[f"{name}.weight"] = json.dumps({"_type": kind, "_data": {"block_size": block}, "_tensor_data_names": ["qdata", "scale"]})
        f.expected[f"{name}.weight"] = values * spread(scales)
    f.tensors["0.bias"] = f.scales(3)


LAYOUTS = {
    "fp8-block": fp8_block, "nvfp4": nvfp4, "nvfp4-ct": nvfp4_ct, "mxfp4": mxfp4, "pack-quantized": pack_quantized,
    "int-quantized": int_quantized, "float-quantized": float_quantized, "mlx": mlx, "mlx-modes": mlx_modes, "gptq": gptq,
    "gptq-v2": gptq_v2, "awq": awq, "deepseek-fp4": deepseek_fp4,
    # the same in other words, and what configs state of parts and modules
    "fp8-static": fp8_static, "fused-fp8": fused_fp8, "fused-nvfp4": fused_nvfp4, "ct-group": ct_group, "ct-int": ct_int,
    "gptq-act": gptq_act, "gptq-dynamic": gptq_dynamic, "auto-round": auto_round,
    "gptq-file": other_file(gptq, "quantize_config.json", {}),
    "bnb-nf4": bnb_nf4, "bnb-fp4": bnb_fp4, "bnb-int8": bnb_int8, "comfy-old": comfy_old, "comfy": comfy,
    "mxfp4-ct": ct_mx(4, "mxfp4-pack-quantized"), "mxfp6": ct_mx(6, "mxfp6-pack-quantized"), "mxfp8": ct_mx(8, "mxfp8-quantized"),
    "ct-mixed": ct_mixed, "mxfp8-inv": mxfp8, "fused-fbgemm": fused_fbgemm, "metal": metal, "bitnet": bitnet, "gemma": gemma,
    "w4a16-awq": awq_columns, "nvfp4-awq": nvfp4_awq, "hqq": hqq, "torchao": torchao,
    "awq-file": other_file(awq, "quant_config.json", {"bits": "w_bit", "group_size": "q_group_size"}),
}


# the first are those that `--dequantize=` names
NAMED = list(LAYOUTS)[:13]


def make(layout, seed, most=300):
    folder = Folder(np.random.default_rng(seed), seed)
    folder.most = most
    folder.tensors["norm.weight"] = np.arange(4, dtype="f4").astype(ml_dtypes.bfloat16)
    with np.errstate(all="ignore"):
        LAYOUTS[layout](folder)
    return folder


def write(folder, path):
    path.mkdir(parents=True, exist_ok=True)
    files = folder.config if "config.json" in folder.config else {"config.json": folder.config}
    for name, config in files.items():
        (path / name).write_text(json.dumps(config, indent=1) + "\n")
    write_safetensors(path / "model.safetensors", folder.tensors, folder.metadata)


def read(path):
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    types = {short: name for name, short in NAMES.items()}
    result = {}
    for name, entry in header.items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            dtype = np.dtype(getattr(ml_dtypes, types[entry["dtype"]], types[entry["dtype"]]))
            result[name] = np.frombuffer(data[8 + length + first:8 + length + last], dtype).reshape(entry["shape"])
    return result


def same(one, other):
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    nan = np.isnan(one)
    return bool(np.all(nan == np.isnan(other)) and np.all((one.view("u4") == other.view("u4")) | nan))


def check(program, count):
    wrong = 0
    for layout in LAYOUTS:
        for seed in range(count):
            folder = make(layout, seed)
            with tempfile.TemporaryDirectory() as name:
                path = pathlib.Path(name)
                write(folder, path / "m")
                run = subprocess.run([program, "convert", "m", "--dequantize", "-o", "out.safetensors"], cwd=path,
                                     capture_output=True, text=True)
                found = read(path / "out.safetensors") if run.returncode == 0 else {}
                for key, value in folder.expected.items():
                    if key not in found or not same(found[key], np.ascontiguousarray(value)):
                        wrong += 1
                        print(layout, seed, key, run.stderr.strip(), value.shape)
                others = [key for key in found if key not in folder.expected]
                if run.returncode == 0 and any(key.endswith(("_scale", "_packed", "qweight", "_blocks")) and "input" not in key for key in others):
                    print(layout, seed, "parts are left", others)
                    wrong += 1
    print(f"{len(LAYOUTS) * count} folders, {wrong} wrong")
    return wrong


def mixed(program):
    """A layout read as another is an error, or the same numbers."""
    wrong = 0
    for layout in LAYOUTS:
        folder = make(layout, 1)
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name)
            write(folder, path / "m")
            (path / "n").mkdir()
            (path / "n" / "model.safetensors").write_bytes((path / "m" / "model.safetensors").read_bytes())
            for place in ["m", "n"]:
                for other in LAYOUTS:
                    out = path / "out.safetensors"
                    out.unlink(missing_ok=True)
                    if other not in NAMED:
                        continue
                    asked = "--dequantize=" + other.removesuffix("-modes")
                    run = subprocess.run([program, "convert", place, asked, "-o", out], cwd=path, capture_output=True, text=True)
                    found = read(out) if run.returncode == 0 else {}
                    for key, value in found.items():
                        if key in folder.expected and value.dtype == np.float32 and not same(value, np.ascontiguousarray(folder.expected[key])):
                            wrong += 1
                            print(layout, "read as", other, place, key, "has other numbers")
    print(f"{wrong} wrong")
    return wrong


def with_mlx(count):
    """MLX computes `code * scale + bias` in one step or two, so a rounding may differ."""
    import mlx.core as mx
    wrong, weights = 0, 0
    for layout in ["mlx", "mlx-modes", "metal"]:
        for seed in range(count):
            folder = make(layout, seed)
            own = folder.config.get("quantization") or folder.config["quantization_config"]
            for name, value in folder.expected.items():
                base = name.removesuffix(".weight")
                numbers = own.get(base, own) if isinstance(own.get(base), dict) else own
                part = lambda ending: folder.tensors.get(f"{base}.{ending}")
                wide = lambda value: value if value.dtype == np.uint8 else value.astype("f4")
                biases = part("biases") if part("biases") is not None else part("qbiases")
                biases = {} if biases is None else {"biases": mx.array(wide(biases))}
                found = mx.dequantize(mx.array(part("weight")), mx.array(wide(part("scales"))), **biases, group_size=numbers["group_size"],
                                      bits=numbers["bits"], mode=numbers.get("mode", "affine"))
                found, weights = np.array(found.astype(mx.float32)), weights + 1
                with np.errstate(all="ignore"):
                    bound = np.maximum(np.abs(value), 1e-36) * 2.0**-7 if biases == {} else np.maximum(np.abs(value), 0.1) * 2.0**-20
                    is_close = (np.abs(found - value) <= bound) | (np.isnan(found) & np.isnan(value)) | (found == value) | ~np.isfinite(value)
                if found.shape != value.shape or not np.all(is_close):
                    wrong += 1
                    print(layout, seed, name, found.shape, value.shape, np.argwhere(~is_close)[:3].tolist())
    print(f"{weights} weights of mlx, {wrong} wrong")
    return wrong


def golden():
    for layout in LAYOUTS:
        # of these only some seeds have every part
        folder = make(layout, {"ct-group": 9, "ct-int": 9}.get(layout, 3), most=2 if layout == "comfy" else 5)
        write(folder, GOLDEN / layout)
        kept = {key: value for key, value in folder.tensors.items() if key.endswith(("norm.weight", "lm_head.weight", "input_scale", ".bias"))}
        expected = kept | {key: np.ascontiguousarray(value) for key, value in folder.expected.items()}
        write_safetensors(GOLDEN / f"{layout}.safetensors", expected)


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "golden":
        golden()
    elif command == "check":
        sys.exit(check(str(pathlib.Path(rest[0]).absolute()), int(rest[1]) if len(rest) > 1 else 20) > 0)
    elif command == "mlx":
        sys.exit(with_mlx(int(rest[0]) if rest else 20) > 0)
    elif command == "mixed":
        sys.exit(mixed(str(pathlib.Path(rest[0]).absolute())) > 0)
