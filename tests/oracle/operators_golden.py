#!/usr/bin/env python3
"""Writes crates/kernels/src/ops/call/nodes/operators.txt: the operators of ONNX and OpenVINO, with the attributes and the types of each version.

usage: operators_golden.py

ONNX's operators are the schemas of the package onnx. OpenVINO's are in the headers of the package openvino, which give the
version of each operator; the names of attributes are in its Python functions. Its types are in its documents alone, and stand
below. Attributes of OpenVINO's operators and types of inputs are written for the operators that the vectors test. Needs onnx
and openvino.
"""
import collections
import json
import pathlib
import re

import onnx
import openvino

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(openvino.__file__).parent
# attributes of operators for which the package has no Python function
MORE_ATTRIBUTES = {("Reverse", 1): {"mode"}}
NAMES = {"float": "float32", "double": "float64", "float4e2m1": "float4_e2m1fn", "float8e4m3fn": "float8_e4m3fn",
         "float8e4m3fnuz": "float8_e4m3fnuz", "float8e5m2": "float8_e5m2", "float8e5m2fnuz": "float8_e5m2fnuz",
         "float8e8m0": "float8_e8m0fnu"}
# the types of OpenVINO's inputs where its documents list some; whether bool, complex and narrow types are numeric is left open
LISTED = ["int32", "int64"]
NUMERIC = [("data", "numeric")]
OPENVINO_INPUTS = {
    ("Roll", 7): [("data", "*"), ("shift", "T_IND_1"), ("axes", "T_IND_2")],
    ("GatherElements", 6): [("data", "*"), ("indices", "T_IND")],
    ("ScatterNDUpdate", 3): [*NUMERIC, ("indices", "T_IND"), ("updates", "numeric")],
    ("ScatterNDUpdate", 15): [*NUMERIC, ("indices", "T_IND"), ("updates", "numeric")],
    ("ScatterElementsUpdate", 3): [*NUMERIC, ("indices", "*"), ("updates", "numeric"), ("axis", "*")],
    ("ScatterUpdate", 3): [*NUMERIC, ("indices", "*"), ("updates", "numeric"), ("axis", "*")],
    ("SliceScatter", 15): [*NUMERIC, ("updates", "numeric"), ("start", "*"), ("stop", "*"), ("step", "*"), ("axes", "*")],
    ("Concat", 0): NUMERIC,
    ("Pad", 1): [*NUMERIC, ("pads_begin", "*"), ("pads_end", "*"), ("pad_value", "numeric")],
    **{one: [*NUMERIC, ("list", "*")] for one in [("Broadcast", 3), ("Reshape", 1), ("Squeeze", 0), ("Unsqueeze", 0)]},
}


def tested(specification):
    """The operators that the vectors test."""
    return {case["operator"] for path in (ROOT / "conformance").glob("*.json") for case in json.loads(path.read_text())
            if case["specification"] == specification}


def type_lines(types):
    """A line for each list of types that inputs may have, by its name."""
    return [f"types {name} {','.join(sorted(dtypes))}" for name, dtypes in sorted(types.items())]


def onnx_lines():
    """The newest opset of each domain, the lists of types, and a line for each version of each operator.

    Inputs of one list are of one type: no operator here has two type variables of the same list.
    """
    for domain, (_, newest) in sorted(onnx.onnx_cpp2py_export.defs.schema_version_map().items()):
        yield f"opset {domain or 'ai.onnx'} {newest}"
    types, lines, with_inputs = {}, [], tested("onnx")
    for schema in sorted(onnx.defs.get_all_schemas_with_history(), key=lambda one: (one.domain, one.name, one.since_version)):
        name = f"{schema.domain}::{schema.name}" if schema.domain else schema.name
        inputs = []
        for given in schema.inputs if name in with_inputs else ():
            # no test has an optional
            dtypes = [onnx_name(one) for one in given.types if not one.startswith("optional")]
            of_all = f"{'T' if 'float32' in dtypes else 'S'}{len(dtypes)}" if len(dtypes) > 3 else "|".join(sorted(dtypes))
            assert types.setdefault(of_all, set(dtypes)) == set(dtypes), (name, of_all)
            inputs.append(f"{given.name}={of_all}")
        attributes = ",".join(sorted(schema.attributes)) or "-"
        lines.append(" ".join(["ONNX", name, str(schema.since_version), attributes, *inputs]))
    yield from type_lines(types)
    yield from lines


def onnx_name(text):
    """A type as the vectors have it: `float32`, `seq(float32)`."""
    if text.startswith("tensor("):
        return NAMES.get(text[7:-1], text[7:-1])
    return text.partition("(")[0] + "(" + onnx_name(text.partition("(")[2][:-1]) + ")"


def openvino_lines():
    """A line for each version of each operator. A version has the number of its namespace and that of its opset."""
    tables, numbers = collections.defaultdict(dict), collections.defaultdict(set)
    for table in PACKAGE.glob("include/openvino/opsets/opset*_tbl.hpp"):
        opset = int(re.search(r"opset(\d+)_", table.name)[1])
        for name, version in re.findall(r"OPENVINO_OP_REG\((\w+), ov::op::v(\d+)\)", table.read_text()):
            tables[opset][name] = int(version)
            numbers[name, int(version)].add(int(version))
    for header in PACKAGE.glob("include/openvino/op/*.hpp"):
        for part in re.split(r"namespace v(?=\d)", header.read_text())[1:]:
            for name, opset in re.findall(r'OPENVINO_OP\("(\w+)", "opset(\d+)"', part):
                if (name, version := int(re.match(r"\d+", part)[0])) in numbers:
                    numbers[name, version].add(int(opset))
    attributes = collections.defaultdict(set, {key: set(names) for key, names in MORE_ATTRIBUTES.items()})
    for source in PACKAGE.glob("opset*/ops.py"):
        table = tables[int(re.search(r"opset(\d+)", source.parent.name)[1])]
        for function in re.split(r"\n(?=@|def )", source.read_text()):
            for name in re.findall(r'create\(\s*"(\w+)"', function):
                attributes[name, table.get(name)].update(re.findall(r'"([a-z_]+)"(?:\]\s*=|:)', function))
    types = {"T_IND": LISTED, "T_IND_1": LISTED, "T_IND_2": LISTED}
    yield from type_lines({**types, "numeric": {onnx_name(one) for one in onnx.defs.get_schema("Reshape", 25).inputs[0].types} - {"string"}})
    with_attributes = tested("openvino")
    for name, version in sorted(numbers):
        known = (",".join(sorted(attributes[name, version])) or "-") if name in with_attributes else "*"
        inputs = [f"{given}={types}" for given, types in OPENVINO_INPUTS.get((name, version), ())]
        for number in sorted(numbers[name, version]):
            yield " ".join(["OpenVINO", name, str(number), known, *inputs])


def main():
    head = f"# onnx {onnx.__version__}, openvino {openvino.__version__.split('-')[0]}; tests/oracle/operators_golden.py makes this file"
    path = ROOT / "crates/kernels/src/ops/call/nodes/operators.txt"
    path.write_text("\n".join([head, *onnx_lines(), *openvino_lines()]) + "\n")


if __name__ == "__main__":
    main()
