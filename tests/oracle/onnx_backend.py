#!/usr/bin/env python3
"""Runs `tensorop` on the test data of ONNX's own operators.

usage: onnx_backend.py BINARY

Makes the data sets of all node tests of the package onnx (as its generate-data does) and takes those that it ships.
Each input_*.pb and output_*.pb that is a tensor: info and convert (to .npy, and to .pb and back) against
onnx.numpy_helper.to_array. The tests of the operators as commands:
the folder's own files are the operands, and `tensorop diff` of the output must find no difference.
Exit status 0 only if nothing differs. Needs numpy, ml_dtypes and onnx.
"""
import collections
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case import node


def run(binary, *args):
    return subprocess.run([binary, *map(str, args)], capture_output=True, timeout=60)


def list_of(numbers):
    return ",".join(map(str, numbers))


def write_cases(folder):
    """The data sets of the node tests; the models, by folder."""
    models = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = node.collect_testcases()
    for case in cases:
        for at, (inputs, outputs) in enumerate(case.data_sets or []):
            data = folder / case.name / f"test_data_set_{at}"
            data.mkdir(parents=True)
            models[data] = case.model
            for kind, values, infos in (("input", inputs, case.model.graph.input),
                                        ("output", outputs, case.model.graph.output)):
                for n, (value, info) in enumerate(zip(values, infos)):
                    if not info.type.HasField("tensor_type") or value is None:
                        continue
                    proto = value if isinstance(value, TensorProto) else numpy_helper.from_array(value, info.name)
                    (data / f"{kind}_{n}.pb").write_bytes(proto.SerializeToString())
    return models


