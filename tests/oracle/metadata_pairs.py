"""Compares random pairs of files of every format that differ in one thing, and pairs that only are written differently.

    python tests/oracle/metadata_pairs.py PROGRAM [PAIRS [SEED]]

Each pair is a file, or a folder, and another with one thing changed that `info` shows: a value, a dtype, a shape, a name, a key, a
value of the metadata (also beyond what is printed), its type, an attribute, a dimension name, an opset, a file without a header.
`diff --metadata` must not end with status 0.  The same content is also written once more in another way (order of keys, alignment,
byte order, chunks, raw or typed fields), and then the status must be 0.  A file of a format with metadata is converted to
safetensors, too, which must be equal as far as both formats can hold it.  Needs NumPy and onnx.
"""

import collections
import copy
import io
import json
import pathlib
import pickle
import random
import struct
import subprocess
import sys
import tempfile
import types
import zipfile
import zlib
from xml.sax.saxutils import quoteattr

import numpy as np
import onnx
from onnx import TensorProto, helper

DTYPES = ["f4", "f8", "i4", "i8", "f2", "i2"]
SWAP = {"f4": "i4", "i4": "f4", "f8": "i8", "i8": "f8", "f2": "i2", "i2": "f2"}


class Content:
    """Tensors and metadata, with a change of either."""

    def __init__(self, rng, least=2):
        self.tensors = {f"t{n}.w": self.tensor(rng) for n in range(rng.randint(least, 4))}
        self.meta = {}

    @staticmethod
    def tensor(rng):
        shape = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
        count = int(np.prod(shape))
        return np.array([rng.randint(-50, 50) for _ in range(count)]).astype(rng.choice(DTYPES)).reshape(shape)

    def changed_tensor(self, rng, named=True):
        name = rng.choice(list(self.tensors))
        array = self.tensors[name].copy()
        kinds = ["value", "dtype", "shape"] + ["name", "missing"] * (named and len(self.tensors) > 2)
        kind = rng.choice(kinds)
        if kind == "value":
            array.flat[rng.randrange(array.size)] += 1
        elif kind == "dtype":
            array = array.astype(SWAP[array.dtype.str[1:]])
        elif kind == "shape":
            array = array.reshape([1, *array.shape])
        if kind in ("name", "missing"):
            array = self.tensors.pop(name)
        if kind != "missing":
            self.tensors[name + "x" if kind == "name" else name] = array
        return kind


def shuffled(rng, pairs):
    pairs = list(pairs.items())
    rng.shuffle(pairs)
    return pairs


def word(rng, length=6):
    return "".join(rng.choice("abcdefgh ü") for _ in range(length)).strip() or "x"


def stored(rng, array):
    """The same array in another byte order or order of axes."""
    array = array.astype(array.dtype.newbyteorder(rng.choice("<>")))
    return np.asfortranarray(array) if rng.random() < 0.5 else np.ascontiguousarray(array)


class Npy:
    ending, least = ".npy", 1

    def content(self, rng):
        content = Content(rng, 1)
        content.tensors = dict(list(content.tensors.items())[:1])
        return content

    def write(self, rng, path, content):
        with open(path, "wb") as file:
            np.lib.format.write_array(file, stored(rng, next(iter(content.tensors.values()))), rng.choice([(1, 0), (2, 0), None]))

    def change(self, rng, content):
        return content.changed_tensor(rng, False)


class Csv(Npy):
    ending = ".csv"

    def content(self, rng):
        content = Content(rng, 1)
        content.tensors = {"t": np.array([[rng.randint(0, 99) for _ in range(3)] for _ in range(rng.randint(2, 4))])}
        return content

    def write(self, rng, path, content):
        (array,) = content.tensors.values()
        lines = [",".join(map(str, row)) for row in array.reshape(-1, array.shape[-1])]
        path.write_text(rng.choice(["\n", "\r\n"]).join(lines) + rng.choice(["", "\n"]))

    def change(self, rng, content):
        (array,) = content.tensors.values()
        kind = rng.choice(["value", "shape"])
        array.flat[rng.randrange(array.size)] += kind == "value"
        content.tensors = {"t": array if kind == "value" else array[1:]}
        return kind


