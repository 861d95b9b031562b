"""Writes the files of this folder but the .json files, which are written by hand.

Run with Python 3, NumPy, ml_dtypes, safetensors, gguf and onnx: python samples/make.py
"""

import collections
import io
import pickle
import sys
import types
import zipfile
from pathlib import Path

import gguf
import ml_dtypes
import numpy as np
from onnx import TensorProto, helper, numpy_helper
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

# models: the same weights in the files of several programs
rng = np.random.default_rng(7)
weights = {"up.weight": rng.standard_normal((4, 32)).astype(f4), "norm.weight": np.ones(32, f4)}
MODELS = HERE / "models"
(MODELS / "base").mkdir(parents=True, exist_ok=True)
save_file(weights, MODELS / "base" / "model.safetensors", {"format": "pt"})
(MODELS / "base" / "config.json").write_text('{"model_type": "sample"}\n')

# NVIDIA's NVFP4: a scale for 16 items, and one for all
up = weights["up.weight"].reshape(4, 2, 16)
whole = f4(np.abs(up).max() / (6 * 448))
scales = (np.abs(up).max(-1) / 6 / whole).astype(ml_dtypes.float8_e4m3fn)
codes = (up / (scales.astype(f4) * whole)[..., None]).astype(ml_dtypes.float4_e2m1fn).view(np.uint8).reshape(4, 32)
(MODELS / "nvfp4").mkdir(exist_ok=True)
packed = {"up.weight": codes[:, 0::2] | codes[:, 1::2] << 4, "up.weight_scale": scales, "up.weight_scale_2": np.array(whole)}
save_file(packed | {"norm.weight": weights["norm.weight"]}, MODELS / "nvfp4" / "model.safetensors", {"format": "pt"})
(MODELS / "nvfp4" / "config.json").write_text('{"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}}\n')

writer = gguf.GGUFWriter(MODELS / "model.gguf", "llama")
writer.add_context_length(2048)
blocks = gguf.quants.quantize(weights["up.weight"], gguf.GGMLQuantizationType.Q8_0)
writer.add_tensor("blk.0.ffn_up.weight", blocks, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
writer.add_tensor("blk.0.ffn_norm.weight", weights["norm.weight"])
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()

initializers = [numpy_helper.from_array(weights["up.weight"].T.copy(), "up.weight"), numpy_helper.from_array(np.zeros(4, f4), "up.bias")]
nodes = [helper.make_node("MatMul", ["x", "up.weight"], ["h"]), helper.make_node("Add", ["h", "up.bias"], ["y"])]
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name, size in (("x", 32), ("y", 4))]
graph = helper.make_graph(nodes, "sample", ends[:1], ends[1:], initializers)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9, producer_name="samples")
(MODELS / "model.onnx").write_bytes(model.SerializeToString())


class Pickled:
    """Pickles a tensor as torch does, which is not needed."""

    def __init__(self, key, array):
        self.key, self.array = key, array

    def __reduce__(self):
        strides = tuple(step // self.array.itemsize for step in self.array.strides)
        return torch_utils._rebuild_tensor_v2, (self, 0, self.array.shape, strides, False, collections.OrderedDict())


class Pickler(pickle.Pickler):
    def persistent_id(self, value):
        if isinstance(value, Pickled) and value in self.inside:
            return "storage", torch.FloatStorage, value.key, "cpu", value.array.size
        if isinstance(value, Pickled):
            self.inside.append(value)
        return None


torch, torch_utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
torch.FloatStorage = type("FloatStorage", (), {"__module__": "torch"})
torch_utils._rebuild_tensor_v2 = lambda *_: None
torch_utils._rebuild_tensor_v2.__module__, torch_utils._rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
sys.modules |= {"torch": torch, "torch._utils": torch_utils}
tensors = [Pickled(str(n), array) for n, array in enumerate(weights.values())]
state = collections.OrderedDict(zip(weights, tensors, strict=True))
content = io.BytesIO()
pickler = Pickler(content, 2)
pickler.inside = []
pickler.dump({"epoch": 3, "model": state})
with zipfile.ZipFile(MODELS / "model.pt", "w") as archive:
    for name, data in [("data.pkl", content.getvalue()), ("byteorder", b"little"), *((f"data/{t.key}", t.array.tobytes()) for t in tensors), ("version", b"3\n")]:
        archive.writestr(zipfile.ZipInfo(f"model/{name}"), data)
