"""Writes the files of this folder but the .json files, which are written by hand.

Run with Python 3, NumPy, ml_dtypes, safetensors and onnx: python samples/make.py
"""

from pathlib import Path

import ml_dtypes
import numpy as np
from onnx import numpy_helper
from safetensors.numpy import save_file

HERE = Path(__file__).parent


def save(name, array):
    np.save(HERE / f"{name}.npy", array, allow_pickle=False)


f4 = np.float32

# Slice-8 example 10, SliceScatter-15 examples 1 and 2
save("matrix", np.arange(10, dtype=f4).reshape(2, 5))
# Slice-8 examples 11 and 12; their first axis has 20 places, here it has 5
save("cube", np.arange(250, dtype=np.uint8).reshape(5, 10, 5))

save("slice-scatter-1-updates", np.array([[10, 20, 30, 40, 50]], f4))
save("slice-scatter-2-updates", np.array([[10, 20, 30], [40, 50, 60]], f4))
save("slice-scatter-3-data", np.arange(15, dtype=f4).reshape(3, 5))
save("slice-scatter-3-updates", np.array([[50, 60], [70, 80]], f4))

# ScatterUpdate-3 example 1, with small dims; as there, more indices than places on the axis
save("scatter-update-1-data", np.zeros((2, 4, 2, 3), f4))
save("scatter-update-1-indices", np.array([[0, 1], [3, 1], [0, 3]]))
save("scatter-update-1-updates", np.arange(1, 73, dtype=f4).reshape(2, 3, 2, 2, 3))

save("scatter-update-2-data", np.array([[-1, 1, -1, 3, 4], [-1, 6, -1, 8, 9], [-1, 11, 1, 13, 14]], f4))
save("scatter-update-2-indices", np.array([0, 2]))
save("scatter-update-2-updates", np.array([[1, 1], [1, 1], [1, 2]], f4))

# Gather-8 examples 2 to 5; the data of 2 and 5 and their indices, the data of 3 and of 4
save("gather-2-data", np.arange(1, 11).reshape(2, 5))
save("gather-2-indices", np.array([[0, 0, 4], [4, 0, 0]]))
save("gather-3-data", np.arange(1, 41).reshape(2, 5, 4))
save("gather-4-data", np.arange(1, 41).reshape(2, 1, 5, 4))

# everyday use
save("readings", np.array([[20.5, 21.25, 19.75], [20.25, -999.0, 19.5], [20.0, 20.75, 19.25]]))
save("image", np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255]], [[255, 128, 0], [64, 64, 64], [1, 2, 3]]], np.uint8))
save("gradient", np.zeros((4, 3), f4))
save("token-gradients", np.array([[0.5, -0.25, 1.0], [0.125, 0.0, 2.0], [0.5, 0.25, -3.0]], f4))
save("scores", np.array([[0.7, 0.2, 0.1], [0.05, 0.15, 0.8], [0.3, 0.6, 0.1], [0.25, 0.5, 0.25]], f4))
save("names", np.array([["ada", "bo"], ["cyd", "dee"]]))

# containers
conv = np.array([[0.5, -1.0, 0.25], [2.0, 0.0, -0.75]], f4)
np.savez(HERE / "weights.npz", conv1=conv, fc=np.array([1, 0, -1], np.int64))
head = np.array([[1.0, -0.5], [0.25, 3.0]], f4)
save_file(
    {"layer.0.weight": head.astype(ml_dtypes.bfloat16), "layer.0.bias": np.array([0.125, -1.0], f4)},
    HERE / "model.safetensors",
)

# a test of ONNX's kind, here of ScatterND: the node's inputs in their order, and its output
(HERE / "test_data_set_0").mkdir(exist_ok=True)
data, indices, updates = np.arange(8, dtype=f4), np.array([[4], [3], [1]]), np.array([9.5, 10.5, 11.5], f4)
output = data.copy()
output[indices[:, 0]] = updates
for name, array in {"input_0": data, "input_1": indices, "input_2": updates, "output_0": output}.items():
    (HERE / "test_data_set_0" / f"{name}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