class Json(Csv):
    ending = ".json"

    def write(self, rng, path, content):
        (array,) = content.tensors.values()
        path.write_text(json.dumps(array.tolist(), indent=rng.choice([None, 1])))


class Body:
    """The body of a response to an inference."""

    ending = ".json"

    def content(self, rng):
        content = Content(rng)
        content.tensors = {name: array.astype("f4") for name, array in content.tensors.items()}
        content.meta = {"model_name": word(rng), "id": word(rng)}
        return content

    def write(self, rng, path, content):
        outputs = [
            dict(shuffled(rng, {"name": name, "datatype": "FP32", "shape": list(array.shape), "data": array.ravel().tolist()}))
            for name, array in content.tensors.items()
        ]
        path.write_text(json.dumps(dict(shuffled(rng, {**content.meta, "outputs": outputs}))))

    def change(self, rng, content):
        if rng.random() < 0.5:
            content.meta[rng.choice(list(content.meta))] += "x"
            return "metadata value"
        while (kind := content.changed_tensor(rng)) == "dtype":
            content.tensors = {name: array.astype("f4") for name, array in content.tensors.items()}
            array = next(iter(content.tensors.values()))
            array.flat[0] += 1
        return kind


class Npz:
    ending = ".npz"

    def content(self, rng):
        content = Content(rng)
        content.meta = {"notes.txt": word(rng)}
        return content

    def write(self, rng, path, content):
        with zipfile.ZipFile(path, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as file:
            for name, array in shuffled(rng, content.tensors):
                bytes = io.BytesIO()
                np.save(bytes, stored(rng, array))
                file.writestr(name + ".npy", bytes.getvalue())
            for name, text in content.meta.items():
                file.writestr(name, text)

    def change(self, rng, content):
        if rng.random() < 0.2:
            content.meta["notes.txt"] += "x"
            return "content"
        return content.changed_tensor(rng)


def changed_texts(rng, texts):
    """Changes one text: its key, its end, or whether it is there."""
    key = rng.choice(list(texts))
    kind = rng.choice(["key", "value", "missing", "added"])
    if kind == "added":
        texts[key + "2"] = "x"
    else:
        value = texts.pop(key)
        if kind == "key":
            texts[key + "x"] = value
        elif kind == "value":
            texts[key] = value[:-1] + ("y" if value.endswith("x") else "x")
    return f"metadata {kind}"


class Safetensors:
    ending = ".safetensors"
    names = {"f4": "F32", "f8": "F64", "i4": "I32", "i8": "I64", "f2": "F16", "i2": "I16"}

    def content(self, rng):
        content = Content(rng)
        content.meta = {f"k{n}": word(rng, rng.choice([5, 500])) for n in range(rng.randint(1, 3))}
        return content

    def write(self, rng, path, content):
        header, data = [("__metadata__", dict(shuffled(rng, content.meta)))], b""
        for name, array in shuffled(rng, content.tensors):
            own = array.astype(array.dtype.newbyteorder("<")).tobytes()
            offsets = [len(data), len(data) + len(own)]
            header.append((name, {"dtype": self.names[array.dtype.str[1:]], "shape": list(array.shape), "data_offsets": offsets}))
            data += own
        rng.shuffle(header)
        text = json.dumps(dict(header)).encode() + b" " * rng.randint(0, 20)
        path.write_bytes(struct.pack("<Q", len(text)) + text + data)

    def change(self, rng, content):
        return changed_texts(rng, content.meta) if rng.random() < 0.5 else content.changed_tensor(rng)


class Index(Safetensors):
    """Shards with an index."""

    ending = ".safetensors.index.json"

    def write(self, rng, path, content):
        names = list(content.tensors)
        half, places = Content(rng), {}
        for n, part in enumerate((names[::2], names[1::2])):
            half.tensors, half.meta = {name: content.tensors[name] for name in part}, content.meta
            shard = f"{path.name.split('.')[0]}-{n}.safetensors"
            super().write(rng, path.with_name(shard), half)
            places |= dict.fromkeys(part, shard)
        path.write_text(json.dumps({"metadata": {}, "weight_map": dict(shuffled(rng, places))}))


class Gguf:
    ending = ".gguf"
    types = {"u1": 0, "i1": 1, "u2": 2, "i2": 3, "u4": 4, "i4": 5, "f4": 6, "?": 7, "str": 8, "u8": 10, "i8": 11, "f8": 12}
    others = {"u1": "i1", "i1": "u1", "u2": "i2", "i2": "u2", "u4": "i4", "i4": "u4", "u8": "i8", "i8": "u8"}
    others |= {"f4": "f8", "f8": "f4", "?": "u1"}
    items = {"f4": 0, "f2": 1, "i2": 25, "i4": 26, "i8": 27, "f8": 28}

    def content(self, rng):
        content = Content(rng)
        content.meta = {"general.architecture": ("str", "llama"), "rope.freq_base": ("f4", 10000.0)}
        for n in range(rng.randint(1, 4)):
            of = rng.choice(list(self.types))
            count = rng.choice([None, 3, 16, 17, 200])
            values = [self.value(rng, of, 70000 if rng.random() < 0.02 else 5) for _ in range(count or 1)]
            content.meta[f"key.{n}"] = (of, values if count else values[0])
        return content

    @staticmethod
    def value(rng, of, length):
        if of == "str":
            return word(rng, length)
        return bool(rng.getrandbits(1)) if of == "?" else float(rng.randint(0, 99)) / 4 if of[0] == "f" else rng.randint(0, 99)

    def write(self, rng, path, content):
        order, alignment = rng.choice("<>"), rng.choice([32, 64, 8])
        pack = lambda of, *values: struct.pack(order + of, *values)
        text = lambda value: pack("Q", len(value.encode())) + value.encode()

        def plain(of, value):
            return text(value) if of == "str" else np.array(value).astype(order + of if of != "?" else "?").tobytes()

        def value(of, value):
            if not isinstance(value, list):
                return pack("I", self.types[of]) + plain(of, value)
            return pack("IIQ", 9, self.types[of], len(value)) + b"".join(plain(of, item) for item in value)

        meta = dict(content.meta)
        if alignment != 32 or rng.random() < 0.2:
            meta["general.alignment"] = ("u4", alignment)
        names = [name for name, _ in shuffled(rng, content.tensors)]
        # the name of a file in a folder begins those of its tensors
        parts = [names] if path.parent.name in ("b", "one", "again", "other") or rng.random() < 0.7 else [names[:1], names[1:]]
        for n, part in enumerate(parts):
            keys = meta if n == 0 else {k: v for k, v in meta.items() if k == "general.alignment"}
            if len(parts) > 1:
                of_all = {"split.no": ("u2", n), "split.count": ("u2", len(parts)), "split.tensors.count": ("i4", len(names))}
                keys = {**keys, **of_all}
            head = b"GGUF" + pack("IQQ", rng.choice([2, 3]), len(part), len(keys))
            head += b"".join(text(key) + value(*own) for key, own in shuffled(rng, keys))
            data = b""
            for name in part:
                array = content.tensors[name]
                head += text(name) + pack("I", array.ndim) + pack(f"{array.ndim}Q", *array.shape[::-1])
                head += pack("IQ", self.items[array.dtype.str[1:]], len(data))
                own = array.astype(array.dtype.newbyteorder(order)).tobytes()
                data += own + b"\0" * (-len(own) % alignment)
            own = path.with_name(f"{path.stem}-{n + 1:05}-of-{len(parts):05}.gguf") if len(parts) > 1 else path
            own.write_bytes(head + b"\0" * (-len(head) % alignment) + data)
        return path.with_name(f"{path.stem}-00001-of-{len(parts):05}.gguf") if len(parts) > 1 else path

    def change(self, rng, content):
        if content.tensors and rng.random() < 0.3:
            return content.changed_tensor(rng)
        key = rng.choice([key for key in content.meta if key != "general.architecture"])
        of, value = content.meta[key]
        kind = rng.choice(["key", "missing", "value", "type", "length"])
        if kind == "key":
            content.meta[key + "x"] = content.meta.pop(key)
        elif kind == "missing":
            del content.meta[key]
        elif kind == "type" and of == "str":
            content.meta[key] = ("i4", 7)
        elif kind == "type":
            number = lambda value: int(value) if of == "?" else value
            numbers = [number(one) for one in value] if isinstance(value, list) else number(value)
            content.meta[key] = (self.others[of], numbers)
        elif kind == "length" and isinstance(value, list):
            value.append(value[-1])
        else:
            last = value[-1] if isinstance(value, list) else value
            last = last + "x" if of == "str" else not last if of == "?" else last + 1
            content.meta[key] = (of, [*value[:-1], last] if isinstance(value, list) else last)
        return f"metadata {kind} of {of}"


ONNX = {
    "f4": TensorProto.FLOAT, "f8": TensorProto.DOUBLE, "i4": TensorProto.INT32, "i8": TensorProto.INT64, "f2": TensorProto.FLOAT16,
    "i2": TensorProto.INT16,
}  # fmt: skip


def onnx_tensor(rng, name, array, folder=None):
    of, shape = ONNX[array.dtype.str[1:]], list(array.shape)
    raw = array.astype(array.dtype.newbyteorder("<")).tobytes()
    if folder is not None and rng.random() < 0.3:
        file = f"{name}-{rng.randrange(10**9)}{rng.choice(['.bin', '.raw', '.data'])}"
        (folder / file).write_bytes(b"\0" * 16 + raw + b"\1" * rng.randint(0, 5))
        tensor = TensorProto(name=name, data_type=of, dims=shape, data_location=TensorProto.EXTERNAL)
        for key, value in {"location": file, "offset": "16", "length": str(len(raw))}.items():
            tensor.external_data.add(key=key, value=value)
        return tensor
    if rng.random() < 0.5:
        return helper.make_tensor(name, of, shape, raw, raw=True)
    return helper.make_tensor(name, of, shape, array.ravel().tolist())


class OnnxTensor(Npy):
    ending = ".pb"

    def write(self, rng, path, content):
        ((name, array),) = content.tensors.items()
        path.write_bytes(onnx_tensor(rng, name, array).SerializeToString())


class OnnxModel:
    ending = ".onnx"

    def content(self, rng):
        content, longest = Content(rng), 70000 if rng.random() < 0.1 else 8
        content.meta = {
            "ir_version": rng.randint(7, 11), "opsets": {"": rng.randint(11, 20), "ai.onnx.ml": rng.randint(1, 3)},
            "producer_name": word(rng), "producer_version": word(rng), "model_version": rng.randint(1, 9), "domain": word(rng),
            "props": {f"p{n}": word(rng, rng.choice([1, 5, 300, longest])) for n in range(rng.randint(1, 3))},
            "input": ["x", TensorProto.FLOAT, ["batch", 3]], "nodes": [rng.choice(["Relu", "Abs"]) for _ in range(rng.randint(1, 3))],
        }  # fmt: skip
        return content

    def write(self, rng, path, content):
        meta = content.meta
        names = [meta["input"][0], *(f"y{n}" for n in range(len(meta["nodes"])))]
        nodes = [helper.make_node(op, [names[n]], [names[n + 1]]) for n, op in enumerate(meta["nodes"])]
        tensors = [onnx_tensor(rng, name, array, path.parent) for name, array in shuffled(rng, content.tensors)]
        value = helper.make_tensor_value_info(*meta["input"])
        graph = helper.make_graph(nodes, "g", [value], [helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, None)], tensors)
        opsets = [helper.make_opsetid(*own) for own in shuffled(rng, meta["opsets"])]
        own = {key: meta[key] for key in ("ir_version", "producer_name", "producer_version", "model_version", "domain")}
        model = helper.make_model(graph, opset_imports=opsets, **own)
        for key, value in shuffled(rng, meta["props"]):
            model.metadata_props.add(key=key, value=value)
        path.write_bytes(model.SerializeToString())

    def change(self, rng, content):
        meta = content.meta
        kind = rng.choice(["tensor", "props", "props", *meta])
        if kind == "tensor":
            return content.changed_tensor(rng)
        if kind == "props":
            return changed_texts(rng, meta["props"])
        if kind == "opsets":
            meta[kind][rng.choice(list(meta[kind]))] += 1
        elif kind == "input":
            n = rng.randrange(3)
            meta[kind][n] = ["z", TensorProto.DOUBLE, rng.choice([["batch", 4], ["b", 3], ["batch", 3, 1], [None, 3], None])][n]
        elif kind == "nodes":
            meta[kind][-1] = "Neg"
        else:
            meta[kind] += 1 if isinstance(meta[kind], int) else "x"
        return kind


