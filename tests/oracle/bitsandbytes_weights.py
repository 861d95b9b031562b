"""Weights that bitsandbytes quantises: `--dequantize` against what bitsandbytes makes of them itself, on the processor.

    python tests/oracle/bitsandbytes_weights.py PROGRAM [COUNT [SEED]]

Random weights are quantised to nf4 and fp4, with and without nested scales, and to int8, and stored under the names that
transformers gives the parts. Prints how many agree bit for bit, within a rounding, and not. Needs torch, safetensors and
bitsandbytes; without them it says so and ends with status 3.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import bitsandbytes.functional as bnb
    import torch
    from safetensors.torch import load_file, save_file
except ImportError as error:
    print(f"not run: {error}")
    sys.exit(3)

# of the mantissas
BITS = {torch.float32: 23, torch.float16: 10, torch.bfloat16: 7}


def four_bits(chance, weight):
    kind, nested = chance.choice(["nf4", "fp4"]), chance.random() < 0.5
    packed, state = bnb.quantize_4bit(weight, blocksize=chance.choice([64, 128, 256, 512]), quant_type=kind, compress_statistics=nested)
    parts = {f"l.weight.{key}": value for key, value in state.as_dict(packed=True).items()}
    # bitsandbytes 0.50 takes other scales than it made where a block goes on in the next row, and its rows are of an even number
    # of items: as one row it reads what it has written
    state.shape = torch.Size([1, weight.numel()])
    return kind + (" nested" if nested else ""), {"l.weight": packed} | parts, bnb.dequantize_4bit(packed, state).reshape(weight.shape)


def eight_bits(weight):
    codes, scales, _ = bnb.int8_vectorwise_quant(weight.to(torch.float16))
    return "int8", {"l.weight": codes, "l.SCB": scales, "l.weight_format": torch.tensor(0, dtype=torch.uint8)}, bnb.int8_vectorwise_dequant(codes, scales)


def agreement(found, expected):
    if found is None or found.shape != expected.shape:
        return "wrong"
    # the narrower of both: int8 has no dtype of its own
    dtype = min(found.dtype, expected.dtype, key=BITS.get)
    found, expected = found.to(dtype).double(), expected.to(dtype).double()
    if torch.equal(found, expected):
        return "exact"
    return "rounded" if bool(((found - expected).abs() <= expected.abs() * 2.0 ** -BITS[dtype]).all()) else "wrong"


def main(program, count=200, seed=1):
    chance = random.Random(int(seed))
    torch.manual_seed(int(seed))
    counts = {}
    for number in range(int(count)):
        shape = [chance.randint(1, 40), chance.choice([7, 16, 64, 96, 130])]
        weight = torch.randn(shape).to(chance.choice(list(BITS)))
        kind, tensors, expected = eight_bits(weight) if number % 3 == 0 else four_bits(chance, weight)
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch)
            save_file(tensors, path / "model.safetensors")
            command = [program, "convert", path / "model.safetensors", "--dequantize", "-o", path / "out.safetensors"]
            done = subprocess.run(command, capture_output=True, text=True)
            result = agreement(load_file(path / "out.safetensors").get("l.weight") if done.returncode == 0 else None, expected)
        if result == "wrong":
            print(f"{number}: {kind} {weight.dtype} {shape}: {done.stderr.strip() or 'other numbers'}")
        counts.setdefault(kind, dict.fromkeys(["exact", "rounded", "wrong"], 0))[result] += 1
    for kind, results in counts.items():
        print(kind, ", ".join(f"{number} {name}" for name, number in results.items()))
    return any(results["wrong"] for results in counts.values())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
