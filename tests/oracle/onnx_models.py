"""Random ONNX models, compared with `onnx.numpy_helper`.

    python tests/oracle/onnx_models.py golden              writes tests/golden/onnx/models/
    python tests/oracle/onnx_models.py check PROGRAM [N]   compares `PROGRAM info --hash` and edits in place of N models

Members have the names of docs/models.md; a hash is that of the .npy that numpy.save writes.
"""

import hashlib
import io
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "onnx" / "models"
TYPES = [n for n in TensorProto.DataType.values() if n not in (TensorProto.UNDEFINED, TensorProto.STRING)]


def sha256(value):
    """The hash of a tensor as .npy, with the names that NumPy has."""
    value = np.ascontiguousarray(value).reshape(np.shape(value))
    has_name = value.dtype.type.__module__ == "numpy"
    descr = value.dtype.str if has_name else f"{'<' if value.dtype.itemsize > 1 else '|'}V{value.dtype.itemsize}"
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": descr, "fortran_order": False, "shape": value.shape})
    out.write(value.tobytes())
    return hashlib.sha256(out.getvalue()).hexdigest()


class Random:
    """A model with the tensors that it holds, by name."""

    def __init__(self, seed, folder):
        self.random, self.bits = random.Random(seed), np.random.default_rng(seed)
        self.folder, self.seed = folder, seed
        self.expected, self.count = [], 0

    def name(self):
        self.count += 1
        # names repeat now and then
        return self.random.choice(["w", "layer.0/bias", f"t{self.count}", f"t{self.count}"])

    def shape(self):
        return [self.random.choice([0, 1, 2, 3, 5]) if self.random.random() < 0.8 else 7 for _ in range(self.random.randrange(4))]

    def tensor(self, name, may_be_external=True):
        """A TensorProto: raw, typed or external."""
        shape = self.shape()
        if self.random.random() < 0.08:
            texts = [self.random.choice(["a", "bc", "größe", ""]) for _ in range(int(np.prod(shape)))]
            proto = helper.make_tensor(name, TensorProto.STRING, shape, [text.encode() for text in texts])
            value = np.array(texts, "U").reshape(shape) if texts else np.zeros(shape, "U1")
            return proto, value.astype("U1") if value.dtype.itemsize == 0 else value
        kind = self.random.choice(TYPES)
        dtype = helper.tensor_dtype_to_np_dtype(kind)
        value = self.bits.integers(-3, 4, shape)
        value = (value % 2 == 1) if dtype == np.bool_ else np.abs(value) if "u" in dtype.name or "e8m0" in dtype.name else value
        if "int2" in dtype.name:
            value = value % 2
        value = value.astype(np.float32).astype(dtype)
        if self.random.random() < 0.3:
            numbers = value.astype(np.float32).flatten().tolist() if dtype.kind not in "c" else value.flatten().tolist()
            return helper.make_tensor(name, kind, shape, numbers), value
        proto = numpy_helper.from_array(value, name)
        if may_be_external and self.folder is not None and self.random.random() < 0.2:
            at = self.random.randrange(9)
            location = self.random.choice(["data.bin", "below/data.bin"]).replace("data", f"{self.seed}-{self.count}")
            path = self.folder / location
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"\x55" * at + proto.raw_data)
            entries = [("location", location), ("offset", str(at)), ("length", str(len(proto.raw_data)))]
            proto.ClearField("raw_data")
            proto.data_location = TensorProto.EXTERNAL
            for key, text in entries:
                entry = proto.external_data.add()
                entry.key, entry.value = key, text
        return proto, value

    def constant(self, prefix, number):
        output = self.name()
        value, attribute = self.random.choice(
            [
                (np.float32(1.5), {"value_float": 1.5}),
                (np.array([1, 2.5], "f4"), {"value_floats": [1.0, 2.5]}),
                (np.int64(-7), {"value_int": -7}),
                (np.array([3, -(2**40)]), {"value_ints": [3, -(2**40)]}),
                (np.array("née"), {"value_string": "née".encode()}),
                (np.array(["a", "bcd"]), {"value_strings": ["a", "bcd"]}),
                (None, None),
                (None, None),
            ]
        )
        if attribute is None:
            proto, value = self.tensor("ignored", False)
            attribute = {"value": proto}
        name = self.random.choice(["", f"node{number}"])
        self.expected.append((prefix + output, value))
        return helper.make_node("Constant", [], [output], name=name, **attribute)

    def graph(self, prefix, depth):
        nodes, protos = [], []
        for number in range(self.random.randrange(1, 6)):
            kind = self.random.choice(["constant", "constant", "add", "if" if depth < 3 else "add", "shape"])
            name = self.random.choice(["", f"named{self.count}"])
            if kind == "constant":
                nodes.append(self.constant(prefix, number))
            elif kind == "if":
                own = name or f"If_{number}"
                # attributes are written in the order of their names
                branches = {f"{b}_branch": self.graph(f"{prefix}{own}/{b}_branch/", depth + 1) for b in ("else", "then")}
                nodes.append(helper.make_node("If", ["c"], [f"y{number}"], name=name, **branches))
            elif kind == "shape":
                own = name or f"ConstantOfShape_{number}"
                value = np.array([2.0], "f4")
                self.expected.append((f"{prefix}{own}/value", value))
                value = numpy_helper.from_array(value)
                nodes.append(helper.make_node("ConstantOfShape", ["s"], [f"y{number}"], name=name, value=value))
            else:
                nodes.append(helper.make_node("Add", ["a", "b"], [f"y{number}"], name=name))
        for _ in range(self.random.randrange(5)):
            name = self.name()
            proto, value = self.tensor(name)
            protos.append(proto)
            self.expected.append((prefix + name, value))
        return helper.make_graph(nodes, "g", [], [], initializer=protos)

    def model(self):
        graph = self.graph("", 0)
        functions = []
        if self.random.random() < 0.3:
            nodes = [self.constant("Function/", 0)]
            opsets = [helper.make_opsetid("", 24)]
            functions = [helper.make_function("local", "Function", [], ["o"], nodes, opsets)]
        model = helper.make_model(graph, producer_name="oracle", functions=functions, ir_version=13)
        counts, names = {}, []
        given = {name for name, _ in self.expected}
        for name, value in self.expected:
            counts[name] = counts.get(name, 0) + 1
            if counts[name] > 1:
                number = counts[name]
                assert f"{name}#{number}" not in given
                name = f"{name}#{number}"
            names.append((name, value))
        return model, names