class OpenVino:
    ending = ".xml"
    types = {"f4": "f32", "f8": "f64", "i4": "i32", "i8": "i64", "f2": "f16", "i2": "i16"}

    def content(self, rng):
        content = Content(rng)
        content.meta = {
            "version": rng.choice(["10", "11"]), "name": word(rng), "input": ["x", "FP32", [1, 3]],
            "layers": [rng.choice(["ReLU", "Abs"]) for _ in range(rng.randint(1, 3))],
            "rt_info": {"MO_version": word(rng), "conversion.framework": "onnx", "model_info.labels": word(rng, 400) + " \"<&'"},
        }  # fmt: skip
        return content

    def write(self, rng, path, content):
        def element(name, attributes, inside="", gap=rng.choice(["", "\n", "\n\t"])):
            own = "".join(f" {key}={quoteattr(str(value))}" for key, value in shuffled(rng, attributes))
            return f"<{name}{own}>{inside}</{name}>{gap}" if inside or rng.random() < 0.5 else f"<{name}{own}/>{gap}"

        meta, data = content.meta, b"\0" * rng.randint(0, 9)
        name, precision, shape = meta["input"]
        port = element("port", {"id": 0, "precision": precision}, "".join(f"<dim>{dim}</dim>" for dim in shape))
        layers = element("layer", {"id": 0, "name": name, "type": "Parameter"}, f"<output>{port}</output>")
        for name, array in shuffled(rng, content.tensors):
            own = array.astype(array.dtype.newbyteorder("<")).tobytes()
            where = {"offset": len(data), "size": len(own), "element_type": self.types[array.dtype.str[1:]]}
            inside = element("data", {**where, "shape": rng.choice([",", ", "]).join(map(str, array.shape))})
            layers += element("layer", {"name": name, "type": "Const", "id": rng.randrange(99)}, inside)
            data += own + b"\0" * rng.randint(0, 9)
        layers += "".join(element("layer", {"name": f"l{n}", "type": kind}) for n, kind in enumerate(meta["layers"]))
        tree = collections.defaultdict(dict)
        for key, value in meta["rt_info"].items():
            group, _, own = key.rpartition(".")
            tree[group][own] = value
        info = ""
        for group, own in shuffled(rng, tree):
            inside = "".join(element(key, {"value": value}) for key, value in shuffled(rng, own))
            info += element(group, {}, inside) if group else inside
        parts = f"<layers>{layers}</layers>" + element("rt_info", {}, info)
        net = element("net", {"name": meta["name"], "version": meta["version"]}, parts)
        path.write_text(rng.choice(["", '<?xml version="1.0"?>\n']) + net)
        path.with_suffix(".bin").write_bytes(data)

    def change(self, rng, content):
        meta = content.meta
        kind = rng.choice(["tensor", "rt_info", "rt_info", *meta])
        if kind == "tensor":
            return content.changed_tensor(rng)
        if kind == "rt_info":
            return changed_texts(rng, meta["rt_info"])
        if kind == "version":
            meta[kind] = {"10": "11", "11": "10"}[meta[kind]]
        elif kind == "input":
            n = rng.randrange(3)
            meta[kind][n] = ["z", "FP16", [1, 4]][n]
        elif kind == "layers":
            meta[kind].append("Neg")
        else:
            meta[kind] += "x"
        return kind


