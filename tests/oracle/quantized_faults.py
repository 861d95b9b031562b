"""Quantised checkpoints in which one thing is wrong: a part, a key of the config or a file is missing, renamed or changed.

    python tests/oracle/quantized_faults.py PROGRAM [COUNT]

`PROGRAM convert --dequantize` must end with status 2 and a message that names the weight or the file, or write the right
numbers. The right numbers are those of the formulas in quantized.py, of the folder before the change; a changed config that
describes another checkpoint of the same shapes is not drawn. Prints how many folders were right.
"""

import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

import quantized as q

F8, E8, LAYOUTS = q.F8, q.E8, q.LAYOUTS

# what another program may write beside the tensors, none of which is read
FOREIGN = [
    ({"quant_method": "torchao", "quant_type": "int4"}, {"l.weight": "f4"}),
    ({"quant_method": "exl3"}, {"l.trellis": "i4", "l.suh": "f2"}),
    ({"quant_method": "aqlm"}, {"l.codes": "i1", "l.codebooks": "f2"}),
    ({"quant_method": "gptq", "checkpoint_format": "bitblas", "bits": 4}, {"l.qweight": "i1", "l.scales": "f2"}),
    (None, {"l.trellis": "i4", "l.suh": "f2"}),
    ({"quant_method": "compressed-tensors", "format": "marlin-24", "config_groups": {}}, {"l.weight_packed": "i4", "l.scale_packed": "f4"}),
    ({"quant_method": "compressed-tensors", "format": "pack-quantized", "sparsity_config": {"format": "sparse-bitmask"}}, {"l.compressed": "f4"}),
    ({"quant_method": "awq", "version": "gemv"}, {"l.qweight": "i4", "l.qzeros": "i4", "l.scales": "f2"}),
    ({"quant_method": "gptq", "checkpoint_format": "marlin", "bits": 4}, {"l.B": "i4", "l.s": "f2"}),
    ({"quant_method": "quanto"}, {"l.weight._data": "i1", "l.weight._scale": "f4"}),
]


def keys(value, path=()):
    """The paths of all keys of a config."""
    for key, inner in value.items() if isinstance(value, dict) else []:
        yield path + (key,)
        yield from keys(inner, path + (key,))


def at(config, path):
    for key in path:
        config = config[key]
    return config


# a changed value of these describes another checkpoint, or changes no number
FREE = {"checkpoint_format", "desc_act", "sym", "symmetric", "actorder", "version", "type", "strategy", "ignore", "ignored_layers",
        "exclude_modules", "activation_scheme", "scale_fmt", "model_type", "targets", "zero_point", "dynamic"}