def golden():
    shutil.rmtree(GOLDEN, ignore_errors=True)
    GOLDEN.mkdir(parents=True)
    for seed in range(6):
        model, expected = Random(seed, GOLDEN).model()
        (GOLDEN / f"{seed}.onnx").write_bytes(model.SerializeToString(deterministic=True))
        lines = [json.dumps([name, list(np.shape(value)), sha256(np.asarray(value))]) for name, value in expected]
        (GOLDEN / f"{seed}.jsonl").write_text("".join(line + "\n" for line in lines))


def check(program, models):
    program = pathlib.Path(program).resolve()
    wrong = edits = tensors = 0
    for seed in range(models):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            model, expected = Random(seed, folder).model()
            path = folder / "m.onnx"
            path.write_bytes(model.SerializeToString())
            run = subprocess.run([program, "info", path, "--hash", "--json"], capture_output=True, text=True)
            found = [(i["member"], i["shape"], i["hash"]) for i in json.loads(run.stdout)] if run.returncode == 0 else run.stderr
            wanted = [(name, list(np.shape(value)), sha256(np.asarray(value))) for name, value in expected]
            tensors += len(wanted)
            if found != wanted and (wanted or "holds no tensors" not in str(found)):
                wrong += 1
                print(seed, next((pair for pair in zip(found, wanted) if pair[0] != pair[1]), (found, wanted)))
                continue
            for n, (name, value) in enumerate(expected):
                if np.ndim(value) == 0 or np.size(value) == 0:
                    continue
                before = path.read_bytes()
                one = [program, "slice-scatter", f"m.onnx:{name}", f"m.onnx:{name}", "--at", "::-1", "-i"]
                edit = subprocess.run(one, capture_output=True, text=True, cwd=folder)
                if edit.returncode != 0:
                    assert path.read_bytes() == before, (seed, name)
                    continue
                edits += 1
                value = np.asarray(value)[::-1]
                expected[n] = (name, value)
                hashed = subprocess.run([program, "info", f"m.onnx:{name}", "--hash", "--json"], capture_output=True, text=True, cwd=folder)
                after = path.read_bytes()
                onnx.load_model_from_string(after)
                changed = sum(a != b for a, b in zip(before, after))
                assert len(before) == len(after) and changed <= np.asarray(value).nbytes, (seed, name)
                if json.loads(hashed.stdout)[0]["hash"] != sha256(value):
                    wrong += 1
                    print(seed, name, "edited")
    print(f"{models} models, {tensors} tensors, {edits} edits in place, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["golden"]:
        golden()
    else:
        sys.exit(check(sys.argv[2], int((sys.argv[3:] or [500])[0])))