class Checks:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.counts, self.wrong, self.types = collections.Counter(), [], collections.Counter()

    def check(self, what, good, detail):
        self.counts[what] += 1
        if not good:
            self.wrong.append(f"{what}: {detail}")

    def tensor(self, path):
        """info and convert of a file."""
        proto = TensorProto()
        proto.ParseFromString(path.read_bytes())
        array = numpy_helper.to_array(proto)
        self.types[TensorProto.DataType.Name(proto.data_type)] += 1
        if array.dtype == object:
            array = array.astype("U") if array.size else np.zeros(array.shape, "U1")
        wanted = io.BytesIO()
        np.save(wanted, np.asarray(array, order="C"))
        out, back = self.folder / "out.npy", self.folder / "back.pb"
        done = run(self.binary, "convert", path, "-o", out)
        good = done.returncode == 0 and out.read_bytes() == wanted.getvalue()
        self.check("convert to .npy", good, f"{path} {array.dtype} {array.shape} {done.stderr.decode()}")
        done = run(self.binary, "info", path, "--json")
        said = json.loads(done.stdout)[0] if done.returncode == 0 else {}
        name = array.dtype.str if array.dtype.kind == "U" else array.dtype.name
        good = said.get("dtype") == name and said.get("shape") == list(array.shape) and said["format"] == "onnx"
        self.check("info", good, f"{path} {array.dtype} {array.shape}: {said} {done.stderr.decode()}")
        done = run(self.binary, "convert", path, "-o", back)
        if done.returncode == 0:
            again = onnx.load_tensor(back)
            items = numpy_helper.to_array(again)
            items = items.astype("U") if items.dtype == object and items.size else items
            same = array.size == 0 or items.tobytes() == array.tobytes()
            named = (again.data_type, again.name) == (proto.data_type, proto.name)
            good = same and items.shape == array.shape and named
        self.check("convert to .pb", done.returncode == 0 and good, f"{path} {array.dtype} {done.stderr.decode()}")

    def operator(self, data, model):
        """The node of a model as a command."""
        if len(model.graph.node) != 1 or model.graph.node[0].domain:
            return
        op = model.graph.node[0]
        options = {a.name: onnx.helper.get_attribute_value(a) for a in op.attribute}
        opset = next(i.version for i in model.opset_import if i.domain in ("", "ai.onnx"))
        files = [data / f"input_{n}.pb" for n in range(len(op.input))]
        if op.op_type == "ScatterND":
            reduction = options.get("reduction", b"none").decode()
            args = ["scatter-nd", *files, "--opset", opset]
            args += ["--reduction", reduction] if reduction != "none" else []
        elif op.op_type == "Gather":
            args = ["gather", *files, "--axis", options.get("axis", 0)]
        elif op.op_type in ("ScatterElements", "Scatter"):
            reduction = options.get("reduction", b"none").decode()
            args = ["scatter-elements", *files, "--axis", options.get("axis", 0), "--opset", opset]
            args += ["--reduction", reduction] if reduction != "none" else []
        elif op.op_type == "GatherElements":
            args = ["gather-elements", *files, "--axis", options.get("axis", 0)]
        elif op.op_type == "GatherND":
            args = ["gather-nd", *files, "--batch-dims", options.get("batch_dims", 0)]
        elif op.op_type == "Slice":
            names = ["--start", "--stop", "--axes", "--step"]
            args = ["slice", files[0]]
            for flag, name, file in zip(names, op.input[1:], files[1:]):
                args += [flag, file] if name else []
        elif op.op_type == "Concat":
            args = ["concat", *files, "--axis", options["axis"]]
        elif op.op_type == "Transpose":
            args = ["transpose", files[0]] + ([f"--axes={list_of(options['perm'])}"] if "perm" in options else [])
        elif op.op_type == "Reshape":
            args = ["reshape", files[0], "--shape", files[1]] + ["--allow-zero"] * options.get("allowzero", 0)
        elif op.op_type == "Squeeze":
            args = ["reshape", files[0], f"--squeeze={files[1]}" if len(files) > 1 else "--squeeze"]
        elif op.op_type == "Unsqueeze":
            args = ["reshape", files[0], "--unsqueeze", files[1]]
        elif op.op_type == "Pad":
            given = dict(zip(("pads", "constant_value", "axes"), [self.array(file, name) for file, name in zip(files[1:], op.input[1:])]))
            half = len(given["pads"]) // 2
            args = ["pad", files[0], f"--before={list_of(given['pads'][:half])}", f"--after={list_of(given['pads'][half:])}",
                    "--mode", options.get("mode", b"constant").decode()]
            args += [f"--fill={given['constant_value'].item()}"] if given.get("constant_value") is not None else []
            args += [f"--axes={list_of(given['axes'])}"] if given.get("axes") is not None else []
        elif op.op_type == "Tile":
            args = ["tile", files[0], "--repeats", files[1]]
        elif op.op_type == "Expand":
            args = ["broadcast", files[0], "--shape", files[1]]
        elif op.op_type == "Split":
            self.split(data, op, options, files)
            return
        elif op.op_type == "Flatten":
            args = ["reshape", files[0], f"--flatten={options.get('axis', 1)}"]
        else:
            return
        out = self.folder / "result.npy"
        done = run(self.binary, *args, "-o", out)
        expected = data / "output_0.pb"
        if done.returncode == 0:
            done = run(self.binary, "diff", expected, out)
        what = f"{data.parent.name}: {' '.join(map(str, args))}: {done.returncode} {done.stdout.decode()}"
        self.check(f"{op.op_type} as the test expects", done.returncode == 0, f"{what} {done.stderr.decode()}")

    def array(self, file, name):
        """The input of a node, None if it is left out."""
        return numpy_helper.to_array(onnx.load_tensor(file)) if name else None

    def split(self, data, op, options, files):
        """A Split as a command, with a file for each output."""
        parts = ["--lengths", files[1]] if len(files) > 1 else ["--parts", len(op.output)]
        args = ["split", files[0], *parts, f"--axis={options.get('axis', 0)}"]
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            done = run(self.binary, *args, "-o", f"{folder}/part-*.npy")
            width = len(str(len(op.output) - 1))
            for n in range(len(op.output) if done.returncode == 0 else 0):
                compared = run(self.binary, "diff", data / f"output_{n}.pb", f"{folder}/part-{n:0{width}}.npy")
                done = compared if done.returncode == 0 else done
        what = f"{data.parent.name}: {' '.join(map(str, args))}: {done.returncode} {done.stdout.decode()}"
        self.check("Split as the test expects", done.returncode == 0, f"{what} {done.stderr.decode()}")


def main():
    binary = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        models = write_cases(folder / "node")
        shipped = pathlib.Path(onnx.__file__).parent / "backend/test/data"
        checks = Checks(binary, folder)
        skipped = 0
        for data, model in models.items():
            checks.operator(data, model)
        for path in sorted([*(folder / "node").rglob("*put_*.pb"), *shipped.rglob("*put_*.pb")]):
            try:
                with np.errstate(all="ignore"):
                    checks.tensor(path)
            except Exception as error:
                skipped += 1
                print(f"skipped {path}: {type(error).__name__}: {error}"[:200])
    print("\n".join(checks.wrong[:50]))
    print(dict(checks.types))
    for what, count in sorted(checks.counts.items()):
        print(f"{count:7} {what}")
    print(f"{len(models)} data sets of node tests, {skipped} files skipped, {len(checks.wrong)} differences")
    sys.exit(1 if checks.wrong else 0)


if __name__ == "__main__":
    main()
