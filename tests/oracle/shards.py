"""Compares the shards and the index that tensorop writes with what huggingface_hub makes of the same tensors.

  python tests/oracle/shards.py target/release/tensorop [CASES]

Needs numpy, safetensors and huggingface_hub, and no torch.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from huggingface_hub.serialization._base import split_state_dict_into_shards_factory
from safetensors.numpy import load_file

DTYPES = ["f4", "f2", "i8", "u1", "?"]


def case(binary, seed, folder):
    rng = np.random.default_rng(seed)
    names = [f"layer.{i}.{rng.choice(['weight', 'bias', 'gämma', '重'])}" for i in rng.permutation(int(rng.integers(1, 30)))]
    tensors = {
        name: (rng.random(tuple(rng.integers(0, 30, int(rng.integers(0, 3))))) * 100).astype(rng.choice(DTYPES)) for name in names
    }
    np.savez(os.path.join(folder, "in.npz"), **tensors)
    size = f"{rng.choice(['0.5', '1', '2.5', '7'])}{rng.choice(['KB', 'kb'])}"
    stem = os.path.join(folder, "model")
    args = [binary, "convert", os.path.join(folder, "in.npz"), "-o", stem + ".safetensors.index.json", "--max-shard-size", size]
    subprocess.run(args, check=True, capture_output=True)
    split = split_state_dict_into_shards_factory(
        tensors, get_storage_size=lambda t: t.nbytes, filename_pattern="model{suffix}.safetensors", max_shard_size=size
    )
    index = {"metadata": split.metadata, "weight_map": split.tensor_to_filename}
    with open(stem + ".safetensors.index.json", "rb") as file:
        found = file.read()
    assert found == json.dumps(index, indent=2).encode(), (seed, size, found, index)
    for file, members in split.filename_to_tensors.items():
        there = load_file(os.path.join(folder, file))
        assert sorted(there) == sorted(members), (seed, file)
        for name in members:
            want, got = tensors[name], there[name]
            assert (got.dtype, got.shape, got.tobytes()) == (want.dtype, want.shape, want.tobytes()), (seed, name)


def main():
    binary, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    for seed in range(count):
        with tempfile.TemporaryDirectory(prefix="tensorop-") as folder:
            case(binary, seed, folder)
    print(f"{count} cases, 0 differences")


if __name__ == "__main__":
    main()