def other_value(value, random):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return random.choice([value * 2, value + 1, max(value // 2, 1)])
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, list) and value and isinstance(value[0], int):
        return [side * 2 for side in value]
    return None


def is_same_shape(layout, f, name, old, new):
    """Whether a number fits the shapes as the old one does, so that the config describes another checkpoint."""
    if name in ("bits", "num_bits", "w_bit"):
        if not 1 <= new <= 8:
            return False
        if layout == "gemma":
            return True
        packed = [t for key, t in f.tensors.items() if key.endswith(("weight_packed",))]
        shapes = [t for key, t in f.tensors.items() if key.endswith("weight_shape")]
        words = lambda n, bits: {-(-n * bits // 32), -(-n // (32 // bits))}
        return any(p.shape[1] in words(int(s[1]), new) for p, s in zip(packed, shapes))
    if name in ("group_size", "q_group_size", "weight_block_size"):
        sides = [new] if isinstance(new, int) else new
        lasts = [value.shape for value in f.expected.values()]
        olds = [old] if isinstance(old, int) else old
        count = lambda n, side: 1 if side < 1 else -(-n // side)
        # the same number of groups: the same numbers, or others that the shapes cannot tell
        return any(any(count(shape[-1 - i], a) == count(shape[-1 - i], b) for i, (a, b) in enumerate(zip(sides[::-1], olds[::-1])))
                   for shape in lasts)
    return False


def parts_of(f):
    """The tensors that weights are made of, and the weight of each."""
    bases = {name: name.removesuffix(".weight") for name in f.expected}
    for name in f.tensors:
        if name.endswith("input_scale"):
            continue
        owners = [weight for weight, base in bases.items() if name == base or name.startswith((base + ".", base + "_"))]
        if owners:
            yield name, max(owners, key=len)


def change(layout, f, random):
    """Changes one thing. Returns what, and words of which a message must have one."""
    kind = random.choice(["drop", "rename", "shape", "dtype", "drop key", "rename key", "change key", "file", "shard"])
    parts = dict(parts_of(f))
    config = f.config
    if kind in ("drop", "rename", "shape", "dtype"):
        name = random.choice(sorted(parts))
        value = f.tensors[name]
        owner = parts[name].removesuffix(".weight")
        others = {key: tensor for key, tensor in f.tensors.items() if key != name}
        if kind == "rename":
            others[name + random.choice(["x", ".old", "2"])] = value
        elif kind == "shape":
            # blocks that are not stated are those that divide the weight
            is_free = layout in ("fp8-static", "fused-fp8", "comfy-old", "gemma") and "scale" in name
            if value.ndim == 0 or value.shape[-1] < 2 or is_free:
                return None
            others[name] = value[..., :-1]
        elif kind == "dtype":
            if value.dtype.itemsize == 4 and value.dtype.kind == "f" or value.dtype == ml_dtypes.bfloat16 or value.dtype == np.float16:
                return None
            if name.endswith("g_idx"):
                return None
            others[name] = np.zeros(value.shape, "i8")
        if kind in ("drop", "rename") and name.endswith(("pre_quant_scale", "weight_format", "compute_dtype", "optimize", "round_zero")):
            return None  # a weight may lack them
        optional = name.endswith(("g_idx", "zero_point")) and not name.startswith("2.0._weight")
        if kind in ("drop", "rename") and optional and layout in ("gptq", "gptq-v2", "pack-quantized", "int-quantized", "gptq-file", "auto-round"):
            return None  # nothing states that there is such a part
        f.tensors = others
        return f"{kind} {name}", [owner]
    if kind in ("drop key", "rename key", "change key"):
        path = random.choice(sorted(keys(config)))
        holder, key = at(config, path[:-1]), path[-1]
        if layout == "gemma" and "module_quant_configs" in path:
            return None  # the shape is not stored, so other bits are another weight
        value = holder[key]
        if kind == "change key":
            new = other_value(value, random)
            if new is None or key in FREE or is_same_shape(layout, f, key, value, new):
                return None
            holder[key] = new
        else:
            if key in ("checkpoint_format",) and layout != "gptq":
                return None  # version 1 is what is taken and said
            if key in FREE - {"checkpoint_format", "ignore"} or key in ("weights", "config_groups", "group_0") and layout in ("ct-int", "ct-group"):
                return None  # with it goes the demand
            del holder[key]
            if kind == "rename key":
                holder[key + "_"] = value
        return f"{kind} {'.'.join(path)}", sorted(set(parts.values())) + [".json", "quantis", "layout"] + list(parts)
    return kind, [name.removesuffix(".weight") for name in f.expected] + [".json", "layout"]


def run(program, path, args):
    return subprocess.run([program, *args], cwd=path, capture_output=True, text=True)


def judge(program, path, f, words, operand):
    out = path / "out.safetensors"
    done = run(program, path, ["convert", operand, "--dequantize", "-o", "out.safetensors"])
    if done.returncode == 2:
        if out.exists():
            return "status 2, and an output"
        return None if any(word.removesuffix(".weight") in done.stderr for word in words) else "names nothing: " + done.stderr.strip()
    if done.returncode != 0:
        return f"status {done.returncode}: {done.stderr.strip()}"
    found = q.read(out)
    names = found.keys() & f.expected.keys()
    # codes of a column less, whose last block still has its scale, are another weight
    is_right = lambda one, expected: any(q.same(one, np.ascontiguousarray(part)) for part in [expected, expected[..., :-1]])
    wrong = [key for key, value in found.items() if key in f.expected and not is_right(value, f.expected[key])]
    codes = [key for key, value in found.items() if value.dtype in (F8, E8, np.uint8, np.int8, np.int32, np.uint32)]
    if wrong or codes or not names:
        return f"status 0: wrong {wrong}, codes {codes}: {done.stderr.strip()}"
    return None


def write(f, path):
    q.write(f, path / "m")
    return path / "m"


def one(program, seed):
    chance = random.Random(seed)
    layout = chance.choice(sorted(LAYOUTS))
    while True:
        f = q.Folder(np.random.default_rng(seed), seed)
        f.most = 40
        f.tensors["norm.weight"] = np.arange(4, dtype="f4").astype(ml_dtypes.bfloat16)
        with np.errstate(all="ignore"):
            LAYOUTS[layout](f)
        f.config = copy.deepcopy(f.config)
        changed = change(layout, f, chance)
        if changed:
            break
    what, words = changed
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name)
        folder, operand = write(f, path), "m"
        if what == "file":
            stated = [file for file in folder.glob("*.json") if "model_type" not in file.read_text()]
            target = chance.choice([None, "config.txt", "cut"])
            for file in stated:
                if target == "cut":
                    file.write_text(file.read_text()[:-9])
                elif target:
                    file.rename(folder / target)
                else:
                    file.unlink()
        elif what == "shard":
            # one shard of two on its own
            tensors = list(f.tensors.items())
            cut = chance.randrange(1, len(tensors))
            q.write_safetensors(folder / "model.safetensors", dict(chance.choice([tensors[:cut], tensors[cut:]])))
            operand = "m/model.safetensors"
            whole = q.read(folder / "model.safetensors").keys()
            f.expected = {key: value for key, value in f.expected.items()
                          if all(part in whole for part, owner in parts_of(f) if owner == key)} or f.expected
            words = words + ["--dequantize"]
        wrong = judge(program, path, f, words, operand)
        if wrong:
            print(f"{seed} {layout}, {what}: {wrong}")
        return wrong is None


def foreign(program):
    wrong = 0
    for config, tensors in FOREIGN:
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name)
            f = q.Folder(np.random.default_rng(1), 1)
            f.config = {"quantization_config": config} if config else {"model_type": "x"}
            f.tensors = {key: np.zeros((4, 8), dtype) for key, dtype in tensors.items()}
            write(f, path)
            for args in (["convert", "m", "--dequantize", "-o", "o.npz"], ["info", "m", "--dequantize"], ["diff", "m", "m", "--dequantize"]):
                done = run(program, path, args)
                if done.returncode != 2 or not done.stderr.startswith("error: ") or (path / "o.npz").exists():
                    wrong += 1
                    print(config, tensors, args, done.returncode, done.stdout, done.stderr)
    print(f"{len(FOREIGN)} layouts that are not read, {wrong} wrong")
    return wrong


def main(program, count):
    right = sum(one(program, seed) for seed in range(count))
    print(f"{count} folders with one fault, {count - right} wrong")
    return count - right + foreign(program)


if __name__ == "__main__":
    sys.exit(main(str(pathlib.Path(sys.argv[1]).absolute()), int(sys.argv[2]) if len(sys.argv) > 2 else 2000) > 0)