class Torch:
    ending = ".pt"
    storages = {"f4": "Float", "f8": "Double", "i4": "Int", "i8": "Long", "f2": "Half", "i2": "Short"}

    def content(self, rng):
        content = Content(rng)
        plain = [3, 2.5, True, "text", word(rng, 500), [1, 2, 3], list(range(20)), (1.5, 2.5), ["a", "b"], -(2**40), -1]
        content.meta = {f"k{n}": rng.choice(plain) for n in range(rng.randint(1, 4))}
        content.meta["nested"] = {"epoch": rng.randint(0, 99)}
        return content

    def write(self, rng, path, content):
        names = ["torch", "torch._utils"]
        modules = {name: types.ModuleType(name) for name in names}

        def named(module, own):
            own.__module__ = module
            own.__qualname__ = own.__name__ = own.__name__
            setattr(modules[module], own.__name__, own)
            return own

        def _rebuild_tensor_v2(*_):
            pass

        rebuild, data = named("torch._utils", _rebuild_tensor_v2), {}
        classes = {of: named("torch", type(f"{name}Storage", (), {})) for of, name in self.storages.items()}

        class Pickled:
            def __init__(self, array):
                self.array, self.key = array, str(len(data))
                data[self.key] = array.astype(array.dtype.newbyteorder("<")).tobytes()

        class Storage:
            def __init__(self, own):
                self.own = own

        class Writer(pickle._Pickler):
            def persistent_id(self, value):
                if isinstance(value, Storage):
                    own = value.own
                    return ("storage", classes[own.array.dtype.str[1:]], own.key, "cpu", own.array.size)

            def reducer_override(self, value):
                if isinstance(value, Pickled):
                    strides = tuple(stride // value.array.itemsize for stride in np.ascontiguousarray(value.array).strides)
                    return rebuild, (Storage(value), 0, value.array.shape, strides, False, collections.OrderedDict())
                return NotImplemented

        tensors = [(name.split(".")[0], {name.split(".", 1)[1]: Pickled(array)}) for name, array in content.tensors.items()]
        tree = dict(shuffled(rng, {**dict(tensors), **content.meta}))
        text = io.BytesIO()
        sys.modules.update(modules)
        Writer(text, rng.choice([2, 3, 4])).dump(tree)
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("m/data.pkl", text.getvalue())
            file.writestr("m/byteorder", "little")
            for key, items in shuffled(rng, data):
                file.writestr(f"m/data/{key}", items)
            file.writestr("m/version", "3\n")

    def of_another_type(self, value):
        if isinstance(value, dict):
            return {key: self.of_another_type(own) for key, own in value.items()}
        if isinstance(value, (list, tuple)):
            return tuple(value) if isinstance(value, list) else list(value)
        return 1 if isinstance(value, str) else str(value)

    def next(self, value):
        """Another value of the type, which differs in its end."""
        if isinstance(value, dict):
            return {key: self.next(own) for key, own in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)([*value[:-1], self.next(value[-1])])
        return value + "x" if isinstance(value, str) else not value if isinstance(value, bool) else value + 1

    def change(self, rng, content):
        if rng.random() < 0.3:
            return content.changed_tensor(rng)
        key = rng.choice(list(content.meta))
        value = content.meta.pop(key)
        kind = rng.choice(["key", "missing", "value", "type"])
        if kind == "key":
            content.meta[key + "x"] = value
        elif kind == "type":
            content.meta[key] = self.of_another_type(value)
        elif kind == "value":
            content.meta[key] = self.next(value)
        return f"metadata {kind}"


class Zarr:
    ending = ".zarr"

    def __init__(self, version, is_group):
        self.version, self.is_group = version, is_group

    def content(self, rng):
        content = Content(rng)
        if not self.is_group:
            content.tensors = dict(list(content.tensors.items())[:1])
        content.tensors = {name.replace(".", "_"): array for name, array in content.tensors.items()}
        if self.is_group and rng.random() < 0.3:
            content.tensors = {("." if n == 0 else "") + name: array for n, (name, array) in enumerate(content.tensors.items())}
        attributes = lambda: {"units": word(rng), "list": [1, 2.5, word(rng)], "deep": {"a": None, "b": [True]}}
        content.meta = {name: [attributes(), 0, [f"d{n}" for n in range(array.ndim)]] for name, array in content.tensors.items()}
        content.meta[""] = [attributes(), None, None]
        return content

    def write(self, rng, path, content):
        dump = lambda value: json.dumps(dict(shuffled(rng, value)), indent=rng.choice([None, 2]))
        path.mkdir()
        if self.is_group:
            own = dict(shuffled(rng, content.meta[""][0]))
            if self.version == 3:
                (path / "zarr.json").write_text(dump({"zarr_format": 3, "node_type": "group", "attributes": own}))
            else:
                (path / ".zgroup").write_text(dump({"zarr_format": 2}))
                (path / ".zattrs").write_text(dump(own))
        for name, array in content.tensors.items():
            attributes, fill, dims = content.meta.get(name) or content.meta[next(key for key in content.meta if key)]
            dims = (dims + ["more"] * 9)[: array.ndim]
            folder = path / name if self.is_group else path
            folder.mkdir(exist_ok=True)
            order, packs = rng.choice("<>"), rng.random() < 0.5
            chunks = [rng.randint(1, dim) for dim in array.shape]
            of = array.dtype.str[1:]
            full = {"f": "float", "i": "int"}[of[0]] + str(8 * int(of[1]))
            if self.version == 3:
                codecs = [{"name": "bytes", "configuration": {"endian": {"<": "little", ">": "big"}[order]}}]
                codecs += [{"name": "gzip", "configuration": {"level": 1}}] * packs
                grid = {"name": "regular", "configuration": {"chunk_shape": chunks}}
                keys = {"name": "default", "configuration": {"separator": "/"}}
                meta = {"zarr_format": 3, "node_type": "array", "shape": list(array.shape), "data_type": full, "chunk_grid": grid}
                meta |= {"chunk_key_encoding": keys, "fill_value": fill, "codecs": codecs, "dimension_names": dims}
                meta["attributes"] = attributes
                (folder / "zarr.json").write_text(dump(meta))
            else:
                meta = {"zarr_format": 2, "shape": list(array.shape), "chunks": chunks, "dtype": order + of, "fill_value": fill}
                meta |= {"order": "C", "filters": None, "compressor": {"id": "zlib", "level": 1} if packs else None}
                (folder / ".zarray").write_text(dump(meta))
                (folder / ".zattrs").write_text(dump({**attributes, "_ARRAY_DIMENSIONS": dims}))
            for place in np.ndindex(*(-(-dim // chunk) for dim, chunk in zip(array.shape, chunks))):
                part = np.full(chunks, fill, array.dtype)
                own = array[tuple(slice(at * chunk, (at + 1) * chunk) for at, chunk in zip(place, chunks))]
                part[tuple(slice(0, dim) for dim in own.shape)] = own
                items = part.astype(part.dtype.newbyteorder(order)).tobytes()
                if packs:
                    compress = zlib.compressobj(1, wbits=31 if self.version == 3 else 15)
                    items = compress.compress(items) + compress.flush()
                key = "/".join(["c", *map(str, place)]) if self.version == 3 else ".".join(map(str, place))
                (folder / key).parent.mkdir(parents=True, exist_ok=True)
                (folder / key).write_bytes(items)

    def change(self, rng, content):
        if rng.random() < 0.4:
            return content.changed_tensor(rng, self.is_group)
        name = rng.choice(list(content.meta) if self.is_group else list(content.tensors))
        meta = content.meta[name]
        kind = rng.choice(["attribute", "fill", "dimension"] if name else ["attribute"])
        if kind == "attribute":
            key = rng.choice(["units", "list", "deep", "new"])
            if key == "new":
                meta[0][key] = 1
            else:
                meta[0][key] = [meta[0][key]] if rng.random() < 0.5 else meta[0].pop(key) and None
        elif kind == "fill":
            meta[1] = 7
        else:
            meta[2] = ["x" + meta[2][0], *meta[2][1:]]
        return kind


class Dumps:
    """A folder of files without a header, beside files of other formats."""

    ending = ""

    def content(self, rng):
        content = Content(rng)
        names = [f"sub/layer{n}{rng.choice(['.bin', '.raw', '.dat'])}" for n in range(3)]
        content.meta = {name: rng.randbytes(rng.randint(0, 40)) for name in names}
        content.inside = rng.choice([Npy(), Npz(), Safetensors(), OnnxModel(), OpenVino(), Gguf(), None])
        content.model = content.inside and content.inside.content(rng)
        return content

    def write(self, rng, path, content):
        (path / "sub").mkdir(parents=True)
        for name, items in content.meta.items():
            (path / name).write_bytes(items)
        if content.inside:
            content.inside.write(rng, path / f"model{content.inside.ending}", content.model)

    def change(self, rng, content):
        if content.inside and rng.random() < 0.4:
            return f"{type(content.inside).__name__} {content.inside.change(rng, content.model)}"
        name = rng.choice(list(content.meta))
        items = content.meta.pop(name)
        kind = rng.choice(["missing", "name", "value", "length"])
        if kind == "name":
            content.meta[name.replace("layer", "other")] = items
        elif kind == "value" and items:
            content.meta[name] = items[:-1] + bytes([items[-1] ^ 1])
        elif kind != "missing":
            content.meta[name] = items + b"\0"
        return f"dump {kind}"


class Several:
    """A folder of files of two formats."""

    ending = ""

    def content(self, rng):
        content = Content(rng)
        content.files = {}
        for name in ("a", "b/c"):  # texts beside a model are left alone
            of = rng.choice([of for of in FORMATS[:-2] if not isinstance(of, (Csv, Body))])
            content.files[name + of.ending] = [of, of.content(rng)]
        if not any(isinstance(of, Index) for of, _ in content.files.values()):  # other containers are left alone beside an index
            content.files["vocabulary.gguf"] = [Gguf(), Gguf().content(rng)]
            content.files["vocabulary.gguf"][1].tensors = {}
        return content

    def write(self, rng, path, content):
        (path / "b").mkdir(parents=True)
        for name, (of, own) in content.files.items():
            of.write(rng, path / name, own)

    def change(self, rng, content):
        name = rng.choice(list(content.files))
        of, own = content.files[name]
        return f"{type(of).__name__} {of.change(rng, own)}"


FORMATS = [
    Npy(), Csv(), Json(), Body(), Npz(), Safetensors(), Index(), Gguf(), Gguf(), OnnxTensor(), OnnxModel(), OnnxModel(), OpenVino(),
    OpenVino(), Torch(), Torch(), Zarr(2, False), Zarr(2, True), Zarr(3, False), Zarr(3, True), Dumps(), Several(),
]  # fmt: skip
CONVERTED = (Gguf, OnnxModel, OpenVino, Torch)


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    pairs, seed = [int(number) for number in (sys.argv[2:] + ["1000", "1"][len(sys.argv) - 2 :])[:2]]
    counts, wrong = collections.Counter(), 0

    def run(*args):
        done = subprocess.run([program, *args], capture_output=True, text=True)
        return done.returncode, (done.stdout + done.stderr).strip()

    for n in range(pairs):
        rng = random.Random(f"{seed} {n}")
        of = FORMATS[n % len(FORMATS)]
        with tempfile.TemporaryDirectory() as folder:
            names = [pathlib.Path(folder) / f"{side}{of.ending}" for side in ("one", "again", "other")]
            content = of.content(rng)
            changed = copy.deepcopy(content)
            kind = of.change(rng, changed)
            one, again, other = [of.write(rng, name, own) or name for name, own in zip(names, (content, content, changed))]
            checks = [("the same content", [one, again], (0,)), (kind, [one, other], (1, 2))]
            if isinstance(of, CONVERTED):
                out = pathlib.Path(folder) / "out.safetensors"
                status, text = run("convert", one, "-o", out, "-q")
                assert status == 0, text
                checks.append(("converted", [one, out], (0,)))
            for what, sides, expected in checks:
                status, text = run("diff", "--metadata", *sides)
                counts[what if what in ("the same content", "converted") else "one change"] += 1
                if status not in expected:
                    wrong += 1
                    print(f"{n}: {type(of).__name__}: {what}: status {status}: {text[:300]}")
    print(", ".join(f"{count} of {what}" for what, count in counts.items()) + f": {wrong} wrong")
    sys.exit(wrong > 0)


main()
