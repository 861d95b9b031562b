#!/usr/bin/env python3
"""Writes src/conformance/operators.txt: the operators, versions and attributes that ONNX and OpenVINO have.

usage: operators_golden.py

ONNX's operators are the schemas of the package onnx. OpenVINO's are in the headers of the package openvino, which give the
version of each operator; the names of attributes are in its Python functions, and only those of the operators that the
vectors test are taken. Needs onnx and openvino.
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
MORE_ATTRIBUTES = {"Reverse": {"mode"}}


def onnx_lines():
    """The newest opset of each domain, and a line for each operator."""
    for domain, (_, newest) in sorted(onnx.onnx_cpp2py_export.defs.schema_version_map().items()):
        yield f"opset {domain or 'ai.onnx'} {newest}"
    versions, attributes = collections.defaultdict(set), collections.defaultdict(set)
    for schema in onnx.defs.get_all_schemas_with_history():
        name = f"{schema.domain}::{schema.name}" if schema.domain else schema.name
        versions[name].add(schema.since_version)
        attributes[name].update(schema.attributes)
    for name in sorted(versions):
        yield f"onnx {name} {numbers(versions[name])} {','.join(sorted(attributes[name])) or '-'}"


def numbers(versions):
    return ",".join(map(str, sorted(versions)))


def openvino_lines():
    """A line for each operator. Its versions are the number of its namespace and the number of its opset."""
    versions, attributes = collections.defaultdict(set), collections.defaultdict(set)
    for table in PACKAGE.glob("include/openvino/opsets/opset*_tbl.hpp"):
        for name, version in re.findall(r"OPENVINO_OP_REG\((\w+), ov::op::v(\d+)\)", table.read_text()):
            versions[name].add(int(version))
    for header in PACKAGE.glob("include/openvino/op/*.hpp"):
        for name, opset in re.findall(r'OPENVINO_OP\("(\w+)", "opset(\d+)"', header.read_text()):
            if name in versions:
                versions[name].add(int(opset))
    for source in PACKAGE.glob("opset*/ops.py"):
        for function in re.split(r"\n(?=@|def )", source.read_text()):
            for name in re.findall(r'create\(\s*"(\w+)"', function):
                attributes[name].update(re.findall(r'"([a-z_]+)"(?:\]\s*=|:)', function))
    tested = {case["operator"] for path in (ROOT / "conformance").glob("*.json") for case in json.loads(path.read_text())
              if case["specification"] == "openvino"}
    for name in sorted(versions):
        known = sorted(attributes[name] | MORE_ATTRIBUTES.get(name, set()))
        yield f"openvino {name} {numbers(versions[name])} {(','.join(known) or '-') if name in tested else '*'}"


def main():
    head = f"# onnx {onnx.__version__}, openvino {openvino.__version__.split('-')[0]}; tests/oracle/operators_golden.py makes this file"
    path = ROOT / "src/conformance/operators.txt"
    path.write_text("\n".join([head, *onnx_lines(), *openvino_lines()]) + "\n")


if __name__ == "__main__":
    main()
